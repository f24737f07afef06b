#include "comm/gloo/engine.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "comm/check.h"
#include "comm/gloo/failure.h"

namespace gnnmg::comm::gloo {
namespace {

using base::Status;
using base::TensorView;
using Starter =
    std::function<std::vector<WorkPtr>(c10d::ProcessGroupGloo&, std::chrono::milliseconds timeout)>;

at::ScalarType scalar_type(base::DType dtype) {
  switch (dtype) {
    case base::DType::kF32:
      return at::kFloat;
    case base::DType::kF64:
      return at::kDouble;
    case base::DType::kF16:
      return at::kHalf;
    case base::DType::kBF16:
      return at::kBFloat16;
    case base::DType::kI64:
      return at::kLong;
    case base::DType::kI32:
      return at::kInt;
    case base::DType::kU8:
    case base::DType::kBool:
      return at::kByte;
  }
  base::fail(Status::kInternal, "element type ", static_cast<int>(dtype));
}

// Gloo's own timeout comes after the deadline, because it closes connections for good: it only
// limits the life of operations whose callers have given up.
std::chrono::milliseconds gloo_timeout(const Wait& wait) {
  constexpr int64_t kLongest = int64_t{30} * 24 * 3600 * 1000;
  constexpr int64_t kSlack = 5000;
  if (wait.deadline.never()) return std::chrono::milliseconds(kLongest);
  const int64_t own = std::min(kLongest, wait.deadline.remaining_ms());
  const int64_t stall = wait.excused ? std::min(kLongest, wait.stall.remaining_ms()) : int64_t{0};
  return std::chrono::milliseconds(own + stall + kSlack);
}

// Different calls get different tags, so their messages never match: the ranks then wait and find
// the difference.
uint32_t call_tag(const Call& call, uint64_t operation) {
  const uint64_t hash =
      std::hash<std::string>()(call.what + "\n" + call.detail + "\n" + call.caller);
  const uint64_t mixed = (hash ^ operation) * 0x9e3779b97f4a7c15u;
  return static_cast<uint32_t>(mixed >> 32);
}

// Completion of the operations of one call, written by Gloo's threads under the group's lock.
struct Completion {
  size_t open = 0;
  std::exception_ptr error;
};

class Engine final : public Collectives {
 public:
  Engine(std::shared_ptr<Groups> groups, int rank) : groups_(std::move(groups)), rank_(rank) {}
  ~Engine() override { groups_->state->leave(rank_); }

  int rank() const override { return rank_; }
  int world_size() const override { return groups_->state->world_size(); }

  void all_reduce(const TensorView& tensor, ReduceOp op, const Wait& wait) override {
    Call call = check_reduce(tensor, op);
    if (tensor.shape.num_elements() == 0) return synchronize(std::move(call), wait);
    at::Tensor staged = stage(tensor.num_bytes()).view(scalar_type(tensor.dtype));
    std::memcpy(staged.data_ptr(), tensor.data, tensor.num_bytes());
    c10d::AllreduceOptions options;
    options.reduceOp = op == ReduceOp::kMin   ? c10d::ReduceOp::MIN
                       : op == ReduceOp::kMax ? c10d::ReduceOp::MAX
                                              : c10d::ReduceOp::SUM;
    run(std::move(call), wait,
        [&](c10d::ProcessGroupGloo& group, std::chrono::milliseconds timeout) {
          options.timeout = timeout;
          std::vector<at::Tensor> tensors{staged};
          return std::vector<WorkPtr>{group.allreduce(tensors, options)};
        });
    if (op == ReduceOp::kMean) staged.div_(world_size());
    std::memcpy(tensor.data, staged.data_ptr(), tensor.num_bytes());
  }

  void broadcast(const TensorView& tensor, int root, const Wait& wait) override {
    Call call = check_broadcast(tensor, root, world_size());
    if (tensor.num_bytes() == 0) return synchronize(std::move(call), wait);
    at::Tensor staged = stage(tensor.num_bytes());
    if (root == rank_) std::memcpy(staged.data_ptr(), tensor.data, tensor.num_bytes());
    run(std::move(call), wait,
        [&](c10d::ProcessGroupGloo& group, std::chrono::milliseconds timeout) {
          return std::vector<WorkPtr>{start_broadcast(group, staged, root, timeout)};
        });
    if (root != rank_) std::memcpy(tensor.data, staged.data_ptr(), tensor.num_bytes());
  }

