// The work of one call that may outlast it: it runs in the background, the call waits for it in the
// host queue, and the same call finds it again after GNNMG_PENDING.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/cancel.h"
#include "base/host_queue.h"
#include "capi/arguments.h"

namespace gnnmg::capi {

// Work in the background. The result is of any type that the caller and the work agree on.
class Job {
 public:
  using Result = std::shared_ptr<void>;
  using Work = std::function<Result()>;

  explicit Job(std::shared_ptr<base::HostQueue> queue) : queue_(std::move(queue)) {}
  // Runs the work on the calling thread; an exception is kept.
  void run(const Work& work) noexcept;
  bool done() const noexcept { return done_.load(std::memory_order_acquire); }
  // Once done, and once: the result, which nothing here keeps alive any more, or the exception of
  // the work.
  Result take();

 private:
  std::shared_ptr<base::HostQueue> queue_;
  std::atomic<bool> done_{false};
  Result result_;
  std::exception_ptr error_;
};

// The jobs of one object whose calls have answered GNNMG_PENDING or are waiting now. A key names a
// call and its arguments; calls of one key that run at once have a job each, and one that comes
// back after GNNMG_PENDING takes up a job that nobody is inside of.
class Pendings {
 public:
  struct Entry {
    std::string key;
    std::shared_ptr<Job> job;  // null until the call that made the entry has started it
    bool inside = true;
  };
  // Marks that a call is inside an entry, which is an old one of this key or new.
  std::shared_ptr<Entry> enter(const std::string& key);
  void leave(Entry& entry) noexcept;         // the call answers GNNMG_PENDING
  void remove(const Entry& entry) noexcept;  // the call has its result

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<Entry>> entries_;
};

// Waits on a host thread until ready() is true; false when the time is over first.
bool wait_on_host(base::HostQueue& queue, const std::function<bool()>& ready, int64_t timeout_ms);

// The outcome of a waiting call. `pending`: there is none yet.
struct Outcome {
  bool pending = false;
  Job::Result result;
  template <typename T>
  const T& as() const {
    return *static_cast<const T*>(result.get());
  }
};

// Waits for the job of `key`, which `start` makes when there is none; `end` is called when the job
// has ended, before its failure is thrown. `held`: users of the object that the job holds or reads.
Outcome wait_for_job(Pendings& pendings, const std::string& key, base::HostQueue& queue,
                     int64_t timeout_ms, const std::function<std::shared_ptr<Job>()>& start,
                     const std::function<void()>& end, Occupancy* held = nullptr);

// The same for a (c) call: the object, which has a member `pendings`, is held from the call that
// starts the job to the one that gets its result.
template <typename T>
Outcome run_held(const std::shared_ptr<T>& object, const char* name, const std::string& key,
                 int64_t timeout_ms, const std::function<std::shared_ptr<Job>()>& start) {
  return wait_for_job(
      object->pendings, key, *object->queue, timeout_ms,
      [&] {
        if (!object->occupancy.try_hold()) fail_busy(*object, name);
        Hold<T> held(object);
        std::shared_ptr<Job> job = start();
        held.keep();
        return job;
      },
      [&] { object->occupancy.end_hold(); }, &object->occupancy);
}

// The same for a (b) call: the object is read all that time, together with other readers.
template <typename T>
Outcome run_read(const std::shared_ptr<T>& object, const char* name, const std::string& key,
                 int64_t timeout_ms, const std::function<std::shared_ptr<Job>()>& start) {
  return wait_for_job(
      object->pendings, key, *object->queue, timeout_ms,
      [&] {
        if (!object->occupancy.try_read()) fail_busy(*object, name);
        Read<T> shared(object);
        std::shared_ptr<Job> job = start();
        shared.keep();
        return job;
      },
      [&] { object->occupancy.end_job_read(); }, &object->occupancy);
}

// A thread that runs its work items one after the other, until it is told to end. For objects
// whose work has to stay on one thread.
class WorkThread {
 public:
  WorkThread();
  ~WorkThread();  // waits for the running item; the others are dropped
  void post(std::function<void()> work);

 private:
  struct State;
  std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace gnnmg::capi
