// The control thread and the frames about processes. Frames about communicators are in
// control_groups.cpp, frames about exchanges in control_gather.cpp, and calls of other threads in
// control_calls.cpp.
#include "comm/join/control.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <new>
#include <thread>
#include <utility>

#include "comm/join/acceptor.h"

namespace gnnmg::comm {

using base::Status;
using std::chrono::milliseconds;

namespace {

constexpr int64_t kAcceptorMs = 50;  // interval of checks whether to close the port
constexpr size_t kMostBehind = size_t{1}
                               << 20;  // pending bytes above which a peer gets no heartbeats
// The end of a job delivers pending messages. It gives up after kStalledDelivery without progress,
// and after kLongestDelivery in all.
constexpr milliseconds kStalledDelivery{500};
constexpr milliseconds kLongestDelivery{3000};

}  // namespace

Control::Control(Joined joined)
    : process_(joined.process),
      hosts_(std::move(joined.hosts)),
      address_(std::move(joined.address)),
      key_(std::move(joined.key)),
      heartbeat_ms_(joined.heartbeat_ms),
      connections_(std::move(joined.connections)),
      acceptor_(std::move(joined.acceptor)),
      wake_fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      heard_(hosts_.size(), Clock::now()),
      excused_(hosts_.size(), 0),
      lost_(hosts_.size(), 0),
      parted_(hosts_.size(), 0) {
  if (wake_fd_ < 0) throw base::Error(Status::kUnavailable, "no event descriptor", -1, errno);
}

Control::~Control() { ::close(wake_fd_); }

void Control::wake() noexcept {
  const uint64_t one = 1;
  // A full counter wakes too.
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
  const auto in_spite_of_memory = [](const auto& work) {
    try {
      work();
    } catch (const std::bad_alloc&) {  // out of memory: a later pass does the rest
      std::this_thread::sleep_for(milliseconds(1));
    }
  };
  while (true) {
    in_spite_of_memory([&] { pass(next_beat); });
    std::lock_guard lock(mutex_);
    written_ = all_written() && outbox_.empty();
    ++passes_;
    changed_.notify_all();
    if (stopping_) break;
  }
  acceptor_.reset();
  // Deliver pending messages while the peers read: one that takes nothing is not worth the wait.
  // Closing a socket with unread bytes, such as a heartbeat, would discard undelivered data.
  const auto end = Clock::now() + kLongestDelivery;
  auto until = Clock::now() + kStalledDelivery;
  size_t pending = 0;
  while (true) {
    in_spite_of_memory([&] { flush(); });
    for (Connection& connection : connections_)  // a broken one takes nothing more
      if (connection.socket.open() &&
          connection.socket.write(connection.out) == Socket::Result::kClosed)
        connection.socket.close();
    const size_t left = undelivered_bytes();
    if (left == 0 && taken_.empty()) break;
    const Clock::time_point now = Clock::now();
    if (left != std::exchange(pending, left)) until = std::min(end, now + kStalledDelivery);
    if (now >= until) break;
    std::this_thread::sleep_for(milliseconds(1));
  }
  for (Connection& connection : connections_) connection.socket.close();
}

bool Control::all_written() const {
  return taken_.empty() && std::ranges::none_of(connections_, [](const Connection& c) {
           return c.socket.open() && !c.out.empty();
         });
}

size_t Control::undelivered_bytes() const {
  size_t bytes = 0;
  for (const Connection& c : connections_)
    if (c.socket.open()) bytes += c.out.size() + c.socket.undelivered();
  return bytes;
}

void Control::pass(Clock::time_point& next_beat) {
  entries_.assign(1, {wake_fd_, false, false, false});
  for (const Connection& connection : connections_)
    if (connection.socket.open())
      entries_.push_back({connection.socket.fd(), !connection.out.empty(), false, false});
  const size_t candidates = entries_.size();
  if (acceptor_) acceptor_->watch(entries_);
  const auto left = std::chrono::ceil<milliseconds>(next_beat - Clock::now()).count();
  poll_sockets(entries_, std::max<int64_t>(0, acceptor_ ? std::min(left, kAcceptorMs) : left));
  if (entries_[0].readable) {
    uint64_t count;
    [[maybe_unused]] const ssize_t n = ::read(wake_fd_, &count, sizeof count);
  }
  size_t i = 1;
  for (size_t p = 0; p < connections_.size(); ++p)
    if (connections_[p].socket.open() && entries_[i++].readable) receive(static_cast<int>(p));
  serve_acceptor(std::span(entries_).subspan(candidates));
  if (Clock::now() >= next_beat) {
    beat();
    sweep();
    next_beat = Clock::now() + milliseconds(heartbeat_ms_);
  }
  flush();
}

// Tells surplus processes that the job is complete, while it is young and unharmed.
void Control::serve_acceptor(std::span<const PollEntry> entries) {
  if (!acceptor_) return;
  try {
    acceptor_->serve(entries);
    if (!acceptor_->over() && !spent()) return;
  } catch (const base::Error&) {  // out of descriptors
  }
  acceptor_.reset();
}

void Control::receive(int from) {
  Connection& connection = connections_[from];
  bool closed = false;
  try {
    scratch_.clear();
    closed = connection.socket.read(scratch_) == Socket::Result::kClosed;
    connection.in.append(scratch_);
    {
      std::lock_guard lock(mutex_);
      heard_[from] = Clock::now();
    }
    while (const auto frame = connection.in.next()) handle(from, *frame);
  } catch (const base::Error& error) {
    if (error.status() == Status::kAuth) return distrust(from, error.what());
    return lose(from, base::text("it sent a malformed message: ", error.what()));
  } catch (const std::bad_alloc&) {
    return lose(from, "there was no memory for its message");
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
      return handle_group_message(from, frame);
    case FrameKind::kPut:
      return handle_put(from, frame);
    case FrameKind::kJobEnded:
      return handle_job_end(from, frame);
    default:
      return process_ == 0 ? handle_report(from, frame.kind, reader)
                           : handle_verdict(frame.kind, reader);
  }
}

void Control::handle_report(int from, FrameKind kind, FrameReader& reader) {
  switch (kind) {
    case FrameKind::kGather:
      return handle_gather(from, reader);
    case FrameKind::kGivenUp:
      return handle_given_up(from, reader);
    case FrameKind::kEndKnown: {
      reader.finish();
      std::lock_guard lock(mutex_);
      parted_[from] = 1;
      return changed_.notify_all();
    }
    default:
      base::fail(Status::kProtocol, "a frame of kind ", static_cast<int>(kind), " for process 0");
  }
}

void Control::handle_verdict(FrameKind kind, FrameReader& reader) {
  switch (kind) {
    case FrameKind::kGatherCame:
      return handle_gather_came(reader);
    case FrameKind::kGathered:
      return handle_gathered(reader);
    case FrameKind::kCalledOff:
      return handle_called_off(reader);
    case FrameKind::kLost: {
      const uint32_t process = reader.u32();
      if (process >= hosts_.size()) base::fail(Status::kProtocol, "there is no process ", process);
      return lose(static_cast<int>(process), reader.text(kTextLimit));
    }
    default:
      base::fail(Status::kProtocol, "a frame of kind ", static_cast<int>(kind), " after joining");
  }
}

// Forwards a member's message to all other members. Parses it first, because members would blame
// process 0 for a malformed one. Forwards it before process 0 acts on it, so that no consequence
// here, such as the end of this program, overtakes it.
void Control::pass_on(int from, const Frame& frame) {
  if (process_ != 0) return;
  std::string bytes;
  bytes.reserve(frame.body.size() + 5);
  for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<char>(frame.body.size() >> (8 * i)));
  bytes.push_back(static_cast<char>(frame.kind));
  bytes += frame.body;
  send_all(bytes, from);
  flush();
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
    for (uint32_t ranks = reader.count(37); ranks > 0; --ranks) {
      const uint32_t rank = reader.u32();
      RankReport report;
      report.operation = reader.i64();
      report.position.epoch = reader.i64();
      report.position.step = reader.i64();
      report.position.phase = static_cast<Phase>(reader.u8());
      report.age_ms = std::clamp<int64_t>(reader.i64(), 0, int64_t{1} << 40);
      if (!group) continue;
      // Process 0 repeats the positions of all ranks to every process.
      if (process_ != 0 && rank < static_cast<uint32_t>(group->first_ranks.back()) &&
          group->process_of(static_cast<int>(rank)) == process_)
        continue;
      if (!speaks_for(from, *group, rank))
        base::fail(Status::kProtocol, "rank ", rank, " is not one of its own");
      group->state->set_report(static_cast<int>(rank), report);
    }
  }
  reader.finish();
}

