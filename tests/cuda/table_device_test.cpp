// Devices, memory and queues, by the table of device/table.h.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <thread>

#include "base/error.h"
#include "device/owners.h"
#include "devices.h"

namespace gnnmg::cuda {
namespace {

using base::Status;
using device::Placement;
using Device = OnDevices;

Status status_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const base::Error& error) {
    return error.status();
  }
  return Status::kOk;
}

TEST_P(Device, IsDescribed) {
  const device::Info info = table().info(device().device);
  EXPECT_GT(std::strlen(info.name), 0u);
  EXPECT_THAT(info.bus_id, testing::HasSubstr(":"));
  EXPECT_GE(info.major, 8);
  EXPECT_GE(info.multiprocessors, 1);
  EXPECT_GT(info.free_memory, 0);
  EXPECT_GE(info.total_memory, info.free_memory);
}

TEST_P(Device, IsOneOfThem) {
  const int count = table().num_devices();
  ASSERT_LT(device().device, count);
  for (const int wrong : {-1, count, count + 100}) {
    EXPECT_EQ(status_of([&] { table().info(wrong); }), Status::kNotFound);
    EXPECT_EQ(status_of([&] { table().allocate(wrong, Placement::kDevice, 8); }),
              Status::kNotFound);
    EXPECT_EQ(status_of([&] { table().open_queue(wrong, 0, nullptr); }), Status::kNotFound);
    EXPECT_EQ(status_of([&] { table().open_urgent_queue(wrong); }), Status::kNotFound);
  }
}

TEST_P(Device, CopiesThroughAllMemories) {
  std::vector<int64_t> out(100000), in(100000);
  std::iota(out.begin(), out.end(), 5);
  const int64_t bytes = 8 * static_cast<int64_t>(out.size());
  void* there = table().allocate(device().device, Placement::kDevice, bytes);
  void* pinned = table().allocate(device().device, Placement::kPinned, bytes);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(there) % 256, 0u);
  table().copy(queue(), there, out.data(), bytes);
  table().copy(queue(), pinned, there, bytes);
  table().synchronize(queue());
  EXPECT_TRUE(table().finished(queue()));
  EXPECT_EQ(std::memcmp(pinned, out.data(), bytes), 0);
  table().copy(queue(), in.data(), pinned, bytes);
  table().synchronize(queue());
  EXPECT_EQ(in, out);
  table().release(device().device, Placement::kPinned, pinned);
  table().release(device().device, Placement::kDevice, there);
}

TEST_P(Device, PinsMemoryWhereItLies) {
  std::vector<int64_t> mine(10000, 3);
  const int64_t bytes = 8 * static_cast<int64_t>(mine.size());
  void* address = table().pin(mine.data(), bytes);
  EXPECT_EQ(table().pin(mine.data(), bytes), address);
  table().unpin(mine.data());  // the first use still holds it
  const DeviceArray<int64_t> there(device(), queue(), mine.size());
  table().copy(queue(), there.data(), address, bytes);
  EXPECT_EQ(there.read(), mine);
  table().unpin(mine.data());
  EXPECT_NE(table().pin(mine.data(), bytes), nullptr);
  table().unpin(mine.data());
}

TEST_P(Device, RefusesWhatIsTooLargeAndGoesOn) {
  // Twice the device's memory. Some of CUDA's allocators report another error for sizes beyond all
  // addresses.
  const int64_t more = 2 * table().info(device().device).total_memory;
  EXPECT_EQ(status_of([&] { table().allocate(device().device, Placement::kDevice, more); }),
            Status::kNoMemory);
  void* there = table().allocate(device().device, Placement::kDevice, 1 << 20);
  EXPECT_NE(there, nullptr);
  table().release(device().device, Placement::kDevice, there);
  table().release(device().device, Placement::kDevice, nullptr);
}

struct CopiesInTurn {
  const device::Table& table;
  device::Queue* queue;
  int64_t *from, *by, *to;
  bool fails;
  static void put(void* user) {
    auto& self = *static_cast<CopiesInTurn*>(user);
    self.table.copy(self.queue, self.by, self.from, 8);
    if (self.fails) base::fail(Status::kRange, "no more of this");
    self.table.copy(self.queue, self.to, self.by, 8);
  }
};

// Captured work runs at each replay and not before, on the contents of memory at that time.
TEST_P(Device, CapturesWorkAndDoesItAgain) {
  const DeviceArray<int64_t> from(device(), queue(), std::vector<int64_t>{7});
  const DeviceArray<int64_t> by(device(), queue(), std::vector<int64_t>{1});
  const DeviceArray<int64_t> to(device(), queue(), std::vector<int64_t>{2});
  table().use(queue());
  CopiesInTurn copies{table(), queue(), from.data(), by.data(), to.data(), true};
  EXPECT_EQ(status_of([&] { table().capture(queue(), CopiesInTurn::put, &copies); }),
            Status::kRange);
  table().synchronize(queue());  // no capture is active
  EXPECT_EQ(by.read()[0], 1);
  copies.fails = false;
  device::Graph* capture = table().capture(queue(), CopiesInTurn::put, &copies);
  EXPECT_EQ(to.read()[0], 2);
  copies.to = nullptr;  // the captured arguments count
  for (const int64_t value : {7, 8, -1}) {
    table().copy(queue(), from.data(), &value, 8);
    table().replay(queue(), capture);
    EXPECT_EQ(to.read()[0], value);
  }
  table().synchronize(queue());
  table().free_graph(capture);
}

