// Communicators on a job's control connections: their messages, and the values that their ranks put
// on the board.
#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "comm/address_board.h"
#include "comm/join/control.h"

namespace gnnmg::comm {

using base::Status;

namespace {
// Limits for early messages of communicators that are not made here yet, for their bytes, and for
// the bytes of the board: a thousand ranks need a quarter.
constexpr size_t kMostEarly = 1 << 16;
constexpr size_t kMostBytes = size_t{32} << 20;
constexpr size_t kMostCall = size_t{64} << 10;  // bytes of a call in words
}  // namespace

void Control::BoardValues::keep(uint64_t group, const std::string& key, const std::string& value) {
  const auto [entry, fresh] = groups_[group].try_emplace(key);
  if (fresh) bytes_ += key.size() + kOverhead;
  bytes_ += value.size() - entry->second.size();
  entry->second = value;
}

const std::string* Control::BoardValues::find(uint64_t group, const std::string& key) const {
  const auto values = groups_.find(group);
  if (values == groups_.end()) return nullptr;
  const auto found = values->second.find(key);
  return found == values->second.end() ? nullptr : &found->second;
}

void Control::BoardValues::drop(uint64_t group) noexcept {
  const auto values = groups_.find(group);
  if (values == groups_.end()) return;
  for (const auto& [key, value] : values->second) bytes_ -= key.size() + value.size() + kOverhead;
  groups_.erase(values);
}

int Control::Group::process_of(int rank) const {
  const auto next = std::ranges::upper_bound(first_ranks, rank);
  return static_cast<int>(next - first_ranks.begin()) - 1;
}

// Link of a communicator to the other processes.
class GroupLink final : public Link {
 public:
  GroupLink(std::shared_ptr<Control> control, uint64_t id, std::vector<int> first_ranks)
      : control_(std::move(control)), id_(id) {
    group_.first_ranks = std::move(first_ranks);
  }
  ~GroupLink() override { control_->forget(id_); }

  void came(int rank, uint64_t operation, const Call& call) noexcept override {
    tell([&] {
      FrameWriter frame(FrameKind::kCame);
      frame.u64(id_);
      frame.u32(static_cast<uint32_t>(rank));
      frame.u64(operation);
      frame.text(call.what);
      frame.text(call.detail);
      frame.list(call.sent);
      frame.list(call.received);
      frame.text(call.caller);
      return frame.finish();
    });
  }
  void left(int rank, uint64_t operation) noexcept override {
    tell([&] {
      FrameWriter frame(FrameKind::kLeft);
      frame.u64(id_);
      frame.u32(static_cast<uint32_t>(rank));
      frame.u64(operation);
      return frame.finish();
    });
  }
  void ended(const Cause& cause) noexcept override {
    tell([&] { return ended_frame(id_, cause); });
  }
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
    return control_->is_excused(group_.process_of(rank));
  }

 private:
  template <typename MakeFrame>
  void tell(const MakeFrame& make_frame) noexcept {
    try {
      control_->send_all(make_frame());
    } catch (const std::exception&) {  // out of memory: the others reach their deadlines
    }
  }

  const std::shared_ptr<Control> control_;
  const uint64_t id_;
  Control::Group group_;
};

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
                        std::shared_ptr<GroupState> state,
                        const std::function<void(const Cause&)>& end) {
  std::vector<GroupMessage> early;
  std::optional<Failure> failure;
  {
    std::lock_guard lock(mutex_);
    newest_group_ = std::max(newest_group_, group);
    groups_[group] = {std::move(first_ranks), std::move(state), end};
    if (const auto found = early_.find(group); found != early_.end()) {
      early = std::move(found->second);
      num_early_ -= early.size();
      for (const GroupMessage& message : early) early_bytes_ -= message.bytes;
      early_.erase(found);
    }
    failure = failure_;
  }
  for (GroupMessage& message : early) {
    const int from = message.from;
    try {
      apply_group_message(std::move(message));
    } catch (const base::Error& error) {
      base::fail(error.status(), process_text(from), " sent a malformed message: ", error.what());
    }
  }
  if (failure) end({Status::kAborted, failure->text, -1, kEveryOperation, {}});
}

void Control::clear() noexcept {
  std::map<uint64_t, Group> groups;
  Cause cause = abort_cause({}, -1, kEveryOperation);
  {
    std::lock_guard lock(mutex_);
    groups.swap(groups_);
    if (failure_) cause.text = std::move(failure_->text);
  }
  for (const auto& [id, group] : groups) try {  // groups whose end failed before
      group.end(cause);
    } catch (const std::exception&) {
      group.end(abort_cause({}, -1, kEveryOperation));
    }
}

void Control::forget(uint64_t id) noexcept {
  std::lock_guard lock(mutex_);
  groups_.erase(id);
  board_values_.drop(id);
}

void Control::put(uint64_t group, const std::string& key, const std::string& value) {
  FrameWriter frame(FrameKind::kPut);
  frame.u64(group);
  frame.text(key);
  frame.text(value);
  send_all(frame.finish());
  std::lock_guard lock(mutex_);
  board_values_.keep(group, key, value);
  changed_.notify_all();
}

