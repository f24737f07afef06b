// Exchanges: every process contributes bytes and gets those of all. Process 0 alone decides whether
// an exchange is complete or called off, so that all agree.
#include <algorithm>
#include <chrono>
#include <utility>

#include "comm/join/control.h"

namespace gnnmg::comm {

using std::chrono::milliseconds;

namespace {

// Time limit for process 0, if it is not silent, to say how an exchange has ended.
constexpr auto kVerdict = milliseconds(5000);

constexpr uint64_t kMostAhead = 16;  // exchanges

bool holds(const std::vector<int64_t>& processes, int process) {
  return std::ranges::find(processes, process) != processes.end();
}

}  // namespace

// Returns null for an exchange that this process has passed. Another process may be ahead by one
// exchange, and by those that it has called off for all.
Control::Gather* Control::open_gather(uint64_t number) {
  const auto found = gathers_.find(number);
  if (found != gathers_.end()) return &found->second;
  if (number <= last_gather_) return nullptr;
  if (number - last_gather_ > kMostAhead)
    base::fail(Status::kProtocol, "exchange ", number, " is told of when ", last_gather_,
               " has begun here");
  Gather& gather = gathers_[number];
  gather.came.resize(hosts_.size(), false);
  gather.withdrawn.resize(hosts_.size());
  if (process_ == 0) {
    gather.names.resize(hosts_.size());
    gather.parts.resize(hosts_.size());
  }
  return &gather;
}

std::vector<std::string> Control::gather(const std::string& name, const std::string& bytes,
                                         const Wait& wait, Ending ending, uint64_t* number_out) {
  if (bytes.size() > kFrameLimit / 2)
    base::fail(Status::kInvalidArgument, name, ": ", bytes.size(), " bytes are too many, at most ",
               kFrameLimit / 2);
  if (name.size() > kTextLimit)
    base::fail(Status::kInvalidArgument, "the name of a call of all processes has ", name.size(),
               " bytes, expected at most ", kTextLimit);
  std::unique_lock call(call_mutex_, std::try_to_lock);
  if (!call) base::fail(Status::kBusy, name, ": another thread is in a call of all processes");
  std::unique_lock lock(mutex_);
  if (failure_) throw_failure(0);
  Gather& gather = *open_gather(last_gather_ + 1);
  const uint64_t number = ++last_gather_;
  if (number_out) *number_out = number;
  gather.name = name;
  if (!gather.called_off) {
    lock.unlock();
    bring(number, name, bytes);
    lock.lock();
  }

  Patience patience{.deadline = wait.deadline};
  std::optional<CallOff> own;  // set once this process has given up
  while (!gather.done) {
    const bool cancelled = own && own->status == Status::kCancelled;
    if (gather.called_off) {
      const CallOff why = leave_called_off(number);
      if (cancelled) base::fail(Status::kCancelled, name, " was canceled");
      const bool late = why.status == Status::kTimeout && holds(why.came, process_);
      throw base::Error(late ? Status::kTimeout : Status::kAborted, why.text, why.blamed);
    }
    if (failure_) {
      if (cancelled) base::fail(Status::kCancelled, name, " was canceled");
      throw_failure(number);
    }
    if (wait.cancel.cancelled())
      own = CallOff{.status = Status::kCancelled,
                    .text = base::text(name, ": ", process_text(process_), " was canceled"),
                    .process = process_,
                    .blamed = process_,
                    .ending = ending};
    else if (patience.deadline.passed())
      own = give_missing(lock, gather, wait, patience);
    else
      changed_.wait_for(lock, kControlSlice);
    if (!own) continue;
    own->ending = ending;
    lock.unlock();
    give_up(number, *own);
    lock.lock();
  }
  Gather done = std::move(gather);
  gathers_.erase(number);
  if (!done.mismatch.empty()) base::fail(Status::kMismatch, done.mismatch);
  return std::move(done.result);
}

void Control::bring(uint64_t number, const std::string& name, const std::string& bytes) {
  if (process_ == 0) return note_gather(number, 0, name, bytes);
  FrameWriter frame(FrameKind::kGather);
  frame.u64(number);
  frame.text(name);
  frame.text(bytes);
  send(0, frame.finish());
}

// After the deadline: returns the reason to give up, or nothing if there is an excuse to wait on.
std::optional<Control::CallOff> Control::give_missing(std::unique_lock<std::mutex>& lock,
                                                      const Gather& gather, const Wait& wait,
                                                      Patience& patience) {
  bool excused = false;
  for (int p = 0; p < num_processes(); ++p)
    excused = excused || (p != process_ && !gather.came[p] && is_excused(p));
  lock.unlock();
  // If this process itself was stopped, messages of the others may still be unread.
  const bool settled = std::exchange(patience.settled, true);
  if (!settled) settle();
  excused = (excused || (wait.excused && wait.excused())) && !wait.stall.passed();
  lock.lock();
  if (!settled) return std::nullopt;
  if (excused) {  // the whole timeout starts again
    const auto span = wait.deadline.at() - patience.start;
    patience.deadline = base::Deadline::earlier(
        wait.stall, base::Deadline::after_ms(std::chrono::ceil<milliseconds>(span).count()));
    patience.settled = false;
    return std::nullopt;
  }
  CallOff why{.status = Status::kTimeout, .process = process_};
  const double seconds = std::chrono::duration<double>(Clock::now() - patience.start).count();
  if (is_silent(0)) {  // the other missing processes are unknown
    why.blamed = 0;
    why.text =
        base::text(gather.name, ": not done within ", rounded(seconds), " s; ", silence_text());
    why.leader_silent = true;
    return why;
  }
  int came = 0;
  std::string missing;
  for (int p = 0; p < num_processes(); ++p) {
    if (p == process_ || gather.came[p]) {
      ++came;
      continue;
    }
    if (why.blamed < 0) why.blamed = p;
    missing += base::text(missing.empty() ? "" : "; ", process_text(p), ", ", gather.withdrawn[p],
                          gather.withdrawn[p].empty() ? "" : ", ", last_heard(p));
  }
  why.text = base::text(gather.name, ": ", came, " of ", num_processes(), " processes came within ",
                        rounded(seconds), " s");
  why.text += missing.empty() ? ", and process 0 has not said so" : ", missing: " + missing;
  return why;
}

// Asks process 0 to call the exchange off. Returns once that is done, or the exchange is complete,
// or the job has ended.
void Control::give_up(uint64_t number, CallOff why) {
  if (process_ == 0) {
    call_off(number, std::move(why));
    return drain();  // the program may end because of it
  }
  FrameWriter frame(FrameKind::kGivenUp);
  frame.u64(number);
  frame.i64(static_cast<int32_t>(why.status));
  frame.i64(why.blamed);
  frame.u8(static_cast<uint8_t>(why.ending));
  frame.text(why.text);
  send(0, frame.finish());
  const auto until = Clock::now() + kVerdict;
  Failure failure{why.status, why.text, why.blamed, number, {}};
  {
    std::unique_lock lock(mutex_);
    const Gather& gather = *open_gather(number);
    while (true) {
      if (gather.done || gather.called_off || failure_) return;
      if (is_silent(0) || Clock::now() >= until) break;
      changed_.wait_for(lock, kControlSlice);
    }
    if (why.status == Status::kTimeout) failure.rank = 0;
    failure.missing = {0};
    if (!why.leader_silent) failure.text += base::text("; ", silence_text());
  }
  fail_job(failure, false);
}

// Ends the exchange for this process; called with the lock held. If it was called off only for the
// processes that had come, its number is used again.
Control::CallOff Control::leave_called_off(uint64_t number) {
  Gather& gather = gathers_.at(number);
  CallOff why = *std::exchange(gather.called_off, std::nullopt);
  if (why.ending == Ending::kForAll)
    gathers_.erase(number);
  else
    --last_gather_;
  return why;
}

// On process 0: stores the bytes of a process.
void Control::note_gather(uint64_t number, int process, const std::string& name,
                          std::string bytes) {
  {
    std::lock_guard lock(mutex_);
    Gather* gather = open_gather(number);
    if (!gather || gather->done) return;
    if (gather->called_off && gather->called_off->ending == Ending::kForAll) return;
    gather->came[process] = true;
    gather->withdrawn[process].clear();
    gather->names[process] = name;
    gather->parts[process] = std::move(bytes);
    if (std::ranges::all_of(gather->came, [](bool came) { return came; })) {
      complete_gather(number, *gather);
    } else {
      FrameWriter came(FrameKind::kGatherCame);
      came.u64(number);
      came.u32(static_cast<uint32_t>(process));
      post_all(came.finish());
    }
  }
  wake();
}

// On process 0, with the lock held, because a process that sees the result may leave the job at
// once: its message must follow the result.
void Control::complete_gather(uint64_t number, Gather& gather) {
  size_t total = 0;
  for (int p = 0; p < num_processes(); ++p) {
    total += gather.parts[p].size();
    if (gather.names[p] != gather.names[0] && gather.mismatch.empty())
      gather.mismatch = base::text(process_text(p), " calls ", gather.names[p], ", ",
                                   process_text(0), " calls ", gather.names[0]);
  }
  if (total > kFrameLimit / 2)
    gather.mismatch = base::text(gather.names[0], ": ", total, " bytes of all processes, at most ",
                                 kFrameLimit / 2);
  const bool good = gather.mismatch.empty();
  FrameWriter frame(FrameKind::kGathered);
  frame.u64(number);
  frame.text(gather.mismatch);
  frame.u32(good ? static_cast<uint32_t>(hosts_.size()) : 0);
  if (good)
    for (const std::string& part : gather.parts) frame.text(part);
  post_all(frame.finish());
  gather.result = std::move(gather.parts);
  gather.done = true;
  if (good && gather.names[0] == kFinish) finished_ = true;
  changed_.notify_all();
}

// On process 0: a process that has come gives up. Ignored once the exchange is complete or was
// called off before.
void Control::call_off(uint64_t number, CallOff why) {
  {
    std::lock_guard lock(mutex_);
    const Gather* gather = open_gather(number);
    if (!gather || gather->done || !gather->came[why.process]) return;
    why.came.clear();
    for (int p = 0; p < num_processes(); ++p)
      if (gather->came[p]) why.came.push_back(p);
    FrameWriter frame(FrameKind::kCalledOff);
    frame.u64(number);
    frame.i64(static_cast<int32_t>(why.status));
    frame.u32(static_cast<uint32_t>(why.process));
    frame.i64(why.blamed);
    frame.u8(static_cast<uint8_t>(why.ending));
    frame.text(why.text);
    frame.list(why.came);
    post_all(frame.finish());
    apply(number, why);
  }
  wake();
}

// On every process, with the lock held: the processes that had come return to their previous state.
void Control::apply(uint64_t number, const CallOff& why) {
  Gather* gather = open_gather(number);
  if (!gather || gather->done) return;
  for (const int64_t p : why.came) {
    gather->came[p] = false;
    gather->withdrawn[p] = p != why.process                 ? "which came and was called off"
                           : why.status == Status::kTimeout ? "which came and gave up waiting"
                                                            : "which came and was canceled";
  }
  const bool concerned = why.ending == Ending::kForAll || holds(why.came, process_);
  if (concerned && !gather->called_off) gather->called_off = why;
  changed_.notify_all();
}

void Control::post_all(const std::string& bytes) {
  for (int p = 1; p < num_processes(); ++p) outbox_.emplace_back(p, bytes);
}

void Control::handle_gather(int from, FrameReader& reader) {
  const uint64_t number = reader.u64();
  const std::string name = reader.word(kTextLimit);
  std::string bytes = reader.word(kFrameLimit / 2);
  reader.finish();
  note_gather(number, from, name, std::move(bytes));
}

void Control::handle_gather_came(FrameReader& reader) {
  const uint64_t number = reader.u64();
  const uint32_t process = reader.u32();
  reader.finish();
  if (process >= hosts_.size()) base::fail(Status::kProtocol, "there is no process ", process);
  std::lock_guard lock(mutex_);
  if (Gather* gather = open_gather(number)) gather->came[process] = true;
}

void Control::handle_gathered(FrameReader& reader) {
  const uint64_t number = reader.u64();
  const std::string mismatch = reader.text(kTextLimit);
  std::vector<std::string> parts(reader.count(4));
  for (std::string& part : parts) part = reader.text();
  reader.finish();
  if (mismatch.empty() && parts.size() != hosts_.size())
    base::fail(Status::kProtocol, "bytes of ", parts.size(), " processes");
  std::lock_guard lock(mutex_);
  Gather* gather = open_gather(number);
  if (!gather) base::fail(Status::kProtocol, "the result of exchange ", number, " twice");
  gather->mismatch = mismatch;
  gather->result = std::move(parts);
  gather->done = true;
  if (mismatch.empty() && gather->name == kFinish) {
    finished_ = true;
    outbox_.emplace_back(0, FrameWriter(FrameKind::kEndKnown).finish());
  }
  changed_.notify_all();
}

void Control::handle_given_up(int from, FrameReader& reader) {
  CallOff why;
  const uint64_t number = reader.u64();
  why.status = static_cast<Status>(reader.i64());
  why.process = from;
  why.blamed = static_cast<int>(reader.i64());
  why.ending = static_cast<Ending>(reader.u8());
  why.text = reader.text(kTextLimit);
  reader.finish();
  call_off(number, std::move(why));
}

void Control::handle_called_off(FrameReader& reader) {
  CallOff why;
  const uint64_t number = reader.u64();
  why.status = static_cast<Status>(reader.i64());
  const uint32_t process = reader.u32();
  why.process = static_cast<int>(process);
  why.blamed = static_cast<int>(reader.i64());
  why.ending = static_cast<Ending>(reader.u8());
  why.text = reader.text(kTextLimit);
  why.came = reader.list();
  reader.finish();
  for (const int64_t p : why.came)
    if (p < 0 || p >= num_processes()) base::fail(Status::kProtocol, "there is no process ", p);
  std::lock_guard lock(mutex_);
  apply(number, why);
}

}  // namespace gnnmg::comm
