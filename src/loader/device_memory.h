// Owners of queues and memory of a device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/device.h"
#include "base/kernel_gate.h"

namespace gnnmg::loader {

class OpenQueue {
 public:
  OpenQueue(const base::DeviceTable& table, int device, int max_multiprocessors = 0)
      : table_(&table), queue_(table.open_queue(device, max_multiprocessors, nullptr)) {}
  ~OpenQueue() { table_->close_queue(queue_); }
  OpenQueue(const OpenQueue&) = delete;
  OpenQueue& operator=(const OpenQueue&) = delete;
  base::DeviceQueue* get() const { return queue_; }

 private:
  const base::DeviceTable* table_;
  base::DeviceQueue* queue_;
};

// A buffer in device or pinned memory. Pinned memory that is too small is kept until destruction,
// because freeing it waits for work on devices. Allocating and freeing are a base::MemoryCall.
class DeviceBuffer {
 public:
  DeviceBuffer(const base::DeviceTable& table, int device, base::Placement placement)
      : table_(&table), device_(device), placement_(placement) {}
  ~DeviceBuffer() {
    if (data_ == nullptr && outgrown_.empty()) return;
    const base::MemoryCall call;
    table_->release(device_, placement_, data_);
    for (uint8_t* outgrown : outgrown_) table_->release(device_, placement_, outgrown);
  }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  bool holds(int64_t bytes) const { return data_ != nullptr && bytes <= capacity_; }
  // Makes room for `bytes`, never null. Growth loses the contents, which no work may use any more.
  // Error(kNoMemory).
  uint8_t* reserve(int64_t bytes) {
    if (holds(bytes)) return data_;
    const base::MemoryCall call;
    const bool pinned = placement_ == base::Placement::kPinned;
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
  const base::DeviceTable* table_;
  int device_;
  base::Placement placement_;
  uint8_t* data_ = nullptr;
  int64_t capacity_ = 0;
  std::vector<uint8_t*> outgrown_;
};

}  // namespace gnnmg::loader
