#include "capi/job.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <thread>

#include "base/background.h"

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

Job::Result Job::take() {
  if (error_) std::rethrow_exception(error_);
  return std::move(result_);
}

std::shared_ptr<Pendings::Entry> Pendings::enter(const std::string& key) {
  std::lock_guard lock(mutex_);
  for (const auto& entry : entries_) {
    if (entry->inside || entry->key != key) continue;
    entry->inside = true;
    return entry;
  }
  return entries_.emplace_back(std::make_shared<Entry>(Entry{key, nullptr, true}));
}

void Pendings::leave(Entry& entry) noexcept {
  std::lock_guard lock(mutex_);
  entry.inside = false;
}

void Pendings::remove(const Entry& entry) noexcept {
  std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](const auto& kept) { return kept.get() == &entry; });
}

bool wait_on_host(base::HostQueue& queue, const std::function<bool()>& ready, int64_t timeout_ms) {
  check_may_wait();
  base::HostQueue::Entry entry(queue);
  return queue.wait(ready, base::Deadline::after_ms(timeout_ms));
}

Outcome wait_for_job(Pendings& pendings, const std::string& key, base::HostQueue& queue,
                     int64_t timeout_ms, const std::function<std::shared_ptr<Job>()>& start,
                     const std::function<void()>& end, Occupancy* held) {
  check_may_wait();
  const std::shared_ptr<Pendings::Entry> entry = pendings.enter(key);
  if (entry->job == nullptr) {
    try {
      entry->job = start();
    } catch (...) {
      pendings.remove(*entry);
      throw;
    }
  }
  const std::shared_ptr<Job> job = entry->job;
  bool done = false;
  try {
    done = wait_on_host(queue, [&] { return job->done(); }, timeout_ms);
  } catch (...) {
    pendings.leave(*entry);
    throw;
  }
  if (!done) {
    if (held != nullptr) held->note_pending();
    pendings.leave(*entry);
    return {true, nullptr};
  }
  pendings.remove(*entry);
  end();
  return {false, job->take()};
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
