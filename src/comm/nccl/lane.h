// What a rank's end of an NCCL communicator has of its device: a stream, its queue, and staging
// memory that operations work on, so that a call which is given up never writes into the caller's.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/device.h"
#include "comm/nccl/table.h"

namespace gnnmg::comm::nccl {

// One thread. Every function throws what the tables' functions do.
class Lane {
 public:
  Lane(const Table& nccl, const base::DeviceTable& devices, int device);
  // Waits for nothing: what the device is still at is closed by a thread of its own, as soon as it
  // can be (pending_background() of comm/background.h counts it).
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  void* stream() const { return open_.stream; }
  // At least `bytes` of the device's memory, the same at the next call: nothing may be under way.
  // After Error(kNoMemory) there is none, and a smaller size can be had.
  uint8_t* stage(int64_t bytes);
  // Queued; either side may be any memory that the device's queues copy.
  void copy(void* to, const void* from, int64_t bytes);
  // Whether all that is queued is over.
  bool finished();
  // Waits for that, no longer than `limit`; true when it is. A lost device is over with everything.
  bool drain(std::chrono::milliseconds limit) noexcept;

 private:
  struct Open {  // what has to be closed
    const Table* nccl = nullptr;
    const base::DeviceTable* devices = nullptr;
    int device = 0;
    void* stream = nullptr;
    base::DeviceQueue* queue = nullptr;
    void* memory = nullptr;
    void close() const noexcept;
  };
  Open open_;
  int64_t capacity_ = 0;
};

}  // namespace gnnmg::comm::nccl
