// Owners of queues, events and memory of a device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "device/launch_order.h"
#include "device/table.h"

namespace gnnmg::device {

// A queue from Table::open_queue().
class OwnedQueue {
 public:
  OwnedQueue(const Table& table, int device, int max_multiprocessors = 0)
      : table_(&table), queue_(table.open_queue(device, max_multiprocessors, nullptr)) {}
  ~OwnedQueue() { table_->close_queue(queue_); }
  OwnedQueue(const OwnedQueue&) = delete;
  OwnedQueue& operator=(const OwnedQueue&) = delete;
  Queue* get() const { return queue_; }

 private:
  const Table* table_;
  Queue* queue_;
};

struct FreeEvent {
  const Table* table;
  void operator()(Event* event) const noexcept { table->free_event(event); }
};
using OwnedEvent = std::unique_ptr<Event, FreeEvent>;

// Errors are those of Table::make_event().
inline OwnedEvent make_owned_event(const Table& table, int device, bool timed = false) {
  return OwnedEvent(table.make_event(device, timed), FreeEvent{&table});
}

// A buffer in device or pinned memory. Pinned memory that is too small is kept until destruction,
// because freeing it waits for work on devices. Allocating and freeing are a MemoryCall.
class Buffer {
 public:
  Buffer(const Table& table, int device, Placement placement)
      : table_(&table), device_(device), placement_(placement) {}
  ~Buffer() {
    if (data_ == nullptr && outgrown_.empty()) return;
    const MemoryCall call;
    table_->release(device_, placement_, data_);
    for (uint8_t* outgrown : outgrown_) table_->release(device_, placement_, outgrown);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  bool holds(int64_t bytes) const { return data_ != nullptr && bytes <= capacity_; }
  // Makes room for `bytes`, never null. Growth loses the contents, which no work may use any more.
  // Error(kNoMemory).
  uint8_t* reserve(int64_t bytes) {
    if (holds(bytes)) return data_;
    const MemoryCall call;
    const bool pinned = placement_ == Placement::kPinned;
    if (data_ != nullptr && pinned)
      outgrown_.push_back(data_);
    else
      table_->release(device_, placement_, data_);
    data_ = nullptr;
    // Mini-batches differ by little. Doubling keeps the sum of outgrown buffers smaller than the
    // current one.
    const int64_t wanted =
        pinned ? std::max(bytes + bytes / 8 + 256, 2 * capacity_) : bytes + bytes / 8 + 256;
    capacity_ = 0;
    data_ = static_cast<uint8_t*>(table_->allocate(device_, placement_, wanted));
    capacity_ = wanted;
    return data_;
  }
  uint8_t* data() const { return data_; }

 private:
  const Table* table_;
  int device_;
  Placement placement_;
  uint8_t* data_ = nullptr;
  int64_t capacity_ = 0;
  std::vector<uint8_t*> outgrown_;
};

}  // namespace gnnmg::device
