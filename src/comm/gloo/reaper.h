// Where given-up process groups go. A group can only be dropped when its operation has ended, and
// an operation that waits for a dead rank ends with Gloo's own time-out; so a thread of its own
// does the waiting, which nobody joins.
#pragma once

#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

namespace gnnmg::comm::gloo {

// A process group whose caller marks the messages of its next operation.
class TaggedGroup final : public c10d::ProcessGroupGloo {
 public:
  using c10d::ProcessGroupGloo::ProcessGroupGloo;
  void set_tag(uint32_t tag) { collectiveCounter_ = tag; }
};

using GroupPtr = c10::intrusive_ptr<TaggedGroup>;

// Drops the caller's share of `group` on another thread; returns at once.
void reap(GroupPtr group) noexcept;

}  // namespace gnnmg::comm::gloo
