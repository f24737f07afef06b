#include "comm/group_state.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <new>
#include <span>
#include <thread>
#include <utility>

namespace gnnmg::comm {
namespace {

using base::Status;
using base::SteadyClock;

// Interval at which a waiting rank checks its cancel token and excuses, which come without a
// notification.
constexpr auto kWaitSlice = std::chrono::milliseconds(10);
// A polling rank spins for as long as most operations last, and then sleeps for longer and longer.
constexpr auto kSpin = std::chrono::microseconds(200);
constexpr auto kShortestNap = std::chrono::microseconds(50);
constexpr auto kLongestNap = std::chrono::milliseconds(1);
// A rank tells other processes its operation only after this time, because most operations are done
// by then. Earlier if the deadline is short.
constexpr auto kQuiet = std::chrono::milliseconds(100);
// Time for the reason of a failed operation to arrive.
constexpr auto kExplained = std::chrono::milliseconds(1500);

Phase phase_of(const Position& position) {
  return position.host_calls && *position.host_calls > 0 ? Phase::kCallback : position.phase;
}

double seconds_since(SteadyClock::time_point start) {
  return rounded(std::chrono::duration<double>(SteadyClock::now() - start).count());
}

std::string list_ranks(const std::vector<int>& ranks) {
  std::string out;
  for (int r : ranks) out += base::text(out.empty() ? "" : ", ", r);
  return out;
}

const std::string& outermost(const Call& call) {
  return call.caller.empty() ? call.what : call.caller;
}

// Returns the difference between the calls of two ranks; empty if they match.
std::string compare(int a, const Call& call_a, int b, const Call& call_b) {
  if (call_a.caller != call_b.caller)
    return base::text("rank ", a, " calls ", outermost(call_a), ", but rank ", b, " calls ",
                      outermost(call_b));
  if (call_a.what != call_b.what || call_a.detail != call_b.detail ||
      call_a.sent.size() != call_b.sent.size() || call_a.received.size() != call_b.received.size())
    return base::text("rank ", a, " calls ", call_a.what, "(", call_a.detail, "), but rank ", b,
                      " calls ", call_b.what, "(", call_b.detail, ")");
  const auto check = [&](int from, const Call& sender, int to, const Call& receiver) {
    if (sender.sent.empty() || sender.sent[to] == receiver.received[from]) return std::string();
    return size_difference(sender.what, from, sender.sent[to], to, receiver.received[from],
                           sender.detail);
  };
  const std::string there = check(a, call_a, b, call_b);
  return there.empty() ? check(b, call_b, a, call_a) : there;
}

}  // namespace

Cause make_cause(Status status, std::string_view why, int rank, uint64_t operation) noexcept {
  Cause cause{status, "short of memory", rank, operation, {}};  // fits without an allocation
  try {
    if (!why.empty()) cause.text = why;
  } catch (const std::bad_alloc&) {  // the text says so
  }
  return cause;
}

double rounded(double seconds) { return std::round(seconds * 100) / 100; }

std::string size_difference(const std::string& what, int from, int64_t sent, int to,
                            int64_t expected, const std::string& type) {
  return base::text(what, ": rank ", from, " sends ", sent, " elements of ", type, " to rank ", to,
                    ", which expects ", expected);
}

const char* phase_name(Phase phase) noexcept {
  switch (phase) {
    case Phase::kUnknown:
      break;
    case Phase::kStarting:
      return "starting";
    case Phase::kSampling:
      return "sampling";
    case Phase::kGathering:
      return "gathering";
    case Phase::kComputing:
      return "computing";
    case Phase::kExchanging:
      return "exchanging";
    case Phase::kUpdating:
      return "updating";
    case Phase::kEvaluating:
      return "evaluating";
    case Phase::kSaving:
      return "saving";
    case Phase::kIdle:
      return "idle";
    case Phase::kCallback:
      return "in a callback";
  }
  return "at work";
}

// Notifies without the lock, which woken ranks take: on a busy machine they would fall asleep
// again.
bool GroupState::enter(int rank, uint64_t operation, Call call, bool wake) {
  std::unique_lock lock(mutex_);
  if (ranks_[rank].progress >= static_cast<int64_t>(operation)) return false;
  if (cause_) return true;  // the rank only gets the cause, and must not complete an operation
  ranks_[rank].progress = ranks_[rank].called = static_cast<int64_t>(operation);
  ranks_[rank].call = std::move(call);
  compare_calls(rank, operation);
  wake = link_ || (wake && all_came(operation));
  lock.unlock();
  if (wake) changed_.notify_all();
  return true;
}

void GroupState::came_elsewhere(int rank, uint64_t operation, Call call) {
  std::lock_guard lock(mutex_);
  Rank& other = ranks_[rank];
  const auto number = static_cast<int64_t>(operation);
  other.progress = std::max(other.progress, number);
  if (other.called < number) {
    other.called = number;
    other.call = std::move(call);
    compare_calls(rank, operation);
  }
  changed_.notify_all();
}

void GroupState::compare_calls(int rank, uint64_t operation) {
  for (int other = 0; other < world_size(); ++other) {
    if (other == rank || ranks_[other].called != static_cast<int64_t>(operation)) continue;
    const std::string difference = compare(rank, ranks_[rank].call, other, ranks_[other].call);
    if (!difference.empty()) end_locked({Status::kMismatch, difference, rank, operation, {}});
    if (ranks_[rank].call.sent.empty()) return;  // the others have called the same as this one
  }
}

void GroupState::withdraw(int rank, uint64_t operation) {
  std::lock_guard lock(mutex_);
  ranks_[rank].progress = static_cast<int64_t>(operation) - 1;
  ranks_[rank].called = -1;
}

void GroupState::leave(int rank) {
  std::lock_guard lock(mutex_);
  ranks_[rank].gone = true;
  if (link_) link_->left(rank, static_cast<uint64_t>(std::max<int64_t>(0, ranks_[rank].progress)));
  changed_.notify_all();
}

bool GroupState::all_gone() const {
  std::lock_guard lock(mutex_);
  return std::ranges::all_of(ranks_, &Rank::gone);
}

void GroupState::left_elsewhere(int rank, uint64_t operation) {
  std::lock_guard lock(mutex_);
  ranks_[rank].gone = true;
  ranks_[rank].progress = std::max(ranks_[rank].progress, static_cast<int64_t>(operation));
  changed_.notify_all();
}

void GroupState::set_report(int rank, const RankReport& report) {
  std::lock_guard lock(mutex_);
  Rank& other = ranks_[rank];
  other.position = report.position;
  other.since = SteadyClock::now() - std::chrono::milliseconds(report.age_ms);
  if (report.operation <= other.progress) return;
  other.progress = report.operation;
  changed_.notify_all();
}

void GroupState::set_position(int rank, const Position& position) {
  std::lock_guard lock(mutex_);
  ranks_[rank].position = position;
  ranks_[rank].since = SteadyClock::now();
}

RankReport GroupState::report(int rank) const {
  std::lock_guard lock(mutex_);
  const Rank& r = ranks_[rank];
  const auto age =
      std::chrono::duration_cast<std::chrono::milliseconds>(SteadyClock::now() - r.since);
  return {r.progress,
          {r.position.epoch, r.position.step, phase_of(r.position)},
          r.since == SteadyClock::time_point() ? 0 : age.count()};
}

std::string GroupState::position_text(int rank) const {
  std::lock_guard lock(mutex_);
  const std::string text = describe(rank);
  return text.empty() ? "" : base::text(" (", text, ")");
}

// "on host b, last heard of 3.1 s ago, epoch 4 step 118, sampling for 3 s", as far as known.
std::string GroupState::describe(int rank) const {
  const Rank& r = ranks_[rank];
  std::string text = link_ ? link_->where(rank) : "";
  const auto add = [&](const std::string& part) {
    text += base::text(text.empty() ? "" : ", ", part);
  };
  if (r.position.epoch >= 0) {
    std::string place = base::text("epoch ", r.position.epoch);
    if (r.position.step >= 0) place += base::text(" step ", r.position.step);
    add(place);
  }
  if (const Phase phase = phase_of(r.position); phase != Phase::kUnknown)
    add(base::text(phase_name(phase), " for ", seconds_since(r.since), " s"));
  return text;
}

bool GroupState::all_came(uint64_t operation) const {
  return std::ranges::all_of(
      ranks_, [&](const Rank& r) { return r.progress >= static_cast<int64_t>(operation); });
}

std::vector<int> GroupState::missing(uint64_t operation) const {
  std::vector<int> ranks;
  for (int r = 0; r < world_size(); ++r)
    if (ranks_[r].progress < static_cast<int64_t>(operation)) ranks.push_back(r);
  return ranks;
}

bool GroupState::end(Cause cause) {
  std::lock_guard lock(mutex_);
  return end_locked(std::move(cause));
}

bool GroupState::end_elsewhere(Cause cause) {
  std::lock_guard lock(mutex_);
  return end_locked(std::move(cause), true);
}

bool GroupState::end_locked(Cause cause, bool elsewhere) {
  if (cause_) return false;
  cause_ = std::move(cause);
  if (link_ && !elsewhere) link_->ended(*cause_);
  changed_.notify_all();
  return true;
}

void GroupState::end_unless_explained(int rank, uint64_t operation, Cause cause) {
  std::unique_lock lock(mutex_);
  if (link_) {
    if (!cause_) link_->came(rank, operation, ranks_[rank].call);
    changed_.wait_for(lock, kExplained, [&] { return cause_.has_value(); });
  }
  end_locked(std::move(cause));
}

std::optional<Cause> GroupState::cause() const {
  std::lock_guard lock(mutex_);
  return cause_;
}

bool GroupState::ended() const {
  std::lock_guard lock(mutex_);
  return cause_.has_value();
}

void GroupState::throw_cause(int rank, uint64_t operation) const {
  std::lock_guard lock(mutex_);
  throw_locked(rank, operation);
}

void GroupState::throw_locked(int rank, uint64_t operation) const {
  // Ranks waiting in the failed operation get its status. After a lost process, a changed message
  // or a mismatch every rank gets it once, because the calls may differ in the number of the
  // operation. All other ranks, and the ranks that were waited for, get kAborted.
  const bool shared = cause_->status == Status::kTimeout || cause_->status == Status::kPeerLost ||
                      cause_->status == Status::kMismatch ||
                      (cause_->status == Status::kAuth && cause_->operation == kEveryOperation);
  const bool once = cause_->operation == kEveryOperation || cause_->status == Status::kMismatch;
  const bool here = cause_->operation == operation ||
                    (once && ranks_[rank].told.value_or(operation) == operation);
  const bool same =
      shared && here && std::ranges::find(cause_->missing, rank) == cause_->missing.end();
  if (!ranks_[rank].told) ranks_[rank].told = operation;
  throw base::Error(same ? cause_->status : Status::kAborted, cause_->text, cause_->rank);
}

void GroupState::notify(const std::function<void()>& change) {
  {
    std::lock_guard lock(mutex_);
    change();
  }
  changed_.notify_all();
}

void GroupState::meet(int rank, uint64_t operation, const std::string& what, const Wait& wait_for,
                      Call call, int first, int count) {
  enter(rank, operation, std::move(call));
  const std::span<const Rank> all = std::span(ranks_).subspan(first, count);
  wait(rank, operation, what, wait_for, [&] {
    return std::ranges::all_of(
        all, [&](const Rank& r) { return r.progress >= static_cast<int64_t>(operation); });
  });
}

bool GroupState::excuses(const std::vector<int>& absent) const {
  return link_ && std::ranges::any_of(absent, [&](int r) { return link_->excused(r); });
}

// The cause of a timeout. It blames silent ranks first: a missing rank may itself wait for a silent
// one in another operation.
Cause GroupState::time_out(uint64_t operation, const std::string& what, double seconds) const {
  Cause cause{Status::kTimeout, "", -1, operation, missing(operation)};
  std::vector<int> silent;
  for (int r = 0; link_ && r < world_size(); ++r)
    if (link_->silent(r)) silent.push_back(r);
  const int came = world_size() - static_cast<int>(cause.missing.size());
  if (cause.missing.empty())
    cause.text = base::text(what, ": not done after ", seconds, " s, though all ranks came");
  else
    cause.text = base::text(what, ": ", came, " of ", world_size(), " ranks came within ", seconds,
                            " s, missing: ", list_ranks(cause.missing));
  if (!silent.empty()) {
    cause.missing = silent;
    cause.operation = kEveryOperation;
  }
  if (!cause.missing.empty()) cause.rank = cause.missing.front();
  constexpr size_t kMost = 8;  // longest list of described ranks
  for (size_t i = 0; i < std::min(kMost, cause.missing.size()); ++i)
    if (const std::string known = describe(cause.missing[i]); !known.empty())
      cause.text += base::text("; rank ", cause.missing[i], " ", known);
  return cause;
}

bool GroupState::excused(uint64_t operation) const {
  std::lock_guard lock(mutex_);
  return excuses(missing(operation));
}

SteadyClock::time_point GroupState::limit(int rank) const {
  std::lock_guard lock(mutex_);
  return ranks_[rank].limit;
}

void GroupState::end_late(const std::string& what, uint64_t operation, double seconds) {
  std::lock_guard lock(mutex_);
  if (cause_) return;
  Cause cause = time_out(operation, what, rounded(seconds));
  cause.operation = kEveryOperation;
  end_locked(std::move(cause));
}

void GroupState::settle() const noexcept {
  if (link_) link_->settle();
}

void GroupState::wait(int rank, uint64_t operation, const std::string& what, const Wait& wait,
                      const std::function<bool()>& done) {
  wait_for(rank, operation, what, wait, done, {});
}

void GroupState::watch(int rank, uint64_t operation, const std::string& what, const Wait& wait,
                       const std::function<bool()>& poll) {
  wait_for(rank, operation, what, wait, {}, poll);
}

void GroupState::fail_if_left(int rank, uint64_t operation, const std::string& what,
                              const std::vector<int>& absent) {
  std::vector<int> lost;
  for (int r : absent)
    if (ranks_[r].gone) lost.push_back(r);
  if (lost.empty()) return;
  end_locked({Status::kPeerLost,
              base::text(what, ": rank ", lost.front(), " has left the communicator"), lost.front(),
              operation, lost});
  throw_locked(rank, operation);
}

void GroupState::wait_for(int rank, uint64_t operation, const std::string& what, const Wait& wait,
                          const std::function<bool()>& done, const std::function<bool()>& poll) {
  const SteadyClock::time_point start = SteadyClock::now();
  SteadyClock::duration nap = kShortestNap;
  std::unique_lock lock(mutex_);
  SteadyClock::time_point& limit = ranks_[rank].limit;
  if (std::exchange(ranks_[rank].deadline, wait.deadline.at()) != wait.deadline.at())
    limit = wait.deadline.at();
  SteadyClock::duration quiet = operation == 0 ? SteadyClock::duration(0) : kQuiet;
  if (!wait.deadline.never())
    quiet = std::clamp<SteadyClock::duration>((limit - start) / 4, {}, quiet);
  bool announced = !link_, settled = !link_;
  while (true) {
    bool over = false;
    if (poll) {
      lock.unlock();
      over = poll();
      lock.lock();
    }
    if (wait.cancel.cancelled()) {
      end_locked({Status::kCancelled,
                  base::text(what, ": rank ", rank, " was canceled"),
                  rank,
                  operation,
                  {}});
      base::fail(Status::kCancelled, what, " was canceled");
    }
    // A faster rank may have ended the communicator in a later operation: this rank finds it there.
    const bool later = cause_ && done && cause_->operation > operation &&
                       cause_->operation != kEveryOperation && done();
    if (later) return;
    if (cause_) throw_locked(rank, operation);
    if (!announced && SteadyClock::now() - start >= quiet) {
      announced = true;
      link_->came(rank, operation, ranks_[rank].call);
    }
    if (over || (done && done())) return;

    const std::vector<int> absent = missing(operation);
    fail_if_left(rank, operation, what, absent);
    if (SteadyClock::now() >= limit) {
      bool excused = excuses(absent);
      lock.unlock();
      // If this process itself was stopped, messages of the others may still be unread.
      if (!settled) link_->settle();
      excused = (excused || (wait.excused && wait.excused())) && !wait.stall.passed();
      lock.lock();
      if (!std::exchange(settled, true)) continue;
      if (excused) {
        // After an excuse the whole timeout starts again.
        const SteadyClock::duration timeout = wait.deadline.at() - wait.deadline.since();
        limit = std::min(wait.stall.at(), SteadyClock::now() + timeout);
        settled = !link_;
        continue;
      }
      if (cause_ || (done && done())) continue;
      end_locked(time_out(operation, what, seconds_since(wait.deadline.since())));
      throw_locked(rank, operation);
    }
    const SteadyClock::time_point asleep = SteadyClock::now();
    if (!poll) {
      changed_.wait_until(lock, std::min(asleep + kWaitSlice, limit));
    } else if (asleep - start < kSpin) {
      lock.unlock();
      std::this_thread::yield();
      lock.lock();
    } else {
      changed_.wait_until(lock, std::min(asleep + nap, limit));
      nap = std::min<SteadyClock::duration>(2 * nap, kLongestNap);
    }
    if (wait.deadline.never()) continue;
    bool excused = excuses(absent);
    if (!excused && wait.excused) {
      lock.unlock();
      excused = wait.excused();
      lock.lock();
    }
    // Excused time does not count, up to the stall limit.
    if (excused)
      limit = std::max(limit, std::min(wait.stall.at(), limit + (SteadyClock::now() - asleep)));
  }
}

}  // namespace gnnmg::comm
