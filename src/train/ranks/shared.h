// State that the ranks of one group share within a process.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>

#include "train/eval/evaluation.h"
#include "train/job/job.h"

namespace gnnmg::train {

// Latch before state that the host reads. Once it is closed, a rank that was abandoned on a hung
// GPU can no longer write that state.
class HostLatch {
 public:
  // Runs `change`, which must not block; Error(kCancelled) once the latch is closed.
  template <typename F>
  void pass(const F& change) {
    const std::lock_guard lock(mutex_);
    if (closed_) base::fail(base::Status::kCancelled, "training was canceled");
    change();
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }

 private:
  std::mutex mutex_;
  bool closed_ = false;
};

struct GroupShared {
  std::shared_ptr<comm::ThreadGroup> comm;  // null until the processes have met
  base::CancelToken cancel;                 // a failure of any rank switches it, too
  std::atomic<int64_t> arrived{0};          // calls of RankComm::meet_here() in this process
  StageRows rows;
  const std::shared_ptr<HostLatch> latch = std::make_shared<HostLatch>();

  // Keeps the communicator of a rank that could not be made, until the other ranks know the cause.
  void keep(int rank, std::unique_ptr<comm::Collectives> comm);
  std::unique_ptr<comm::Collectives> take(int rank);  // null if none was kept

 private:
  std::mutex mutex_;
  std::map<int, std::unique_ptr<comm::Collectives>> kept_;
};

}  // namespace gnnmg::train
