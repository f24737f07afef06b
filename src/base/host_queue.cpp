#include "base/host_queue.h"

#include <pthread.h>

#include <cstdint>
#include <utility>

#include "base/callback.h"
#include "base/give_back.h"
#include "base/thread_end.h"

namespace gnnmg::base {
namespace {
thread_local HostQueue* entered = nullptr;
// Stack address at the call of the running callback; null while none runs.
thread_local const void* callback_frame = nullptr;
// The counter of the innermost Counting. A plain pointer, because a thread-local object with a
// destructor allocates memory for each thread, and the C library ends the program if that fails.
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
  ~CallbackScope() { callback_frame = outer; }
  const void* const outer = std::exchange(callback_frame, __builtin_frame_address(0));
};
}  // namespace

struct HostQueue::Call {
  explicit Call(const std::function<void()>& its_work) : work(&its_work) {}
  const std::function<void()>* const work;
  bool taken = false;
  bool done = false;
  bool thread_ended = false;  // true if the thread ended inside `work`
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

bool HostQueue::inside_callback() noexcept { return callback_frame != nullptr; }

namespace {
// True if the address is on the stack that the system made for the calling thread. The stacks of
// coroutines and tasks have no known order.
bool on_own_stack(const void* address) noexcept {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return false;
  void* lowest = nullptr;
  size_t size = 0;
  const bool known = pthread_attr_getstack(&attributes, &lowest, &size) == 0;
  pthread_attr_destroy(&attributes);
  const auto offset = reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(lowest);
  return known && offset < size;
}
}  // namespace

// Stacks grow toward lower addresses.
__attribute__((noinline)) bool callback_was_left() noexcept {
  const void* const here = __builtin_frame_address(0);
  return callback_frame != nullptr && here > callback_frame && on_own_stack(here) &&
         on_own_stack(callback_frame);
}

void HostQueue::call(const std::function<void()>& work, const CancelToken& cancel) {
  const Counted in_call;
  if (entered == this) {
    CallbackScope scope;
    work();
    return;
  }
  auto call = std::make_shared<Call>(work);
  std::unique_lock lock(mutex_);
  calls_.push_back(call);
  ++version_;
  changed_.notify_all();
  while (!call->done) {
    if (!call->taken && cancel.cancelled()) {
      std::erase(calls_, call);
      fail(Status::kCancelled, "a callback was canceled before a host thread took it");
    }
    changed_.wait_for(lock, std::chrono::milliseconds(100));
  }
  if (call->thread_ended)
    fail(Status::kCallback, "the program's thread that ran a callback ended inside of it");
  if (call->error) std::rethrow_exception(call->error);
}

void HostQueue::run(std::unique_lock<std::mutex>& lock) {
  while (!calls_.empty()) {
    std::shared_ptr<Call> call = calls_.front();
    calls_.pop_front();
    call->taken = true;
    ++running_;
    lock.unlock();
    const auto finish = [&] {
      lock.lock();
      --running_;
      call->done = true;
      changed_.notify_all();
    };
    try {
      CallbackScope scope;
      (*call->work)();
    } catch (const ThreadEnd&) {
      call->thread_ended = true;
      finish();
      throw;
    } catch (...) {
      call->error = std::current_exception();
    }
    finish();
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
  // Work that is deferred during this loop runs in a later call; it may defer itself again.
  for (size_t left = deferred_.size(); left > 0 && !deferred_.empty(); --left) {
    std::function<void()> work = std::move(deferred_.front());
    deferred_.pop_front();
    lock.unlock();
    give_back(work);
    work = nullptr;  // destroying captured objects may defer more work
    lock.lock();
  }
}

}  // namespace gnnmg::base
