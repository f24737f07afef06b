// Who takes memory of a device and who starts kernels that wait for each other, in turns.
//
// A call that takes or gives back memory (cudaMalloc, cudaFree, cudaFreeHost, what loads a kernel)
// may wait for all kernels of the process, of every GPU whose memory another one may read, and hold
// up threads that are about to start kernels meanwhile. A kernel of NCCL's on one GPU waits for
// those of the other ranks. So where one is started and its sibling in this process is not, such a
// call of whatever thread, also of another trainer or of the host's own, could hold up both for
// ever. There is one world of it for the process, and a gate for each communicator:
// - an operation begins when all of its ranks here have come to it (comm/nccl/runner.h), so none of
//   their threads calls for memory between its first launch and its last: what a pass takes in
//   LibTorch, however large, it takes before its rank comes;
// - launches keep all calls for memory waiting until every rank here has made its own; calls for
//   memory may overlap, and keep all launches waiting;
// - a launch may be alone among those of all communicators, since NCCL takes memory in one in which
//   it connects, and since two of them have to come to all GPUs in one order: streams may share a
//   queue of the device's, where a kernel that waits holds up what is behind it;
// - calls of a communicator's own threads wait until its operation is over: what one that hangs
//   would hold up might be the thread that ends it at its deadline.
// Nobody waits for another communicator's launches longer than kPatience: one that is not made by
// then waits for another process, which may wait for this one, and nobody waits for it again.
// Launches wait for a library's call for as long, which may have failed, and for the library's own,
// which end, for kPatienceWithCalls: pinning a hundred gigabytes takes its time.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

namespace gnnmg::base {

// Of the ranks of one communicator in this process. Any thread.
class KernelGate {
 public:
  static constexpr std::chrono::milliseconds kPatience{3000};
  static constexpr std::chrono::milliseconds kPatienceWithCalls{60'000};

  explicit KernelGate(int num_ranks);
  ~KernelGate();
  KernelGate(const KernelGate&) = delete;
  KernelGate& operator=(const KernelGate&) = delete;

  // A rank's operation, from before its first launch until it is over, or all ranks have launched
  // where nobody waits for its end; on one thread. All ranks are about to enter it, or have. False
  // while one of the communicator's threads calls for memory, or waits for its turn.
  bool try_enter() noexcept;
  void leave() noexcept;

  // Within it: the rank is about to make the communicator's `number`-th launch, counted by each
  // from 1, and has made the one before. False as long as another rank has not, or as somebody
  // calls for memory, or another communicator launches alone; with `alone`, which is the same for
  // all ranks, as any other launches.
  bool try_launch(int64_t number, bool alone) noexcept;
  // It is made: from then on no call for memory holds it up.
  void note_launch(int64_t number) noexcept;
  bool all_launched(int64_t number) const noexcept;
  // The communicator has failed: its operations are not waited for longer than kPatience.
  void note_failure() noexcept;
  // Nor are those of communicators that have failed waited for at all from here on: a device is
  // given up (base/device_wait.h), whose driver may never let a thread out of its operation.
  static void leave_failed_alone() noexcept;

  // The one of this thread; null: none. A loader's workers take it over from the thread that makes
  // the loader.
  static void set_current(std::shared_ptr<KernelGate> gate) noexcept;
  static std::shared_ptr<KernelGate> current() noexcept;

 private:
  friend class MemoryCall;
  friend struct KernelWorld;
  using Time = std::chrono::steady_clock::time_point;
  void open() noexcept;
  void close() noexcept;
  bool tired(std::chrono::milliseconds patience) noexcept;
  bool left_alone() const noexcept;

  // All guarded by the world's lock.
  const int num_ranks_;
  int kernels_ = 0, callers_ = 0;         // the latter wait for the former to be over, or call
  int64_t number_ = 0;                    // of the newest launch
  int launched_;                          // ranks that have made it
  bool open_ = false;                     // not all of them, and it is waited for
  bool alone_ = false;                    // its operations are waited for no more
  Time opened_{}, refused_{}, failed_{};  // since when, if so
  KernelGate* next_ = nullptr;            // of all gates there are
};

// Calls for memory while it lives, in turn. Within another one of the thread it is a part of that.
class MemoryCall {
 public:
  // Waits for operations of the thread's communicator, and for launches of all.
  MemoryCall() noexcept;
  // What a rank calls that has failed, or goes: waits for launches of communicators other than
  // `own`, and no longer than `patience`.
  MemoryCall(const KernelGate& own, std::chrono::milliseconds patience) noexcept;
  ~MemoryCall();
  MemoryCall(const MemoryCall&) = delete;
  MemoryCall& operator=(const MemoryCall&) = delete;

 private:
  KernelGate* gate_ = nullptr;
  bool outermost_ = false;
};

// The same of a library that says before it calls, and when it has something (LibTorch's allocator,
// which calls where its cache has nothing that fits): from the one to the other, on one thread. One
// that is never ended, since the library has failed, is ended by what the thread does next here.
void begin_growth() noexcept;
void end_growth() noexcept;

}  // namespace gnnmg::base
