#include "comm/background.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/signals.h"

namespace gnnmg::comm {
namespace {
std::atomic<int> pending_tasks{0};
}

int pending_background() noexcept { return pending_tasks.load(); }

bool run_in_background(std::function<void()> work, const std::function<bool()>& over) {
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    bool ended = false, alone = false;
  };
  auto shared = std::make_shared<Shared>();
  std::thread thread;
  try {
    thread = base::start_thread([shared, work = std::move(work)]() mutable {
      work();
      work = nullptr;  // frees its captures before the caller continues
      std::lock_guard lock(shared->mutex);
      shared->ended = true;
      if (shared->alone) --pending_tasks;
      shared->changed.notify_all();
    });
  } catch (const std::system_error& e) {
    base::fail(base::Status::kNoMemory, "cannot start a thread: ", e.what());
  }
  std::unique_lock lock(shared->mutex);
  while (!shared->ended) {
    lock.unlock();
    const bool leave = over();
    lock.lock();
    if (leave && !shared->ended) {
      shared->alone = true;
      ++pending_tasks;
      thread.detach();
      return false;
    }
    shared->changed.wait_for(lock, std::chrono::milliseconds(5), [&] { return shared->ended; });
  }
  lock.unlock();
  thread.join();
  return true;
}

}  // namespace gnnmg::comm
