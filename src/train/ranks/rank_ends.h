// Notices ranks whose GPU does not answer, so that nobody waits for them: knows which ranks of a
// group are at work, which have freed everything, and which never will because their device is
// quarantined (device/wait.h). Outlives the group, whose threads may be left.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device/wait.h"
#include "train/job/job.h"

namespace gnnmg::train {

// Ranks are counted within the process. Any thread, except for close().
class RankEnds {
 public:
  // `limit`: time for a device to finish after its work is canceled.
  RankEnds(const device::Table& table, int num_ranks, std::chrono::milliseconds limit);
  ~RankEnds();

  std::chrono::milliseconds limit() const { return limit_; }
  // Call with a null queue before the rank opens its device, and again with the queue, which stays
  // until close().
  void open(int number, int device, const std::string& name, device::Queue* queue);
  void set_at_work(int number, bool at_work);
  // Quarantines the rank's device, which has not finished in time.
  void quarantine(int number);
  void close(int number);  // called on the rank's thread
  void set_gone(int number);

  // After a failure at `since`: true if ranks are at work only on quarantined devices. Quarantines
  // devices that do not finish in time or whose driver does not answer.
  bool only_quarantined_work(Clock::time_point since);
  // The same for all ranks that are not gone, once the group is being destroyed.
  bool only_quarantined_left(Clock::time_point since);
  // "; rank 1: GPU 1 (...) has not come to its end within 10 s of it and is used no more in this
  // process ..." for each rank on a device that is not gone; empty if there is none.
  std::string text_of_left(int first_rank) const;

 private:
  class Watch;
  enum class State : uint8_t { kIdle, kAtWork, kGone };
  struct One {
    State state = State::kIdle;
    bool opened = false;
    int device = -1;
    std::string name;
    device::Queue* queue = nullptr;
    std::unique_ptr<Watch> watch;
  };
  // With the mutex held.
  bool in_quarantine(One& one, Clock::time_point since);
  void quarantine(const One& one) const;
  template <typename Counts>
  bool only_quarantined(const Counts& counts, Clock::time_point since);

  const device::Table& table_;
  const std::chrono::milliseconds limit_;
  mutable std::mutex mutex_;  // guards ranks_
  std::vector<One> ranks_;
};

}  // namespace gnnmg::train
