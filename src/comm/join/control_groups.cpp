// Communicators on a job's control connections: what processes say of them, and the words that
// their ranks leave for each other.
#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "comm/address_board.h"
#include "comm/join/control.h"

namespace gnnmg::comm {

using base::Status;

namespace {
// Words of communicators that are not made here yet, and the bytes of such, and of what ranks leave
// for each other: a thousand ranks need a quarter of them.
constexpr size_t kMostEarly = 1 << 16;
constexpr size_t kMostBytes = size_t{32} << 20;
constexpr size_t kMostCall = size_t{64} << 10;  // bytes of what a rank calls, in words
}  // namespace

void Control::Words::keep(uint64_t group, const std::string& key, const std::string& value) {
  const auto [entry, fresh] = groups_[group].try_emplace(key);
  if (fresh) bytes_ += key.size() + kOverhead;
  bytes_ += value.size() - entry->second.size();
  entry->second = value;
}

const std::string* Control::Words::find(uint64_t group, const std::string& key) const {
  const auto words = groups_.find(group);
  if (words == groups_.end()) return nullptr;
  const auto found = words->second.find(key);
  return found == words->second.end() ? nullptr : &found->second;
}

void Control::Words::drop(uint64_t group) noexcept {
  const auto words = groups_.find(group);
  if (words == groups_.end()) return;
  for (const auto& [key, value] : words->second) bytes_ -= key.size() + value.size() + kOverhead;
  groups_.erase(words);
}

int Control::Group::process_of(int rank) const {
  const auto next = std::ranges::upper_bound(first_ranks, rank);
  return static_cast<int>(next - first_ranks.begin()) - 1;
}

// A communicator's way to the other processes.
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
    } catch (const std::exception&) {  // no memory: the others have their deadlines
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
                        std::shared_ptr<GroupState> state, std::function<void(const Cause&)> end) {
  std::vector<Word> early;
  std::optional<Failure> failure;
  {
    std::lock_guard lock(mutex_);
    newest_group_ = std::max(newest_group_, group);
    groups_[group] = {std::move(first_ranks), std::move(state), end};
    if (const auto found = early_.find(group); found != early_.end()) {
      early = std::move(found->second);
      num_early_ -= early.size();
      for (const Word& word : early) early_bytes_ -= word.bytes;
      early_.erase(found);
    }
    failure = failure_;
  }
  for (Word& word : early) {
    const int from = word.from;
    try {
      hear(std::move(word));
    } catch (const base::Error& error) {
      base::fail(error.status(), process_text(from), " sent what is no message: ", error.what());
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
  for (const auto& [id, group] : groups) try {  // those that could not be told before
      group.end(cause);
    } catch (const std::exception&) {
      group.end(abort_cause({}, -1, kEveryOperation));
    }
}

void Control::forget(uint64_t id) noexcept {
  std::lock_guard lock(mutex_);
  groups_.erase(id);
  words_.drop(id);
}

void Control::put(uint64_t group, const std::string& key, const std::string& value) {
  FrameWriter frame(FrameKind::kPut);
  frame.u64(group);
  frame.text(key);
  frame.text(value);
  send_all(frame.finish());
  std::lock_guard lock(mutex_);
  words_.keep(group, key, value);
  changed_.notify_all();
}

std::optional<std::string> Control::get(uint64_t group, const std::string& key,
                                        const std::function<bool()>& over) {
  std::unique_lock lock(mutex_);
  while (true) {
    if (const std::string* value = words_.find(group, key)) return *value;
    lock.unlock();
    const bool leave = over();
    lock.lock();
    if (leave) return std::nullopt;
    changed_.wait_for(lock, kControlSlice);
  }
}

bool Control::has(uint64_t group, const std::string& key) const {
  std::lock_guard lock(mutex_);
  return words_.find(group, key) != nullptr;
}

void Control::handle_put(int from, const Frame& frame) {
  FrameReader reader(frame.body);
  const uint64_t id = reader.u64();
  const std::string key = reader.text(), value = reader.text();
  reader.finish();
  pass_on(from, frame);
  std::lock_guard lock(mutex_);
  // Late words of a group that is gone would never be forgotten.
  if (id != kWordsOfJob && id <= newest_group_ && !groups_.contains(id)) return;
  words_.keep(id, key, value);
  if (words_.bytes() > kMostBytes)
    base::fail(Status::kProtocol, "words of ranks for each other of ", words_.bytes(),
               " bytes, expected at most ", kMostBytes);
  changed_.notify_all();
}

Control::Word Control::read_word(int from, const Frame& frame) {
  FrameReader reader(frame.body);
  Word word{.from = from, .kind = frame.kind, .group = reader.u64(), .bytes = frame.body.size()};
  if (frame.kind == FrameKind::kEnded) {
    word.cause = read_cause(reader);
    return word;
  }
  word.rank = reader.u32();
  word.operation = reader.u64();
  if (frame.kind == FrameKind::kCame) {
    word.call.what = reader.word(kMostCall);
    word.call.detail = reader.word(kMostCall);
    word.call.sent = reader.list();
    word.call.received = reader.list();
    word.call.caller = reader.word(kMostCall);
  }
  reader.finish();
  return word;
}

// A member speaks for ranks of its own, process 0 for those of all but the one that it speaks to.
bool Control::speaks_for(int from, const Group& group, uint32_t rank) const {
  if (rank >= static_cast<uint32_t>(group.first_ranks.back())) return false;
  const int process = group.process_of(static_cast<int>(rank));
  return process_ == 0 ? process == from : process != process_;
}

// Error(kProtocol) when a word does not fit the communicator that it is of.
void Control::check_word(const Word& word, const Group& group) const {
  if (word.kind == FrameKind::kEnded) return;
  const auto world = static_cast<size_t>(group.first_ranks.back());
  if (!speaks_for(word.from, group, word.rank))
    base::fail(Status::kProtocol, "rank ", word.rank, " is none of its own");
  const std::vector<int64_t>&sent = word.call.sent, &received = word.call.received;
  if ((!sent.empty() || !received.empty()) && (sent.size() != world || received.size() != world))
    base::fail(Status::kProtocol, "a call with ", sent.size(), " and ", received.size(),
               " sizes in a world of ", world);
}

void Control::handle_word(int from, const Frame& frame) {
  Word word = read_word(from, frame);
  if (const auto group = find_group(word.group)) check_word(word, *group);
  pass_on(from, frame);
  hear(std::move(word));
}

void Control::hear(Word word) {
  Group group;
  {
    std::lock_guard lock(mutex_);
    const auto found = groups_.find(word.group);
    if (found == groups_.end()) {
      if (word.group <= newest_group_) return;  // it is gone here
      early_bytes_ += word.bytes;
      if (++num_early_ > kMostEarly || early_bytes_ > kMostBytes)
        base::fail(Status::kProtocol, "too many messages of communicators that are not made yet");
      early_[word.group].push_back(std::move(word));
      return;
    }
    group = found->second;
  }
  check_word(word, group);
  const auto rank = static_cast<int>(word.rank);
  if (word.kind == FrameKind::kEnded)
    group.end(word.cause);
  else if (word.kind == FrameKind::kLeft)
    group.state->left_elsewhere(rank, word.operation);
  else
    group.state->came_elsewhere(rank, word.operation, std::move(word.call));
}

void Control::end_groups(const std::function<Cause(const Group&)>& cause_of) {
  std::vector<Group> groups;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [id, group] : groups_) groups.push_back(group);
  }
  for (const Group& group : groups) group.end(cause_of(group));
}

// Lets go of communicators that are over. Their process groups end their threads here, outside of
// the lock; nothing is in flight in them.
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
      group.end(*cause);  // ranks outside of an operation have to let go of theirs as well
    else if (!group.state->all_gone())
      continue;
    std::lock_guard lock(mutex_);
    groups_.erase(id);
    words_.drop(id);
  }
}

}  // namespace gnnmg::comm
