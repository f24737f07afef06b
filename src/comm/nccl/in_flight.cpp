#include "comm/nccl/in_flight.h"

#include <algorithm>
#include <utility>

#include "base/background.h"
#include "comm/nccl/watchdog.h"
#include "device/exit.h"

namespace gnnmg::comm::nccl {
namespace {

using base::Status;
using std::chrono::milliseconds;

// Interval of looks, and the interval after a problem.
constexpr milliseconds kInterval(100), kShortInterval(10);
// Ranks should find a passed deadline and the communicator's end by themselves first: the watchdog
// waits this long after each.
constexpr milliseconds kLate(200), kReaction(100);
// A driver that has not answered by then is blocked by the exchange itself.
constexpr milliseconds kNoAnswer(300);

constexpr auto kNever = InFlight::Clock::time_point::max();

}  // namespace

// The driver's answer whether the device has finished all work in the stream.
struct InFlight::Answer {
  enum Kind : int { kNone, kOver, kAtWork };
  std::atomic<Kind> kind{kNone};
};

InFlight::InFlight(std::shared_ptr<GroupState> state, int rank, std::shared_ptr<Parts> parts)
    : state_(std::move(state)), rank_(rank), parts_(std::move(parts)) {
  Watchdog::instance().add(this);
}

InFlight::~InFlight() { Watchdog::instance().remove(this); }

void InFlight::put(const std::string& what, uint64_t operation, const Wait& wait) {
  {
    const std::lock_guard lock(mutex_);
    begin(what, operation, wait);
    if (any_.exchange(true)) return;
  }
  Watchdog::instance().wake();
}

void InFlight::follow(const std::string& what, uint64_t operation, const Wait& wait) {
  if (!any_) return;
  const std::lock_guard lock(mutex_);
  begin(what, operation, wait);
}

void InFlight::begin(const std::string& what, uint64_t operation, const Wait& wait) {
  what_ = what;
  operation_ = operation;
  wait_ = wait;
  begun_ = looked_ = Clock::now();
  limit_ = wait.deadline.at();
  answer_.reset();
}

void InFlight::clear() noexcept { any_ = false; }

InFlight::Clock::time_point InFlight::look(Clock::time_point now) {
  if (!any_) return kNever;
  const std::lock_guard lock(mutex_);
  if (!state_->ended() && wait_.cancel.cancelled())
    state_->end({Status::kCancelled,
                 base::text(what_, ": rank ", rank_, " was canceled"),
                 rank_,
                 operation_,
                 {}});
  if (!state_->ended() && late(now))
    state_->end_late(what_, operation_, std::chrono::duration<double>(now - begun_).count());
  if (state_->ended()) end(now);
  if (!any_) return kNever;
  return now + (answer_ || ended_ != Clock::time_point() ? kShortInterval : kInterval);
}

// True if the exchange is late, as GroupState::wait() counts it, and the rank's thread does not
// notice.
bool InFlight::late(Clock::time_point now) {
  if (wait_.deadline.never()) return false;
  const auto passed = now - std::exchange(looked_, now);
  if (state_->excused(operation_) || (wait_.excused && wait_.excused()))
    limit_ = std::max(limit_, std::min(wait_.stall.at(), limit_ + passed));
  const Clock::time_point alive{Clock::duration(alive_)};
  if (awake_ || now < limit_ + kLate || now < alive + kLate) {
    answer_.reset();
    return false;
  }
  if (!answer_) {
    asked_ = now;
    ask();
    return false;
  }
  const Answer::Kind found = answer_->kind;
  if (found == Answer::kNone && now < asked_ + kNoAnswer) return false;
  answer_.reset();
  if (found == Answer::kOver) any_ = false;
  return found != Answer::kOver;
}

void InFlight::ask() {
  answer_ = std::make_shared<Answer>();
  try {
    base::leave_in_background([answer = answer_, state = state_, parts = parts_] {
      // If this process itself was stopped, messages of the others may still be unread.
      state->settle();
      const device::Use use;
      try {
        answer->kind = use && !parts->comm_stream.finished() ? Answer::kAtWork : Answer::kOver;
      } catch (const std::exception&) {  // a lost device; the rank gets that error itself
        answer->kind = Answer::kOver;
      }
    });
  } catch (const std::exception&) {  // no thread: treated as a driver that does not answer
  }
}

// Aborts the rank's part of a communicator that has ended.
void InFlight::end(Clock::time_point now) {
  if (ended_ == Clock::time_point()) ended_ = now;
  if (now < ended_ + kReaction) return;
  if (!parts_->handle.get()) {
    any_ = false;
    return;
  }
  Communicator* const taken = parts_->handle.try_take();
  if (!taken) return;  // the rank's thread is in a call of NCCL, which returns, or aborts by itself
  any_ = false;
  parts_->locals.gate->note_failure();
  const auto abort = [parts = parts_, taken]() mutable {
    const device::Use use;
    if (!use) {
      (void)new std::shared_ptr<Parts>(std::move(parts));  // leaked: the process is ending
      return;
    }
    parts->comm_stream.use_device();
    {
      const device::MemoryCall call(*parts->locals.gate, kGateTimeout);
      parts->handle.nccl().abort(taken);
    }
    parts.reset();
  };
  try {
    base::leave_in_background(abort);
  } catch (const std::exception&) {  // no thread: aborts here
    parts_->handle.nccl().abort(taken);
  }
}

}  // namespace gnnmg::comm::nccl
