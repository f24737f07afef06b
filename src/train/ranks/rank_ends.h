// How the ranks of a group come to their ends on their devices: which is at work, which has let go
// of everything, and which never does, so that nobody waits for it. Outlives the group, whose
// threads may be left behind.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/device_wait.h"
#include "train/job/job.h"

namespace gnnmg::train {

// Ranks are counted within the process. Any thread, but where something else is said.
class RankEnds {
 public:
  // `rest`: how long a device that is called off may take.
  RankEnds(const base::DeviceTable& table, int num_ranks, std::chrono::milliseconds rest);
  ~RankEnds();

  std::chrono::milliseconds rest() const { return rest_; }
  // The rank opens its device, and has opened it when there is a queue, which stays until close().
  void open(int number, int device, const std::string& name, base::DeviceQueue* queue);
  void set_at_work(int number, bool at_work);
  // What it has called off does not come to its end: the device is given up.
  void give_up(int number);
  void close(int number);  // on the rank's thread
  void set_gone(int number);

  // Behind a failure at `since`: true when nobody is at work any more but those whose device does
  // not come to its end. Such are found here, whatever their threads are held up by.
  bool left_behind(Clock::time_point since);
  // The group goes, at `since` or later: true when nobody is still there but those.
  bool only_left_behind(Clock::time_point since);
  // "; rank 1: GPU 1 (...) has not come to its end within 10 s and is used no more in this process
  // ..." for each of those that are still there; else empty.
  std::string left(int first_rank) const;

 private:
  class Watch;
  struct One {
    bool opened = false, at_work = false, gone = false;
    int device = -1;
    std::string name;
    base::DeviceQueue* queue = nullptr;
    std::unique_ptr<Watch> watch;
  };
  bool stuck(One& one, Clock::time_point since);  // with the mutex held

  const base::DeviceTable& table_;
  const std::chrono::milliseconds rest_;
  mutable std::mutex mutex_;
  std::vector<One> ranks_;
};

}  // namespace gnnmg::train
