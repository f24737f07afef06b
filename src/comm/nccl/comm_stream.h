// What a rank's end of an NCCL communicator has of its device: a stream, its queue, and staging
// memory that operations work on, so that a call which is given up never writes into the caller's.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

#include "base/device.h"
#include "comm/nccl/table.h"

namespace gnnmg::comm::nccl {

// One thread, whose device becomes the stream's. Every function throws what the tables' functions
// do.
class CommStream {
 public:
  CommStream(const Table& nccl, const base::DeviceTable& devices, int device);
  // Waits for nothing: what the device is still at is closed by a thread of its own, as soon as it
  // can be (pending_background() of comm/background.h counts it).
  ~CommStream();
  CommStream(const CommStream&) = delete;
  CommStream& operator=(const CommStream&) = delete;

  void* get() const { return open_.stream; }
  // At least `bytes` of the device's memory, the same at the next call: nothing may be under way.
  // After Error(kNoMemory) there is none, and a smaller size can be had.
  uint8_t* stage(int64_t bytes);
  // A few words of the device's and as many of the host's, pinned, between which they are copied;
  // as stage() otherwise.
  struct WordBuffer {
    uint8_t* device;
    int64_t* host;
  };
  WordBuffer word_buffer(int64_t bytes);
  // Another one, for kMostDigests times a word of each rank and one more. It stays.
  static constexpr size_t kMostDigests = 16;
  WordBuffer digests(int64_t world);

  // Queued; either side may be any memory that the device's queues copy.
  void copy(void* to, const void* from, int64_t bytes);
  // What is queued here from now on waits for what is in a queue of the caller's, and the other way
  // round; the host does not.
  void wait_for(base::DeviceQueue* queue) { open_.devices->wait(open_.queue, queue); }
  void block(base::DeviceQueue* queue) { open_.devices->wait(queue, open_.queue); }
  // Whether all that is queued is over, here or in a queue of the caller's. Any thread.
  bool finished() { return finished(open_.queue); }
  bool finished(base::DeviceQueue* queue) { return open_.devices->finished(queue); }
  // The device becomes that of the calling thread, which may be another one.
  void use_device() noexcept;
  // Waits for that, no longer than `limit`; true when it is. A lost device is over with everything.
  bool drain(std::chrono::milliseconds limit) noexcept;

 private:
  struct Buffer {
    base::Placement placement = base::Placement::kDevice;
    void* memory = nullptr;
    int64_t capacity = 0;
  };
  // What each of the buffers is for.
  enum Use { kStaging, kWords, kPinnedWords, kDigests, kPinnedDigests, kUses };
  struct Open {  // what has to be closed
    const Table* nccl = nullptr;
    const base::DeviceTable* devices = nullptr;
    int device = 0;
    void* stream = nullptr;
    base::DeviceQueue* queue = nullptr;
    std::array<Buffer, kUses> buffers{};
    void close() const noexcept;
  };
  void* reserve(Use use, int64_t bytes);
  Open open_;
};

}  // namespace gnnmg::comm::nccl
