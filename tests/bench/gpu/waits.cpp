#include "bench/gpu/waits.h"

#include <chrono>
#include <mutex>

namespace gnnmg::bench {
namespace {

using Clock = std::chrono::steady_clock;

const device::Table* real = nullptr;

std::mutex mutex;
Waits all;

// The state of a thread: its queue for LibTorch's work, and the object that it waits for.
struct Thread {
  device::Queue* queue = nullptr;
  const void* awaited = nullptr;
  Clock::time_point since{};
};
thread_local Thread thread;

// Records the answer to a query of `asked`, and returns it.
bool note(const void* asked, bool reached) {
  if (thread.queue == nullptr) return reached;
  if (!reached) {
    if (thread.awaited != asked) {
      thread.awaited = asked;
      thread.since = Clock::now();
    }
    const std::lock_guard lock(mutex);
    ++all.asked;
  } else if (thread.awaited == asked) {
    thread.awaited = nullptr;
    const double seconds = std::chrono::duration<double>(Clock::now() - thread.since).count();
    const bool stalled = real->finished(thread.queue);
    const std::lock_guard lock(mutex);
    ++all.waitings;
    all.seconds += seconds;
    if (stalled) {
      ++all.stalls;
      all.stalled_seconds += seconds;
    }
  }
  return reached;
}

}  // namespace

const device::Table& watched(const device::Table& table) {
  static device::Table watching;
  if (real == &table) return watching;
  real = &table;
  watching = table;
  watching.use = [](device::Queue* queue) {
    real->use(queue);
    thread = {};
    thread.queue = queue;
  };
  watching.close_queue = [](device::Queue* queue) noexcept {
    if (thread.queue == queue) thread = {};
    real->close_queue(queue);
  };
  watching.reached = [](const device::Event* mark) { return note(mark, real->reached(mark)); };
  watching.finished = [](device::Queue* queue) { return note(queue, real->finished(queue)); };
  return watching;
}

Waits waits() {
  const std::lock_guard lock(mutex);
  return all;
}

}  // namespace gnnmg::bench
