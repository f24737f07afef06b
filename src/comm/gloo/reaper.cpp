#include "comm/gloo/reaper.h"

#include <atomic>

#include "base/signals.h"
#include "comm/background.h"
#include "comm/collectives.h"

namespace gnnmg::comm {
namespace {
std::atomic<int> pending{0};
}

int pending_reapers() noexcept { return pending.load() + pending_background(); }

namespace gloo {

void reap(GroupPtr group) noexcept {
  if (!group) return;
  ++pending;
  // Released by hand, so that a thread that cannot be made leaks the group instead of waiting.
  TaggedGroup* raw = group.release();
  try {
    base::start_thread([raw] {
      try {
        GroupPtr::reclaim(raw).reset();
      } catch (...) {  // a failed operation has nobody left to tell
      }
      --pending;
    }).detach();
  } catch (...) {
    --pending;
  }
}

}  // namespace gloo
}  // namespace gnnmg::comm
