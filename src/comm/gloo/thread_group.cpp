// The rendezvous of rank threads of several processes: all meet first, so that an error can name a
// missing rank. Then they make their process groups over a local board or the control connections,
// and verify each other.
#include <algorithm>
#include <optional>

#include "base/background.h"
#include "base/signals.h"
#include "comm/gloo/descriptors.h"
#include "comm/gloo/engine.h"
#include "comm/gloo/failure.h"
#include "comm/gloo/introduction.h"
#include "comm/gloo/quiet.h"
#include "comm/gloo/rendezvous_store.h"
#include "comm/gloo/thread_group.h"
#include "comm/join/control.h"
#include "comm/local.h"
#include "comm/processes.h"
#include "comm/shares.h"

namespace gnnmg::comm {
namespace gloo {
namespace {

using base::Status;

constexpr int64_t kLongest = 15'000;  // connecting takes milliseconds once all ranks are here

GroupPtr make_group(c10::intrusive_ptr<RendezvousStore> store, int rank, int world_size,
                    const std::string& address, const base::Deadline& deadline) {
  const base::SignalGuard guard;  // the threads of the group write to sockets
  const QuietLog quiet_log;
  QuietWarnings handler;
  const c10::WarningUtils::WarningHandlerGuard quiet_warnings(&handler);
  auto options = c10d::ProcessGroupGloo::Options::create(
      std::chrono::milliseconds(std::clamp<int64_t>(deadline.remaining_ms(), 1000, kLongest)));
  options->devices.push_back(address.empty()
                                 ? c10d::ProcessGroupGloo::createDeviceForInterface("lo")
                                 : c10d::ProcessGroupGloo::createDeviceForHostname(address));
  options->threads = 1;  // runs the operations of a rank in order
  auto group = c10::make_intrusive<TaggedGroup>(store, rank, world_size, options);
  group->share_record();
  group->sockets = GroupSockets::close_to_strangers(store->told());
  return group;
}

class GlooThreadGroup : public ThreadGroup {
 public:
  // `address` of this process for its data connections; empty: the loopback interface. `key` of the
  // job, or empty.
  GlooThreadGroup(std::shared_ptr<GroupState> state, std::shared_ptr<AddressBoard> board,
                  std::string address, std::string key, int num_local)
      : state_(std::move(state)),
        groups_(std::make_shared<Groups>(state_)),
        board_(std::move(board)),
        address_(std::move(address)),
        key_(std::move(key)),
        unconnected_(num_local) {
    const int64_t each = descriptors_needed(1, state_->world_size());
    for (auto& claim : unconnected_) claim = std::make_unique<DescriptorClaim>(each);
  }

  int world_size() const override { return state_->world_size(); }

  std::unique_ptr<Collectives> connect(int rank, const Wait& wait) override {
    if (rank < first_rank() || rank >= first_rank() + num_local())
      base::fail(Status::kInvalidArgument, "rank ", rank, " is none of ranks ", first_rank(),
                 " to ", first_rank() + num_local() - 1, " of this process");
    if (!state_->enter(rank, 0))
      base::fail(Status::kInvalidArgument, "rank ", rank, " is already connected");
    state_->meet(rank, 0, "rendezvous", wait);
    try {
      const Introduction introduction(board_, key_, rank, world_size());
      const auto store = c10::make_intrusive<RendezvousStore>(board_, state_, wait.deadline);
      groups_->set(rank, connect_group(store, rank, wait));
      unconnected_[rank - first_rank()].reset();
      Wait soon = wait;
      soon.deadline = base::Deadline::earlier(wait.deadline, base::Deadline::after_ms(kLongest));
      const auto proofs = introduction.proofs(store->transcript(), [&] {
        return soon.cancel.cancelled() || soon.deadline.passed() || state_->ended();
      });
      if (!proofs)
        state_->wait(rank, 0, "rendezvous", soon, [] { return false; });  // throws the cause
      return make_engine(groups_, rank, *proofs, soon);
    } catch (const base::Error& error) {
      groups_->end(make_cause(error.status(), error.what(), rank, 0));
      throw;
    } catch (const std::exception&) {
      const base::Error error =
          failure_of(std::current_exception(), "rendezvous", rank, Status::kInternal);
      groups_->end(make_cause(error.status(), error.what(), rank, 0));
      throw base::Error(error);
    }
  }

  void abort(const std::string& why) noexcept override {
    groups_->end(abort_cause(why, -1, kEveryOperation));
  }

 protected:
  const std::shared_ptr<GroupState> state_;
  const std::shared_ptr<Groups> groups_;

