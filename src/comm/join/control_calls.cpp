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

Control::Gather& Control::gather_of(uint64_t number) {
  Gather& gather = gathers_[number];
  if (gather.came.empty()) gather.came.resize(hosts_.size(), false);
  return gather;
}

std::vector<std::string> Control::gather(const std::string& name, const std::string& bytes,
                                         const Wait& wait, uint64_t* number_out) {
  if (bytes.size() > kFrameLimit / 2)
    base::fail(Status::kInvalidArgument, name, ": ", bytes.size(), " bytes are too many, at most ",
               kFrameLimit / 2);
  std::unique_lock call(call_mutex_, std::try_to_lock);
  if (!call) base::fail(Status::kBusy, name, ": another thread is in a call of all processes");
  uint64_t number = 0;
  {
    std::lock_guard lock(mutex_);
    if (failure_) throw_failure(0);
    number = ++last_gather_;
    gather_of(number).name = name;
  }
  if (number_out) *number_out = number;
  if (process_ == 0) {
    note_gather(number, 0, name, bytes);
  } else {
    FrameWriter frame(FrameKind::kGather);
    frame.u64(number);
    frame.text(name);
    frame.text(bytes);
    send(0, frame.finish());
  }

  const Clock::time_point start = Clock::now();
  base::Deadline deadline = wait.deadline;
  bool settled = false;
  std::unique_lock lock(mutex_);
  while (true) {
    Gather& gather = gather_of(number);
    if (gather.done) break;
    if (failure_) throw_failure(number);
    if (wait.cancel.cancelled()) {
      lock.unlock();
      fail_job({Status::kCancelled,
                base::text(name, ": ", process_text(process_), " was cancelled"),
                process_,
                number,
                {}},
               false);
      base::fail(Status::kCancelled, name, " was cancelled");
    }
    if (deadline.passed()) {
      std::vector<int> missing;
      bool excused = false;
      for (int p = 0; p < num_processes(); ++p) {
        if (p == process_ || gather.came[p]) continue;
        missing.push_back(p);
        excused = excused || excused_[p];
      }
      lock.unlock();
      if (!settled) settle();
      excused = (excused || (wait.excused && wait.excused())) && !wait.stall.passed();
      lock.lock();
      if (!std::exchange(settled, true)) continue;
      if (excused) {
        deadline = base::Deadline::earlier(
            wait.stall, base::Deadline::after_ms(
                            std::chrono::ceil<milliseconds>(wait.deadline.at() - start).count()));
        settled = false;
        continue;
      }
      const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      std::string text =
          base::text(name, ": ", num_processes() - missing.size(), " of ", num_processes(),
                     " processes came within ", rounded(seconds), " s, missing: ");
      for (size_t i = 0; i < missing.size(); ++i)
        text +=
            base::text(i == 0 ? "" : "; ", process_text(missing[i]), ", ", last_heard(missing[i]));
      lock.unlock();
      fail_job({Status::kTimeout, text, missing.empty() ? -1 : missing.front(), number, missing},
               false);
      lock.lock();
      throw_failure(number);
    }
    changed_.wait_for(lock, kSlice);
  }
  Gather gather = std::move(gather_of(number));
  gathers_.erase(number);
  if (!gather.mismatch.empty()) base::fail(Status::kMismatch, gather.mismatch);
  return std::move(gather.result);
}

// On process 0: a process's bytes are here.
void Control::note_gather(uint64_t number, int process, const std::string& name,
                          std::string bytes) {
  bool complete = false;
  {
    std::lock_guard lock(mutex_);
    Gather& gather = gather_of(number);
    gather.parts.resize(hosts_.size());
    gather.names.resize(hosts_.size());
    gather.came[process] = true;
    gather.names[process] = name;
    gather.parts[process] = std::move(bytes);
    complete = std::ranges::all_of(gather.came, [](bool came) { return came; });
  }
  if (complete) return complete_gather(number);
  FrameWriter came(FrameKind::kGatherCame);
  came.u64(number);
  came.u32(static_cast<uint32_t>(process));
  send_all(came.finish());
}

void Control::complete_gather(uint64_t number) {
  FrameWriter frame(FrameKind::kGathered);
  {
    std::lock_guard lock(mutex_);
    Gather& gather = gather_of(number);
    size_t total = 0;
    for (int p = 0; p < num_processes(); ++p) {
      total += gather.parts[p].size();
      if (gather.names[p] != gather.names[0] && gather.mismatch.empty())
        gather.mismatch = base::text(process_text(p), " calls ", gather.names[p], ", ",
                                     process_text(0), " calls ", gather.names[0]);
    }
    if (total > kFrameLimit / 2)
      gather.mismatch = base::text(gather.names[0], ": ", total,
                                   " bytes of all processes, at most ", kFrameLimit / 2);
    frame.u64(number);
    frame.text(gather.mismatch);
    frame.u32(gather.mismatch.empty() ? static_cast<uint32_t>(hosts_.size()) : 0);
    if (gather.mismatch.empty())
      for (const std::string& part : gather.parts) frame.text(part);
    // Under the same lock: whoever sees it done here may leave the job at once, and what he then
    // says must come behind the result.
    const std::string bytes = frame.finish();
    for (int p = 1; p < num_processes(); ++p) outbox_.emplace_back(p, bytes);
    gather.result = std::move(gather.parts);
    gather.done = true;
    if (gather.mismatch.empty() && gather.names[0] == kFinish) finished_ = true;
    changed_.notify_all();
  }
  wake();
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
