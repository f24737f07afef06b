#include "comm/nccl/engine.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>

#include "comm/check.h"

namespace gnnmg::comm::nccl {
namespace {

using base::DType;
using base::Status;
using base::SteadyClock;
using base::TensorView;
using std::chrono::milliseconds;

// How long a rank's queue may be at work after the rank has given up: what the caller lent for
// reading is read by then, and a cancelled call is back within a tenth of a second.
constexpr milliseconds kDrain(50);
// A copy within a device that takes longer never ends.
constexpr milliseconds kCopy(10'000);
// When NCCL has lost a peer, the rank that failed says why within this time.
constexpr milliseconds kExplained(100);

Type type_of(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return Type::kF32;
    case DType::kF64:
      return Type::kF64;
    case DType::kF16:
      return Type::kF16;
    case DType::kBF16:
      return Type::kBF16;
    case DType::kI64:
      return Type::kI64;
    case DType::kI32:
      return Type::kI32;
    case DType::kU8:
    case DType::kBool:
      return Type::kU8;
  }
  base::fail(Status::kInternal, "element type ", static_cast<int>(dtype));
}

std::pair<Reduction, const char*> reduction_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      return {Reduction::kSum, "sum"};
    case ReduceOp::kMean:
      return {Reduction::kMean, "mean"};
    case ReduceOp::kMin:
      return {Reduction::kMin, "min"};
    case ReduceOp::kMax:
      return {Reduction::kMax, "max"};
  }
  base::fail(Status::kInternal, "reduction ", static_cast<int>(op));
}

std::string describe(const TensorView& tensor) {
  return base::text(base::dtype_name(tensor.dtype), " ", tensor.shape.to_string());
}

// Places in staging memory are aligned as NCCL likes them best.
int64_t padded(int64_t bytes) { return (bytes + 15) / 16 * 16; }

// When an operation is over on one rank although another has not come to it yet, their calls could
// never be compared: such ones begin when all have come.
enum class Ends : uint8_t { kTogether, kAlone };

class Engine final : public Collectives {
 public:
  Engine(std::shared_ptr<GroupState> state, int rank, std::unique_ptr<Parts> parts)
      : state_(std::move(state)), rank_(rank), parts_(std::move(parts)) {}
  ~Engine() override {
    state_->leave(rank_);
    parts_.reset();
  }

  int rank() const override { return rank_; }
  int world_size() const override { return state_->world_size(); }

  void all_reduce(const TensorView& tensor, ReduceOp op, const Wait& wait) override {
    check_reduce(tensor, op);
    const auto [reduction, name] = reduction_of(op);
    Call call{"all_reduce", base::text(describe(tensor), ", ", name)};
    if (tensor.num_bytes() == 0) return synchronize(std::move(call), wait);
    uint8_t* staged = stage(tensor.num_bytes());
    run(std::move(call), wait, Ends::kTogether, [&, reduction = reduction] {
      lane().copy(staged, tensor.data, tensor.num_bytes());
      handle().call(nccl().all_reduce(staged, staged, tensor.shape.num_elements(),
                                      type_of(tensor.dtype), reduction, handle().get(),
                                      lane().stream()));
    });
    write([&] { lane().copy(tensor.data, staged, tensor.num_bytes()); });
  }

  void broadcast(const TensorView& tensor, int root, const Wait& wait) override {
    check_root(root, world_size());
    Call call{"broadcast", base::text(describe(tensor), ", root ", root)};
    if (tensor.num_bytes() == 0) return synchronize(std::move(call), wait);
    uint8_t* staged = stage(tensor.num_bytes());
    run(std::move(call), wait, Ends::kAlone, [&] {
      if (root == rank_) lane().copy(staged, tensor.data, tensor.num_bytes());
      handle().call(nccl().broadcast(staged, staged, tensor.num_bytes(), Type::kU8, root,
                                     handle().get(), lane().stream()));
    });
    if (root != rank_) write([&] { lane().copy(tensor.data, staged, tensor.num_bytes()); });
  }

  void all_gather(const TensorView& input, std::span<const TensorView> outputs,
                  const Wait& wait) override {
    check_gather(input, outputs, rank_, world_size());
    Call call{"all_gather", base::dtype_name(input.dtype)};
    bool even = true;
    for (const TensorView& output : outputs) {
      call.detail += base::text(" ", output.shape.to_string());
      even = even && output.num_bytes() == input.num_bytes();
    }
    // Equal sizes are one operation on parts that lie side by side; else each rank sends its part
    // to all.
    std::vector<int64_t> begin{0};
    for (const TensorView& output : outputs)
      begin.push_back(begin.back() + (even ? output.num_bytes() : padded(output.num_bytes())));
    if (begin.back() == 0) return synchronize(std::move(call), wait);
    uint8_t* staged = stage(begin.back());
    run(std::move(call), wait, even ? Ends::kTogether : Ends::kAlone, [&] {
      lane().copy(staged + begin[rank_], input.data, input.num_bytes());
      if (even)
        return handle().call(nccl().all_gather(staged + begin[rank_], staged, input.num_bytes(),
                                               Type::kU8, handle().get(), lane().stream()));
      handle().group([&] {
        for (int r = 0; r < world_size(); ++r)
          if (const int64_t bytes = outputs[r].num_bytes(); bytes > 0)
            handle().call(nccl().broadcast(staged + begin[r], staged + begin[r], bytes, Type::kU8,
                                           r, handle().get(), lane().stream()));
      });
    });
    write([&] {
      for (int r = 0; r < world_size(); ++r)
        lane().copy(outputs[r].data, staged + begin[r], outputs[r].num_bytes());
    });
  }

