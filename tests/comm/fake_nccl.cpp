#include "comm/fake_nccl.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "fake_nccl/reduce.h"

namespace gnnmg::test {
namespace {

using base::Status;
using comm::nccl::Communicator;
using comm::nccl::Id;
using comm::nccl::Reduction;
using comm::nccl::Result;
using comm::nccl::Type;
using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

enum class Kind { kReduce, kGather, kBroadcast, kSend, kReceive };

struct Op {
  Kind kind = Kind::kReduce;
  const uint8_t* from = nullptr;
  uint8_t* to = nullptr;
  int64_t count = 0;
  Type type = Type::kU8;
  Reduction op = Reduction::kSum;
  int peer = 0;  // peer or root
  bool done = false;
  int64_t bytes() const { return count * fake_nccl::size_of(type); }
};

struct Comm;

struct Work {
  Comm* comm = nullptr;  // null for a copy
  std::vector<Op> ops{};
  void* to = nullptr;
  const void* from = nullptr;
  int64_t bytes = 0;
  bool hangs = false, started = false;
  Clock::time_point aborted{};  // time of the abort, or 0
  // Events: this work sets `reached` and waits for `awaited`.
  std::shared_ptr<bool> reached{}, awaited{};
};

struct Stream {
  int device = 0;
  std::deque<Work> works;
};

struct Clique {
  int world = 0;
  std::vector<Comm*> comms;
  int joined = 0, finalized = 0;
  bool broken = false;
  std::map<int64_t, std::vector<Op*>> meetings;  // key: sequence number
  std::map<std::pair<int, int>, std::deque<std::vector<uint8_t>>> messages, broadcasts;
};

struct Comm {
  Clique* clique = nullptr;
  int rank = 0, device = 0;
  std::thread::id owner;
  Result state = Result::kSuccess;
  bool failed = false, gone = false, quiet = false;
  bool poll_fails = false;
  Result poll_result = Result::kSuccess;
  int64_t meetings = 0;
  // A call that is not queued yet.
  bool launching = false;
  Work launch;
  Stream* stream = nullptr;
  Clock::time_point launch_at;
  // A later change of the state.
  Clock::time_point change_at = Clock::time_point::max();
  Result change = Result::kSuccess;
};

struct Queue {
  Stream* stream = nullptr;
  bool own = false;  // owns the stream
};

struct Group {
  int depth = 0;
  Result error = Result::kSuccess;
  Comm* comm = nullptr;
  Stream* stream = nullptr;
  std::vector<Op> ops;
};
thread_local int acting = 0;
thread_local Group group;

void reduce(const std::vector<Op*>& ops) {
  const Op& first = *ops[0];
  std::vector<const uint8_t*> inputs;
  for (const Op* op : ops) inputs.push_back(op->from);
  std::vector<uint8_t> result(static_cast<size_t>(first.bytes()));
  fake_nccl::reduce(inputs, result.data(), first.count, first.type, first.op);
  for (Op* op : ops) std::memcpy(op->to, result.data(), result.size());
}

}  // namespace

struct FakeGpus::Machine {
  struct Device {
    std::string bus_id{};
    int uses = 0, allocations = 0, lost_at = 0, refused_at = 0;
    bool lost = false;
    std::map<uint8_t*, std::vector<uint8_t>> memory{};
  };
  std::mutex mutex;  // guards all below
  std::condition_variable changed;
  std::vector<Device> devices;
  std::vector<std::unique_ptr<Stream>> streams;
  std::vector<std::unique_ptr<Comm>> comms;
  std::map<std::string, std::unique_ptr<Clique>> cliques;
  std::map<int, int> calls, versions;  // one per rank
  std::map<int, Fault> armed;          // one per rank
  Fault fault;
  bool hold_refusals = true, over = false;
  int ids = 0, turn = 0;
  std::chrono::milliseconds slow_ends{0};
  Result peers_see = Result::kRemoteError;
  Count counts;
  std::vector<std::string> violations;
  std::thread gpu;