void Control::handle_job_end(int from, const Frame& frame) {
  const auto [number, cause] = read_job_end(frame.body);
  if (cause.status == Status::kPeerLost)
    base::fail(Status::kProtocol, "a loss, which only process 0 may report");
  if (process_ == 0) {  // forwards the parsed cause, with its text cut
    send_all(job_end_frame(number, cause), from);
    flush();
  }
  fail_job({cause.status, cause.text, cause.rank, number, cause.missing}, true);
}

void Control::lose(int process, const std::string& why) {
  // Allocate first: without memory a later pass finds everything unchanged.
  FrameWriter lost(FrameKind::kLost);
  lost.u32(static_cast<uint32_t>(process));
  lost.text(why);
  const std::string frame = lost.finish();
  const Failure failure{Status::kPeerLost,
                        base::text("lost ", process_text(process), ": ", why),
                        process,
                        0,
                        {process}};
  const int connection = process_ == 0 ? process : 0;
  if (connection == process || process == 0) connections_[connection].socket.close();
  {
    std::lock_guard lock(mutex_);
    parted_[process] = 1;
    changed_.notify_all();
    if (finished_ || lost_[process] || stopping_) return;
    lost_[process] = 1;
  }
  if (process_ == 0) {
    send_all(frame, process);
    flush();
  }
  fail_job(failure, true);
}

