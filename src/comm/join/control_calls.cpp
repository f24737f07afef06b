// What other threads do with a job's control connections.
#include <algorithm>
#include <chrono>
#include <utility>

#include "comm/join/control.h"

namespace gnnmg::comm {

using base::Status;
using std::chrono::milliseconds;

namespace {
constexpr auto kSlice = milliseconds(10);
constexpr auto kSettle = milliseconds(300);
constexpr int kSilentBeats = 3;
}  // namespace

// A communicator's way to the other processes.
class GroupLink final : public Link {
 public:
  GroupLink(std::shared_ptr<Control> control, uint64_t id, std::vector<int> first_ranks)
      : control_(std::move(control)), id_(id) {
    group_.first_ranks = std::move(first_ranks);
  }
  ~GroupLink() override { control_->forget(id_); }

  void came(int rank, uint64_t operation, const Call& call) noexcept override {
    FrameWriter frame(FrameKind::kCame);
    frame.u64(id_);
    frame.u32(static_cast<uint32_t>(rank));
    frame.u64(operation);
    frame.text(call.what);
    frame.text(call.detail);
    frame.list(call.sent);
    frame.list(call.received);
    control_->send_all(frame.finish());
  }
  void left(int rank, uint64_t operation) noexcept override {
    FrameWriter frame(FrameKind::kLeft);
    frame.u64(id_);
    frame.u32(static_cast<uint32_t>(rank));
    frame.u64(operation);
    control_->send_all(frame.finish());
  }
  void ended(const Cause& cause) noexcept override { control_->send_all(ended_frame(id_, cause)); }
  void settle() noexcept override { control_->settle(); }

  std::string where(int rank) const override {
    const int process = group_.process_of(rank);
    if (process == control_->process()) return base::text("on host ", control_->host(process));
    std::lock_guard lock(control_->mutex_);
    return base::text("on host ", control_->host(process), ", ", control_->last_heard(process));
  }
  bool silent(int rank) const noexcept override {
    std::lock_guard lock(control_->mutex_);
    return control_->is_silent(group_.process_of(rank));
  }
  bool excused(int rank) const noexcept override {
    std::lock_guard lock(control_->mutex_);
    return control_->excused_[group_.process_of(rank)] != 0;
  }

