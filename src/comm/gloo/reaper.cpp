#include "comm/gloo/reaper.h"

#include <atomic>
#include <chrono>
#include <thread>

#include "base/signals.h"
#include "comm/background.h"
#include "comm/collectives.h"

namespace gnnmg::comm {
namespace {
std::atomic<int> pending_groups{0};
}  // namespace

int pending_reapers() noexcept { return pending_groups.load() + pending_background(); }

namespace gloo {
namespace {

// Gloo does not notice a connection that closes right before an operation uses it, so connections
// stay open until started operations have surely begun.
void end_operations(const TaggedGroup& group) {
  constexpr auto kGrace = std::chrono::seconds(1);
  const auto start = std::chrono::steady_clock::now();
  while (group.in_flight->load() > 0) {
    if (std::chrono::steady_clock::now() - start > kGrace) return group.sockets.hang_up();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace

void reap(GroupPtr group) noexcept {
  if (!group) return;
  ++pending_groups;
  // Released by hand: without a thread the group leaks instead of waiting here.
  TaggedGroup* raw = group.release();
  try {
    base::start_thread([raw] {
      end_operations(*raw);
      try {
        GroupPtr::reclaim(raw).reset();
      } catch (...) {  // a failed operation has no caller any more
      }
      --pending_groups;
    }).detach();
  } catch (...) {
    --pending_groups;
  }
}

}  // namespace gloo
}  // namespace gnnmg::comm
