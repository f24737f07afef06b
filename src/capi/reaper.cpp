#include "capi/reaper.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include "base/background.h"
#include "base/error.h"
#include "base/never_destroyed.h"
#include "capi/guard.h"
#include "capi/handles.h"
#include "capi/object.h"
#include "device/exit.h"
#include "device/wait.h"

namespace gnnmg::capi {
namespace {

constexpr std::chrono::milliseconds kPatienceWithIdle{500};
constexpr std::chrono::seconds kPatienceWithReaped{10};

struct Counts {
  std::mutex mutex;
  std::condition_variable changed;
  int objects = 0, jobs = 0;  // objects and jobs whose threads run
};

// Never destroyed: threads outlive the end of main().
Counts& counts() noexcept {
  static base::NeverDestroyed<Counts> instance;
  return *instance;
}

// Counts a thread while it lives.
class Counted {
 public:
  explicit Counted(int Counts::*which) : which_(which) { add(1); }
  ~Counted() { add(-1); }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  void add(int change) {
    {
      const std::lock_guard lock(counts().mutex);
      counts().*which_ += change;
    }
    counts().changed.notify_all();
  }
  int Counts::*const which_;
};

// True if a callback ends the program while threads of this object wait for it. They never end, and
// they do no harm while they wait.
bool waits_for_exit(const Object& object) noexcept {
  const bool runs_callbacks = object.kind == Kind::kTrainer || object.kind == Kind::kLoader;
  return runs_callbacks && base::HostQueue::inside_callback() && object.queue->has_calls();
}

// Cancels running work at the end of the process, and waits for it for a while, because LibTorch's
// destructors must not run beside our threads. Leaves objects without threads as they are, and
// objects on GPUs too: LibTorch's CUDA half has ended before.
struct AtExit {
  ~AtExit() {
    if (forked()) return;
    static base::NeverDestroyed<std::vector<std::shared_ptr<Object>>> never_destroyed;
    auto& left = *never_destroyed;
    try {
      left = take_all_handles();
    } catch (...) {
      return;
    }
    for (std::shared_ptr<Object>& object : left) {
      object->cancel_work();
      if (object->on_device()) continue;  // idle since device/exit.h, and stays
      if (object->ends_slowly() && !waits_for_exit(*object)) reap(std::move(object));
    }
    Counts& all = counts();
    std::unique_lock lock(all.mutex);
    all.changed.wait_until(lock, device::exit_deadline(),
                           [&] { return all.objects == 0 && all.jobs == 0; });
    device::block_frees();
  }
};
AtExit at_exit;

}  // namespace

void reap(std::shared_ptr<Object> object, bool idle) noexcept {
  try {
    base::Background end([counted = std::make_shared<Counted>(&Counts::objects),
                          object = std::move(object)]() mutable {
      device::free_unless_exit([object = std::move(object)]() mutable { object.reset(); });
    });
    if (idle) end.over(kPatienceWithIdle);
    end.leave();
  } catch (...) {  // no thread or no memory: the caller's thread has destroyed the object
  }
}

void wait_for_reaped() noexcept {
  Counts& all = counts();
  std::unique_lock lock(all.mutex);
  all.changed.wait_for(lock, kPatienceWithReaped, [&] { return all.objects == 0; });
}

void run_job(std::function<void()> work) {
  base::leave_in_background(
      [counted = std::make_shared<Counted>(&Counts::jobs), work = std::move(work)] { work(); });
}

}  // namespace gnnmg::capi
