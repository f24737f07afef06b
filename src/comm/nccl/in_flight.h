// The exchanges that a rank has queued on its device, as the watchdog of the process sees them.
//
// After queuing an exchange the rank goes on and queues more work. A driver accepts a limited
// number of launches per queue, and blocks the thread of the next one until the device makes
// progress: after a kernel of NCCL whose peer is gone it blocks for ever, and that thread cannot
// check a deadline. Memory calls and copies from pageable memory block in the same way. Another
// thread has to end such an exchange: one per process, which exists as long as ranks do, and checks
// a few times per second while exchanges are in flight.
//
// The watchdog never calls the driver, which may block it too: a background thread asks once, after
// a deadline has passed. It never waits for an abort: a background thread aborts, so that a hanging
// abort delays no other communicator. It never aborts while the rank's thread is inside a call of
// NCCL.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "comm/group_state.h"
#include "comm/nccl/engine.h"

namespace gnnmg::comm::nccl {

// One rank's exchanges. The rank's thread calls all functions but look(), which the watchdog calls.
class InFlight {
 public:
  using Clock = base::SteadyClock;

  // Error(kNoMemory) if the watchdog's thread cannot start.
  InFlight(std::shared_ptr<GroupState> state, int rank, std::shared_ptr<Parts> parts);
  ~InFlight();
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;

  // Before the rank queues `operation`, which may take as long as `wait` allows.
  void put(const std::string& what, uint64_t operation, const Wait& wait);
  // Before the rank waits for its queued work, from now on as long as `wait` allows.
  void follow(const std::string& what, uint64_t operation, const Wait& wait);
  // After all queued work is done.
  void clear() noexcept;
  // Tells the watchdog that the rank's thread is polling, and so finds errors by itself.
  void note_alive() noexcept { alive_ = Clock::now().time_since_epoch().count(); }
  // While an object lives, the rank's thread waits for other ranks and checks its own deadline.
  class Awake {
   public:
    explicit Awake(std::optional<InFlight>& of) : of_(of ? &*of : nullptr) {
      if (of_) of_->awake_ = true;
    }
    ~Awake() {
      if (!of_) return;
      of_->note_alive();
      of_->awake_ = false;
    }
    Awake(const Awake&) = delete;
    Awake& operator=(const Awake&) = delete;

   private:
    InFlight* const of_;
  };

  // Ends the communicator if an exchange is late. If the communicator has ended and the rank does
  // not abort its part, aborts it. Returns the time of the next look; max: at the next put().
  Clock::time_point look(Clock::time_point now);

 private:
  struct Answer;
  void begin(const std::string& what, uint64_t operation, const Wait& wait);
  bool late(Clock::time_point now);
  void end(Clock::time_point now);
  void ask();

  const std::shared_ptr<GroupState> state_;
  const int rank_;
  const std::shared_ptr<Parts> parts_;
  std::atomic<Clock::rep> alive_{0};
  std::atomic<bool> any_{false}, awake_{false};

  std::mutex mutex_;  // guards all below
  std::string what_;
  uint64_t operation_ = 0;
  Wait wait_;
  Clock::time_point begun_, limit_, looked_, asked_, ended_;  // asked_, ended_: 0 if unset
  std::shared_ptr<Answer> answer_;
};

}  // namespace gnnmg::comm::nccl