  void all_to_all(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                  const Wait& wait) override {
    check_exchange(inputs, outputs, rank_, world_size());
    Call call{"all_to_all", base::dtype_name(inputs[0].dtype)};
    std::vector<int64_t> from{0};  // where each part begins
    for (const TensorView& input : inputs) {
      call.sent.push_back(input.shape.num_elements());
      from.push_back(from.back() + padded(input.num_bytes()));
    }
    std::vector<int64_t> to{from.back()};
    for (const TensorView& output : outputs) {
      call.received.push_back(output.shape.num_elements());
      to.push_back(to.back() + padded(output.num_bytes()));
    }
    uint8_t* staged = stage(to.back());
    run(std::move(call), wait, Ends::kAlone, [&] {
      for (int r = 0; r < world_size(); ++r)
        lane().copy(staged + (r == rank_ ? to[r] : from[r]), inputs[r].data, inputs[r].num_bytes());
      if (world_size() == 1) return;
      handle().group([&] {
        for (int r = 0; r < world_size(); ++r) {
          if (r == rank_) continue;
          if (const int64_t bytes = inputs[r].num_bytes(); bytes > 0)
            handle().call(nccl().send(staged + from[r], bytes, Type::kU8, r, handle().get(),
                                      lane().stream()));
          if (const int64_t bytes = outputs[r].num_bytes(); bytes > 0)
            handle().call(nccl().receive(staged + to[r], bytes, Type::kU8, r, handle().get(),
                                         lane().stream()));
        }
      });
    });
    write([&] {
      for (int r = 0; r < world_size(); ++r)
        lane().copy(outputs[r].data, staged + to[r], outputs[r].num_bytes());
    });
  }

  void barrier(const Wait& wait) override { synchronize({"barrier", ""}, wait); }

  void shutdown(const Wait& wait) override {
    synchronize({"shutdown", ""}, wait);
    guard("shutdown", wait, [&] {
      handle().finalize();
      state_->watch(rank_, operation_, "shutdown", wait, [&] { return handle().ready(); });
      handle().destroy();
    });
    shut_down_ = true;
  }

  void abort(const std::string& why) noexcept override {
    state_->end({Status::kAborted, why, -1, std::numeric_limits<uint64_t>::max(), {}});
  }
  bool spent() const noexcept override { return lost_.has_value() || state_->ended(); }
  void set_position(const Position& position) noexcept override {
    state_->set_position(rank_, position);
  }
  void set_caller(const std::string& name) override { caller_ = name; }

 private:
  Lane& lane() { return parts_->lane; }
  Handle& handle() { return parts_->handle; }
  const Table& nccl() { return parts_->handle.nccl(); }

  // Before an operation is counted, so that a failure for want of memory leaves all as it was.
  uint8_t* stage(int64_t bytes) {
    refuse();
    if (state_->ended()) return nullptr;  // the operation will say why
    try {
      return lane().stage(bytes);
    } catch (const base::Error& error) {
      if (error.status() == Status::kNoMemory)
        throw base::Error(Status::kNoMemory,
                          base::text("rank ", rank_, ": no staging memory: ", error.what()), rank_);
      if (error.status() == Status::kDeviceLost) lose(error.what());
      fail(lost_ ? *lost_ : error, operation_);
      if (lost_) throw base::Error(*lost_);
      throw;
    }
  }

  // Also what is left of an operation on tensors without elements.
  void synchronize(Call call, const Wait& wait) {
    static const int32_t kOne = 1;
    uint8_t* staged = stage(sizeof kOne);
    run(std::move(call), wait, Ends::kTogether, [&] {
      lane().copy(staged, &kOne, sizeof kOne);
      handle().call(nccl().all_reduce(staged, staged, 1, Type::kI32, Reduction::kMax,
                                      handle().get(), lane().stream()));
    });
  }

  // What can be called no longer, other than for the communicator's end.
  void refuse() const {
    if (lost_) throw base::Error(*lost_);
    if (shut_down_) base::fail(Status::kAborted, "the communicator has been shut down");
  }

