// Exchanges work between the host's threads and the library's. Callbacks of the host run only on
// host threads that wait inside the library: a thread of the library queues the call and sleeps,
// and a waiting host thread runs it. Deleters of imported tensors run in the same way.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>

#include "base/cancel.h"

namespace gnnmg::base {

class HostQueue {
 public:
  // Marks the current thread as a host thread inside a call of the library, for as long as it
  // lives. Calls nest.
  class Entry {
   public:
    explicit Entry(HostQueue& queue);  // runs deferred work
    ~Entry();
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    HostQueue& queue_;
    HostQueue* outer_;
  };

  // Counter of calls in progress.
  using Count = std::shared_ptr<std::atomic<int>>;
  // Counts the calls that this thread makes in `count` while it lives. The owner of the counter
  // tells other processes that a callback is awaited. Null: calls are not counted.
  class Counting {
   public:
    explicit Counting(Count count);
    ~Counting();
    Counting(const Counting&) = delete;
    Counting& operator=(const Counting&) = delete;

   private:
    const Count count_;
    const Count* outer_;
  };
  static Count current_count() noexcept;

  // Runs `work` on a host thread that is in wait(), and returns when it has run; rethrows its
  // exception. On a thread inside an Entry of its own, runs it at once. Error(kCancelled) if
  // `cancel` is switched before a host thread has taken the call (call notify() after switching). A
  // call that is taken always finishes.
  void call(const std::function<void()>& work, const CancelToken& cancel);

  // On a host thread: runs queued calls until ready() is true (returns true) or the deadline passes
  // (returns false). ready() is called without a lock, at the start and after every notify().
  bool wait(const std::function<bool()>& ready, const Deadline& deadline);

  // Call after a change that a ready() depends on. Any thread; never blocks for long.
  void notify() noexcept;

  // Keeps `work` until a host thread enters the library again, or until a host's free destroys the
  // queue. Any thread.
  void defer(std::function<void()> work);

  // True while a call waits for a host thread or runs on one: a late peer may be waiting for the
  // host. Any thread.
  bool has_calls() const noexcept;

  // True if the innermost Entry of this thread is for this queue, so that it may call wait().
  bool entered_here() const noexcept;

  // True while this thread runs a callback of the host. Waiting calls are refused then.
  static bool inside_callback() noexcept;

  ~HostQueue();

 private:
  struct Call;
  void run(std::unique_lock<std::mutex>& lock);
  void run_deferred();

  mutable std::mutex mutex_;  // guards all members below; not held while callbacks run
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Call>> calls_;
  std::deque<std::function<void()>> deferred_;
  int running_ = 0;  // calls that run on host threads
  uint64_t version_ = 0;
};

}  // namespace gnnmg::base
