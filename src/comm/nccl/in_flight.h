// The exchanges that a rank has left in its device's queue, as the process's watchdog sees them.
//
// Such a rank goes on and starts work behind them. A driver takes so many launches of a queue, and
// holds up the thread that comes with one more until the device has come further: behind a kernel
// of NCCL's whose peer is gone that is for ever, and the thread can look at no deadline. So can
// memory be asked for, and a copy from pageable memory. Who ends such an exchange has to be another
// thread: one a process, which is there as long as ranks are, and looks at them a few times a
// second while there is something to look at.
//
// What it does not do, since others have come to grief over it: ask the driver for anything, which
// may hold it up as well (what the device says is asked on a thread of its own, and once, behind a
// deadline that has passed); wait for an abort (also on a thread of its own, so that one that hangs
// holds up no other communicator's); abort while the rank's thread is inside a call of NCCL's.
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

// Of one rank. The functions are called by its thread, look() by the watchdog.
class InFlight {
 public:
  using Clock = base::SteadyClock;

  // Error(kNoMemory) when there is no thread to be had for the watchdog.
  InFlight(std::shared_ptr<GroupState> state, int rank, std::shared_ptr<Parts> parts);
  ~InFlight();
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;

  // The rank is about to leave `operation` in its queue, which may take as long as `wait` says.
  void put(const std::string& what, uint64_t operation, const Wait& wait);
  // It waits for what is there, and from here on as long as `wait` says.
  void follow(const std::string& what, uint64_t operation, const Wait& wait);
  // Nothing is left there.
  void clear() noexcept;
  // It looks at the queue, and so finds out by itself.
  void note_alive() noexcept { alive_ = Clock::now().time_since_epoch().count(); }
  // While one lives, the rank waits for other ranks, by itself as well.
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

  // Ends the communicator where an exchange is late, and aborts what is the rank's of one that has
  // ended where the rank does not. When it wants to look again; max: when something is put there.
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
  Clock::time_point begun_, limit_, looked_, asked_, ended_;  // the last two: none, or since when
  std::shared_ptr<Answer> answer_;
};

}  // namespace gnnmg::comm::nccl
