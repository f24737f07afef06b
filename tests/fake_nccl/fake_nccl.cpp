// The fake's calls: communicators, their state, and the table. progress.cpp advances operations.
#include "fake_nccl/fake_nccl.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/error.h"
#include "fake_nccl/comm.h"
#include "fake_nccl/reduce.h"

namespace gnnmg::fake_nccl {
namespace {

using comm::nccl::Communicator;
using comm::nccl::Id;
using comm::nccl::Reduction;
using comm::nccl::Result;
using comm::nccl::Table;
using comm::nccl::Type;
using std::chrono::microseconds;

// Time until ranks in the middle of an operation notice a peer's abort.
constexpr microseconds kHears(500);
constexpr microseconds kBreaks(2000);

struct Registry {
  std::mutex mutex;  // guards all members below
  bool read_environment = false;
  std::vector<Fault> faults;
  std::map<int, Fault> armed;  // faults that apply to the current activity, by rank
  std::map<int, int> calls;    // number of calls by rank
  std::vector<std::unique_ptr<Comm>> comms;
  std::vector<std::string> violations;
  Count count;
  int version = kVersion;
  std::map<int, int> versions;  // one per rank; replaces `version`
  bool forgiving = false;
};
Registry& registry() {
  static auto& registry = *new Registry;  // never destroyed: ranks may outlive main()
  return registry;
}
std::atomic<const device::Table*> the_devices{nullptr};
std::atomic<PutOff> the_put_off{nullptr};
std::atomic<bool> launches_delayed{false};
std::atomic<int> num_launches{0};
std::atomic<Result> peers_see{Result::kRemoteError};
std::atomic<int64_t> slow_end_ms{0};
std::atomic<HoldsMemory> holds_memory{nullptr};
std::atomic<GrowthCall> before_growth{nullptr}, after_growth{nullptr};

struct Group {
  int depth = 0;
  Result error = Result::kSuccess;
  Comm* comm = nullptr;
  void* stream = nullptr;
  std::vector<Op> ops;
};
thread_local Group group;
thread_local int acting = 0;  // the rank of the communicator that this thread has made

void read_environment(Registry& r) {
  if (std::exchange(r.read_environment, true)) return;
  if (const char* faults = std::getenv("GNNMG_FAKE_NCCL_FAULTS")) r.faults = parse_faults(faults);
  if (const char* version = std::getenv("GNNMG_FAKE_NCCL_VERSION")) r.version = std::atoi(version);
}

// Counts a call; returns kSuccess unless it must fail.
Result count_call(int rank) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  read_environment(r);
  const int number = ++r.calls[rank];
  for (const Fault& fault : r.faults) {
    if (fault.rank != rank || fault.call != number) continue;
    if (fault.kind == Fault::kKills) std::raise(SIGKILL);
    if (fault.kind == Fault::kStops) std::raise(SIGSTOP);
    if (fault.kind == Fault::kFails) return fault.result;
    r.armed[rank] = fault;
  }
  return Result::kSuccess;
}
bool is_forgiving() {
  const std::lock_guard lock(registry().mutex);
  return registry().forgiving;
}

// Counts a call on a communicator and returns its result. A refused call also counts against the
// communicator, as in NCCL 2.28.
Result count_call(Comm& comm) {
  const Result result = count_call(comm.rank);
  if (result == Result::kSuccess) return result;
  if (result == Result::kInvalidArgument && is_forgiving()) return result;
  const std::lock_guard lock(comm.mutex);
  comm.fail(result);
  return result;
}
// `queued`: the activity is an operation that its stream runs.
std::optional<Fault> disarm(int rank, bool queued) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  const auto found = r.armed.find(rank);
  if (found == r.armed.end()) return std::nullopt;
  const Fault::Kind kind = found->second.kind;
  const bool of_stream = kind == Fault::kHangs || kind == Fault::kBreaks;
  if (the_put_off.load() != nullptr && of_stream && !queued) return std::nullopt;
  return r.armed.extract(found).mapped();
}

// Applies the planned fault of the current activity.
enum class Struck { kNo, kHangs, kStuck };
Struck befall(Comm& comm, bool queued) {
  const auto fault = disarm(comm.rank, queued);
  if (!fault) return Struck::kNo;
  if (fault->kind == Fault::kPollFails) {
    comm.poll_result = fault->result;
    return Struck::kNo;
  }
  if (fault->kind == Fault::kBreaks || fault->kind == Fault::kLater)
    comm.change(fault->result, kBreaks);
  return fault->kind == Fault::kStuck || fault->kind == Fault::kLater ? Struck::kStuck
                                                                      : Struck::kHangs;
}

