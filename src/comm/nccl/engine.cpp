#include "comm/nccl/engine.h"

#include <utility>

#include "comm/check.h"
#include "comm/nccl/runner.h"

namespace gnnmg::comm::nccl {
namespace {

using base::DType;
using base::Status;
using base::TensorView;

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

Reduction reduction_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      return Reduction::kSum;
    case ReduceOp::kMean:
      return Reduction::kMean;
    case ReduceOp::kMin:
      return Reduction::kMin;
    case ReduceOp::kMax:
      return Reduction::kMax;
  }
  base::fail(Status::kInternal, "reduction ", static_cast<int>(op));
}

// Aligns places in staging memory to 16 bytes, NCCL's preferred alignment.
int64_t padded(int64_t bytes) { return (bytes + 15) / 16 * 16; }

class Engine final : public Collectives, private QueuedCollectives {
 public:
  Engine(std::shared_ptr<GroupState> state, int rank, std::shared_ptr<Parts> parts)
      : runner_(std::move(state), rank, std::move(parts)) {}

  int rank() const override { return runner_.rank(); }
  int world_size() const override { return runner_.world_size(); }

  void all_reduce(const TensorView& tensor, ReduceOp op, const Wait& wait) override {
    Call call = check_reduce(tensor, op);
    if (tensor.num_bytes() == 0) return synchronize(std::move(call), wait);
    uint8_t* staged = runner_.stage(tensor.num_bytes());
    runner_.run(std::move(call), wait, [&] {
      runner_.comm_stream().copy(staged, tensor.data, tensor.num_bytes());
      runner_.handle().call([&](Communicator* communicator) {
        return runner_.nccl().all_reduce(staged, staged, tensor.shape.num_elements(),
                                         type_of(tensor.dtype), reduction_of(op), communicator,
                                         runner_.comm_stream().get());
      });
    });
    runner_.write([&] { runner_.comm_stream().copy(tensor.data, staged, tensor.num_bytes()); });
  }

  void broadcast(const TensorView& tensor, int root, const Wait& wait) override {
    Call call = check_broadcast(tensor, root, world_size());
    if (tensor.num_bytes() == 0) return synchronize(std::move(call), wait);
    uint8_t* staged = runner_.stage(tensor.num_bytes());
    runner_.run(std::move(call), wait, [&] {
      if (root == rank()) runner_.comm_stream().copy(staged, tensor.data, tensor.num_bytes());
      runner_.handle().call([&](Communicator* communicator) {
        return runner_.nccl().broadcast(staged, staged, tensor.num_bytes(), Type::kU8, root,
                                        communicator, runner_.comm_stream().get());
      });
    });
    if (root != rank())
      runner_.write([&] { runner_.comm_stream().copy(tensor.data, staged, tensor.num_bytes()); });
  }

  void all_gather(const TensorView& input, std::span<const TensorView> outputs,
                  const Wait& wait) override {
    Call call = check_gather(input, outputs, rank(), world_size());
    bool even = true;
    for (const TensorView& output : outputs) even = even && output.num_bytes() == input.num_bytes();
    // Equal sizes need one operation on adjacent parts; otherwise each rank broadcasts its part.
    std::vector<int64_t> begin{0};
    for (const TensorView& output : outputs)
      begin.push_back(begin.back() + (even ? output.num_bytes() : padded(output.num_bytes())));
    if (begin.back() == 0) return synchronize(std::move(call), wait);
    uint8_t* staged = runner_.stage(begin.back());
    runner_.run(std::move(call), wait, [&] {
      runner_.comm_stream().copy(staged + begin[rank()], input.data, input.num_bytes());
      if (even)
        return runner_.handle().call([&](Communicator* communicator) {
          return runner_.nccl().all_gather(staged + begin[rank()], staged, input.num_bytes(),
                                           Type::kU8, communicator, runner_.comm_stream().get());
        });
      runner_.handle().group([&] {
        for (int r = 0; r < world_size(); ++r)
          if (const int64_t bytes = outputs[r].num_bytes(); bytes > 0)
            runner_.handle().call([&](Communicator* communicator) {
              return runner_.nccl().broadcast(staged + begin[r], staged + begin[r], bytes,
                                              Type::kU8, r, communicator,
                                              runner_.comm_stream().get());
            });
      });
    });
    runner_.write([&] {
      for (int r = 0; r < world_size(); ++r)
        runner_.comm_stream().copy(outputs[r].data, staged + begin[r], outputs[r].num_bytes());
    });
  }

