#include "base/host_queue.h"

#include <utility>

namespace gnnmg::base {
namespace {
thread_local HostQueue* entered = nullptr;
thread_local int callback_depth = 0;
// Of the innermost Counting; a plain pointer, because a thread-local object with a destructor takes
// memory on each thread, and without any the C library ends the program.
thread_local const HostQueue::Count* counted = nullptr;

struct Counted {
  Counted() : count(HostQueue::current_count()) {
    if (count) ++*count;
  }
  ~Counted() {
    if (count) --*count;
  }
  const HostQueue::Count count;
};

struct CallbackScope {
  CallbackScope() { ++callback_depth; }
  ~CallbackScope() { --callback_depth; }
};
}  // namespace

struct HostQueue::Call {
  const std::function<void()>* work;
  bool taken = false;
  bool done = false;
  std::exception_ptr error;
};

HostQueue::Entry::Entry(HostQueue& queue) : queue_(queue), outer_(entered) {
  entered = &queue_;
  queue_.run_deferred();
}

HostQueue::Entry::~Entry() { entered = outer_; }

HostQueue::Counting::Counting(Count count)
    : count_(std::move(count)), outer_(std::exchange(counted, &count_)) {}

HostQueue::Counting::~Counting() { counted = outer_; }

HostQueue::Count HostQueue::current_count() noexcept { return counted ? *counted : nullptr; }

HostQueue::~HostQueue() { run_deferred(); }

bool HostQueue::has_calls() const noexcept {
  std::lock_guard lock(mutex_);
  return running_ > 0 || !calls_.empty();
}

bool HostQueue::entered_here() const noexcept { return entered == this; }

bool HostQueue::inside_callback() noexcept { return callback_depth > 0; }

void HostQueue::call(const std::function<void()>& work, const CancelToken& cancel) {
  const Counted in_call;
  if (entered == this) {
    CallbackScope scope;
    work();
    return;
  }
  auto call = std::make_shared<Call>(Call{&work, false, false, nullptr});
  std::unique_lock lock(mutex_);
  calls_.push_back(call);
  ++version_;
  changed_.notify_all();
  while (!call->done) {
    if (!call->taken && cancel.cancelled()) {
      std::erase(calls_, call);
      fail(Status::kCancelled, "a callback was cancelled before a host thread came for it");
    }
    changed_.wait_for(lock, std::chrono::milliseconds(100));
  }
  if (call->error) std::rethrow_exception(call->error);
}

void HostQueue::run(std::unique_lock<std::mutex>& lock) {
  while (!calls_.empty()) {
    std::shared_ptr<Call> call = calls_.front();
    calls_.pop_front();
    call->taken = true;
    ++running_;
    lock.unlock();
    std::exception_ptr error;
    try {
      CallbackScope scope;
      (*call->work)();
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    --running_;
    call->error = error;
    call->done = true;
    changed_.notify_all();
  }
}

bool HostQueue::wait(const std::function<bool()>& ready, const Deadline& deadline) {
  while (true) {
    uint64_t seen;
    {
      std::unique_lock lock(mutex_);
      run(lock);
      seen = version_;
    }
    run_deferred();
    if (ready()) return true;
    std::unique_lock lock(mutex_);
    const auto changed = [&] { return version_ != seen; };
    if (deadline.never())
      changed_.wait(lock, changed);
    else if (!changed_.wait_until(lock, deadline.at(), changed))
      return false;
  }
}

void HostQueue::notify() noexcept {
  {
    std::lock_guard lock(mutex_);
    ++version_;
  }
  changed_.notify_all();
}

void HostQueue::defer(std::function<void()> work) {
  std::lock_guard lock(mutex_);
  deferred_.push_back(std::move(work));
}

void HostQueue::run_deferred() {
  std::unique_lock lock(mutex_);
  if (deferred_.empty()) return;  // an empty deque is no free thing to make
  std::deque<std::function<void()>> taken;
  taken.swap(deferred_);
  lock.unlock();
  for (std::function<void()>& work : taken) work();
}

}  // namespace gnnmg::base
