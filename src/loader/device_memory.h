// Queues and memory of a device that go with the object.
#pragma once

#include <cstdint>
#include <utility>

#include "base/device.h"

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

class DeviceBuffer {
 public:
  DeviceBuffer(const base::DeviceTable& table, int device, base::Placement placement)
      : table_(&table), device_(device), placement_(placement) {}
  ~DeviceBuffer() { table_->release(device_, placement_, data_); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  bool holds(int64_t bytes) const { return data_ != nullptr && bytes <= capacity_; }
  // Room for `bytes`, never null. Where it has to grow, what was in it is lost, and nothing may use
  // it any more. Error(kNoMemory).
  uint8_t* reserve(int64_t bytes) {
    if (holds(bytes)) return data_;
    table_->release(device_, placement_, std::exchange(data_, nullptr));
    capacity_ = 0;
    const int64_t wanted = bytes + bytes / 8 + 256;  // mini-batches differ by little
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
};

}  // namespace gnnmg::loader