std::optional<std::string> Control::get(uint64_t group, const std::string& key,
                                        const std::function<bool()>& over) {
  std::unique_lock lock(mutex_);
  while (true) {
    if (const std::string* value = board_values_.find(group, key)) return *value;
    lock.unlock();
    const bool leave = over();
    lock.lock();
    if (leave) return std::nullopt;
    changed_.wait_for(lock, kControlSlice);
  }
}

bool Control::has(uint64_t group, const std::string& key) const {
  std::lock_guard lock(mutex_);
  return board_values_.find(group, key) != nullptr;
}

void Control::handle_put(int from, const Frame& frame) {
  FrameReader reader(frame.body);
  const uint64_t id = reader.u64();
  const std::string key = reader.text(), value = reader.text();
  reader.finish();
  pass_on(from, frame);
  std::lock_guard lock(mutex_);
  // Late values of a deleted group would never be deleted.
  if (id != kJobGroup && id <= newest_group_ && !groups_.contains(id)) return;
  board_values_.keep(id, key, value);
  if (board_values_.bytes() > kMostBytes)
    base::fail(Status::kProtocol, "values of ranks for each other of ", board_values_.bytes(),
               " bytes, expected at most ", kMostBytes);
  changed_.notify_all();
}

Control::GroupMessage Control::read_group_message(int from, const Frame& frame) {
  FrameReader reader(frame.body);
  GroupMessage message{
      .from = from, .kind = frame.kind, .group = reader.u64(), .bytes = frame.body.size()};
  if (frame.kind == FrameKind::kEnded) {
    message.cause = read_cause(reader);
    return message;
  }
  message.rank = reader.u32();
  message.operation = reader.u64();
  if (frame.kind == FrameKind::kCame) {
    message.call.what = reader.word(kMostCall);
    message.call.detail = reader.word(kMostCall);
    message.call.sent = reader.list();
    message.call.received = reader.list();
    message.call.caller = reader.word(kMostCall);
  }
  reader.finish();
  return message;
}

// A member may speak for its own ranks, process 0 for all ranks outside the receiving process.
bool Control::speaks_for(int from, const Group& group, uint32_t rank) const {
  if (rank >= static_cast<uint32_t>(group.first_ranks.back())) return false;
  const int process = group.process_of(static_cast<int>(rank));
  return process_ == 0 ? process == from : process != process_;
}

// Error(kProtocol) if a message does not suit its communicator.
void Control::check_group_message(const GroupMessage& message, const Group& group) const {
  if (message.kind == FrameKind::kEnded) return;
  const auto world = static_cast<size_t>(group.first_ranks.back());
  if (!speaks_for(message.from, group, message.rank))
    base::fail(Status::kProtocol, "rank ", message.rank, " is not one of its own");
  const std::vector<int64_t>&sent = message.call.sent, &received = message.call.received;
  if ((!sent.empty() || !received.empty()) && (sent.size() != world || received.size() != world))
    base::fail(Status::kProtocol, "a call with ", sent.size(), " and ", received.size(),
               " sizes in a world of ", world);
}

void Control::handle_group_message(int from, const Frame& frame) {
  GroupMessage message = read_group_message(from, frame);
  if (const auto group = find_group(message.group)) check_group_message(message, *group);
  pass_on(from, frame);
  apply_group_message(std::move(message));
}

void Control::apply_group_message(GroupMessage message) {
  Group group;
  {
    std::lock_guard lock(mutex_);
    const auto found = groups_.find(message.group);
    if (found == groups_.end()) {
      if (message.group <= newest_group_) return;  // the group is deleted
      early_bytes_ += message.bytes;
      if (++num_early_ > kMostEarly || early_bytes_ > kMostBytes)
        base::fail(Status::kProtocol, "too many messages of communicators that are not made yet");
      early_[message.group].push_back(std::move(message));
      return;
    }
    group = found->second;
  }
  check_group_message(message, group);
  const auto rank = static_cast<int>(message.rank);
  if (message.kind == FrameKind::kEnded)
    group.end(message.cause);
  else if (message.kind == FrameKind::kLeft)
    group.state->left_elsewhere(rank, message.operation);
  else
    group.state->came_elsewhere(rank, message.operation, std::move(message.call));
}

void Control::end_groups(const std::function<Cause(const Group&)>& cause_of) {
  std::vector<Group> groups;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [id, group] : groups_) groups.push_back(group);
  }
  for (const Group& group : groups) group.end(cause_of(group));
}

// Drops communicators that have ended. Their process groups join their threads here, outside of the
// lock; nothing is in flight in them.
void Control::sweep() {
  std::map<uint64_t, Group> groups;
  std::optional<Failure> untold;
  {
    std::lock_guard lock(mutex_);
    if (!groups_told_) untold = failure_;
    groups = groups_;
  }
  if (untold) {
    end_groups_by(*untold);
    std::lock_guard lock(mutex_);
    groups_told_ = true;
  }
  for (const auto& [id, group] : groups) {
    if (const auto cause = group.state->cause())
      group.end(*cause);  // drops the process groups of ranks outside of an operation too
    else if (!group.state->all_gone())
      continue;
    std::lock_guard lock(mutex_);
    groups_.erase(id);
    board_values_.drop(id);
  }
}

}  // namespace gnnmg::comm
