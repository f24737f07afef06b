#include "comm/group_state.h"

#include <algorithm>
#include <chrono>

namespace gnnmg::comm {
namespace {

using base::Status;
using base::SteadyClock;

// How often a waiting rank looks at its cancel token and at excuses, which nobody announces.
constexpr auto kSlice = std::chrono::milliseconds(10);

std::string join(const std::vector<int>& ranks) {
  std::string out;
  for (int r : ranks) out += base::text(out.empty() ? "" : ", ", r);
  return out;
}

// Empty when the calls of two ranks fit together.
std::string compare(int a, const Call& call_a, int b, const Call& call_b) {
  if (call_a.what != call_b.what || call_a.detail != call_b.detail)
    return base::text("rank ", a, " calls ", call_a.what, "(", call_a.detail, "), but rank ", b,
                      " calls ", call_b.what, "(", call_b.detail, ")");
  const auto check = [&](int from, const Call& sender, int to, const Call& receiver) {
    if (sender.sent.empty() || sender.sent[to] == receiver.received[from]) return std::string();
    return base::text(sender.what, ": rank ", from, " sends ", sender.sent[to], " bytes to rank ",
                      to, ", which expects ", receiver.received[from]);
  };
  const std::string there = check(a, call_a, b, call_b);
  return there.empty() ? check(b, call_b, a, call_a) : there;
}

}  // namespace

bool GroupState::enter(int rank, uint64_t operation, Call call) {
  std::lock_guard lock(mutex_);
  if (progress_[rank] >= static_cast<int64_t>(operation)) return false;
  progress_[rank] = static_cast<int64_t>(operation);
  calls_[rank] = std::move(call);
  for (int other = 0; other < world_size(); ++other) {
    if (other == rank || progress_[other] != static_cast<int64_t>(operation)) continue;
    const std::string difference = compare(rank, calls_[rank], other, calls_[other]);
    if (!difference.empty()) end_locked({Status::kMismatch, difference, rank, operation, {}});
  }
  changed_.notify_all();
  return true;
}

void GroupState::leave(int rank) {
  std::lock_guard lock(mutex_);
  gone_[rank] = true;
  changed_.notify_all();
}

std::vector<int> GroupState::missing(uint64_t operation) const {
  std::vector<int> ranks;
  for (int r = 0; r < world_size(); ++r)
    if (progress_[r] < static_cast<int64_t>(operation)) ranks.push_back(r);
  return ranks;
}

bool GroupState::end(Cause cause) {
  std::lock_guard lock(mutex_);
  return end_locked(std::move(cause));
}

bool GroupState::end_locked(Cause cause) {
  if (cause_) return false;
  cause_ = std::move(cause);
  changed_.notify_all();
  return true;
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
  // Whoever waits in the same operation suffers the same; all others, and those who were waited
  // for, were called off.
  const bool shared = cause_->status == Status::kTimeout || cause_->status == Status::kPeerLost ||
                      cause_->status == Status::kMismatch;
  const bool same = shared && cause_->operation == operation &&
                    std::ranges::find(cause_->missing, rank) == cause_->missing.end();
  throw base::Error(same ? cause_->status : Status::kAborted, cause_->text, cause_->rank);
}

void GroupState::notify(const std::function<void()>& change) {
  std::lock_guard lock(mutex_);
  change();
  changed_.notify_all();
}

void GroupState::meet(int rank, uint64_t operation, const std::string& what, const Wait& wait_for) {
  enter(rank, operation);
  wait(rank, operation, what, wait_for, [&] { return missing(operation).empty(); });
}

void GroupState::wait(int rank, uint64_t operation, const std::string& what, const Wait& wait,
                      const std::function<bool()>& done) {
  const SteadyClock::time_point start = SteadyClock::now();
  base::Deadline deadline = wait.deadline;
  std::unique_lock lock(mutex_);
  while (true) {
    if (wait.cancel.cancelled()) {
      end_locked({Status::kCancelled,
                  base::text(what, ": rank ", rank, " was cancelled"),
                  rank,
                  operation,
                  {}});
      base::fail(Status::kCancelled, what, " was cancelled");
    }
    if (cause_) throw_locked(rank, operation);
    if (done()) return;

    const std::vector<int> absent = missing(operation);
    std::vector<int> lost;
    for (int r : absent)
      if (gone_[r]) lost.push_back(r);
    if (!lost.empty()) {  // those who are only on their way will suffer the same
      end_locked({Status::kPeerLost,
                  base::text(what, ": rank ", lost.front(), " has left the communicator"),
                  lost.front(), operation, lost});
      throw_locked(rank, operation);
    }
    if (deadline.passed()) {
      lock.unlock();
      const bool excused = wait.excused && wait.excused() && !wait.stall.passed();
      lock.lock();
      if (excused) {
        // What is left after the excuse is the whole time again.
        const auto span = wait.deadline.at() - start;
        deadline = base::Deadline::earlier(
            wait.stall,
            base::Deadline::after_ms(std::chrono::ceil<std::chrono::milliseconds>(span).count()));
        continue;
      }
      if (cause_ || done()) continue;
      const double seconds = std::chrono::duration<double>(SteadyClock::now() - start).count();
      const int came = world_size() - static_cast<int>(absent.size());
      end_locked({Status::kTimeout,
                  absent.empty()
                      ? base::text(what, ": not done after ", seconds, " s, though all ranks came")
                      : base::text(what, ": ", came, " of ", world_size(), " ranks came within ",
                                   seconds, " s, missing: ", join(absent)),
                  absent.empty() ? -1 : absent.front(), operation, absent});
      throw_locked(rank, operation);
    }
    const auto slice = SteadyClock::now() + kSlice;
    changed_.wait_until(lock, std::min(slice, deadline.at()));
  }
}

}  // namespace gnnmg::comm
