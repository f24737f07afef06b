// Memory that arrays of mini-batches lie in, used again and again: with a queue in which they are
// made, and marks in those of their readers.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "base/device.h"
#include "base/error.h"
#include "base/marks.h"
#include "loader/device_memory.h"
#include "loader/loader.h"

namespace gnnmg::loader {

class DeviceSlot {
 public:
  DeviceSlot(const base::DeviceTable& table, int device, int max_multiprocessors);
  virtual ~DeviceSlot() = default;
  DeviceSlot(const DeviceSlot&) = delete;
  DeviceSlot& operator=(const DeviceSlot&) = delete;

  // Of the one who makes. It waits for readers where begin() says so.
  base::DeviceQueue* queue() const { return queue_.get(); }
  // Before it is written again: waits for what was made in it, which is long over, so that what the
  // copies read on the host may be written; what comes into the queue from here on waits for the
  // readers. Throws what a reader's queue answered when it was asked.
  void begin();
  // What comes into `queue` from here on waits for what is made here. Any thread.
  void precede(base::DeviceQueue* queue);
  // What is made here next waits for what is in `queue` now, of the slot's device. Any thread,
  // which works with `queue`.
  void follow(base::DeviceQueue* queue);
  // Copies what is made here to the host, and waits for that. Any thread.
  void read(void* to, const void* from, int64_t bytes);

  // Nothing is under way in it. Any thread.
  bool at_rest() noexcept;

  // Takes what letting go so often needs. Errors as those of DeviceTable::make_mark().
  void hold(int count);
  // Behind what `readers` do now, kMostReaders at most; null ones are none. Any thread.
  static constexpr size_t kMostReaders = 2;
  void let_go(std::initializer_list<base::DeviceQueue*> readers) noexcept;
  bool in_use() const { return users_.load(std::memory_order_acquire) > 0; }

 protected:
  // Waits until nothing uses its memory, as far as the device can still tell.
  void finish() noexcept;

  const base::DeviceTable& table_;
  const int device_;

 private:
  // A queue that reads, with a mark behind the last of it.
  struct Reader {
    base::DeviceQueue* queue;
    base::Mark mark;
  };
  // With the lock of readers held.
  void reserve_readers(size_t count);
  void mark_reader(base::DeviceQueue* queue);
  void wait_for_readers();

  OpenQueue queue_;
  std::mutex mutex_;          // of waits for `queue_`
  std::mutex readers_mutex_;  // of all below; with it held nobody waits for the device
  std::vector<Reader> readers_;
  size_t num_readers_ = 0;  // since begin(): the first of `readers_`, the rest being spare
  std::exception_ptr failed_;
  std::atomic<int> users_{0};
};

// Arrays in one piece of memory, and one of the host's, pinned, on the way there.
class ArraySlot : public DeviceSlot {
 public:
  ArraySlot(const base::DeviceTable& table, int device, int max_multiprocessors,
            std::shared_ptr<const void> keeps);
  ~ArraySlot() override { finish(); }
  // Behind begin(), before anything comes into the queue: room whose contents are lost.
  uint8_t* reserve(int64_t bytes);
  uint8_t* reserve_staging(int64_t bytes) { return staging_.reserve(bytes); }

 private:
  const std::shared_ptr<const void> keeps_;  // what its kernels read
  DeviceBuffer memory_, staging_;
};

// Slots of one kind. Not for several threads at once.
template <typename Slot>
class SlotPool {
 public:
  bool has_free() const {
    for (const auto& slot : slots_)
      if (!slot->in_use()) return true;
    return false;
  }
  size_t size() const { return slots_.size(); }
  // One that nobody uses, behind begin() and held once, or what `make` returns.
  template <typename Make>
  std::shared_ptr<Slot> take(const Make& make) {
    for (size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i]->in_use()) continue;
      const std::shared_ptr<Slot> slot = slots_[i];
      try {
        slot->begin();
      } catch (const base::Error& error) {
        // The wait was called off; the device is still at it.
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

// What a mini-batch holds goes back behind its reader.
void give_back(DeviceArrays& arrays) noexcept;

// For readers of any number, on any threads, in place of DeviceArrays::made_in and read_in: what
// comes into `queue` from here on finds the arrays made; their memory is used again only behind
// what is in `queue` now; the calling thread finds them made.
void precede(const DeviceArrays& arrays, base::DeviceQueue* queue);
void follow(const DeviceArrays& arrays, base::DeviceQueue* queue);
void wait_for(const DeviceArrays& arrays);
// Nothing that makes or reads them is under way. Does not wait.
bool at_rest(const DeviceArrays& arrays) noexcept;

}  // namespace gnnmg::loader