 private:
  // Connecting cannot be canceled, so it runs on a background thread and is abandoned if necessary.
  GroupPtr connect_group(const c10::intrusive_ptr<RendezvousStore>& store, int rank,
                         const Wait& wait) {
    const auto group = std::make_shared<GroupPtr>();
    constexpr int64_t kGraceMs = 200;
    std::optional<base::Deadline> grace;
    base::Background call(
        [group, store, rank, world = world_size(), address = address_, deadline = wait.deadline] {
          *group = make_group(store, rank, world, address, deadline);
        });
    const bool ended = call.over_unless([&] {
      // A faster rank may have ended the communicator in the next operation; this rank then gets
      // that cause there too, if it gets so far.
      if (!grace && state_->ended()) grace = base::Deadline::after_ms(kGraceMs);
      return wait.cancel.cancelled() || wait.deadline.passed() || (grace && grace->passed());
    });
    if (!ended) {
      call.leave();
      state_->wait(rank, 0, "rendezvous", wait, [] { return false; });  // throws the cause
    }
    try {
      call.finish();
    } catch (...) {
      const base::Error error =
          failure_of(std::current_exception(), "rendezvous", rank, Status::kPeerLost);
      if (error.system_error() != 0 || error.status() == Status::kNoMemory)
        throw base::Error(error);
      // A process lost in the meantime explains the error.
      state_->end_unless_explained(rank, 0, {Status::kPeerLost, error.what(), -1, 0, {}});
      state_->throw_cause(rank, 0);
    }
    return std::move(*group);
  }

  const std::shared_ptr<AddressBoard> board_;
  const std::string address_, key_;
  std::vector<std::unique_ptr<DescriptorClaim>>
      unconnected_;  // one per local rank, used by its thread
};

class SpreadThreadGroup final : public GlooThreadGroup {
 public:
  SpreadThreadGroup(std::shared_ptr<Processes> processes, uint64_t number,
                    std::vector<int> first_ranks)
      : GlooThreadGroup(std::make_shared<GroupState>(
                            first_ranks.back(), processes->control()->link(number, first_ranks)),
                        make_control_board(processes->control(), number), processes->address(),
                        processes->control()->key(),
                        first_ranks[processes->process() + 1] - first_ranks[processes->process()]),
        processes_(std::move(processes)),
        number_(number),
        first_ranks_(std::move(first_ranks)) {
    processes_->control()->add_group(
        number_, first_ranks_, state_,
        [groups = groups_](const Cause& cause) { groups->end_elsewhere(cause); });
  }

  int first_rank() const override { return first_ranks_[processes_->process()]; }
  int num_local() const override { return first_ranks_[processes_->process() + 1] - first_rank(); }

 private:
  const std::shared_ptr<Processes> processes_;
  const uint64_t number_;
  const std::vector<int> first_ranks_;
};

}  // namespace

std::shared_ptr<ThreadGroup> make_thread_group(int world_size,
                                               std::shared_ptr<AddressBoard> board) {
  return std::make_shared<GlooThreadGroup>(std::make_shared<GroupState>(world_size),
                                           std::move(board), "", "", world_size);
}

namespace {

// Each process sends its free descriptors with its share, so that all find the same error.
std::string own_descriptors() {
  const Descriptors found = count_descriptors();
  FrameWriter out;
  out.i64(found.limit);
  out.i64(found.free);
  return out.fields();
}

void check_shares(const Control& control, const std::string& name, const Shares& shares) {
  for (size_t p = 0; p < shares.words.size(); ++p) {
    FrameReader in(shares.words[p]);
    Descriptors found;
    found.limit = in.i64();
    found.free = in.i64();
    in.finish();
    const int ranks = shares.first_ranks[p + 1] - shares.first_ranks[p];
    check_descriptors(
        base::text(name, ": ", ranks, " ranks of ", control.process_text(static_cast<int>(p))),
        ranks, shares.first_ranks.back(), found);
  }
}

}  // namespace

}  // namespace gloo

std::shared_ptr<ThreadGroup> make_group(std::shared_ptr<Processes> processes, const Share& share,
                                        const Wait& wait) {
  Shares shares = exchange_shares(*processes, share, kOnHost, gloo::own_descriptors(), wait);
  if (processes->num_processes() == 1) {
    Control& control = *processes->control();
    auto state = std::make_shared<GroupState>(shares.first_ranks.back(),
                                              control.link(shares.number, shares.first_ranks));
    control.add_group(shares.number, shares.first_ranks, state,
                      [state](const Cause& cause) { state->end_elsewhere(cause); });
    return make_local_group(std::move(state), std::move(processes));
  }
  gloo::check_shares(*processes->control(), share.name, shares);
  return std::make_shared<gloo::SpreadThreadGroup>(std::move(processes), shares.number,
                                                   std::move(shares.first_ranks));
}

}  // namespace gnnmg::comm
