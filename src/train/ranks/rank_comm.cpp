#include "train/ranks/rank_comm.h"

#include <algorithm>
#include <thread>

namespace gnnmg::train {

using base::Deadline;

void GroupShared::keep(int rank, std::unique_ptr<comm::Collectives> comm) {
  const std::lock_guard lock(mutex_);
  kept_[rank] = std::move(comm);
}

std::unique_ptr<comm::Collectives> GroupShared::take(int rank) {
  const std::lock_guard lock(mutex_);
  const auto found = kept_.find(rank);
  if (found == kept_.end()) return nullptr;
  std::unique_ptr<comm::Collectives> comm = std::move(found->second);
  kept_.erase(found);
  return comm;
}

RankComm::RankComm(const Job& job, GroupShared& group, int rank, const Position& position)
    : job_(job),
      group_(group),
      rank_(rank),
      position_(position),
      leads_(rank == group.comm->first_rank()) {}

void RankComm::connect() {
  comm_ = group_.comm->connect(rank_, wait_for_start());
  note(comm::Phase::kStarting);
  if (leads_)
    for (const std::string& remark : group_.comm->remarks())
      job_.environment.log.add(base::LogLevel::kWarning, remark);
  if (!spread()) return;
  const std::vector<int64_t> first_ranks = gather(group_.comm->first_rank());
  leaders_.assign(first_ranks.begin(), first_ranks.end());
}

std::vector<int32_t> RankComm::process_of_rank() const {
  std::vector<int32_t> processes;
  for (size_t r = 0; r < leaders_.size(); ++r) {
    const bool another = r > 0 && leaders_[r] != leaders_[r - 1];
    processes.push_back(r == 0 ? 0 : processes.back() + another);
  }
  return processes;
}

comm::Wait RankComm::wait() const {
  comm::Wait wait;
  wait.deadline = Deadline::after_ms(job_.config.deadline_ms);
  wait.cancel = group_.cancel;
  wait.excused = [&host = job_.environment.host] { return host.has_calls(); };
  wait.stall = Deadline::after_ms(job_.config.stall_limit_ms);
  return wait;
}

comm::Wait RankComm::wait_for_start() const {
  comm::Wait patient = wait();
  if (spread()) patient.deadline = Deadline::after_ms(job_.environment.meet_timeout_ms);
  return patient;
}

std::chrono::milliseconds RankComm::slice() const {
  return std::chrono::milliseconds(std::clamp<int64_t>(job_.config.deadline_ms / 4, 1, 500));
}

void RankComm::note(comm::Phase phase, base::HostQueue::Count host_calls) {
  comm_->set_position({position_.epoch, position_.step, phase, std::move(host_calls)});
}

bool RankComm::agree(bool flag) {
  double value = flag ? 1 : 0;
  comm_->all_reduce({&value, base::DType::kF64, {1}}, comm::ReduceOp::kMax, wait());
  restart_busy();
  return value > 0;
}

std::vector<int64_t> RankComm::gather(int64_t own) {
  std::vector<int64_t> all(world_size());
  std::vector<base::TensorView> outputs;
  for (int64_t& other : all) outputs.push_back({&other, base::DType::kI64, {1}});
  comm_->all_gather({&own, base::DType::kI64, {1}}, outputs, wait());
  return all;
}

void RankComm::meet_here() {
  const int64_t here = group_.comm->num_local();
  const int64_t all = (group_.arrived.fetch_add(1) / here + 1) * here;
  // Ranks allocate device memory and pin host memory before they arrive, which can take a while.
  const Deadline deadline = Deadline::after_ms(job_.environment.meet_timeout_ms);
  while (group_.arrived < all) {
    check_cancel();
    if (deadline.passed())
      base::fail(base::Status::kTimeout, all - group_.arrived, " of ", here,
                 " ranks of this process have not come to where the others are within ",
                 static_cast<double>(job_.environment.meet_timeout_ms) / 1000, " s");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void RankComm::leave_together() {
  // Only ranks that have seen the reason call this, so a barrier that a leaving rank ends is fine.
  try {
    comm_->barrier(wait());
  } catch (const base::Error&) {
    check_cancel();
  }
  meet_here();
}

}  // namespace gnnmg::train
