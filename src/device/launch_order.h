// Takes turns between memory calls on devices and kernels that wait for each other.
//
// A call that allocates or frees memory (cudaMalloc, cudaFree, cudaFreeHost, the loading of a
// kernel) may wait for all kernels of the process, on every GPU with peer access, and may block
// threads that are about to launch kernels. A kernel of NCCL on one GPU waits for the kernels of
// the other ranks. So if one of these is launched and its peer in this process is not, a memory
// call on any thread, even of another trainer or of the host, can deadlock both. The process has
// one set of rules, with a gate for each communicator:
// - An operation begins when all of its local ranks have arrived (comm/nccl/runner.h), so none of
//   their threads calls for memory between its first and its last launch. A rank allocates the
//   memory for its pass in LibTorch before it arrives.
// - Launches block all memory calls until every local rank has launched. Memory calls may overlap
//   with each other, and block all launches.
// - A launch may exclude the launches of all other communicators, because NCCL allocates memory in
//   a launch that connects, and because two communicators must reach all GPUs in one order: streams
//   may share a hardware queue, where a waiting kernel blocks all work after it.
// - Memory calls of a communicator's own threads wait until its operation is over: otherwise a hung
//   operation could block the thread that aborts it at its deadline.
// Nobody waits for the launches of another communicator longer than kPatience. A launch that is
// later than that waits for another process, which may be waiting for this one; it is ignored from
// then on. Launches wait for the memory call of another library for as long, since it may have
// failed, and for the library's own memory calls, which always end, for kPatienceWithCalls: pinning
// a hundred gigabytes takes time.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

namespace gnnmg::device {

// The gate of one communicator's ranks in this process. Any thread.
class LaunchOrder {
 public:
  static constexpr std::chrono::milliseconds kPatience{3000};
  static constexpr std::chrono::milliseconds kPatienceWithCalls{60'000};

  explicit LaunchOrder(int num_ranks);
  ~LaunchOrder();
  LaunchOrder(const LaunchOrder&) = delete;
  LaunchOrder& operator=(const LaunchOrder&) = delete;

  // Begins a rank's operation, which lasts until its end, or until all ranks have launched if
  // nobody waits for its end; on one thread. All ranks have entered it or are about to. Returns
  // false while a thread of the communicator calls for memory or waits to.
  bool try_enter() noexcept;
  void leave() noexcept;

  // Within an operation: the rank is about to make launch `number` of the communicator, counted
  // from 1, and has made the one before. Returns false while another rank has not made that one,
  // while a memory call runs, or while another communicator has an exclusive launch. An `exclusive`
  // launch, which is so for all ranks, also waits for the launches of all other communicators.
  bool try_launch(int64_t number, bool exclusive) noexcept;
  // Reports a launch as made: memory calls do not block it any more.
  void note_launch(int64_t number) noexcept;
  bool all_launched(int64_t number) const noexcept;
  // Reports that the communicator has failed: its operations block others for kPatience at most.
  void note_failure() noexcept;
  // Makes the operations of failed communicators block nobody. Called when a device is quarantined
  // (device/wait.h), because its driver may never let a thread return from its operation.
  static void ignore_failed() noexcept;

  // The gate of this thread, or null. The workers of a loader take it over from the thread that
  // makes the loader.
  static void set_current(std::shared_ptr<LaunchOrder> gate) noexcept;
  static std::shared_ptr<LaunchOrder> current() noexcept;

 private:
  friend class MemoryCall;
  friend struct KernelWorld;
  using Time = std::chrono::steady_clock::time_point;
  void open() noexcept;
  void close() noexcept;
  bool out_of_patience(std::chrono::milliseconds patience) noexcept;
  bool ignored() const noexcept;

  // The world's mutex guards all members below.
  const int num_ranks_;
  int entered_ = 0;       // ranks within an operation
  int callers_ = 0;       // memory calls of the ranks' threads, running or waiting for entered_
  int64_t number_ = 0;    // number of the newest launch
  int launched_;          // ranks that have made the newest launch
  bool open_ = false;     // some ranks have not made it, and others still wait for them
  bool ignored_ = false;  // the operations of this gate block nobody any more
  Time opened_{}, refused_{}, failed_{};  // start times; unset if not in that state
  LaunchOrder* next_ = nullptr;           // next gate of the world
};

// A call for memory while it lives. A nested one on the same thread belongs to the outer one.
class MemoryCall {
 public:
  // Waits for operations of the thread's communicator and for launches of all communicators.
  MemoryCall() noexcept;
  // For a rank that has failed or is leaving: waits at most `patience` for launches of
  // communicators other than `own`.
  MemoryCall(const LaunchOrder& own, std::chrono::milliseconds patience) noexcept;
  ~MemoryCall();
  MemoryCall(const MemoryCall&) = delete;
  MemoryCall& operator=(const MemoryCall&) = delete;

 private:
  LaunchOrder* gate_ = nullptr;
  bool outermost_ = false;
};

// Brackets a memory call of a library that announces it, such as a cudaMalloc by LibTorch's
// allocator when its cache has nothing that fits, on one thread. If the library throws,
// end_growth() is never called; the thread's next use of the gate ends the bracket.
void begin_growth() noexcept;
void end_growth() noexcept;

}  // namespace gnnmg::device
