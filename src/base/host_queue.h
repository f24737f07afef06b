// Where the host's threads and ours meet. Callbacks of the host run only on a host thread that
// waits inside the library: a thread of ours queues the call and sleeps; a waiting host thread runs
// it. Deleters of imported tensors go the same way.
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
    explicit Entry(HostQueue& queue);  // runs what was deferred
    ~Entry();
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    HostQueue& queue_;
    HostQueue* outer_;
  };

  // Of calls that are under way.
  using Count = std::shared_ptr<std::atomic<int>>;
  // While it lives, the calls that this thread makes are counted there: by who has to tell others
  // what is waited for. Null: they are not.
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

  // Runs `work` on a host thread that is in wait() and returns when it has run; rethrows what it
  // throws. On a thread that is itself inside an Entry, runs it at once. Gives up with
  // Error(kCancelled) when `cancel` is switched before a host thread has taken it (call notify()
  // after switching); once taken, it is waited for.
  void call(const std::function<void()>& work, const CancelToken& cancel);

  // On a host thread: runs queued calls until ready() is true (returns true) or the deadline passes
  // (returns false). ready() is called without any lock held, once at the start and after every
  // notify().
  bool wait(const std::function<bool()>& ready, const Deadline& deadline);

  // Something that a ready() looks at has changed. Any thread; never blocks for long.
  void notify() noexcept;

  // Keeps `work` until a host thread is next inside the library, or the queue is destroyed (by a
  // host's free). Any thread.
  void defer(std::function<void()> work);

  // True while a call waits for a host thread or runs on one: whoever is late may be waiting for
  // the host. Any thread.
  bool has_calls() const noexcept;

  // True on a thread whose innermost Entry is one of this queue: it may wait() here.
  bool entered_here() const noexcept;

  // True while this thread runs a callback of the host: waiting calls are then refused.
  static bool inside_callback() noexcept;

  ~HostQueue();

 private:
  struct Call;
  void run(std::unique_lock<std::mutex>& lock);
  void run_deferred();

  mutable std::mutex mutex_;  // guards all below; held while nobody's code runs
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Call>> calls_;
  std::deque<std::function<void()>> deferred_;
  int running_ = 0;  // calls that a host thread has taken
  uint64_t version_ = 0;
};

}  // namespace gnnmg::base