  void all_gather(const TensorView& input, std::span<const TensorView> outputs,
                  const Wait& wait) override {
    Call call = check_gather(input, outputs, rank_, world_size());
    int64_t total = 0;
    bool even = true;
    for (const TensorView& output : outputs) {
      total += output.num_bytes();
      even = even && output.num_bytes() == input.num_bytes();
    }
    if (total == 0) return synchronize(std::move(call), wait);
    // Equal sizes need one operation; otherwise each rank broadcasts its part in turn.
    at::Tensor staged = stage(total + (even ? input.num_bytes() : 0));
    uint8_t* bytes = staged.data_ptr<uint8_t>();
    std::vector<int64_t> begin(outputs.size() + 1, 0);
    for (size_t r = 0; r < outputs.size(); ++r) begin[r + 1] = begin[r] + outputs[r].num_bytes();
    const int64_t own = even ? total : begin[rank_];
    copy(bytes + own, input.data, input.num_bytes());
    run(std::move(call), wait,
        [&](c10d::ProcessGroupGloo& group, std::chrono::milliseconds timeout) {
          if (even) {
            c10d::AllgatherOptions options;
            options.timeout = timeout;
            at::Tensor from = staged.narrow(0, total, input.num_bytes());
            at::Tensor to = staged.narrow(0, 0, total);
            return std::vector<WorkPtr>{group._allgather_base(to, from, options)};
          }
          std::vector<WorkPtr> works;
          for (size_t r = 0; r < outputs.size(); ++r)
            if (outputs[r].num_bytes() > 0)
              works.push_back(start_broadcast(group,
                                              staged.narrow(0, begin[r], outputs[r].num_bytes()),
                                              static_cast<int>(r), timeout));
          return works;
        });
    for (size_t r = 0; r < outputs.size(); ++r)
      copy(outputs[r].data, bytes + begin[r], outputs[r].num_bytes());
  }

  void all_to_all(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                  const Wait& wait) override {
    Call call = check_exchange(inputs, outputs, rank_, world_size());
    std::vector<int64_t> sent, received;  // bytes
    int64_t total_sent = 0, total_received = 0;
    for (const TensorView& input : inputs) total_sent += sent.emplace_back(input.num_bytes());
    for (const TensorView& output : outputs)
      total_received += received.emplace_back(output.num_bytes());
    exchange_sizes(call, wait);
    at::Tensor staged = stage(total_sent + total_received);
    at::Tensor from = staged.narrow(0, 0, total_sent);
    at::Tensor to = staged.narrow(0, total_sent, total_received);
    uint8_t* place = staged.data_ptr<uint8_t>();
    for (const TensorView& input : inputs) {
      copy(place, input.data, input.num_bytes());
      place += input.num_bytes();
    }
    run(std::move(call), wait,
        [&](c10d::ProcessGroupGloo& group, std::chrono::milliseconds timeout) {
          c10d::AllToAllOptions options;
          options.timeout = timeout;
          return std::vector<WorkPtr>{group.alltoall_base(to, from, received, sent, options)};
        });
    for (const TensorView& output : outputs) {
      copy(output.data, place, output.num_bytes());
      place += output.num_bytes();
    }
  }

  void barrier(const Wait& wait) override { synchronize({"barrier", ""}, wait); }
  void shutdown(const Wait& wait) override { synchronize({"shutdown", ""}, wait); }

  // Verifies the identity of every other rank, before any other operation.
  void introduce(const Proofs& proofs, const Wait& wait) {
    constexpr int64_t kSize = sizeof(Proof);
    const int64_t bytes = kSize * world_size();
    at::Tensor staged = stage(2 * bytes);
    at::Tensor shown = staged.narrow(0, 0, bytes), found = staged.narrow(0, bytes, bytes);
    for (int r = 0; r < world_size(); ++r)
      copy(shown.data_ptr<uint8_t>() + r * kSize, proofs.shown[r].data(), kSize);
    try {
      exchange_even({"rendezvous", "proofs"}, shown, found, wait);
    } catch (const base::Error&) {
      // A faster rank may have ended the communicator in the next operation: this rank gets that
      // cause in the next operation too.
      const auto cause = groups_->state->cause();
      if (!cause || cause->operation <= operation_ || cause->operation == kEveryOperation) throw;
      return;
    }
    for (int r = 0; r < world_size(); ++r) {
      Proof theirs;
      copy(theirs.data(), found.data_ptr<uint8_t>() + r * kSize, kSize);
      if (r == rank_ || equal(bytes_of(theirs), bytes_of(proofs.expected[r]))) continue;
      const std::string text = base::text("rendezvous: the program that has connected to rank ",
                                          rank_, " as rank ", r, " cannot prove to be rank ", r);
      groups_->end({Status::kAuth, text, r, operation_, {}});
      throw base::Error(Status::kAuth, text, r);
    }
  }

  void abort(const std::string& why) noexcept override {
    groups_->end(abort_cause(why, -1, kEveryOperation));
  }
  bool spent() const noexcept override { return groups_->state->ended(); }
  void set_position(const Position& position) noexcept override {
    groups_->state->set_position(rank_, position);
  }
  void set_caller(const std::string& name) override { caller_ = name; }