// Ends the job when another party has changed messages, before any of them is believed.
void Control::distrust(int process, const std::string& why) {
  fail_job({Status::kAuth,
            base::text("a message to ", process_text(process_), " from ", process_text(process),
                       " is ", why, ": somebody stands between them"),
            process,
            0,
            {}},
           false);
  flush();
  lose(process, why);
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
    if (connection.socket.open() && connection.out.size() < kMostBehind) connection.send(frame);
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
      const RankReport report = group.state->report(rank);
      frame.u32(static_cast<uint32_t>(rank));
      frame.i64(report.operation);
      frame.i64(report.position.epoch);
      frame.i64(report.position.step);
      frame.u8(static_cast<uint8_t>(report.position.phase));
      frame.i64(report.age_ms);
    }
  }
  return frame.finish();
}

void Control::flush() {
  // Frames for which a connection has no memory stay queued in order.
  if (taken_.empty()) {
    std::lock_guard lock(mutex_);
    if (!outbox_.empty()) written_ = false;
    taken_.swap(outbox_);
  }
  while (!taken_.empty()) {
    const auto& [target, bytes] = taken_.front();
    Connection& connection = connections_[process_ == 0 ? target : 0];
    if (connection.socket.open()) connection.send(bytes);
    taken_.pop_front();
  }
  // A broken connection shows as closed at the next read.
  for (Connection& connection : connections_)
    if (connection.socket.open() && !connection.out.empty())
      connection.socket.write(connection.out);
}

}  // namespace gnnmg::comm
