// Calls of other threads on a job's control connections.
#include <algorithm>
#include <chrono>
#include <utility>

#include "comm/join/control.h"

namespace gnnmg::comm {

using base::Status;
using std::chrono::milliseconds;

namespace {
constexpr auto kSettle = milliseconds(300);
constexpr auto kDrain = milliseconds(100);
constexpr int kSilentBeats = 3;
}  // namespace

std::string Control::process_text(int process) const {
  return base::text("process ", process, " on host ", hosts_[process]);
}

void Control::send(int target, std::string bytes) {
  {
    std::lock_guard lock(mutex_);
    outbox_.emplace_back(target, std::move(bytes));
  }
  wake();
}

// Sends to all other processes; a member sends to process 0, which forwards the frame.
void Control::send_all(const std::string& bytes, int except) {
  if (num_processes() == 1) return;
  if (process_ != 0) return send(0, bytes);
  {
    std::lock_guard lock(mutex_);
    for (int p = 1; p < num_processes(); ++p)
      if (p != except) outbox_.emplace_back(p, bytes);
  }
  wake();
}

// Waits for two passes: the first may have begun to read before the call.
void Control::settle() noexcept {
  wake();
  std::unique_lock lock(mutex_);
  const uint64_t now = passes_;
  const auto until = Clock::now() + kSettle;
  while (passes_ < now + 2 && Clock::now() < until && !stopping_) {
    changed_.wait_for(lock, kControlSlice);
    wake();
  }
}

void Control::drain() noexcept {
  wake();
  std::unique_lock lock(mutex_);
  const auto until = Clock::now() + kDrain;
  while (!(written_ && outbox_.empty()) && Clock::now() < until && !stopping_)
    changed_.wait_for(lock, kControlSlice);
}

double Control::silence(int process) const {
  if (process == process_) return 0;
  return std::max(0.0, std::chrono::duration<double>(Clock::now() - heard_[process]).count());
}

bool Control::is_silent(int process) const {
  const auto silent = [&](int p) {
    return silence(p) * 1000 > static_cast<double>(kSilentBeats * heartbeat_ms_);
  };
  if (process == process_ || !silent(process)) return false;
  // If process 0 is silent, the state of the others is unknown.
  return process_ == 0 || process == 0 || !silent(0);
}

bool Control::is_excused(int process) const {
  const bool heard = !is_silent(process) && (process_ == 0 || !is_silent(0));
  return excused_[process] != 0 && heard;
}

std::string Control::last_heard(int process) const {
  return base::text("last heard of ", rounded(silence(process)), " s ago");
}

std::string Control::silence_text() const {
  return base::text("nothing is heard of ", process_text(0), ", ", last_heard(0));
}

void Control::throw_failure(uint64_t gather) {
  const bool waited_for = std::ranges::find(failure_->missing, process_) != failure_->missing.end();
  const bool same =
      ((failure_->status == Status::kPeerLost || failure_->status == Status::kAuth) &&
       !failure_->told) ||
      (failure_->status == Status::kTimeout && gather != 0 && failure_->gather == gather);
  failure_->told = true;
  throw base::Error(same && !waited_for ? failure_->status : Status::kAborted, failure_->text,
                    failure_->rank);
}

void Control::fail_job(const Failure& failure, bool elsewhere) {
  {
    std::lock_guard lock(mutex_);
    if (failure_ || finished_) return;
    failure_ = failure;
    changed_.notify_all();
  }
  if (!elsewhere) send_job_end(failure, -1);
  end_groups_by(failure);
  std::lock_guard lock(mutex_);
  groups_told_ = true;
}

void Control::end_groups_by(const Failure& failure) {
  const bool lost = failure.status == Status::kPeerLost;
  end_groups([&](const Group& group) {
    const bool same = lost || failure.status == Status::kAuth;
    Cause cause{same ? failure.status : Status::kAborted, failure.text, -1, kEveryOperation, {}};
    if (!lost) return cause;
    for (int r = group.first_ranks[failure.rank]; r < group.first_ranks[failure.rank + 1]; ++r) {
      cause.missing.push_back(r);
      cause.text += base::text("; rank ", r, group.state->position_text(r));
    }
    if (!cause.missing.empty()) cause.rank = cause.missing.front();
    return cause;
  });
}

void Control::send_job_end(const Failure& failure, int except) {
  send_all(job_end_frame(failure.gather, {failure.status, failure.text, failure.rank,
                                          kEveryOperation, failure.missing}),
           except);
}

void Control::abort(const std::string& why) noexcept {
  try {
    return fail_job({Status::kAborted, why, process_, 0, {}}, false);
  } catch (const std::exception&) {  // out of memory: the others reach their deadlines
  }
  std::lock_guard lock(mutex_);
  if (!failure_ && !finished_)
    failure_ = Failure{Status::kAborted, "short of memory", process_, 0, {}};
  changed_.notify_all();
}

bool Control::spent() const noexcept {
  std::lock_guard lock(mutex_);
  return failure_.has_value();
}

std::optional<base::Error> Control::failure() const {
  std::lock_guard lock(mutex_);
  if (!failure_ || finished_) return std::nullopt;
  return base::Error(failure_->status, failure_->text, failure_->rank);
}

void Control::set_excuse(std::function<bool()> excuse) {
  std::lock_guard lock(mutex_);
  excuse_ = std::move(excuse);
}

void Control::finish(const Wait& wait) {
  end_groups([](const Group&) {
    return Cause{Status::kAborted, "the job has been shut down", -1, kEveryOperation, {}};
  });
  std::unique_lock lock(mutex_);
  if (!failure_) failure_ = Failure{Status::kAborted, "the job has been shut down", -1, 0, {}};
  const auto all_parted = [&] {
    return std::all_of(parted_.begin() + 1, parted_.end(), [](char parted) { return parted; });
  };
  while (process_ == 0 && !all_parted() && !wait.cancel.cancelled() && !wait.deadline.passed())
    changed_.wait_for(lock, kControlSlice);
}

}  // namespace gnnmg::comm