  // `start` queues copies to staging memory and calls NCCL, last. Returns when all of it is over.
  void run(Call call, const Wait& wait, Ends ends, const std::function<void()>& start) {
    refuse();
    const uint64_t operation = ++operation_;
    call.caller = caller_;
    const std::string what = call.what;
    guard(what, wait, [&] {
      if (wait.cancel.cancelled()) state_->wait(rank_, operation, what, wait, [] { return false; });
      if (ends == Ends::kAlone)
        state_->meet(rank_, operation, what, wait, std::move(call));
      else
        state_->enter(rank_, operation, std::move(call));
      if (state_->ended()) state_->throw_cause(rank_, operation);
      try {
        start();
      } catch (const Failure& failure) {
        if (failure.result() != Result::kInvalidArgument || !handle().usable()) throw;
        lane().drain(kDrain);  // of what was copied before
        state_->withdraw(rank_, operation_--);
        refused_ =
            base::text(what, ": NCCL refuses an argument of rank ", rank_, ": ", failure.what());
        return;
      }
      bool launched = false;
      std::optional<Failure> lost_peer;
      SteadyClock::time_point patience;
      state_->watch(rank_, operation, what, wait, [&] {
        if (lost_peer) {
          if (SteadyClock::now() >= patience) throw Failure(*lost_peer);
          return false;
        }
        try {
          return over(launched);
        } catch (const Failure& failure) {
          // Another rank has failed, and is about to say how.
          if (failure.result() != Result::kRemoteError) throw;
          lost_peer = failure;
          patience = SteadyClock::now() + kExplained;
          if (!wait.deadline.never())
            patience = std::min(patience, wait.deadline.at() - milliseconds(20));
          return false;
        }
      });
    });
    if (!refused_.empty())
      throw base::Error(Status::kInvalidArgument, std::exchange(refused_, {}), rank_);
  }

  // Whether what was started is over. Until NCCL has queued it the stream says nothing; from then
  // on a stream that has come to its end has done all, whatever becomes of the peers.
  bool over(bool& launched) {
    if (!launched && !(launched = handle().ready())) return false;
    if (lane().finished()) return true;
    handle().ready();
    return false;
  }

  // Ends the communicator on every rank when `body` fails, and aborts this rank's.
  void guard(const std::string& what, const Wait& wait, const std::function<void()>& body) {
    const uint64_t operation = operation_;
    try {
      body();
    } catch (const Failure& failure) {
      const base::Error error(
          status_of(failure.result()),
          base::text(what, ": NCCL fails on rank ", rank_, ": ", failure.what()), rank_);
      find_loss();
      if (lost_) {
        fail(*lost_, operation);
        throw base::Error(*lost_);
      }
      // Who ends the communicator says so before it aborts: what NCCL makes of that here comes
      // after.
      const bool called_off = state_->ended();
      fail(error, operation);
      if (called_off) wait.cancel.check(what);
      if (called_off || error.status() == Status::kPeerLost) state_->throw_cause(rank_, operation);
      throw base::Error(error);
    } catch (const base::Error& error) {
      if (error.status() == Status::kDeviceLost) lose(error.what());
      fail(lost_ ? *lost_ : error, operation);
      if (lost_) throw base::Error(*lost_);
      // Who cancels may be quicker to end the communicator than this rank is to see why.
      if (error.status() == Status::kAborted) wait.cancel.check(what);
      throw;
    }
  }

  void fail(const base::Error& error, uint64_t operation) {
    state_->end({error.status(), error.what(), error.rank(), operation, {}});
    if (!handle().get()) return;
    handle().abort();
    lane().drain(kDrain);
  }

  void lose(const std::string& why) {
    lost_.emplace(Status::kDeviceLost, base::text("rank ", rank_, ": its GPU is lost: ", why),
                  rank_);
  }

  // What NCCL calls an error of CUDA may be a device that is lost: its queue knows.
  void find_loss() noexcept {
    try {
      lane().finished();
    } catch (const base::Error& error) {
      if (error.status() == Status::kDeviceLost) lose(error.what());
    }
  }

  // From staging memory to the caller's, at the end of an operation that all ranks are through.
  void write(const std::function<void()>& copies) {
    guard("writing a result", {}, [&] {
      copies();
      const auto start = SteadyClock::now();
      for (int turn = 0; !lane().finished(); ++turn) {
        if (SteadyClock::now() - start > kCopy)
          base::fail(Status::kDeviceLost, "a copy within the device does not end");
        if (turn < 100)
          std::this_thread::yield();
        else
          std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    });
  }

  const std::shared_ptr<GroupState> state_;
  const int rank_;
  std::unique_ptr<Parts> parts_;
  uint64_t operation_ = 0;
  std::string caller_;
  std::string refused_;              // by NCCL, in the operation that runs
  std::optional<base::Error> lost_;  // the device
  bool shut_down_ = false;
};

}  // namespace

base::Status status_of(Result result) noexcept {
  switch (result) {
    case Result::kRemoteError:
      return Status::kPeerLost;
    case Result::kSystemError:
      return Status::kIo;
    default:
      return Status::kInternal;
  }
}

std::unique_ptr<Collectives> make_engine(std::shared_ptr<GroupState> state, int rank,
                                         std::unique_ptr<Parts> parts) {
  return std::make_unique<Engine>(std::move(state), rank, std::move(parts));
}

}  // namespace gnnmg::comm::nccl
