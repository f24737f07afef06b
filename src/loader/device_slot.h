// Reusable memory for arrays of mini-batches: with a queue in which the arrays are made, and events
// in the queues of their readers.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "base/error.h"
#include "device/owners.h"
#include "device/table.h"
#include "loader/loader.h"

namespace gnnmg::loader {

class DeviceSlot {
 public:
  DeviceSlot(const device::Table& table, int device, int max_multiprocessors);
  virtual ~DeviceSlot() = default;
  DeviceSlot(const DeviceSlot&) = delete;
  DeviceSlot& operator=(const DeviceSlot&) = delete;

  // The queue in which the arrays are made. It waits for readers after begin().
  device::Queue* queue() const { return queue_.get(); }
  // Call before the memory is written again. Waits for the earlier work in the queue, which is long
  // done, so that the host's staging memory may be written; later work in the queue waits for the
  // readers. Throws the error that a reader's queue returned when its event was recorded.
  void begin();
  // Makes later work in `queue` wait for the arrays. Any thread.
  void precede(device::Queue* queue);
  // Makes the next arrays wait for the work that is now in `queue`, of the slot's device. Any
  // thread that may use `queue`.
  void follow(device::Queue* queue);
  // Copies data of the arrays to the host and waits for that. Any thread.
  void read(void* to, const void* from, int64_t bytes);

  // True if no work uses the slot. Any thread.
  bool at_rest() noexcept;

  // Adds `count` users and allocates the events that their let_go() needs. Errors are those of
  // device::Table::make_event().
  void hold(int count);
  // Removes a user. The memory is reused only after the present work of `readers`, at most
  // kMostReaders of them; null ones are ignored. Any thread.
  static constexpr size_t kMostReaders = 2;
  void let_go(std::initializer_list<device::Queue*> readers) noexcept;
  bool in_use() const { return users_.load(std::memory_order_acquire) > 0; }

 protected:
  // Waits until no work uses the memory, as far as the device can report that.
  void finish() noexcept;

  const device::Table& table_;
  const int device_;

 private:
  // A reading queue, with an event after its last read.
  struct Reader {
    device::Queue* queue;
    device::OwnedEvent mark;
  };
  // The caller holds the lock of readers.
  void reserve_readers(size_t count);
  void mark_reader(device::Queue* queue);
  void wait_for_readers();

  device::OwnedQueue queue_;
  std::mutex mutex_;          // held while waiting for `queue_`
  std::mutex readers_mutex_;  // guards all members below; never held during a wait for the device
  std::vector<Reader> readers_;
  size_t num_readers_ = 0;  // readers since begin(), the first of `readers_`; the others are spare
  std::exception_ptr failed_;
  std::atomic<int> users_{0};
};

// Arrays in one block of device memory, with a pinned staging buffer.
class ArraySlot : public DeviceSlot {
 public:
  ArraySlot(const device::Table& table, int device, int max_multiprocessors,
            std::shared_ptr<const void> keeps);
  ~ArraySlot() override { finish(); }
  // Makes room, after begin() and before any work enters the queue. The contents are lost.
  uint8_t* reserve(int64_t bytes);
  uint8_t* reserve_staging(int64_t bytes) { return staging_.reserve(bytes); }

 private:
  const std::shared_ptr<const void> keeps_;  // keeps the input of its kernels alive
  device::Buffer memory_, staging_;
};

// Slots of one kind. One thread at a time.
template <typename Slot>
class SlotPool {
 public:
  bool has_free() const {
    for (const auto& slot : slots_)
      if (!slot->in_use()) return true;
    return false;
  }
  size_t size() const { return slots_.size(); }
  // Returns an unused slot after begin() and hold(1), or the result of `make`.
  template <typename Make>
  std::shared_ptr<Slot> take(const Make& make) {
    for (size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i]->in_use()) continue;
      const std::shared_ptr<Slot> slot = slots_[i];
      try {
        slot->begin();
      } catch (const base::Error& error) {
        // The wait was canceled; the device still works.
        if (error.status() == base::Status::kCancelled || error.status() == base::Status::kTimeout)
          throw;
        slots_.erase(slots_.begin() + static_cast<int64_t>(i));
        throw;
      } catch (...) {
        slots_.erase(slots_.begin() + static_cast<int64_t>(i));
        throw;
      }
      slot->hold(1);
      return slot;
    }
    slots_.reserve(slots_.size() + 1);
    const std::shared_ptr<Slot> slot = make();
    slot->hold(1);
    slots_.push_back(slot);
    return slot;
  }

 private:
  std::vector<std::shared_ptr<Slot>> slots_;
};

// Releases the slots of a mini-batch after its reader.
void give_back(DeviceArrays& arrays) noexcept;

// For any number of readers on any threads, instead of DeviceArrays::made_in and read_in: later
// work in `queue` finds the arrays complete, and their memory is reused only after the present work
// in `queue`. The calling thread finds them complete too.
void precede(const DeviceArrays& arrays, device::Queue* queue);
void follow(const DeviceArrays& arrays, device::Queue* queue);
void wait_for(const DeviceArrays& arrays);
// True if no work makes or reads the arrays. Does not wait.
bool at_rest(const DeviceArrays& arrays) noexcept;

}  // namespace gnnmg::loader