 private:
  const std::shared_ptr<Control> control_;
  const uint64_t id_;
  Control::Group group_;
};

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

// From a member: to process 0, which passes it on.
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

// Two passes: one may have begun to read before the call.
void Control::settle() noexcept {
  wake();
  std::unique_lock lock(mutex_);
  const uint64_t now = passes_;
  const auto until = Clock::now() + kSettle;
  while (passes_ < now + 2 && Clock::now() < until && !stopping_) {
    changed_.wait_for(lock, kSlice);
    wake();
  }
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
  // When process 0 says nothing, nothing is known of the others.
  return process_ == 0 || process == 0 || !silent(0);
}

std::string Control::last_heard(int process) const {
  return base::text("last heard of ", rounded(silence(process)), " s ago");
}

std::optional<Control::Group> Control::find_group(uint64_t id) const {
  std::lock_guard lock(mutex_);
  const auto found = groups_.find(id);
  if (found == groups_.end()) return std::nullopt;
  return found->second;
}

std::shared_ptr<Link> Control::link(uint64_t group, std::vector<int> first_ranks) {
  return std::make_shared<GroupLink>(shared_from_this(), group, std::move(first_ranks));
}

void Control::add_group(uint64_t group, std::vector<int> first_ranks,
                        std::shared_ptr<GroupState> state, std::function<void(const Cause&)> end) {
  std::vector<std::pair<int, Frame>> early;
  std::optional<Failure> failure;
  {
    std::lock_guard lock(mutex_);
    newest_group_ = std::max(newest_group_, group);
    groups_[group] = {std::move(first_ranks), std::move(state), end};
    if (const auto found = early_.find(group); found != early_.end()) {
      early = std::move(found->second);
      num_early_ -= early.size();
      early_.erase(found);
    }
    failure = failure_;
  }
  for (const auto& [from, frame] : early) handle_group(from, group, frame);
  if (failure) end({Status::kAborted, failure->text, -1, kEveryOperation, {}});
}

void Control::clear() {
  std::map<uint64_t, Group> groups;
  {
    std::lock_guard lock(mutex_);
    groups.swap(groups_);
  }
}

void Control::forget(uint64_t id) noexcept {
  std::lock_guard lock(mutex_);
  groups_.erase(id);
  words_.erase(id);
}

void Control::put(uint64_t group, const std::string& key, const std::string& value) {
  FrameWriter frame(FrameKind::kPut);
  frame.u64(group);
  frame.text(key);
  frame.text(value);
  send_all(frame.finish());
  std::lock_guard lock(mutex_);
  words_[group][key] = value;
  changed_.notify_all();
}

std::optional<std::string> Control::get(uint64_t group, const std::string& key,
                                        const std::function<bool()>& over) {
  std::unique_lock lock(mutex_);
  while (true) {
    const auto words = words_.find(group);
    if (words != words_.end())
      if (const auto found = words->second.find(key); found != words->second.end())
        return found->second;
    lock.unlock();
    const bool leave = over();
    lock.lock();
    if (leave) return std::nullopt;
    changed_.wait_for(lock, kSlice);
  }
}

bool Control::has(uint64_t group, const std::string& key) const {
  std::lock_guard lock(mutex_);
  const auto words = words_.find(group);
  return words != words_.end() && words->second.contains(key);
}

void Control::throw_failure(uint64_t gather) {
  const bool waited_for = std::ranges::find(failure_->missing, process_) != failure_->missing.end();
  const bool same =
      (failure_->status == Status::kPeerLost && !failure_->told) ||
      (failure_->status == Status::kTimeout && gather != 0 && failure_->gather == gather);
  failure_->told = true;
  throw base::Error(same && !waited_for ? failure_->status : Status::kAborted, failure_->text,
                    failure_->rank);
}

void Control::fail_job(Failure failure, bool elsewhere) {
  {
    std::lock_guard lock(mutex_);
    if (failure_ || finished_) return;
    failure_ = failure;
    changed_.notify_all();
  }
  if (!elsewhere) send_job_end(failure, -1);
  const bool lost = failure.status == Status::kPeerLost;
  end_groups([&](const Group& group) {
    Cause cause{lost ? Status::kPeerLost : Status::kAborted, failure.text, -1, kEveryOperation, {}};
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
  FrameWriter frame(FrameKind::kJobEnded);
  frame.u64(failure.gather);
  frame.i64(static_cast<int32_t>(failure.status));
  frame.i64(failure.rank);
  frame.u64(kEveryOperation);
  frame.list({failure.missing.begin(), failure.missing.end()});
  frame.text(failure.text);
  send_all(frame.finish(), except);
}

void Control::end_groups(const std::function<Cause(const Group&)>& cause_of) {
  std::vector<Group> groups;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [id, group] : groups_) groups.push_back(group);
  }
  for (const Group& group : groups) group.end(cause_of(group));
}

void Control::abort(const std::string& why) noexcept {
  fail_job({Status::kAborted, why, process_, 0, {}}, false);
}

bool Control::spent() const noexcept {
  std::lock_guard lock(mutex_);
  return failure_.has_value();
}

void Control::set_excuse(std::function<bool()> excuse) {
  std::lock_guard lock(mutex_);
  excuse_ = std::move(excuse);
}

void Control::finish() {
  end_groups([](const Group&) {
    return Cause{Status::kAborted, "the job has been shut down", -1, kEveryOperation, {}};
  });
  std::lock_guard lock(mutex_);
  if (!failure_) failure_ = Failure{Status::kAborted, "the job has been shut down", -1, 0, {}};
}

}  // namespace gnnmg::comm
