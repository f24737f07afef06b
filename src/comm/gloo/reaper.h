// The end of abandoned process groups. A group can be dropped only after its operation has ended;
// one that waits for a missing rank would last until Gloo's own timeout. So a detached thread waits
// a little for the peers to close their connections, and then closes its own.
#pragma once

#include <atomic>
#include <memory>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include "comm/gloo/group_sockets.h"

namespace gnnmg::comm::gloo {

// A process group with a settable tag for the messages of its next operation.
class TaggedGroup final : public c10d::ProcessGroupGloo {
 public:
  using c10d::ProcessGroupGloo::ProcessGroupGloo;
  void set_tag(uint32_t tag) { collectiveCounter_ = tag; }
  // LibTorch keeps a record of every group for the life of the process, by this number (2.11): all
  // groups of the library share one. Call before the first operation.
  void share_record() {
    static const size_t first = local_id_;
    local_id_ = first;
  }
  GroupSockets sockets;
  // Number of running operations; incremented before each start.
  const std::shared_ptr<std::atomic<int>> in_flight = std::make_shared<std::atomic<int>>(0);
};

using GroupPtr = c10::intrusive_ptr<TaggedGroup>;

// Drops the caller's share of `group` on another thread; returns at once.
void reap(GroupPtr group) noexcept;

}  // namespace gnnmg::comm::gloo
