// Where given-up process groups go. A group can only be dropped when its operation has ended, and
// one that waits for a rank that will never come would go on until Gloo's own time-out. So a thread
// of its own, which nobody joins, waits a little for the others to close their connections and then
// hangs up.
#pragma once

#include <atomic>
#include <memory>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include "comm/gloo/group_sockets.h"

namespace gnnmg::comm::gloo {

// A process group whose caller marks the messages of its next operation.
class TaggedGroup final : public c10d::ProcessGroupGloo {
 public:
  using c10d::ProcessGroupGloo::ProcessGroupGloo;
  void set_tag(uint32_t tag) { collectiveCounter_ = tag; }
  // LibTorch keeps a record of every group for the life of the process, by this number (2.11): one
  // does for all of ours. Before the first operation.
  void share_record() {
    static const size_t first = local_id_;
    local_id_ = first;
  }
  GroupSockets sockets;
  // Operations that run; who starts one counts it.
  const std::shared_ptr<std::atomic<int>> in_flight = std::make_shared<std::atomic<int>>(0);
};

using GroupPtr = c10::intrusive_ptr<TaggedGroup>;

// Drops the caller's share of `group` on another thread; returns at once.
void reap(GroupPtr group) noexcept;

}  // namespace gnnmg::comm::gloo