// Begins an activity.
Result begin(Comm& comm, Doing doing) {
  comm.state = Result::kInProgress;
  comm.doing = doing;
  if (doing == Doing::kOperation) {
    comm.at_work = true;
    ++comm.called;
  }
  if (befall(comm, false) != Struck::kNo) comm.hangs = true;
  return Result::kInProgress;
}

// Checks calls that allocate or free memory themselves, or may: operations among ranks of this
// communicator are NCCL's own responsibility.
void check_own_memory_call(const Comm& own, const char* what);

// NCCL selects its algorithm by kind and size, and connects at its first use.
void connect(Comm& comm, const std::vector<Op>& ops) {
  std::string kind;
  for (const Op& op : ops)
    kind +=
        base::text(static_cast<int>(op.kind), " ", op.count * size_of(op.type), " ", op.peer, ";");
  if (comm.kinds.insert(kind).second) check_own_memory_call(comm, "NCCL connects");
}

// Begins operations, or passes them to the stream and returns.
Result start(Comm& comm, std::vector<Op> ops, void* stream) {
  connect(comm, ops);
  const PutOff put_off = the_put_off;
  if (put_off == nullptr) {
    comm.put(ops);
    return begin(comm, Doing::kOperation);
  }
  std::unique_lock lock(comm.mutex);
  const Struck struck = befall(comm, true);
  ++comm.put_off;
  comm.at_work = true;
  ++comm.called;
  const auto submit = [&comm, put_off, stream, hangs = struck == Struck::kHangs, ops] {
    put_off(stream, [&comm, hangs, ops]() mutable { return comm.carry_out(ops, hangs); });
  };
  const int number = ++num_launches;
  if (struck != Struck::kStuck && (!launches_delayed || number % 3 == 0)) {
    lock.unlock();
    submit();
    return Result::kSuccess;
  }
  comm.state = Result::kInProgress;
  comm.launch_at = Clock::now() + microseconds(number % 7 * 20);
  if (struck == Struck::kStuck)
    comm.hangs = true;
  else
    comm.launch = submit;
  return Result::kInProgress;
}

// Submits an operation whose time has come. Without the lock: a stream takes it while it runs work.
void launch(Comm& comm) {
  std::function<void()> submit;
  {
    const std::lock_guard lock(comm.mutex);
    if (!comm.launch || Clock::now() < comm.launch_at) return;
    submit = std::exchange(comm.launch, nullptr);
  }
  submit();
  const std::lock_guard lock(comm.mutex);
  if (!comm.failed) comm.state = Result::kSuccess;  // a later launch hides no failure
}

// Marks a call on a communicator in progress.
class Inside {
 public:
  Inside(Communicator* communicator, const char* what)
      : comm_(*reinterpret_cast<Comm*>(communicator)) {
    ++comm_.inside;
    if (comm_.owner != std::this_thread::get_id())
      violate(std::string(what) + " on another thread than the communicator's");
    if (comm_.ended) violate(std::string(what) + " on a communicator that is gone");
  }
  ~Inside() { --comm_.inside; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  Comm& comm() const { return comm_; }

 private:
  Comm& comm_;
};
bool ready_for(Comm& comm, const char* what) {
  const std::lock_guard lock(comm.mutex);
  if (comm.state == Result::kInProgress) violate(std::string(what) + " while in progress");
  return !comm.gone && comm.state == Result::kSuccess;
}

Result call(Communicator* communicator, void* stream, const Op& op) {
  const Inside inside(communicator, "an operation");
  Comm& comm = inside.comm();
  if (const HoldsMemory holds = holds_memory)
    for (const uint8_t* side : {op.from, op.to})
      if (side && !holds(comm.device(), side))
        violate("an operation on memory that is not the device's");
  Result result = count_call(comm);
  if (result == Result::kSuccess && !ready_for(comm, "an operation"))
    result = Result::kInvalidArgument;
  if (result != Result::kSuccess) {
    if (group.depth > 0) group.error = result;
    return result;
  }
  if (group.depth > 0) {
    if (group.comm && group.comm != &comm) violate("a group of two communicators");
    group.comm = &comm;
    group.stream = stream;
    group.ops.push_back(op);
    return Result::kSuccess;
  }
  return start(comm, {op}, stream);
}

uint8_t* bytes(const void* memory) { return static_cast<uint8_t*>(const_cast<void*>(memory)); }

Result version(int* version) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  read_environment(r);
  const auto own = r.versions.find(acting);
  *version = own == r.versions.end() ? r.version : own->second;
  return Result::kSuccess;
}

Result unique_id(Id* id) {
  *id = {};
  if (const Result result = count_call(0); result != Result::kSuccess) return result;
  *id = Clique::make_id();
  return id->bytes[0] ? Result::kSuccess : Result::kSystemError;
}

