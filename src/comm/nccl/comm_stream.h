// A rank's stream for NCCL and its staging memory. Operations work on staging memory, so a call
// that gives up early never writes to the caller's memory later.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

#include "comm/nccl/table.h"
#include "device/table.h"

namespace gnnmg::comm::nccl {

// One thread; the device becomes the current one of that thread. Every function throws the errors
// of the tables' functions.
class CommStream {
 public:
  CommStream(const Table& nccl, const device::Table& devices, int device);
  // Does not wait: if the device is still busy, a background thread frees the resources once it is
  // idle (base::num_left() counts it).
  ~CommStream();
  CommStream(const CommStream&) = delete;
  CommStream& operator=(const CommStream&) = delete;

  void* get() const { return open_.stream; }
  // Returns at least `bytes` of device memory, the same memory at each call, so no work may be in
  // flight. After Error(kNoMemory) a smaller size may still succeed.
  uint8_t* stage(int64_t bytes);
  // A few words of device memory and as many of pinned host memory, for copies between them;
  // otherwise like stage().
  struct WordBuffer {
    uint8_t* device;
    int64_t* host;
  };
  WordBuffer word_buffer(int64_t bytes);
  // A second word buffer, for kMostDigests times one word per rank and one more. It never moves.
  static constexpr size_t kMostDigests = 16;
  WordBuffer digests(int64_t world);

  // Queues a copy; each side may be any memory that the device's queues can copy.
  void copy(void* to, const void* from, int64_t bytes);
  // Makes later work of this stream wait for the current work of `queue`, or the other way round.
  // The host does not wait.
  void wait_for(device::Queue* queue) { open_.devices->wait(open_.queue, queue); }
  void block(device::Queue* queue) { open_.devices->wait(queue, open_.queue); }
  // True if all queued work, here or in `queue`, is done. Any thread.
  bool finished() { return finished(open_.queue); }
  bool finished(device::Queue* queue) { return open_.devices->finished(queue); }
  // Makes the device the current one of the calling thread, which may be another thread.
  void use_device() noexcept;
  // Waits up to `limit` for finished(); returns its value. A lost device counts as finished.
  bool drain(std::chrono::milliseconds limit) noexcept;

 private:
  struct Buffer {
    device::Placement placement = device::Placement::kDevice;
    void* memory = nullptr;
    int64_t capacity = 0;
  };
  enum Use { kStaging, kWords, kPinnedWords, kDigests, kPinnedDigests, kUses };
  struct Open {  // resources to close
    const Table* nccl = nullptr;
    const device::Table* devices = nullptr;
    int device = 0;
    void* stream = nullptr;
    device::Queue* queue = nullptr;
    std::array<Buffer, kUses> buffers{};
    void close() const noexcept;
  };
  void* reserve(Use use, int64_t bytes);
  Open open_;
};

}  // namespace gnnmg::comm::nccl
