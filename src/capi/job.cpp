#include "capi/job.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <thread>

#include "base/signals.h"

namespace gnnmg::capi {

void Job::run(const Work& work) noexcept {
  try {
    result_ = work();
  } catch (...) {
    error_ = std::current_exception();
  }
  done_.store(true, std::memory_order_release);
  queue_->notify();
}

Job::Result Job::result() {
  if (error_) std::rethrow_exception(error_);
  return result_;
}

std::shared_ptr<Job> Pendings::enter(const std::string& key) {
  std::lock_guard lock(mutex_);
  for (Entry& entry : entries_) {
    if (entry.key != key) continue;
    if (entry.inside) fail(Status::kBusy, "another call waits for the same work");
    entry.inside = true;
    return entry.job;
  }
  entries_.push_back({key, nullptr, true});
  return nullptr;
}

void Pendings::set(const std::string& key, std::shared_ptr<Job> job) noexcept {
  std::lock_guard lock(mutex_);
  for (Entry& entry : entries_)
    if (entry.key == key) entry.job = std::move(job);
}

void Pendings::leave(const std::string& key) noexcept {
  std::lock_guard lock(mutex_);
  for (Entry& entry : entries_)
    if (entry.key == key) entry.inside = false;
}

void Pendings::remove(const std::string& key) noexcept {
  std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](const Entry& entry) { return entry.key == key; });
}

bool wait_on_host(base::HostQueue& queue, const std::function<bool()>& ready, int64_t timeout_ms) {
  check_may_wait();
  base::HostQueue::Entry entry(queue);
  return queue.wait(ready, base::Deadline::after_ms(timeout_ms));
}

Outcome wait_for_job(Pendings& pendings, const std::string& key, base::HostQueue& queue,
                     int64_t timeout_ms, const std::function<std::shared_ptr<Job>()>& start,
                     const std::function<void()>& end) {
  check_may_wait();
  std::shared_ptr<Job> job = pendings.enter(key);
  if (job == nullptr) {
    try {
      job = start();
    } catch (...) {
      pendings.remove(key);
      throw;
    }
    pendings.set(key, job);
  }
  bool done = false;
  try {
    done = wait_on_host(queue, [&] { return job->done(); }, timeout_ms);
  } catch (...) {
    pendings.leave(key);
    throw;
  }
  if (!done) {
    pendings.leave(key);
    return {true, nullptr};
  }
  pendings.remove(key);
  end();
  return {false, job->result()};
}

struct WorkThread::State {
  std::mutex mutex;
  std::condition_variable wake;
  std::deque<std::function<void()>> work;
  bool ending = false;
};

WorkThread::WorkThread() : state_(std::make_shared<State>()) {
  thread_ = base::start_thread([state = state_] {
    std::unique_lock lock(state->mutex);
    while (true) {
      state->wake.wait(lock, [&] { return state->ending || !state->work.empty(); });
      if (state->ending) return;
      std::function<void()> work = std::move(state->work.front());
      state->work.pop_front();
      lock.unlock();
      work();
      work = nullptr;
      lock.lock();
    }
  });
}

WorkThread::~WorkThread() {
  {
    std::lock_guard lock(state_->mutex);
    state_->ending = true;
  }
  state_->wake.notify_all();
  thread_.join();
}

void WorkThread::post(std::function<void()> work) {
  {
    std::lock_guard lock(state_->mutex);
    state_->work.push_back(std::move(work));
  }
  state_->wake.notify_all();
}

}  // namespace gnnmg::capi
