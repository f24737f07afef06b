// Slots on a GPU that defers work: a new write waits for all readers, by events in their queues.
#include "loader/device_slot.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

#include "lazy_gpu.h"

namespace gnnmg::loader {
namespace {

using base::Status;
using device::Placement;

std::atomic<int64_t> marks_made{0};

const device::Table& table() {
  static const device::Table counting = [] {
    device::Table entries = lazy_gpu::table();
    entries.make_event = [](int device, bool timed) {
      ++marks_made;
      return lazy_gpu::table().make_event(device, timed);
    };
    return entries;
  }();
  return counting;
}

std::shared_ptr<ArraySlot> make_slot() {
  return std::make_shared<ArraySlot>(table(), 0, 0, nullptr);
}

// Copies a number on the device to pinned host memory in a queue of its own.
class Reader {
 public:
  void put(const uint8_t* from) { table().copy(queue(), seen_.reserve(4), from, 4); }
  device::Queue* queue() const { return queue_.get(); }
  int32_t value() {
    table().synchronize(queue());
    return *reinterpret_cast<const int32_t*>(seen_.data());
  }

 private:
  device::Buffer seen_{table(), 0, Placement::kPinned};
  device::OwnedQueue queue_{table(), 0};  // awaited before the members above are freed
};

uint8_t* make(ArraySlot& slot, int32_t value) {
  uint8_t* const memory = slot.reserve(4);
  table().copy(slot.queue(), memory, &value, 4);
  return memory;
}

class DeviceSlots : public testing::Test {
 protected:
  void SetUp() override { lazy_gpu::set_order(1); }  // no work before a thread waits for it
  void TearDown() override {
    lazy_gpu::lose(false);
    lazy_gpu::set_order(0);
    EXPECT_EQ(lazy_gpu::num_live(), 0);
    EXPECT_EQ(lazy_gpu::num_queues(), 0);
    EXPECT_EQ(lazy_gpu::num_marks(), 0);
  }
};

TEST_F(DeviceSlots, AreWrittenAgainBehindAllReaders) {
  const std::shared_ptr<ArraySlot> slot = make_slot();
  EXPECT_EQ(lazy_gpu::num_queues(), 1) << "readers take none";
  std::vector<Reader> readers(7);
  for (int32_t round = 0; round < 3; ++round) {
    slot->begin();
    slot->hold(1);
    const uint8_t* const memory = make(*slot, 10 + round);
    for (Reader& reader : readers) {
      slot->precede(reader.queue());
      reader.put(memory);
      if (&reader < &readers[5]) slot->follow(reader.queue());
    }
    slot->let_go({readers[5].queue(), nullptr, readers[6].queue()});
    EXPECT_FALSE(slot->in_use());
    EXPECT_FALSE(slot->at_rest());
    slot->begin();
    make(*slot, -1);
    table().synchronize(slot->queue());
    for (Reader& reader : readers) EXPECT_EQ(reader.value(), 10 + round);
    EXPECT_TRUE(slot->at_rest());
  }
}

// A queue that reads several times has one event, after its last read.
TEST_F(DeviceSlots, MakeNoMarksInTheLongRun) {
  const std::shared_ptr<ArraySlot> slot = make_slot();
  std::vector<Reader> readers(4);
  int64_t made = 0;
  for (int round = 0; round < 4; ++round) {
    slot->begin();
    slot->hold(2);
    const uint8_t* const memory = make(*slot, round);
    for (int again = 0; again < 3; ++again)
      for (Reader& reader : readers) {
        slot->precede(reader.queue());
        reader.put(memory);
        slot->follow(reader.queue());
      }
    const int64_t before = marks_made;
    Reader others[4];
    for (Reader& other : others) {
      slot->precede(other.queue());
      other.put(memory);
    }
    slot->let_go({others[0].queue(), others[1].queue()});
    slot->let_go({others[2].queue(), others[3].queue()});
    EXPECT_EQ(marks_made, before) << "letting go cannot fail for want of one";
    slot->begin();
    make(*slot, -1);
    table().synchronize(slot->queue());
    for (Reader& other : others) EXPECT_EQ(other.value(), round);
    for (Reader& reader : readers) EXPECT_EQ(reader.value(), round);
    if (round == 0)
      made = lazy_gpu::num_marks();
    else
      EXPECT_EQ(lazy_gpu::num_marks(), made);
  }
  EXPECT_LE(made, 4 + 1 + 2 * 2);
}

TEST_F(DeviceSlots, OutliveTheirReaders) {
  Reader reader;
  std::shared_ptr<ArraySlot> slot = make_slot();
  slot->hold(1);
  const uint8_t* const memory = make(*slot, 3);
  slot->precede(reader.queue());
  reader.put(memory);
  slot->let_go({reader.queue()});
  EXPECT_FALSE(slot->at_rest());
  slot.reset();
  EXPECT_EQ(reader.value(), 3);
}

TEST_F(DeviceSlots, SayThatADeviceIsLost) {
  const auto status_of = [](const auto& call) {
    try {
      call();
    } catch (const base::Error& error) {
      return error.status();
    }
    return Status::kOk;
  };
  Reader reader;
  const std::shared_ptr<ArraySlot> slot = make_slot();
  slot->hold(1);
  const uint8_t* const memory = make(*slot, 3);
  slot->precede(reader.queue());
  reader.put(memory);
  lazy_gpu::lose(true);
  EXPECT_EQ(status_of([&] { slot->follow(reader.queue()); }), Status::kDeviceLost);
  slot->let_go({reader.queue()});
  EXPECT_TRUE(slot->at_rest());
  lazy_gpu::lose(false);
  EXPECT_EQ(status_of([&] { slot->begin(); }), Status::kDeviceLost) << "of the reader";
  EXPECT_EQ(reader.value(), 3);  // the slot does not know of this reader and may be freed now
}

}  // namespace
}  // namespace gnnmg::loader