 private:
  // Exchanges sizes between processes, because Gloo accepts a message that is too short. Ends the
  // communicator with kMismatch if two ranks expect different sizes.
  void exchange_sizes(const Call& call, const Wait& wait) {
    const auto& [what, type, sent, received, caller] = call;
    const int64_t bytes = static_cast<int64_t>(sent.size() * sizeof(int64_t));
    at::Tensor staged = stage(2 * bytes);
    at::Tensor from = staged.narrow(0, 0, bytes), to = staged.narrow(0, bytes, bytes);
    copy(from.data_ptr(), sent.data(), bytes);
    exchange_even({"all_to_all", "sizes"}, from, to, wait);
    std::vector<int64_t> announced(sent.size());
    copy(announced.data(), to.data_ptr(), bytes);
    for (size_t r = 0; r < announced.size(); ++r) {
      if (announced[r] == received[r]) continue;
      groups_->end(
          {Status::kMismatch,
           size_difference(what, static_cast<int>(r), announced[r], rank_, received[r], type),
           rank_,
           kEveryOperation,  // the others may be in this exchange or in the next operation
           {}});
      groups_->state->throw_cause(rank_, operation_);
    }
  }

  // Exchanges parts of equal size between all pairs of ranks, over their own connections.
  void exchange_even(Call call, at::Tensor from, at::Tensor to, const Wait& wait) {
    std::vector<int64_t> even;
    run(std::move(call), wait,
        [&](c10d::ProcessGroupGloo& group, std::chrono::milliseconds timeout) {
          c10d::AllToAllOptions options;
          options.timeout = timeout;
          return std::vector<WorkPtr>{group.alltoall_base(to, from, even, even, options)};
        });
  }

  // Also used in place of an operation on tensors without elements.
  void synchronize(Call call, const Wait& wait) {
    run(std::move(call), wait,
        [](c10d::ProcessGroupGloo& group, std::chrono::milliseconds timeout) {
          c10d::BarrierOptions options;
          options.timeout = timeout;
          return std::vector<WorkPtr>{group.barrier(options)};
        });
  }

  static void copy(void* to, const void* from, int64_t bytes) {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }

  static WorkPtr start_broadcast(c10d::ProcessGroupGloo& group, at::Tensor tensor, int root,
                                 std::chrono::milliseconds timeout) {
    c10d::BroadcastOptions options;
    options.rootRank = root;
    options.timeout = timeout;
    std::vector<at::Tensor> tensors{std::move(tensor)};
    return group.broadcast(tensors, options);
  }

  // Returns staging memory; the next operation reuses it. An abandoned operation keeps it alive
  // through its tensors, and this end is spent then and stages nothing more.
  at::Tensor stage(int64_t bytes) {
    if (!staging_.defined() || staging_.numel() < bytes)
      staging_ = at::empty({bytes}, at::TensorOptions(at::kByte));
    return staging_.narrow(0, 0, bytes);
  }

  void run(Call call, const Wait& wait, const Starter& starter) {
    const uint64_t operation = ++operation_;
    call.caller = caller_;
    const std::shared_ptr<GroupState> state = groups_->state;
    const std::string what = call.what;
    auto completion = std::make_shared<Completion>();
    try {
      if (wait.cancel.cancelled()) state->wait(rank_, operation, what, wait, [] { return false; });
      const uint32_t tag = call_tag(call, operation);
      state->enter(rank_, operation, std::move(call));
      std::shared_ptr<std::atomic<int>> in_flight;
      std::vector<WorkPtr> works = groups_->start(rank_, operation, [&](TaggedGroup& group) {
        group.set_tag(tag);
        std::vector<WorkPtr> started = starter(group, gloo_timeout(wait));
        in_flight = group.in_flight;
        *in_flight += static_cast<int>(started.size());
        return started;
      });
      completion->open = works.size();
      for (const WorkPtr& work : works) {
        // Runs on a thread of the process group, so it must not own a share of the group.
        work->getFuture()->addCallback(
            [state, completion, in_flight](c10::ivalue::Future& future) {
              --*in_flight;
              state->notify([&] {
                --completion->open;
                if (future.hasError() && !completion->error)
                  completion->error = future.exception_ptr();
              });
            },
            /*uses_future=*/false);
      }
      works.clear();
      state->wait(rank_, operation, what, wait, [&] { return completion->open == 0; });
      if (completion->error) {
        state->end_unless_explained(
            rank_, operation,
            {Status::kPeerLost,
             failure_of(completion->error, what, -1, Status::kPeerLost).what(),
             -1,
             operation,
             {}});
        state->throw_cause(rank_, operation);
      }
    } catch (const base::Error& error) {
      groups_->end(make_cause(error.status(), error.what(), error.rank(), operation));
      // The canceling thread may have ended the communicator before this rank checks its token.
      if (error.status() == Status::kAborted) wait.cancel.check(what);
      throw;
    } catch (const std::exception&) {
      const base::Error error =
          failure_of(std::current_exception(), what, rank_, Status::kInternal);
      groups_->end(make_cause(error.status(), error.what(), rank_, operation));
      throw base::Error(error);
    }
  }

  std::shared_ptr<Groups> groups_;
  int rank_;
  uint64_t operation_ = 0;
  std::string caller_;
  at::Tensor staging_;
};

}  // namespace

std::unique_ptr<Collectives> make_engine(std::shared_ptr<Groups> groups, int rank,
                                         const Proofs& proofs, const Wait& wait) {
  auto engine = std::make_unique<Engine>(std::move(groups), rank);
  engine->introduce(proofs, wait);
  return engine;
}

}  // namespace gnnmg::comm::gloo
