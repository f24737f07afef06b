#include "capi/comm.h"

#include <cstring>
#include <vector>

#include "capi/arguments.h"
#include "capi/context.h"
#include "capi/tensor.h"

namespace gnnmg::capi {

// The time for which a callback of the host may keep an operation waiting beyond its deadline.
constexpr int64_t kStallLimitMs = 600000;

// Touched by the communicator's thread alone.
struct Comm::End {
  std::unique_ptr<comm::Collectives> collectives;
  std::exception_ptr error;  // error of connecting
};

namespace {

std::string cancelled_by(const comm::Processes* processes, int rank) {
  // In the words of an operation that finds itself cancelled: either may be the first to end it.
  if (!processes) return base::text("rank ", rank, " was canceled");
  const int own = processes->process();
  return base::text("the communicator was canceled by process ", own, " on host ",
                    processes->host(own));
}

// The last error on this thread since a point in time; empty: there was none.
std::string last_error_since(std::chrono::steady_clock::time_point start) {
  constexpr int64_t kRecent = 10;  // seconds that are not worth a word
  const LastError& last = last_error();
  if (last.status >= 0 || last.when < start) return {};
  const auto age = std::chrono::steady_clock::now() - last.when;
  const int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(age).count();
  return base::text("its last error",
                    seconds < kRecent ? "" : base::text(", ", seconds, " s before,"), " was ",
                    base::status_name(static_cast<Status>(last.status)), ": ", last.text);
}

}  // namespace

Comm::Comm(std::shared_ptr<Context> owner, std::shared_ptr<comm::ThreadGroup> group, int rank,
           const gnnmg_comm_config& config, std::shared_ptr<comm::Processes> processes)
    : Object(kKind, owner, owner->queue),
      processes_(std::move(processes)),
      group_(std::move(group)),
      rank_(rank),
      world_size_(group_->world_size()),
      deadline_ms_(config.deadline_ms),
      join_ms_(config.join_ms),
      cancelled_(cancelled_by(processes_.get(), rank)),
      end_(std::make_shared<End>()) {
  if (processes_) processes_->set_excuse([queue = queue] { return queue->has_calls(); });
  thread_.post([end = end_, group = group_, rank, wait = wait()] {
    try {
      end->collectives = group->connect(rank, wait);
    } catch (...) {
      end->error = std::current_exception();
    }
  });
}

Comm::~Comm() { cancel_work(); }

comm::Wait Comm::wait() const {
  comm::Wait wait;
  wait.deadline = base::Deadline::after_ms(deadline_ms_);
  wait.cancel = cancel_;
  wait.excused = [queue = queue] { return queue->has_calls(); };
  wait.stall = base::Deadline::after_ms(kStallLimitMs);
  return wait;
}

void Comm::cancel_work() noexcept {
  if (closed_) return;
  cancel_.cancel();
  std::string words;
  try {
    // The others cannot know why; the last error on the thread that frees is the best guess.
    const std::string why = last_error_since(created_);
    words = base::text("rank ", rank_, " freed its communicator without a shutdown",
                       why.empty() ? "" : ": ", why);
    if (processes_ && !why.empty()) processes_->set_leave_reason(why);
  } catch (const std::bad_alloc&) {  // no memory for them
  }
  group_->abort(words);
  if (processes_) processes_->drain();
  if (!freed_.exchange(true)) end_use();
}

void Comm::cancel() noexcept {
  if (closed_) return;
  cancel_.cancel();
  group_->abort(cancelled_);
  if (!processes_) return;
  processes_->abort(cancelled_);
  processes_->drain();
}

void Comm::end_use() noexcept {
  if (--users_ > 0 || closed_ || !processes_) return;
  processes_->leave();
  processes_->drain();
}

void Comm::close() {
  closed_ = true;
  thread_.post([end = end_] { end->collectives.reset(); });
}

std::shared_ptr<Job> Comm::start(
    std::function<Job::Result(comm::Collectives&, const comm::Wait&)> work) {
  if (closed_) fail(Status::kAborted, "rank ", rank_, " has shut its communicator down before");
  auto job = std::make_shared<Job>(queue);
  thread_.post([job, end = end_, wait = wait(), work = std::move(work)] {
    job->run([&] {
      if (end->error) std::rethrow_exception(end->error);
      return work(*end->collectives, wait);
    });
  });
  return job;
}

gnnmg_comm_config read_comm_config(const gnnmg_comm_config* config) {
  gnnmg_comm_config in = read_config(config);
  check_least(in.deadline_ms, 0, "config.deadline_ms");
  check_least(in.join_ms, 0, "config.join_ms");
  if (in.heartbeat_ms != 0 && (in.heartbeat_ms < 10 || in.heartbeat_ms > 600'000))
    fail(Status::kInvalidArgument, "config.heartbeat_ms is ", in.heartbeat_ms,
         ", expected 10 to 600000");
  if (in.deadline_ms == 0) in.deadline_ms = 30'000;
  if (in.join_ms == 0) in.join_ms = 300'000;
  if (in.heartbeat_ms == 0) in.heartbeat_ms = 500;
  if (in.num_processes == 0) in.num_processes = 1;
  return in;
}

namespace {

static_assert(static_cast<int32_t>(comm::ReduceOp::kSum) == GNNMG_REDUCE_SUM &&
              static_cast<int32_t>(comm::ReduceOp::kMean) == GNNMG_REDUCE_MEAN &&
              static_cast<int32_t>(comm::ReduceOp::kMin) == GNNMG_REDUCE_MIN &&
              static_cast<int32_t>(comm::ReduceOp::kMax) == GNNMG_REDUCE_MAX);

using base::Tensor;
using base::TensorView;
using Staging = std::vector<Tensor>;

std::vector<TensorView> views(const Staging& tensors) {
  std::vector<TensorView> result;
  for (const Tensor& tensor : tensors) result.push_back(tensor.view());
  return result;
}

// Adds the tensors of a call to its key, so that the call that goes on is the one that began.
void add_to_key(std::string& key, const PlacedView& placed) {
  const TensorView& view = placed.view;
  key += base::text(" ", reinterpret_cast<uintptr_t>(view.data), " ", base::dtype_name(view.dtype),
                    view.shape.to_string());
}

// Copies results to where the host wants them.
void deliver(const Devices& devices, const Outcome& outcome,
             const std::vector<PlacedView>& targets) {
  const Staging& results = outcome.as<Staging>();
  for (size_t i = 0; i < targets.size(); ++i) copy_placed(devices, targets[i], {results[i].view()});
}

// Runs an operation that works on copies of `inputs` (the first of which it may change), in main
// memory, and yields one result for each of `outputs`.
gnnmg_status run_operation(const gnnmg_comm* comm, std::string key,
                           const std::vector<PlacedView>& inputs,
                           const std::vector<PlacedView>& outputs, int64_t timeout_ms,
                           std::function<void(comm::Collectives&, const Staging& in,
                                              const Staging& out, const comm::Wait&)>
                               operation) {
  const auto c = find<Comm>(comm, "comm");
  for (const PlacedView& view : inputs) add_to_key(key, view);
  for (const PlacedView& view : outputs) add_to_key(key, view);
  const Outcome outcome = run_held(c, "comm", key, timeout_ms, [&] {
    Staging in, out;
    for (const PlacedView& view : inputs)
      in.push_back(copy_to_host(c->context->devices, view, "tensor"));
    for (const PlacedView& view : outputs)
      out.push_back(Tensor::empty(view.view.dtype, view.view.shape));
    return c->start([in = std::move(in), out = std::move(out), operation = std::move(operation)](
                        comm::Collectives& collectives, const comm::Wait& wait) -> Job::Result {
      operation(collectives, in, out, wait);
      return std::make_shared<Staging>(out);
    });
  });
  if (outcome.pending) return GNNMG_PENDING;
  deliver(c->context->devices, outcome, outputs);
  return GNNMG_OK;
}

// The tensors of a list, one per rank.
std::vector<PlacedView> borrow_all(const Comm& comm, const gnnmg_tensor* const* list,
                                   const char* name, decltype(borrow_placed)* borrow) {
  std::vector<PlacedView> views;
  for (const gnnmg_tensor* tensor : read_list(list, comm.world_size(), name)) {
    const std::string entry = base::text(name, "[", views.size(), "]");
    views.push_back(borrow(comm.context->devices, tensor, entry.c_str()));
  }
  return views;
}

// Runs an operation that changes one tensor in place.
gnnmg_status run_in_place(const gnnmg_comm* comm, const std::string& key, gnnmg_tensor* tensor,
                          int64_t timeout_ms,
                          const std::function<void(comm::Collectives&, const TensorView&,
                                                   const comm::Wait&)>& operation) {
  const PlacedView view =
      borrow_writable(find<Comm>(comm, "comm")->context->devices, tensor, "tensor");
  return run_operation(comm, key, {view}, {view}, timeout_ms,
                       [operation](comm::Collectives& collectives, const Staging& in,
                                   const Staging& out, const comm::Wait& wait) {
                         operation(collectives, in[0].view(), wait);
                         const auto bytes = static_cast<size_t>(in[0].view().num_bytes());
                         if (bytes > 0) std::memcpy(out[0].data(), in[0].data(), bytes);
                       });
}

// The end of the job. Where it fails, the communicator ends with it, on all ranks.
void finish(comm::Processes& processes, comm::Collectives& ends, const comm::Wait& wait) {
  try {
    processes.shutdown(wait);
  } catch (const base::Error& error) {
    ends.abort(error.what());
    processes.drain();
    throw;
  }
}

}  // namespace
}  // namespace gnnmg::capi

using namespace gnnmg::capi;
using gnnmg::base::TensorView;
using gnnmg::comm::Collectives;
using gnnmg::comm::Wait;

extern "C" {

gnnmg_status gnnmg_comm_create_group(const gnnmg_context* context, int32_t world_size,
                                     const gnnmg_comm_config* config, gnnmg_comm** comms) {
  return guard(outs(Out{comms, "comms"}), [&] {
    const auto c = find<Context>(context, "context");
    const gnnmg_comm_config in = read_comm_config(config);
    check_choice(world_size, 1, 256, "world_size");
    const auto group = gnnmg::comm::ThreadGroup::create(world_size);
    std::vector<std::shared_ptr<Comm>> ends;
    std::vector<gnnmg_comm*> handles;
    try {
      for (int32_t rank = 0; rank < world_size; ++rank)
        ends.push_back(std::make_shared<Comm>(c, group, rank, in));
      for (const auto& end : ends) handles.push_back(new_handle<gnnmg_comm>(end));
    } catch (...) {
      for (gnnmg_comm* handle : handles) remove_handle(handle, Kind::kComm);
      for (auto& end : ends) end->cancel_work();
      throw;
    }
    std::copy(handles.begin(), handles.end(), comms);
  });
}

void gnnmg_comm_free(gnnmg_comm* comm) { free_handle(comm, Kind::kComm); }

gnnmg_status gnnmg_comm_rank(const gnnmg_comm* comm, int32_t* rank) {
  return guard(outs(Out{rank, "rank"}), [&] { *rank = find<Comm>(comm, "comm")->rank(); });
}

gnnmg_status gnnmg_comm_world_size(const gnnmg_comm* comm, int32_t* size) {
  return guard(outs(Out{size, "size"}), [&] { *size = find<Comm>(comm, "comm")->world_size(); });
}

gnnmg_status gnnmg_comm_all_reduce(gnnmg_comm* comm, gnnmg_tensor* tensor, gnnmg_reduce operation,
                                   int64_t timeout_ms) {
  return guard([&] {
    check_timeout(timeout_ms);
    find<Comm>(comm, "comm");
    GNNMG_CHECK_CONSTANT(operation, GNNMG_REDUCE_SUM, GNNMG_REDUCE_MAX, "operation");
    return run_in_place(comm, gnnmg::base::text("all_reduce ", operation), tensor, timeout_ms,
                        [operation](Collectives& c, const TensorView& view, const Wait& wait) {
                          c.all_reduce(view, static_cast<gnnmg::comm::ReduceOp>(operation), wait);
                        });
  });
}

gnnmg_status gnnmg_comm_broadcast(gnnmg_comm* comm, gnnmg_tensor* tensor, int32_t root,
                                  int64_t timeout_ms) {
  return guard([&] {
    check_timeout(timeout_ms);
    const int32_t world_size = find<Comm>(comm, "comm")->world_size();
    if (root < 0 || root >= world_size)
      fail(Status::kNotFound, "root is ", root, ", expected 0 to ", world_size - 1);
    return run_in_place(comm, gnnmg::base::text("broadcast ", root), tensor, timeout_ms,
                        [root](Collectives& c, const TensorView& view, const Wait& wait) {
                          c.broadcast(view, root, wait);
                        });
  });
}

gnnmg_status gnnmg_comm_all_gather(gnnmg_comm* comm, const gnnmg_tensor* input,
                                   gnnmg_tensor* const* outputs, int64_t timeout_ms) {
  return guard([&] {
    check_timeout(timeout_ms);
    const auto end = find<Comm>(comm, "comm");
    const PlacedView from = borrow_placed(end->context->devices, input, "input");
    const std::vector<PlacedView> to = borrow_all(*end, outputs, "outputs", borrow_writable);
    return run_operation(comm, "all_gather", {from}, to, timeout_ms,
                         [](Collectives& c, const auto& in, const auto& out, const Wait& wait) {
                           c.all_gather(in[0].view(), views(out), wait);
                         });
  });
}

gnnmg_status gnnmg_comm_all_to_all(gnnmg_comm* comm, const gnnmg_tensor* const* inputs,
                                   gnnmg_tensor* const* outputs, int64_t timeout_ms) {
  return guard([&] {
    check_timeout(timeout_ms);
    const auto end = find<Comm>(comm, "comm");
    const std::vector<PlacedView> from = borrow_all(*end, inputs, "inputs", borrow_placed);
    const std::vector<PlacedView> to = borrow_all(*end, outputs, "outputs", borrow_writable);
    return run_operation(comm, "all_to_all", from, to, timeout_ms,
                         [](Collectives& c, const auto& in, const auto& out, const Wait& wait) {
                           c.all_to_all(views(in), views(out), wait);
                         });
  });
}

gnnmg_status gnnmg_comm_barrier(gnnmg_comm* comm, int64_t timeout_ms) {
  return guard([&] {
    check_timeout(timeout_ms);
    return run_operation(
        comm, "barrier", {}, {}, timeout_ms,
        [](Collectives& c, const auto&, const auto&, const Wait& wait) { c.barrier(wait); });
  });
}

void gnnmg_comm_cancel(gnnmg_comm* comm) {
  if (forked()) return;
  in_call([comm] {
    if (const auto object = find_handle(comm, Kind::kComm)) static_cast<Comm&>(*object).cancel();
  });
}

gnnmg_status gnnmg_comm_shutdown(gnnmg_comm* comm, int64_t timeout_ms) {
  return guard([&]() -> gnnmg_status {
    check_timeout(timeout_ms);
    const auto c = find<Comm>(comm, "comm");
    const gnnmg_status met =
        run_operation(comm, "shutdown", {}, {}, timeout_ms,
                      [processes = c->processes()](Collectives& ends, const auto&, const auto&,
                                                   const Wait& wait) {
                        ends.shutdown(wait);
                        if (processes) finish(*processes, ends, wait);
                      });
    if (met == GNNMG_OK) c->close();
    return met;
  });
}

}  // extern "C"
