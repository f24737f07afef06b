// The meeting of rank threads: all come to a point in this process first, where a missing one can
// be named, and only then make their process groups over an in-process store.
#include <c10/util/Exception.h>

#include <algorithm>
#include <limits>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "base/signals.h"
#include "comm/check.h"
#include "comm/gloo/engine.h"
#include "comm/gloo/quiet.h"
#include "comm/single.h"

namespace gnnmg::comm {
namespace gloo {
namespace {

using base::Status;

// Swallows LibTorch's warnings on this thread; the default handler would print them.
struct QuietWarnings : c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

class GlooThreadGroup final : public ThreadGroup {
 public:
  explicit GlooThreadGroup(int world_size)
      : state_(std::make_shared<GroupState>(world_size)),
        groups_(std::make_shared<Groups>(state_)),
        store_(c10::make_intrusive<c10d::HashStore>()) {}

  int world_size() const override { return state_->world_size(); }

  std::unique_ptr<Collectives> connect(int rank, const Wait& wait) override {
    if (rank < 0 || rank >= world_size())
      base::fail(Status::kInvalidArgument, "rank ", rank, " is none of a world of ", world_size());
    if (!state_->enter(rank, 0))
      base::fail(Status::kInvalidArgument, "rank ", rank, " is already connected");
    state_->meet(rank, 0, "rendezvous", wait);
    if (world_size() == 1) return make_single(state_);
    try {
      groups_->set(rank, make_group(rank, wait));
    } catch (const std::exception& e) {
      const std::string what = e.what();
      const std::string text = base::text("rendezvous: ", what.substr(0, what.find('\n')));
      groups_->end({Status::kInternal, text, rank, 0, {}});
      throw base::Error(Status::kInternal, text, rank);
    }
    return make_engine(groups_, rank);
  }

  void abort(const std::string& why) noexcept override {
    groups_->end({Status::kAborted, why, -1, std::numeric_limits<uint64_t>::max(), {}});
  }

 private:
  GroupPtr make_group(int rank, const Wait& wait) {
    constexpr int64_t kLongest = 60'000;  // all ranks are here, so this takes milliseconds
    const base::SignalGuard guard;        // the threads of the group write to sockets
    QuietLog quiet_log;
    QuietWarnings handler;
    c10::WarningUtils::WarningHandlerGuard quiet_warnings(&handler);
    auto options = c10d::ProcessGroupGloo::Options::create(std::chrono::milliseconds(
        std::clamp<int64_t>(wait.deadline.remaining_ms(), 1000, kLongest)));
    options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForInterface("lo"));
    options->threads = 1;  // operations of one rank run one after another
    return c10::make_intrusive<c10d::ProcessGroupGloo>(store_, rank, world_size(), options);
  }

  std::shared_ptr<GroupState> state_;
  std::shared_ptr<Groups> groups_;
  c10::intrusive_ptr<c10d::HashStore> store_;
};

}  // namespace
}  // namespace gloo

std::shared_ptr<ThreadGroup> ThreadGroup::create(int world_size) {
  check_world(world_size);
  return std::make_shared<gloo::GlooThreadGroup>(world_size);
}

}  // namespace gnnmg::comm
