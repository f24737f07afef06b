// The thread that watches the exchanges in flight (in_flight.h) of all communicators of the
// process. It exists while there are ranks, and sleeps while nothing is in flight.
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

  // Error(kNoMemory) if the thread cannot start.
  void add(InFlight* one);
  void remove(InFlight* one);  // returns after the last look at it
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