  void violate(const std::string& text) { violations.push_back(text); }

  // Counts a call of the acting rank; returns kSuccess unless the plan fails it.
  Result count_call(Comm* comm) {
    const int rank = comm ? comm->rank : acting;
    const int number = ++calls[rank];
    if (fault.kind == Fault::kNone || fault.rank != rank || fault.call != number)
      return Result::kSuccess;
    if (fault.kind != Fault::kFails) {
      armed[rank] = fault;
      return Result::kSuccess;
    }
    if (comm && (fault.result != Result::kInvalidArgument || hold_refusals)) {
      comm->state = fault.result;
      comm->failed = true;
    }
    return fault.result;
  }
  void check_owner(Comm& comm, const char* what) {
    if (comm.owner != std::this_thread::get_id())
      violate(std::string(what) + " on another thread than the communicator's");
    if (comm.gone) violate(std::string(what) + " on a communicator that is gone");
  }
  bool ready_for(Comm& comm, const char* what) {
    check_owner(comm, what);
    if (comm.gone) return false;
    if (comm.state == Result::kInProgress) violate(std::string(what) + " while in progress");
    return comm.state == Result::kSuccess;
  }
  // Takes the planned fault for the current call of a rank; `queued`: the call queues GPU work.
  std::optional<Fault> disarm(int rank, bool queued) {
    const auto found = armed.find(rank);
    if (found == armed.end()) return std::nullopt;
    const Fault planned = found->second;
    if (!queued && (planned.kind == Fault::kHangs || planned.kind == Fault::kBreaks))
      return std::nullopt;
    armed.erase(found);
    return planned;
  }
  // Returns true if the call never ends by itself.
  bool apply(Comm& comm, const Fault& planned) {
    if (planned.kind == Fault::kPollFails) {
      comm.poll_fails = true;
      comm.poll_result = planned.result;
      return false;
    }
    if (planned.kind == Fault::kLater || planned.kind == Fault::kBreaks) {
      comm.change_at = Clock::now() + microseconds(500);
      comm.change = planned.result;
    }
    return true;
  }

  void use(int device) {
    Device& d = devices.at(static_cast<size_t>(device));
    if (++d.uses == d.lost_at) d.lost = true;
    if (d.lost) base::fail(Status::kDeviceLost, "device ", device, " fell off the bus");
  }
  bool is_device_memory(int device, const uint8_t* begin, int64_t bytes) const {
    return std::ranges::any_of(devices[device].memory, [&](const auto& entry) {
      return begin >= entry.first &&
             begin + bytes <= entry.first + static_cast<int64_t>(entry.second.size());
    });
  }

  Result launch(Comm& comm, Stream& stream, std::vector<Op> ops) {
    for (const Op& op : ops)
      for (const uint8_t* side : {op.from, static_cast<const uint8_t*>(op.to)})
        if (side && !is_device_memory(comm.device, side, op.bytes()))
          violate("an operation on memory that is not the device's");
    Work work{.comm = &comm, .ops = std::move(ops)};
    bool stays = false, delayed = ++turn % 3 != 0;  // some calls start at once, as NCCL's do
    if (const auto planned = disarm(comm.rank, true)) {
      delayed = true;
      const bool forever = apply(comm, *planned);
      work.hangs = planned->kind == Fault::kHangs || planned->kind == Fault::kBreaks;
      stays = forever && !work.hangs;
    }
    if (!delayed) {
      stream.works.push_back(std::move(work));
      return Result::kSuccess;
    }
    comm.state = Result::kInProgress;
    comm.launching = !stays;
    comm.launch = std::move(work);
    comm.stream = &stream;
    comm.launch_at = Clock::now() + microseconds(turn % 7 * 20);
    return Result::kInProgress;
  }
  Result call(Communicator* communicator, void* stream, const Op& op) {
    Comm& comm = *reinterpret_cast<Comm*>(communicator);
    const std::lock_guard lock(mutex);
    const bool ready = ready_for(comm, "an operation");
    Result result = count_call(&comm);
    if (result == Result::kSuccess && !ready) result = Result::kInvalidArgument;
    if (result != Result::kSuccess) {
      if (group.depth > 0) group.error = result;
      return result;
    }
    if (group.depth == 0) return launch(comm, *static_cast<Stream*>(stream), {op});
    group.comm = &comm;
    group.stream = static_cast<Stream*>(stream);
    group.ops.push_back(op);
    return Result::kSuccess;
  }