Result init_rank(Communicator** made, int world, const Id* id, int rank, int device) {
  *made = nullptr;
  acting = rank;
  if (const Result result = count_call(rank); result != Result::kSuccess) return result;
  auto comm = std::make_unique<Comm>(*the_devices.load(), *id, world, rank, device);
  check_own_memory_call(*comm, "NCCL starts");
  begin(*comm, Doing::kJoining);
  *made = reinterpret_cast<Communicator*>(comm.get());
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  ++r.count.made;
  r.comms.push_back(std::move(comm));
  return Result::kInProgress;
}

Result async_error(Communicator* communicator, Result* state) {
  const Inside inside(communicator, "a question");
  Comm& comm = inside.comm();
  launch(comm);
  const std::lock_guard lock(comm.mutex);
  if (const auto result = std::exchange(comm.poll_result, std::nullopt)) {
    *state = *result;
    comm.fail(*result);
    return *result;
  }
  const auto at_work = [&] {
    return comm.state == Result::kInProgress ||
           (comm.state == Result::kSuccess && comm.put_off > 0);
  };
  if (!comm.gone && at_work()) {
    const auto now = Clock::now();
    if (now >= comm.change_at)
      comm.fail(comm.changed);
    else if (comm.state == Result::kInProgress && !comm.hangs && !comm.launch)
      comm.progress();
    if (at_work() && comm.changed == Result::kSuccess && comm.broken())
      comm.change(peers_see, kHears);
  }
  *state = comm.state;
  return Result::kSuccess;
}

Result all_reduce(const void* send, void* receive, int64_t count, Type type, Reduction op,
                  Communicator* communicator, void* stream) {
  return call(communicator, stream,
              {Kind::kReduce, bytes(send), bytes(receive), count, type, op, 0});
}
Result broadcast(const void* send, void* receive, int64_t count, Type type, int root,
                 Communicator* communicator, void* stream) {
  return call(communicator, stream,
              {Kind::kBroadcast, bytes(send), bytes(receive), count, type, Reduction::kSum, root});
}
Result all_gather(const void* send, void* receive, int64_t count, Type type,
                  Communicator* communicator, void* stream) {
  return call(communicator, stream,
              {Kind::kGather, bytes(send), bytes(receive), count, type, Reduction::kSum, 0});
}
Result send(const void* from, int64_t count, Type type, int peer, Communicator* communicator,
            void* stream) {
  return call(communicator, stream,
              {Kind::kSend, bytes(from), nullptr, count, type, Reduction::kSum, peer});
}
Result receive(void* to, int64_t count, Type type, int peer, Communicator* communicator,
               void* stream) {
  return call(communicator, stream,
              {Kind::kReceive, nullptr, bytes(to), count, type, Reduction::kSum, peer});
}

Result group_start() {
  const Result result = count_call(acting);
  if (result == Result::kSuccess) ++group.depth;
  return result;
}
Result group_end() {
  if (group.depth == 0) violate("the end of a group without a start");
  const Group ended = std::exchange(group, {});
  if (ended.error != Result::kSuccess) return ended.error;
  if (!ended.comm) return count_call(acting);
  if (const Result result = count_call(*ended.comm); result != Result::kSuccess) return result;
  return start(*ended.comm, ended.ops, ended.stream);
}

Result finalize(Communicator* communicator) {
  const Inside inside(communicator, "finalize");
  Comm& comm = inside.comm();
  ready_for(comm, "finalize");
  if (const Result result = count_call(comm); result != Result::kSuccess) return result;
  return begin(comm, Doing::kFinalizing);
}
Result destroy(Communicator* communicator) {
  const Inside inside(communicator, "destroy");
  Comm& comm = inside.comm();
  if (!comm.quiet) violate("destroyed before it was quiet");
  if (comm.failed) violate("destroyed after a failure");
  check_own_memory_call(comm, "NCCL gives back what it has");
  comm.end(false);
  const std::lock_guard lock(registry().mutex);
  ++registry().count.destroyed;
  return Result::kSuccess;
}
Result abort(Communicator* communicator) {
  Comm& comm = *reinterpret_cast<Comm*>(communicator);  // used by any thread
  if (comm.ended) violate("abort on a communicator that is gone");
  if (comm.inside > 0) violate("abort while its thread is inside a call");
  {
    const std::lock_guard lock(comm.mutex);
    comm.end(true);
  }
  const std::lock_guard lock(registry().mutex);
  ++registry().count.aborted;
  return Result::kSuccess;
}

