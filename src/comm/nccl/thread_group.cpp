// Ranks of one process: they exchange their RankInfo on a local board.
#include "comm/nccl/thread_group.h"

#include <mutex>
#include <utility>

#include "comm/check.h"
#include "comm/nccl/rank_info.h"
#include "comm/nccl/rendezvous.h"
#include "comm/nccl/settings.h"

namespace gnnmg::comm::nccl {
namespace {

class LocalGroup final : public RendezvousGroup {
 public:
  LocalGroup(const Table& nccl, const device::Table& table, const std::vector<int>& devices)
      : RendezvousGroup(nccl, table, devices,
                        std::make_shared<GroupState>(static_cast<int>(devices.size())),
                        make_local_board()) {}

  std::vector<std::string> remarks() const override {
    const std::lock_guard lock(mutex_);
    return remarks_;
  }

 private:
  void meet(int rank, const Wait& wait) override {
    board_->put(base::text("rank/", rank), pack(make_rank_info(nccl_, table_, device_of(rank))));
    try {
      state_->meet(rank, 0, kRendezvous, wait);
    } catch (const base::Error& error) {
      // A faster rank may have ended the communicator for a reason that this rank would find as
      // well.
      for (int r = 0; r < world_size(); ++r)
        if (error.status() != base::Status::kAborted || !board_->has(base::text("rank/", r))) throw;
      check_ranks(all_ranks(rank, wait), nccl_.built_version);
      throw;
    }
    const std::vector<RankInfo> ranks = all_ranks(rank, wait);
    check_ranks(ranks, nccl_.built_version);
    const std::lock_guard lock(mutex_);
    remarks_ = remarks_on(ranks);
  }

  std::vector<RankInfo> all_ranks(int rank, const Wait& wait) {
    std::vector<RankInfo> ranks;
    ranks.reserve(world_size());
    for (int r = 0; r < world_size(); ++r)
      ranks.push_back(unpack(get(rank, base::text("rank/", r), wait)));
    return ranks;
  }

  mutable std::mutex mutex_;
  std::vector<std::string> remarks_;  // set once the ranks have met
};

}  // namespace

std::shared_ptr<ThreadGroup> make_thread_group(const Table& nccl, const device::Table& table,
                                               const std::vector<int>& devices) {
  check_world(static_cast<int>(devices.size()));
  check_environment(static_cast<int>(devices.size()));
  return std::make_shared<LocalGroup>(nccl, table, devices);
}

}  // namespace gnnmg::comm::nccl
