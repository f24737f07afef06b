// Ranks of several processes: the processes exchange the RankInfo of all their ranks when they
// create the group, so all find the same errors in the same call. NCCL's id goes over the control
// connections.
#include <utility>

#include "comm/check.h"
#include "comm/join/control.h"
#include "comm/join/frame.h"
#include "comm/nccl/rank_info.h"
#include "comm/nccl/rendezvous.h"
#include "comm/nccl/settings.h"
#include "comm/nccl/thread_group.h"
#include "comm/shares.h"

namespace gnnmg::comm::nccl {
namespace {

class SpreadGroup final : public RendezvousGroup {
 public:
  SpreadGroup(std::shared_ptr<Processes> processes, const Shares& shares, const Table& nccl,
              const device::Table& table, std::vector<int> devices,
              std::vector<std::string> remarks)
      : RendezvousGroup(nccl, table, std::move(devices),
                        std::make_shared<GroupState>(
                            shares.first_ranks.back(),
                            processes->control()->link(shares.number, shares.first_ranks)),
                        make_control_board(processes->control(), shares.number)),
        processes_(std::move(processes)),
        first_rank_(shares.first_ranks[static_cast<size_t>(processes_->process())]),
        remarks_(std::move(remarks)) {
    // Ranks check the state while they wait, and abort their own part on their own threads.
    processes_->control()->add_group(
        shares.number, shares.first_ranks, state_,
        [state = state_](const Cause& cause) { state->end_elsewhere(cause); });
  }

  int first_rank() const override { return first_rank_; }
  std::vector<std::string> remarks() const override { return remarks_; }

 private:
  void meet(int rank, const Wait& wait) override { state_->meet(rank, 0, kRendezvous, wait); }

  const std::shared_ptr<Processes> processes_;
  const int first_rank_;
  const std::vector<std::string> remarks_;
};

// Packs the RankInfo of this process's ranks.
std::string own_words(const Processes& processes, const Table& nccl, const device::Table& table,
                      const std::vector<int>& devices) {
  FrameWriter out;
  out.u32(static_cast<uint32_t>(table.num_devices()));
  out.u32(static_cast<uint32_t>(devices.size()));
  for (const int device : devices) {
    RankInfo info = make_rank_info(nccl, table, device);
    info.place = base::text(" on host ", processes.host(processes.process()));
    out.text(pack(info));
  }
  return out.fields();
}

}  // namespace

std::shared_ptr<ThreadGroup> make_group(std::shared_ptr<Processes> processes, const Share& share,
                                        const Table& nccl, const device::Table& table,
                                        std::vector<int> devices, const Wait& wait) {
  Share own = share;
  own.num_ranks = static_cast<int>(devices.size());
  std::string words;
  if (!own.obstacle) {
    try {
      check_world(own.num_ranks);
      check_environment(own.num_ranks);
      words = own_words(*processes, nccl, table, devices);
    } catch (const Failure& failure) {
      own.obstacle.emplace(status_of(failure.result()),
                           base::text("NCCL does not return its version: ", failure.what()));
    } catch (const base::Error& error) {
      own.obstacle = error;
    }
  }
  const Shares shares = exchange_shares(*processes, own, kOnDevices, words, wait);
  std::vector<RankInfo> all_ranks;
  std::vector<std::string> remarks;
  std::vector<uint32_t> visible;
  for (size_t p = 0; p < shares.words.size(); ++p) {
    FrameReader in(shares.words[p]);
    visible.push_back(in.u32());
    const uint32_t count = in.count(4);
    if (static_cast<int>(count) != shares.first_ranks[p + 1] - shares.first_ranks[p])
      base::fail(base::Status::kProtocol, "a process with ", count, " GPUs for ",
                 shares.first_ranks[p + 1] - shares.first_ranks[p], " ranks");
    for (uint32_t i = 0; i < count; ++i) all_ranks.push_back(unpack(in.text()));
    in.finish();
  }
  check_ranks(all_ranks, nccl.built_version);
  remarks = remarks_on(all_ranks);
  const Control& control = *processes->control();
  for (size_t p = 1; p < visible.size(); ++p) {
    const auto ranks = [&](size_t q) { return shares.first_ranks[q + 1] - shares.first_ranks[q]; };
    if (visible[p] == visible[0] && ranks(p) == ranks(0)) continue;
    const auto describe = [&](size_t q) {
      return base::text(control.process_text(static_cast<int>(q)), " sees ", visible[q],
                        " GPUs and has ", ranks(q), " ranks");
    };
    remarks.push_back(base::text("processes differ: ", describe(0), ", ", describe(p)));
    break;
  }
  return std::make_shared<SpreadGroup>(std::move(processes), shares, nccl, table,
                                       std::move(devices), std::move(remarks));
}

}  // namespace gnnmg::comm::nccl