const char* error_text(Result result) {
  constexpr const char* kTexts[] = {
      "no error",         "unhandled cuda error", "unhandled system error", "internal error",
      "invalid argument", "invalid usage",        "remote error",           "in progress"};
  return kTexts[static_cast<int>(result)];
}
const char* last_error(Communicator*) { return "what the fake says\nand a trace"; }

void bus_id(int device, char (&id)[16]) {
  std::memcpy(id, the_devices.load()->info(device).bus_id, sizeof id);
}

// A stream of the fake is not used otherwise: the communicator's own queue copies the operations'
// data.
void* open_stream(int device) {
  the_devices.load()->info(device);  // throws if the device is lost
  const std::lock_guard lock(registry().mutex);
  ++registry().count.streams;
  return new int(device);
}
void close_stream(int, void* stream) noexcept {
  delete static_cast<int*>(stream);
  const std::lock_guard lock(registry().mutex);
  --registry().count.streams;
}

void watch_growth(GrowthCall before, GrowthCall after) {
  before_growth = before;
  after_growth = after;
}

}  // namespace

void begin_growth() noexcept {
  if (const GrowthCall before = before_growth) before();
}
void end_growth() noexcept {
  if (const GrowthCall after = after_growth) after();
}

void note_violation(const std::string& text) { violate(text); }
void violate(const std::string& text) {
  const std::lock_guard lock(registry().mutex);
  registry().violations.push_back(text);
}

namespace {

void check_launches(const char* what, const Comm* own) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  for (const auto& comm : r.comms) {
    if (!comm->at_work || (own && comm->same_clique(*own))) continue;
    for (const auto& other : r.comms)
      if (other->same_clique(*comm) && !other->ended && other->called < comm->called)
        r.violations.push_back(base::text(what, " while rank ", comm->rank, " is in operation ",
                                          comm->called.load(), ", which rank ", other->rank,
                                          " has still to call"));
  }
}
void check_own_memory_call(const Comm& own, const char* what) {
  check_launches(what, &own);
  std::this_thread::sleep_for(microseconds(300));  // lets other ranks continue
  check_launches(what, &own);
}

}  // namespace

const comm::nccl::Table& table(const device::Table& devices) {
  the_devices = &devices;
  static const Table table{.size = sizeof(Table),
                           .built_version = kVersion,
                           .version = version,
                           .unique_id = unique_id,
                           .init_rank = init_rank,
                           .async_error = async_error,
                           .all_reduce = all_reduce,
                           .broadcast = broadcast,
                           .all_gather = all_gather,
                           .send = send,
                           .receive = receive,
                           .group_start = group_start,
                           .group_end = group_end,
                           .finalize = finalize,
                           .destroy = destroy,
                           .abort = abort,
                           .error_text = error_text,
                           .last_error = last_error,
                           .bus_id = bus_id,
                           .open_stream = open_stream,
                           .close_stream = close_stream,
                           .watch_growth = watch_growth};
  return table;
}

void check_memory_call(const char* what) { check_launches(what, nullptr); }

void reset() {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  r.read_environment = true;
  r.faults.clear();
  r.armed.clear();
  r.calls.clear();
  r.comms.clear();
  the_put_off = nullptr;
  launches_delayed = false;
  peers_see = Result::kRemoteError;
  slow_end_ms = 0;
  holds_memory = nullptr;
  r.versions.clear();
  r.forgiving = false;
  r.violations.clear();
  r.count = {};
  r.version = kVersion;
}
void plan(const Fault& fault) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  read_environment(r);
  r.faults.push_back(fault);
}
void put_off_operations(PutOff put_off, bool delayed) {
  the_put_off = put_off;
  launches_delayed = delayed;
}
void act_as(int rank) { acting = rank; }
void forgive_refusals() {
  const std::lock_guard lock(registry().mutex);
  registry().forgiving = true;
}
void set_peers_see(Result result) { peers_see = result; }
void set_slow_ends(int64_t ms) { slow_end_ms = ms; }
std::chrono::milliseconds slow_end() noexcept { return std::chrono::milliseconds(slow_end_ms); }
void check_memory(HoldsMemory holds) { holds_memory = holds; }
void set_version(int rank, int version) {
  const std::lock_guard lock(registry().mutex);
  registry().versions[rank] = version;
}
void set_version(int version) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  read_environment(r);
  r.version = version;
}
Count count() {
  const std::lock_guard lock(registry().mutex);
  return registry().count;
}
int calls(int rank) {
  const std::lock_guard lock(registry().mutex);
  return registry().calls[rank];
}
std::vector<std::string> violations() {
  const std::lock_guard lock(registry().mutex);
  return registry().violations;
}

}  // namespace gnnmg::fake_nccl