  // Runs on the GPU thread.
  void start(Comm& comm, Op& op) {
    Clique& clique = *comm.clique;
    std::vector<uint8_t> bytes;
    if (op.from) bytes.assign(op.from, op.from + op.bytes());
    if (op.kind == Kind::kSend) {
      clique.messages[{comm.rank, op.peer}].push_back(std::move(bytes));
      op.done = true;
    } else if (op.kind == Kind::kBroadcast && op.peer == comm.rank) {
      for (int r = 0; r < clique.world; ++r)
        if (r != comm.rank) clique.broadcasts[{comm.rank, r}].push_back(bytes);
      op.done = true;
    } else if (op.kind == Kind::kReduce || op.kind == Kind::kGather) {
      std::vector<Op*>& meeting = clique.meetings[comm.meetings++];
      meeting.resize(clique.world);
      meeting[comm.rank] = &op;
      if (std::ranges::count(meeting, nullptr) == 0 && !clique.broken) meet(meeting);
    }
  }
  void meet(const std::vector<Op*>& ops) {
    for (const Op* op : ops)
      if (op->kind != ops[0]->kind || op->count != ops[0]->count || op->type != ops[0]->type ||
          op->op != ops[0]->op)
        return violate("operations that differ meet");
    if (ops[0]->kind == Kind::kReduce) {
      reduce(ops);
    } else {
      std::vector<uint8_t> all;
      for (const Op* op : ops) all.insert(all.end(), op->from, op->from + op->bytes());
      for (Op* op : ops) std::memcpy(op->to, all.data(), all.size());
    }
    for (Op* op : ops) op->done = true;
  }
  void receive(Comm& comm, Op& op) {
    if (op.kind != Kind::kReceive && op.kind != Kind::kBroadcast) return;
    auto& boxes = op.kind == Kind::kReceive ? comm.clique->messages : comm.clique->broadcasts;
    auto& box = boxes[{op.peer, comm.rank}];
    if (box.empty()) return;
    if (static_cast<int64_t>(box.front().size()) != op.bytes())
      return violate("a message of another size than expected");
    std::memcpy(op.to, box.front().data(), box.front().size());
    box.pop_front();
    op.done = true;
  }
  bool advance(Work& work) {
    const bool aborted = work.aborted != Clock::time_point();
    if (aborted && Clock::now() < work.aborted + slow_ends) return false;
    if (work.awaited && !*work.awaited) return false;
    if (work.reached) *work.reached = true;
    if (!work.comm) {
      if (work.bytes > 0) std::memcpy(work.to, work.from, static_cast<size_t>(work.bytes));
      return true;
    }
    if (work.hangs) return false;
    if (!std::exchange(work.started, true))
      for (Op& op : work.ops) start(*work.comm, op);
    for (Op& op : work.ops)
      if (!op.done) receive(*work.comm, op);
    return std::ranges::all_of(work.ops, &Op::done);
  }
  void tick() {
    const auto now = Clock::now();
    for (const auto& comm : comms) {
      if (comm->gone) continue;
      if (comm->launching && now >= comm->launch_at) {
        comm->launching = false;
        if (!comm->failed) comm->state = Result::kSuccess;  // a later launch hides no failure
        comm->stream->works.push_back(std::move(comm->launch));
      }
      if (now >= comm->change_at) {
        comm->change_at = Clock::time_point::max();
        comm->state = comm->change;
        comm->failed = true;
      }
    }
    for (const auto& stream : streams)
      while (!devices[stream->device].lost && !stream->works.empty() &&
             advance(stream->works.front()))
        stream->works.pop_front();
    changed.notify_all();
  }
  void run() {
    std::unique_lock lock(mutex);
    while (!over) {
      tick();
      lock.unlock();
      std::this_thread::sleep_for(microseconds(30));
      lock.lock();
    }
  }
};

namespace {

std::atomic<FakeGpus::Machine*> the_machine{nullptr};
FakeGpus::Machine& machine() { return *the_machine.load(); }
Comm& comm_of(Communicator* communicator) { return *reinterpret_cast<Comm*>(communicator); }
const uint8_t* in(const void* memory) { return static_cast<const uint8_t*>(memory); }
uint8_t* out(void* memory) { return static_cast<uint8_t*>(memory); }

Result version(int* version) {
  const std::lock_guard lock(machine().mutex);
  const auto found = machine().versions.find(acting);
  *version = found == machine().versions.end() ? FakeGpus::kVersion : found->second;
  return machine().count_call(nullptr);
}

Result unique_id(Id* id) {
  const std::lock_guard lock(machine().mutex);
  std::memset(id, 0, sizeof *id);
  std::ranges::copy("id " + std::to_string(++machine().ids), id->bytes);
  return machine().count_call(nullptr);
}

Result init_rank(Communicator** made, int world, const Id* id, int rank, int device) {
  FakeGpus::Machine& m = machine();
  const std::lock_guard lock(m.mutex);
  *made = nullptr;
  if (const Result result = m.count_call(nullptr); result != Result::kSuccess) return result;
  auto& clique = m.cliques[std::string(id->bytes)];
  if (!clique) {
    clique = std::make_unique<Clique>();
    clique->world = world;
  }
  for (const Comm* other : clique->comms)
    if (m.devices[other->device].bus_id == m.devices[device].bus_id)
      m.violate("two ranks on one device");
  auto comm = std::make_unique<Comm>();
  comm->clique = clique.get();
  comm->rank = rank;
  comm->device = device;
  comm->owner = std::this_thread::get_id();
  comm->state = Result::kInProgress;
  clique->comms.push_back(comm.get());
  ++m.counts.made;
  const auto planned = m.disarm(rank, false);
  if ((!planned || !m.apply(*comm, *planned)) && ++clique->joined == world)
    for (Comm* each : clique->comms) each->state = Result::kSuccess;
  *made = reinterpret_cast<Communicator*>(comm.get());
  m.comms.push_back(std::move(comm));
  return Result::kInProgress;
}

Result async_error(Communicator* communicator, Result* state) {
  const std::lock_guard lock(machine().mutex);
  Comm& comm = comm_of(communicator);
  machine().check_owner(comm, "a question");
  *state = comm.state;
  if (!std::exchange(comm.poll_fails, false)) return Result::kSuccess;
  comm.failed = true;
  return comm.poll_result;
}

Result all_reduce(const void* send, void* receive, int64_t count, Type type, Reduction op,
                  Communicator* communicator, void* stream) {
  return machine().call(communicator, stream,
                        {Kind::kReduce, in(send), out(receive), count, type, op});
}
Result broadcast(const void* send, void* receive, int64_t count, Type type, int root,
                 Communicator* communicator, void* stream) {
  return machine().call(
      communicator, stream,
      {Kind::kBroadcast, in(send), out(receive), count, type, Reduction::kSum, root});
}
Result all_gather(const void* send, void* receive, int64_t count, Type type,
                  Communicator* communicator, void* stream) {
  return machine().call(communicator, stream, {Kind::kGather, in(send), out(receive), count, type});
}
Result send(const void* from, int64_t count, Type type, int peer, Communicator* communicator,
            void* stream) {
  return machine().call(communicator, stream,
                        {Kind::kSend, in(from), nullptr, count, type, Reduction::kSum, peer});
}
Result receive(void* to, int64_t count, Type type, int peer, Communicator* communicator,
               void* stream) {
  return machine().call(communicator, stream,
                        {Kind::kReceive, nullptr, out(to), count, type, Reduction::kSum, peer});
}

Result group_start() {
  const std::lock_guard lock(machine().mutex);
  const Result result = machine().count_call(nullptr);
  if (result == Result::kSuccess) ++group.depth;
  return result;
}
Result group_end() {
  const std::lock_guard lock(machine().mutex);
  if (group.depth == 0) machine().violate("the end of a group without a start");
  const Group ended = std::exchange(group, {});
  if (ended.error != Result::kSuccess) return ended.error;
  const Result result = machine().count_call(ended.comm);
  if (result != Result::kSuccess || !ended.comm) return result;
  return machine().launch(*ended.comm, *ended.stream, ended.ops);
}

Result finalize(Communicator* communicator) {
  FakeGpus::Machine& m = machine();
  const std::lock_guard lock(m.mutex);
  Comm& comm = comm_of(communicator);
  m.ready_for(comm, "finalize");
  if (const Result result = m.count_call(&comm); result != Result::kSuccess) return result;
  comm.state = Result::kInProgress;
  const auto planned = m.disarm(comm.rank, false);
  if (planned && m.apply(comm, *planned)) return Result::kInProgress;
  if (++comm.clique->finalized == comm.clique->world)
    for (Comm* each : comm.clique->comms) {
      each->state = Result::kSuccess;
      each->quiet = true;
    }
  return Result::kInProgress;
}
Result destroy(Communicator* communicator) {
  FakeGpus::Machine& m = machine();
  const std::lock_guard lock(m.mutex);
  Comm& comm = comm_of(communicator);
  m.check_owner(comm, "destroy");
  if (!comm.quiet) m.violate("destroyed before it was quiet");
  if (comm.failed) m.violate("destroyed after a failure");
  comm.gone = true;
  ++m.counts.destroyed;
  return Result::kSuccess;
}
Result abort(Communicator* communicator) {
  FakeGpus::Machine& m = machine();
  const std::lock_guard lock(m.mutex);
  Comm& comm = comm_of(communicator);
  if (comm.gone) m.violate("abort on a communicator that is gone");
  comm.gone = true;
  comm.clique->broken = true;
  ++m.counts.aborted;
  const auto of = [](const Comm& c) { return [&c](const Work& work) { return work.comm == &c; }; };
  for (const auto& stream : m.streams) {
    for (Work& work : stream->works)
      if (work.comm == &comm) work = {.aborted = Clock::now()};
    // Busy peers lose their connections.
    for (Comm* peer : comm.clique->comms)
      if (!peer->gone && !peer->failed && peer->change_at == Clock::time_point::max() &&
          std::ranges::any_of(stream->works, of(*peer))) {
        peer->change_at = Clock::now() + microseconds(500);
        peer->change = m.peers_see;
      }
  }
  return Result::kSuccess;
}

const char* error_text(Result result) {
  constexpr const char* kTexts[] = {
      "no error",         "unhandled cuda error", "unhandled system error", "internal error",
      "invalid argument", "invalid usage",        "remote error",           "in progress"};
  return kTexts[static_cast<int>(result)];
}
const char* last_error(Communicator*) { return "what the fake says\nand a trace"; }

void bus_id(int, char (&id)[16]) { std::memset(id, 0, sizeof id); }

void* open_stream(int device) {
  const std::lock_guard lock(machine().mutex);
  machine().use(device);
  machine().streams.push_back(std::make_unique<Stream>());
  machine().streams.back()->device = device;
  ++machine().counts.streams;
  return machine().streams.back().get();
}

// There is no LibTorch for these GPUs.
void watch_growth(void (*)() noexcept, void (*)() noexcept) {}

void close_stream(int, void* stream) noexcept {
  const std::lock_guard lock(machine().mutex);
  std::erase_if(machine().streams, [&](const auto& each) { return each.get() == stream; });
  --machine().counts.streams;
}

int num_devices() {
  const std::lock_guard lock(machine().mutex);
  return static_cast<int>(machine().devices.size());
}
device::Info info(int device) {
  const std::lock_guard lock(machine().mutex);
  machine().use(device);
  device::Info info{};
  std::ranges::copy(std::string("Fake GPU"), info.name);
  std::ranges::copy(machine().devices[device].bus_id, info.bus_id);
  info.total_memory = info.free_memory = int64_t{1} << 34;
  return info;
}
void* allocate(int device, device::Placement, int64_t bytes) {
  const std::lock_guard lock(machine().mutex);
  machine().use(device);
  FakeGpus::Machine::Device& d = machine().devices[device];
  if (++d.allocations == d.refused_at)
    base::fail(Status::kNoMemory, "no memory for ", bytes, " bytes: 0 are free");
  std::vector<uint8_t> memory(static_cast<size_t>(bytes), 0xA5);
  uint8_t* begin = memory.data();
  d.memory.emplace(begin, std::move(memory));
  ++machine().counts.memory;
  return begin;
}
void release(int device, device::Placement, void* memory) noexcept {
  const std::lock_guard lock(machine().mutex);
  for (const auto& stream : machine().streams)
    if (stream->device == device && !stream->works.empty() && !machine().devices[device].lost)
      machine().violate("memory released while the device is at work");
  if (machine().devices[device].memory.erase(out(memory)) != 1)
    machine().violate("released what was not allocated");
  --machine().counts.memory;
}
void* pin(void* memory, int64_t) { return memory; }
void unpin(void*) noexcept {}

Stream& stream_of(device::Queue* queue) { return *reinterpret_cast<Queue*>(queue)->stream; }
device::Queue* open_queue(int device, int, void* stream) {
  const bool own = stream == nullptr;
  if (own) stream = open_stream(device);
  const std::lock_guard lock(machine().mutex);
  machine().use(device);
  ++machine().counts.queues;
  return reinterpret_cast<device::Queue*>(new Queue{static_cast<Stream*>(stream), own});
}
void wait_for(Stream& stream, std::unique_lock<std::mutex>& lock) {
  machine().changed.wait(
      lock, [&] { return stream.works.empty() || machine().devices[stream.device].lost; });
}
void synchronize(device::Queue* queue) {
  std::unique_lock lock(machine().mutex);
  wait_for(stream_of(queue), lock);
  machine().use(stream_of(queue).device);
}
void close_queue(device::Queue* queue) noexcept {
  std::unique_lock lock(machine().mutex);
  wait_for(stream_of(queue), lock);
  --machine().counts.queues;
  lock.unlock();
  const Queue* closed = reinterpret_cast<Queue*>(queue);
  if (closed->own) close_stream(closed->stream->device, closed->stream);
  delete closed;
}
void copy(device::Queue* queue, void* to, const void* from, int64_t bytes) {
  const std::lock_guard lock(machine().mutex);
  machine().use(stream_of(queue).device);
  stream_of(queue).works.push_back({.to = to, .from = from, .bytes = bytes});
}
void wait(device::Queue* queue, device::Queue* other) {
  const std::lock_guard lock(machine().mutex);
  machine().use(stream_of(queue).device);
  machine().use(stream_of(other).device);
  const auto place = std::make_shared<bool>(false);
  stream_of(other).works.push_back({.reached = place});
  stream_of(queue).works.push_back({.awaited = place});
}
void use(device::Queue* queue) {
  const std::lock_guard lock(machine().mutex);
  machine().use(stream_of(queue).device);
}
bool finished(device::Queue* queue) {
  const std::lock_guard lock(machine().mutex);
  machine().use(stream_of(queue).device);
  return stream_of(queue).works.empty();
}

}  // namespace

const comm::nccl::Table& FakeGpus::nccl() {
  static const comm::nccl::Table table{sizeof(comm::nccl::Table),
                                       kVersion,
                                       version,
                                       unique_id,
                                       init_rank,
                                       async_error,
                                       all_reduce,
                                       broadcast,
                                       all_gather,
                                       send,
                                       receive,
                                       group_start,
                                       group_end,
                                       finalize,
                                       destroy,
                                       abort,
                                       error_text,
                                       last_error,
                                       bus_id,
                                       open_stream,
                                       close_stream,
                                       watch_growth};
  return table;
}

const device::Table& FakeGpus::devices() {
  static const device::Table table = [] {
    device::Table t{};
    t.size = sizeof t;
    t.version = "fake";
    t.num_devices = num_devices;
    t.info = info;
    t.allocate = allocate;
    t.release = release;
    t.pin = pin;
    t.unpin = unpin;
    t.open_queue = open_queue;
    t.close_queue = close_queue;
    t.copy = copy;
    t.synchronize = synchronize;
    t.finished = finished;
    t.wait = wait;
    t.use = use;
    return t;
  }();
  return table;
}

FakeGpus::FakeGpus(int count) : machine_(std::make_unique<Machine>()) {
  for (int d = 0; d < count; ++d)
    machine_->devices.push_back({.bus_id = "0000:" + std::to_string(10 + d) + ":00.0"});
  the_machine = machine_.get();
  machine_->gpu = std::thread([m = machine_.get()] { m->run(); });
}
FakeGpus::~FakeGpus() {
  {
    const std::lock_guard lock(machine_->mutex);
    machine_->over = true;
  }
  machine_->gpu.join();
  the_machine = nullptr;
}

void FakeGpus::act_as(int rank) { acting = rank; }
void FakeGpus::plan(const Fault& fault) {
  const std::lock_guard lock(machine_->mutex);
  machine_->fault = fault;
}
void FakeGpus::forgive_refusals() {
  const std::lock_guard lock(machine_->mutex);
  machine_->hold_refusals = false;
}
void FakeGpus::set_peers_see(Result result) {
  const std::lock_guard lock(machine_->mutex);
  machine_->peers_see = result;
}
void FakeGpus::set_slow_ends(int64_t ms) {
  const std::lock_guard lock(machine_->mutex);
  machine_->slow_ends = std::chrono::milliseconds(ms);
}
void FakeGpus::set_version(int rank, int version) {
  const std::lock_guard lock(machine_->mutex);
  machine_->versions[rank] = version;
}
void FakeGpus::set_bus_id(int device, const std::string& bus_id) {
  const std::lock_guard lock(machine_->mutex);
  machine_->devices[device].bus_id = bus_id;
}
void FakeGpus::lose_device(int device, int use) {
  const std::lock_guard lock(machine_->mutex);
  machine_->devices[device].lost_at = machine_->devices[device].uses + use;
}
void FakeGpus::refuse_memory(int device, int allocation) {
  const std::lock_guard lock(machine_->mutex);
  machine_->devices[device].refused_at = machine_->devices[device].allocations + allocation;
}
int FakeGpus::calls(int rank) const {
  const std::lock_guard lock(machine_->mutex);
  return machine_->calls[rank];
}
int FakeGpus::uses(int device) const {
  const std::lock_guard lock(machine_->mutex);
  return machine_->devices[device].uses;
}
FakeGpus::Count FakeGpus::count() const {
  const std::lock_guard lock(machine_->mutex);
  return machine_->counts;
}
std::vector<std::string> FakeGpus::violations() const {
  const std::lock_guard lock(machine_->mutex);
  return machine_->violations;
}

}  // namespace gnnmg::test
