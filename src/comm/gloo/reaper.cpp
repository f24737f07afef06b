#include "comm/gloo/reaper.h"

#include <atomic>
#include <chrono>
#include <thread>

#include "base/background.h"

namespace gnnmg::comm::gloo {
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
  // Released by hand: without a thread the group leaks instead of waiting here.
  TaggedGroup* raw = group.release();
  try {
    base::leave_in_background([raw] {
      end_operations(*raw);
      GroupPtr::reclaim(raw).reset();
    });
  } catch (const std::exception&) {  // no thread: the group leaks
  }
}

}  // namespace gnnmg::comm::gloo
