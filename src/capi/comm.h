// One end of a communicator, among threads or among processes. Its operations run on a thread of
// its own, because they may outlast the call that asked for them, on copies of the host's data.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "capi/job.h"
#include "capi/object.h"
#include "capi/seen_devices.h"
#include "comm/collectives.h"
#include "comm/processes.h"

namespace gnnmg::capi {

// The host's settings, checked, with the defaults in place of 0; settings that only jobs of several
// processes need included.
gnnmg_comm_config read_comm_config(const gnnmg_comm_config* config);

class Comm : public Object {
 public:
  static constexpr Kind kKind = Kind::kComm;
  // Begins to connect at once. `processes` is the job that the group belongs to, if it does.
  Comm(std::shared_ptr<Context> owner, std::shared_ptr<comm::ThreadGroup> group, int rank,
       const gnnmg_comm_config& config, std::shared_ptr<comm::Processes> processes = nullptr);
  ~Comm() override;

  void cancel_work() noexcept override;  // freed: an abort, unless it was shut down
  bool ends_slowly() const noexcept override { return true; }

  int rank() const { return rank_; }
  int world_size() const { return world_size_; }
  // The job of many processes that this is the end of; null for one among threads.
  const std::shared_ptr<comm::Processes>& processes() const { return processes_; }
  // The time for which processes wait for each other at a start.
  int64_t join_ms() const { return join_ms_; }
  // The longest wait of an operation for them.
  int64_t deadline_ms() const { return deadline_ms_; }
  // Runs an operation in the background.
  std::shared_ptr<Job> start(
      std::function<Job::Result(comm::Collectives&, const comm::Wait&)> work);
  // Any thread. Running operations end with Error(kCancelled), and so do the communicator and its
  // job; the others learn which process cancelled.
  void cancel() noexcept;
  // A trainer works in the job. When the host's handle and all trainers are gone, this process
  // leaves the job, and has said so when end_use() returns.
  void begin_use() noexcept { ++users_; }
  void end_use() noexcept;
  // One trainer of this process at a time meets those of the others.
  bool try_begin_training() noexcept { return !training_.exchange(true); }
  void end_training() noexcept { training_ = false; }
  // After all ranks have met for the end.
  void close();
  bool closed() const { return closed_; }

  Pendings pendings;
  std::vector<SeenDevices> devices;  // one a process of a job; set before the job is used

 private:
  struct End;
  comm::Wait wait() const;

  const std::shared_ptr<comm::Processes> processes_;
  const std::shared_ptr<comm::ThreadGroup> group_;
  const int rank_;
  const int world_size_;
  const int64_t deadline_ms_, join_ms_;
  const std::chrono::steady_clock::time_point created_ = std::chrono::steady_clock::now();
  const std::string cancelled_;  // text for the other processes after a cancel
  const base::CancelToken cancel_;
  std::shared_ptr<End> end_;
  std::atomic<bool> closed_{false}, freed_{false}, training_{false};
  std::atomic<int> users_{1};  // trainers, and the host until it frees the handle
  WorkThread thread_;
};

}  // namespace gnnmg::capi
