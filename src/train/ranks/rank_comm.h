// One rank among the others: its end of the communicator, with the deadlines of a training, and the
// agreements between ranks.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "train/ranks/shared.h"

namespace gnnmg::train {

// Use it on the rank's thread only.
class RankComm {
 public:
  // `rank`: number in the world. `position`: the rank's position in training, which other ranks
  // name while they wait for it. The arguments must outlive the object.
  RankComm(const Job& job, GroupShared& group, int rank, const Position& position);

  // Collective: connects all ranks. Call it before all functions below that use the communicator.
  void connect();
  comm::Collectives& get() const { return *comm_; }
  std::unique_ptr<comm::Collectives> release() { return std::move(comm_); }

  int rank() const { return rank_; }
  int world_size() const { return comm_->world_size(); }
  int number() const { return rank_ - group_.comm->first_rank(); }  // within this process
  bool leads() const { return leads_; }  // the first rank of this process
  bool spread() const { return job_.environment.processes != nullptr; }  // several processes
  std::span<const int> leaders() const { return leaders_; }              // see Participant::leaders
  // The process of each rank, from 0 on; empty for one process.
  std::vector<int32_t> process_of_rank() const;

  const base::CancelToken& cancel() const { return group_.cancel; }
  void check_cancel() const { group_.cancel.check("training"); }
  // The limits of one collective.
  comm::Wait wait() const;
  std::function<comm::Wait()> waits() const {
    return [this] { return wait(); };
  }
  // The limits of a collective before which ranks may pin data or start a process.
  comm::Wait wait_for_start() const;
  // The longest time without a collective; far below the deadline.
  std::chrono::milliseconds slice() const;

  // Tells the others the rank's phase. While a call of `host_calls` is under way, the phase is a
  // callback.
  void note(comm::Phase phase, base::HostQueue::Count host_calls = nullptr);

  // Collective: true if `flag` is true on any rank.
  bool agree(bool flag);
  // Collective: returns the values of all ranks.
  std::vector<int64_t> gather(int64_t own);
  // Waits until all ranks of this process are here. Call it before a rank fails for a reason that
  // all ranks have seen, because its failure ends the collectives of the others; and around work
  // on a device that must not run beside another rank's exchange. Error(kTimeout).
  void meet_here();
  // Call it before all ranks of all processes fail for such a reason: waits until all have seen
  // it, so that no rank reports the first that leaves as lost.
  void leave_together();

  // Seconds since all ranks left a collective together: in them this rank was busy.
  double busy_seconds() const { return seconds_since(left_); }
  void restart_busy() { left_ = Clock::now(); }

 private:
  const Job& job_;
  GroupShared& group_;
  const int rank_;
  const Position& position_;
  const bool leads_;
  std::vector<int> leaders_;
  std::unique_ptr<comm::Collectives> comm_;
  Clock::time_point left_ = Clock::now();
};

}  // namespace gnnmg::train