  void all_to_all(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                  const Wait& wait) override {
    Call call = check_exchange(inputs, outputs, rank(), world_size());
    std::vector<int64_t> from{0};  // begin of each part
    for (const TensorView& input : inputs) from.push_back(from.back() + padded(input.num_bytes()));
    std::vector<int64_t> to{from.back()};
    for (const TensorView& output : outputs) to.push_back(to.back() + padded(output.num_bytes()));
    uint8_t* staged = runner_.stage(to.back());
    runner_.run(std::move(call), wait, [&] {
      for (int r = 0; r < world_size(); ++r)
        runner_.comm_stream().copy(staged + (r == rank() ? to[r] : from[r]), inputs[r].data,
                                   inputs[r].num_bytes());
      if (world_size() == 1) return;
      runner_.handle().group([&] {
        for (int r = 0; r < world_size(); ++r) {
          if (r == rank()) continue;
          if (const int64_t bytes = inputs[r].num_bytes(); bytes > 0)
            runner_.handle().call([&](Communicator* communicator) {
              return runner_.nccl().send(staged + from[r], bytes, Type::kU8, r, communicator,
                                         runner_.comm_stream().get());
            });
          if (const int64_t bytes = outputs[r].num_bytes(); bytes > 0)
            runner_.handle().call([&](Communicator* communicator) {
              return runner_.nccl().receive(staged + to[r], bytes, Type::kU8, r, communicator,
                                            runner_.comm_stream().get());
            });
        }
      });
    });
    runner_.write([&] {
      for (int r = 0; r < world_size(); ++r)
        runner_.comm_stream().copy(outputs[r].data, staged + to[r], outputs[r].num_bytes());
    });
  }

  void barrier(const Wait& wait) override { synchronize({"barrier", ""}, wait); }

  void shutdown(const Wait& wait) override {
    synchronize({"shutdown", ""}, wait);
    runner_.shutdown(wait);
  }

  void abort(const std::string& why) noexcept override {
    runner_.state().end(abort_cause(why, -1, kEveryOperation));
  }
  bool spent() const noexcept override { return runner_.spent(); }
  void set_position(const Position& position) noexcept override {
    runner_.state().set_position(rank(), position);
  }
  void set_caller(const std::string& name) override { runner_.set_caller(name); }
  QueuedCollectives* queued() noexcept override { return this; }

 private:
  // QueuedCollectives:
  void all_reduce(const TensorView& tensor, ReduceOp op, device::Queue* queue,
                  const Wait& wait) override {
    Call call = check_reduce(tensor, op);
    call.detail += ", queued";
    runner_.put(std::move(call), queue, wait, [&] {
      if (tensor.num_bytes() == 0) return;
      runner_.handle().call([&](Communicator* communicator) {
        return runner_.nccl().all_reduce(tensor.data, tensor.data, tensor.shape.num_elements(),
                                         type_of(tensor.dtype), reduction_of(op), communicator,
                                         runner_.comm_stream().get());
      });
    });
  }
  void finish(device::Queue* queue, const Wait& wait) override { runner_.finish(queue, wait); }
  void await(const std::function<bool()>& over, const Wait& wait) override {
    runner_.await(over, wait);
  }

  // Also used in place of an operation on tensors without elements.
  void synchronize(Call call, const Wait& wait) {
    static constexpr int32_t kOne = 1;
    uint8_t* staged = runner_.stage(sizeof kOne);
    runner_.run(std::move(call), wait, [&] {
      runner_.comm_stream().copy(staged, &kOne, sizeof kOne);
      runner_.handle().call([&](Communicator* communicator) {
        return runner_.nccl().all_reduce(staged, staged, 1, Type::kI32, Reduction::kMax,
                                         communicator, runner_.comm_stream().get());
      });
    });
  }

  Runner runner_;
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
                                         std::shared_ptr<Parts> parts) {
  return std::make_unique<Engine>(std::move(state), rank, std::move(parts));
}

}  // namespace gnnmg::comm::nccl
