// The thread, and what it does with each frame; control_calls.cpp holds what other threads call.
#include "comm/join/control.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "comm/join/door.h"

namespace gnnmg::comm {

using base::Status;
using std::chrono::milliseconds;

namespace {

constexpr int64_t kDoorMs = 50;         // between looks at whether the door is to close
constexpr size_t kMostEarly = 1 << 16;  // frames of groups that this process has not made yet
constexpr size_t kMostBehind = size_t{1} << 20;  // bytes; a peer that far behind gets no beats

void write_cause(FrameWriter& frame, const Cause& cause) {
  frame.i64(static_cast<int32_t>(cause.status));
  frame.i64(cause.rank);
  frame.u64(cause.operation);
  frame.list({cause.missing.begin(), cause.missing.end()});
  frame.text(cause.text);
}

Cause read_cause(FrameReader& reader) {
  Cause cause;
  cause.status = static_cast<Status>(reader.i64());
  cause.rank = static_cast<int>(reader.i64());
  cause.operation = reader.u64();
  for (const int64_t rank : reader.list()) cause.missing.push_back(static_cast<int>(rank));
  cause.text = reader.text();
  reader.finish();
  if (cause.status >= Status::kOk || cause.status < Status::kInternal)
    base::fail(Status::kProtocol, "a cause with status ", static_cast<int>(cause.status));
  return cause;
}

}  // namespace

std::string ended_frame(uint64_t group, const Cause& cause) {
  FrameWriter frame(FrameKind::kEnded);
  frame.u64(group);
  write_cause(frame, cause);
  return frame.finish();
}

int Control::Group::process_of(int rank) const {
  const auto next = std::ranges::upper_bound(first_ranks, rank);
  return static_cast<int>(next - first_ranks.begin()) - 1;
}

Control::Control(Joined joined, int64_t heartbeat_ms)
    : process_(joined.process),
      hosts_(std::move(joined.hosts)),
      address_(std::move(joined.address)),
      heartbeat_ms_(heartbeat_ms),
      connections_(std::move(joined.connections)),
      door_(std::move(joined.door)),
      wake_fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      heard_(hosts_.size(), Clock::now()),
      excused_(hosts_.size(), 0),
      lost_(hosts_.size(), 0) {
  if (wake_fd_ < 0) throw base::Error(Status::kUnavailable, "no event descriptor", -1, errno);
}

Control::~Control() { ::close(wake_fd_); }

void Control::wake() noexcept {
  const uint64_t one = 1;
  // A full counter wakes as well.
  [[maybe_unused]] const ssize_t written = ::write(wake_fd_, &one, sizeof one);
}

void Control::stop() noexcept {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake();
}

void Control::run() {
  Clock::time_point next_beat = Clock::now();
  std::vector<PollEntry> entries;
  while (true) {
    entries.assign(1, {wake_fd_, false, false, false});
    for (const Connection& connection : connections_)
      if (connection.socket.open())
        entries.push_back({connection.socket.fd(), !connection.out.empty(), false, false});
    const size_t guests = entries.size();
    if (door_) door_->watch(entries);
    const auto left = std::chrono::ceil<milliseconds>(next_beat - Clock::now()).count();
    poll_sockets(entries, std::max<int64_t>(0, door_ ? std::min(left, kDoorMs) : left));
    if (entries[0].readable) {
      uint64_t count;
      [[maybe_unused]] const ssize_t n = ::read(wake_fd_, &count, sizeof count);
    }
    size_t i = 1;
    for (size_t p = 0; p < connections_.size(); ++p)
      if (connections_[p].socket.open() && entries[i++].readable) receive(static_cast<int>(p));
    serve_door(std::span(entries).subspan(guests));
    if (Clock::now() >= next_beat) {
      beat();
      sweep();
      next_beat = Clock::now() + milliseconds(heartbeat_ms_);
    }
    flush();
    std::lock_guard lock(mutex_);
    ++passes_;
    changed_.notify_all();
    if (stopping_) break;
  }
  door_.reset();
  // What is still to go, the last answers among it: at most moments, for a peer that takes nothing
  // is none to wait for.
  flush();
  const auto until = Clock::now() + milliseconds(50);
  const auto unwritten = [](const Connection& c) { return c.socket.open() && !c.out.empty(); };
  while (std::ranges::any_of(connections_, unwritten) && Clock::now() < until) {
    std::this_thread::sleep_for(milliseconds(1));
    flush();
  }
  for (Connection& connection : connections_) connection.socket.close();
}

// Those who are one too many learn it while the job is young and whole.
void Control::serve_door(std::span<const PollEntry> entries) {
  if (!door_) return;
  try {
    door_->serve(entries);
    if (!door_->over() && !spent()) return;
  } catch (const base::Error&) {  // no descriptor left for a guest
  }
  door_.reset();
}

void Control::receive(int from) {
  Connection& connection = connections_[from];
  scratch_.clear();
  const bool closed = connection.socket.read(scratch_) == Socket::Result::kClosed;
  connection.in.append(scratch_);
  {
    std::lock_guard lock(mutex_);
    heard_[from] = Clock::now();
  }
  try {
    while (const auto frame = connection.in.next()) handle(from, *frame);
  } catch (const base::Error& error) {
    return lose(from, base::text("it sent what is no message: ", error.what()));
  }
  if (closed) lose(from, "its connection closed");
}

void Control::handle(int from, const Frame& frame) {
  FrameReader reader(frame.body);
  switch (frame.kind) {
    case FrameKind::kBeat:
      return handle_beat(from, reader);
    case FrameKind::kCame:
    case FrameKind::kLeft:
    case FrameKind::kEnded:
    case FrameKind::kPut:
      pass_on(from, frame.kind, frame.body);
      return handle_group(from, reader.u64(), frame);
    case FrameKind::kGather:
      return handle_gather(from, reader);
    case FrameKind::kGatherCame:
      return handle_gather_came(reader);
    case FrameKind::kGathered:
      return handle_gathered(reader);
    case FrameKind::kGivenUp:
      return handle_given_up(from, reader);
    case FrameKind::kCalledOff:
      return handle_called_off(reader);
    case FrameKind::kLost: {
      const uint32_t process = reader.u32();
      if (process >= hosts_.size()) base::fail(Status::kProtocol, "there is no process ", process);
      return lose(static_cast<int>(process), reader.text());
    }
    case FrameKind::kJobEnded:
      pass_on(from, frame.kind, frame.body);
      return handle_job_end(reader);
    default:
      base::fail(Status::kProtocol, "a frame of kind ", static_cast<int>(frame.kind),
                 " after joining");
  }
}

// What a member says goes to all other members.
void Control::pass_on(int from, FrameKind kind, const std::string& body) {
  if (process_ != 0) return;
  std::string frame;
  frame.reserve(body.size() + 5);
  for (int i = 0; i < 4; ++i) frame.push_back(static_cast<char>(body.size() >> (8 * i)));
  frame.push_back(static_cast<char>(kind));
  frame += body;
  send_all(frame, from);
}

void Control::handle_beat(int from, FrameReader& reader) {
  const Clock::time_point now = Clock::now();
  {
    std::lock_guard lock(mutex_);
    const uint32_t processes = reader.count(9);
    if (processes != (process_ == 0 ? 1 : hosts_.size()))
      base::fail(Status::kProtocol, "a beat of ", processes, " processes");
    for (uint32_t p = 0; p < processes; ++p) {
      const int64_t silent_ms = std::clamp<int64_t>(reader.i64(), 0, int64_t{1} << 40);
      const uint8_t excused = reader.u8();
      const int process = process_ == 0 ? from : static_cast<int>(p);
      if (process == process_) continue;
      excused_[process] = static_cast<char>(excused != 0);
      if (process != from) heard_[process] = now - milliseconds(silent_ms);
    }
  }
  for (uint32_t groups = reader.count(12); groups > 0; --groups) {
    const auto group = find_group(reader.u64());
    GroupState* state = group ? group->state.get() : nullptr;
    for (uint32_t ranks = reader.count(37); ranks > 0; --ranks) {
      const uint32_t rank = reader.u32();
      RankNews news;
      news.operation = reader.i64();
      news.position.epoch = reader.i64();
      news.position.step = reader.i64();
      news.position.phase = static_cast<Phase>(reader.u8());
      news.age_ms = std::clamp<int64_t>(reader.i64(), 0, int64_t{1} << 40);
      if (!state || static_cast<int>(rank) >= state->world_size() ||
          group->process_of(static_cast<int>(rank)) == process_)
        continue;
      state->hear(static_cast<int>(rank), news);
    }
  }
  reader.finish();
}

void Control::handle_group(int from, uint64_t id, const Frame& frame) {
  FrameReader reader(frame.body);
  reader.u64();
  if (frame.kind == FrameKind::kPut) {
    const std::string key = reader.text(), value = reader.text();
    reader.finish();
    std::lock_guard lock(mutex_);
    // Late words of a group that is gone would never be forgotten.
    if (id <= newest_group_ && !groups_.contains(id)) return;
    words_[id][key] = value;
    changed_.notify_all();
    return;
  }
  const auto group = find_group(id);
  if (!group) {
    std::lock_guard lock(mutex_);
    if (id <= newest_group_) return;  // it is gone here
    if (++num_early_ > kMostEarly)
      base::fail(Status::kProtocol, "too many messages of communicators that are not made yet");
    early_[id].emplace_back(from, frame);
    return;
  }
  if (frame.kind == FrameKind::kEnded) return group->end(read_cause(reader));
  const auto rank = static_cast<int>(reader.u32());
  const uint64_t operation = reader.u64();
  GroupState& state = *group->state;
  const int world = group->first_ranks.back();
  if (rank < 0 || rank >= world || group->process_of(rank) == process_)
    base::fail(Status::kProtocol, "rank ", rank, " is none of another process");
  if (frame.kind == FrameKind::kLeft) {
    reader.finish();
    state.left_elsewhere(rank, operation);
    return;
  }
  Call call;
  call.what = reader.text();
  call.detail = reader.text();
  call.sent = reader.list();
  call.received = reader.list();
  reader.finish();
  for (const auto* sizes : {&call.sent, &call.received})
    if (!sizes->empty() && static_cast<int>(sizes->size()) != world)
      base::fail(Status::kProtocol, "a call with ", sizes->size(), " sizes in a world of ", world);
  state.came_elsewhere(rank, operation, std::move(call));
}

void Control::handle_job_end(FrameReader& reader) {
  const uint64_t number = reader.u64();
  const Cause cause = read_cause(reader);
  fail_job({cause.status, cause.text, cause.rank, number, cause.missing}, true);
}

void Control::lose(int process, const std::string& why) {
  const int connection = process_ == 0 ? process : 0;
  if (connection == process || process == 0) connections_[connection].socket.close();
  {
    std::lock_guard lock(mutex_);
    if (finished_ || lost_[process] || stopping_) return;
    lost_[process] = 1;
  }
  if (process_ == 0) {
    FrameWriter lost(FrameKind::kLost);
    lost.u32(static_cast<uint32_t>(process));
    lost.text(why);
    send_all(lost.finish(), process);
  }
  const std::string text = base::text("lost ", process_text(process), ": ", why);
  fail_job({Status::kPeerLost, text, process, 0, {process}}, true);
}

void Control::beat() {
  std::function<bool()> excuse;
  {
    std::lock_guard lock(mutex_);
    excuse = excuse_;
  }
  const bool excused = excuse && excuse();
  const std::string frame = beat_frame(excused);
  for (Connection& connection : connections_)
    if (connection.socket.open() && connection.out.size() < kMostBehind) connection.out += frame;
}

// Lets go of communicators that are over. Their process groups end their threads here, outside of
// the lock; nothing is in flight in them.
void Control::sweep() {
  std::map<uint64_t, Group> groups;
  {
    std::lock_guard lock(mutex_);
    groups = groups_;
  }
  for (const auto& [id, group] : groups) {
    if (const auto cause = group.state->cause())
      group.end(*cause);  // ranks outside of an operation have to let go of theirs as well
    else if (!group.state->all_gone())
      continue;
    std::lock_guard lock(mutex_);
    groups_.erase(id);
    words_.erase(id);
  }
}

std::string Control::beat_frame(bool excused) {
  FrameWriter frame(FrameKind::kBeat);
  std::vector<std::pair<uint64_t, Group>> groups;
  {
    std::lock_guard lock(mutex_);
    heard_[process_] = Clock::now();
    excused_[process_] = static_cast<char>(excused);
    const int first = process_ == 0 ? 0 : process_;
    const int last = process_ == 0 ? num_processes() : process_ + 1;
    frame.u32(static_cast<uint32_t>(last - first));
    for (int p = first; p < last; ++p) {
      frame.i64(static_cast<int64_t>(silence(p) * 1000));
      frame.u8(static_cast<uint8_t>(excused_[p]));
    }
    groups.assign(groups_.begin(), groups_.end());
  }
  frame.u32(static_cast<uint32_t>(groups.size()));
  for (const auto& [id, group] : groups) {
    const int first = process_ == 0 ? 0 : group.first_ranks[process_];
    const int last = process_ == 0 ? group.first_ranks.back() : group.first_ranks[process_ + 1];
    frame.u64(id);
    frame.u32(static_cast<uint32_t>(last - first));
    for (int rank = first; rank < last; ++rank) {
      const RankNews news = group.state->news(rank);
      frame.u32(static_cast<uint32_t>(rank));
      frame.i64(news.operation);
      frame.i64(news.position.epoch);
      frame.i64(news.position.step);
      frame.u8(static_cast<uint8_t>(news.position.phase));
      frame.i64(news.age_ms);
    }
  }
  return frame.finish();
}

void Control::flush() {
  std::vector<std::pair<int, std::string>> outbox;
  {
    std::lock_guard lock(mutex_);
    outbox.swap(outbox_);
  }
  for (auto& [target, bytes] : outbox) {
    Connection& connection = connections_[process_ == 0 ? target : 0];
    if (connection.socket.open()) connection.out += bytes;
  }
  // A connection that cannot be written to shows as closed when it is read.
  for (Connection& connection : connections_)
    if (connection.socket.open() && !connection.out.empty())
      connection.socket.write(connection.out);
}

}  // namespace gnnmg::comm
