// Who takes memory of a device and who starts kernels that wait for each other, in turns. A call
// that takes or gives back memory (cudaMalloc, cudaFreeHost) may wait for all kernels of the
// process, and other threads cannot start kernels meanwhile; so where a kernel of NCCL's waits for
// one that is still to be started here, such a call would hold up both for ever.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

namespace gnnmg::base {

// Of the ranks of one communicator in this process. Any thread.
class KernelGate {
 public:
  // A rank's operation, from before its kernel is started until that is over. All ranks of this
  // process are about to start theirs, or have: none of them calls for memory before. False while
  // somebody does, or where he has waited for his turn.
  bool try_start() noexcept;
  void finish() noexcept;
  // A rank's kernel is started: from then on no call for memory holds it up.
  void note_launch() noexcept { ++launches_; }
  int64_t launches() const noexcept { return launches_; }

  // The one that MemoryCall of this thread looks at; null: none. A loader's workers take it over
  // from the thread that makes the loader.
  static void set_current(std::shared_ptr<KernelGate> gate) noexcept;
  static std::shared_ptr<KernelGate> current() noexcept;

 private:
  friend class MemoryCall;
  void begin_call() noexcept;
  void end_call() noexcept;

  std::mutex mutex_;  // guards all below but the launches
  std::condition_variable free_;
  std::atomic<int64_t> launches_{0};
  int kernels_ = 0, calls_ = 0, waiting_ = 0;  // the latter for kernels to be over
};

// Calls for memory while it lives, when no operation is under way: waits for those that are. Within
// another one of the thread it is a part of that.
class MemoryCall {
 public:
  MemoryCall() noexcept;
  ~MemoryCall();
  MemoryCall(const MemoryCall&) = delete;
  MemoryCall& operator=(const MemoryCall&) = delete;

 private:
  KernelGate* gate_ = nullptr;
};

}  // namespace gnnmg::base
