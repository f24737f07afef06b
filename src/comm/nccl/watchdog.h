// The thread that looks at the exchanges in flight (in_flight.h) of all communicators of the
// process. It is there while there are any, and asleep while nothing is in flight.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace gnnmg::comm::nccl {

class InFlight;

class Watchdog {
 public:
  static Watchdog& instance();

  // Error(kNoMemory) when there is no thread to be had.
  void add(InFlight* one);
  void remove(InFlight* one);  // it is looked at no more, then
  void wake();

 private:
  void run();

  std::mutex life_;  // guards the thread; taken before mutex_
  std::thread thread_;
  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::vector<InFlight*> all_;
  bool woken_ = false, leaving_ = false;
};

}  // namespace gnnmg::comm::nccl
