#include "capi/reaper.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/device_wait.h"
#include "base/error.h"
#include "base/exit.h"
#include "base/signals.h"
#include "capi/guard.h"
#include "capi/handles.h"
#include "capi/object.h"

namespace gnnmg::capi {
namespace {

constexpr std::chrono::milliseconds kPatienceWithIdle{500};
constexpr std::chrono::seconds kPatienceWithReaped{10};
constexpr std::chrono::seconds kPatienceWithOne{15};

struct State {
  std::mutex mutex;
  std::condition_variable wake;
  std::condition_variable idle;
  std::deque<std::shared_ptr<Object>> waiting;
  bool started = false;
  bool busy = false;
  uint64_t taken_in = 0, ended = 0;  // objects
  int background = 0;                // threads of run_in_background()
};

// Never destroyed: its thread outlives the end of main().
State& state() noexcept {
  static State& instance = *new State;
  return instance;
}

void work() {
  State& s = state();
  std::unique_lock lock(s.mutex);
  while (true) {
    s.wake.wait(lock, [&] { return !s.waiting.empty(); });
    std::shared_ptr<Object> object = std::move(s.waiting.front());
    s.waiting.pop_front();
    s.busy = true;
    lock.unlock();
    // An object that waits for a GPU that never comes to its end holds up no others.
    try {
      base::end_in_background([object = std::move(object)]() mutable {
        object.reset();
      }).wait_for(kPatienceWithOne);
    } catch (const std::exception&) {  // no memory for a thread: it has ended here
    }
    lock.lock();
    s.busy = false;
    ++s.ended;
    s.idle.notify_all();
  }
}

// The program may be ended by a callback that threads of such an object wait for: they never end,
// and do no harm where they wait.
bool waits_for_exit(const Object& object) noexcept {
  const bool runs_callbacks = object.kind == Kind::kTrainer || object.kind == Kind::kLoader;
  return runs_callbacks && base::HostQueue::inside_callback() && object.queue->has_calls();
}

// At the end of the process, running work is cancelled and waited for, for a while: LibTorch's own
// end must not meet our threads at work. Objects without threads are left as they are, and so are
// objects on GPUs: LibTorch's CUDA half has come to its end before this.
struct AtExit {
  ~AtExit() {
    if (forked()) return;
    static auto& left = *new std::vector<std::shared_ptr<Object>>;
    try {
      left = take_all_handles();
    } catch (...) {
      return;
    }
    for (std::shared_ptr<Object>& object : left) {
      object->cancel_work();
      if (object->on_device()) continue;  // it came to rest before, and stays (base/exit.h)
      if (object->ends_slowly() && !waits_for_exit(*object)) reap(std::move(object));
    }
    State& s = state();
    std::unique_lock lock(s.mutex);
    s.idle.wait_until(lock, base::exit_deadline(),
                      [&] { return s.waiting.empty() && !s.busy && s.background == 0; });
    base::wait_for_ever();
  }
};
AtExit at_exit;

}  // namespace

void reap(std::shared_ptr<Object> object, bool idle) noexcept {
  State& s = state();
  std::unique_lock lock(s.mutex);
  try {
    if (!s.started) {
      base::start_thread(work).detach();
      s.started = true;
    }
    s.waiting.push_back(std::move(object));
    const uint64_t own = ++s.taken_in;
    s.wake.notify_one();
    if (idle) s.idle.wait_for(lock, kPatienceWithIdle, [&] { return s.ended >= own; });
  } catch (...) {  // no thread or no memory: the caller's thread does it
  }
}

void wait_for_reaped() noexcept {
  State& s = state();
  std::unique_lock lock(s.mutex);
  const uint64_t all = s.taken_in;
  s.idle.wait_for(lock, kPatienceWithReaped, [&] { return s.ended >= all; });
}

void run_in_background(std::function<void()> work) {
  State& s = state();
  {
    std::lock_guard lock(s.mutex);
    ++s.background;
  }
  const auto ended = [&s] {
    std::lock_guard lock(s.mutex);
    --s.background;
    s.idle.notify_all();
  };
  try {
    base::start_thread([work = std::move(work), ended]() mutable {
      work();
      work = nullptr;  // objects of the work go before the thread is counted out
      ended();
    }).detach();
  } catch (...) {
    ended();
    throw;
  }
}

}  // namespace gnnmg::capi