// An event in one queue after work that takes a while: the host sees it reached after that work,
// and other queues wait for it, even if it is recorded again elsewhere meanwhile.
TEST_P(Device, AsksAndWaitsForMarks) {
  const auto make = [&] { return device::make_owned_event(table(), device().device); };
  EXPECT_EQ(status_of([&] { table().make_event(-1, false); }), Status::kNotFound);
  device::OwnedEvent copied = make(), back = make();
  const device::OwnedEvent nowhere = make();
  constexpr size_t kNumbers = 1 << 19;
  constexpr int64_t kBytes = kNumbers * 8;
  const DeviceArray<int64_t> by(device(), queue(), kNumbers);
  const DeviceArray<int64_t> to(device(), queue(), kNumbers);
  auto* const pinned =
      static_cast<int64_t*>(table().allocate(device().device, Placement::kPinned, kBytes));
  device::Queue* const other = table().open_queue(device().device, 0, nullptr);
  EXPECT_TRUE(table().reached(nowhere.get()));
  table().wait_event(queue(), nowhere.get());
  for (const int64_t value : {5, 6, 7}) {
    std::fill_n(pinned, kNumbers, value);
    for (int i = 0; i < 20; ++i) table().copy(queue(), by.data(), pinned, kBytes);
    table().record(queue(), copied.get());
    table().wait_event(other, copied.get());
    table().record(queue(), copied.get());
    table().copy(other, to.data(), by.data(), kBytes);
    table().copy(other, pinned, to.data(), kBytes);
    table().record(other, back.get());
    while (!table().reached(back.get())) std::this_thread::yield();
    EXPECT_TRUE(table().reached(copied.get()));
    EXPECT_EQ(pinned[0], value);
    EXPECT_EQ(pinned[kNumbers - 1], value);
    EXPECT_EQ(to.read()[kNumbers / 2], value);
    std::thread([&] { EXPECT_TRUE(table().reached(back.get())); }).join();
  }
  // A queue that waits for an event continues to wait after the event is freed.
  std::fill_n(pinned, kNumbers, 8);
  for (int i = 0; i < 20; ++i) table().copy(queue(), by.data(), pinned, kBytes);
  table().record(queue(), copied.get());
  table().wait_event(other, copied.get());
  copied.reset();
  table().copy(other, to.data(), by.data(), kBytes);
  table().synchronize(other);
  EXPECT_EQ(to.read()[kNumbers - 1], 8);
  table().close_queue(other);
  table().synchronize(queue());
  table().release(device().device, Placement::kPinned, pinned);
}

TEST_P(Device, TellsTheTimeBetweenMarks) {
  const auto make = [&] { return device::make_owned_event(table(), device().device, true); };
  EXPECT_EQ(status_of([&] { table().make_event(-1, true); }), Status::kNotFound);
  const device::OwnedEvent begin = make(), middle = make(), end = make(), nowhere = make();
  constexpr int64_t kBytes = 4 << 20;
  const DeviceArray<uint8_t> from(device(), queue(), std::vector<uint8_t>(kBytes, 3)),
      to(device(), queue(), kBytes);
  device::Queue* const other = table().open_queue(device().device, 0, nullptr);
  double first = -1, second = -1, all = -1;
  for (const int turn : {1, 2}) {  // records the events again
    table().record(queue(), begin.get());
    table().copy(queue(), to.data(), from.data(), kBytes);
    table().record(queue(), middle.get());
    table().wait(other, queue());
    for (int i = 0; i < 10; ++i) table().copy(other, to.data(), from.data(), kBytes);
    table().record(other, end.get());  // an event in another queue
    table().synchronize(other);
    ASSERT_TRUE(table().elapsed(begin.get(), middle.get(), &first)) << turn;
    ASSERT_TRUE(table().elapsed(middle.get(), end.get(), &second));
    ASSERT_TRUE(table().elapsed(begin.get(), end.get(), &all));
    EXPECT_GT(first, 0);
    EXPECT_GT(second, 0);
    EXPECT_NEAR(all, first + second, 1e-5 + 1e-3 * all);
    EXPECT_LT(all, 10);
    EXPECT_FALSE(table().elapsed(begin.get(), nowhere.get(), &all));
    EXPECT_FALSE(table().elapsed(nowhere.get(), begin.get(), &all));
  }
  table().close_queue(other);
  ASSERT_TRUE(table().elapsed(end.get(), begin.get(), &all));
  EXPECT_LT(all, 0);
}

INSTANTIATE_TEST_SUITE_P(, Device, testing::ValuesIn(test_devices()), name_of_device);

}  // namespace
}  // namespace gnnmg::cuda
