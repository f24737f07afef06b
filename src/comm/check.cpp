#include "comm/check.h"

namespace gnnmg::comm {
namespace {

using base::DType;
using base::Status;

void check_count(std::string_view what, size_t found, int world_size) {
  if (found != static_cast<size_t>(world_size))
    base::fail(Status::kInvalidArgument, what, ": expected one tensor for each of ", world_size,
               " ranks, found ", found);
}

void check_memory(std::string_view what, const base::TensorView& tensor) {
  if (tensor.data == nullptr && tensor.num_bytes() > 0)
    base::fail(Status::kInvalidArgument, what, ": data is null for a tensor of shape ",
               tensor.shape.to_string());
}

// `own` and `other` are the two views of the part that a rank sends to itself.
void check_own(std::string_view what, const base::TensorView& own, const base::TensorView& other) {
  if (own.shape != other.shape)
    base::fail(Status::kInvalidArgument, what, ": a rank's input has shape ", own.shape.to_string(),
               ", but its own place in the outputs has ", other.shape.to_string());
}

void check_types(std::string_view what, DType expected, std::span<const base::TensorView> tensors) {
  for (size_t r = 0; r < tensors.size(); ++r) {
    check_memory(what, tensors[r]);
    if (tensors[r].dtype != expected)
      base::fail(Status::kInvalidArgument, what, ": tensor of rank ", r, " has elements of type ",
                 base::dtype_name(tensors[r].dtype), ", expected ", base::dtype_name(expected));
  }
}

// The properties of a tensor that ranks must agree on.
std::string describe(const base::TensorView& tensor) {
  return base::text(base::dtype_name(tensor.dtype), " ", tensor.shape.to_string());
}

const char* op_name(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      return "sum";
    case ReduceOp::kMean:
      return "mean";
    case ReduceOp::kMin:
      return "min";
    case ReduceOp::kMax:
      return "max";
  }
  return "?";
}

}  // namespace

Call check_reduce(const base::TensorView& tensor, ReduceOp op) {
  check_memory("all_reduce", tensor);
  if (op < ReduceOp::kSum || op > ReduceOp::kMax)
    base::fail(Status::kInvalidArgument, "all_reduce: operation ", static_cast<int32_t>(op),
               " is none of sum, mean, min, max");
  if (tensor.dtype == DType::kBool)
    base::fail(Status::kInvalidArgument, "all_reduce: elements of type bool cannot be reduced");
  if (op == ReduceOp::kMean && !base::is_floating(tensor.dtype))
    base::fail(Status::kInvalidArgument,
               "all_reduce: the mean needs floating-point elements, found ",
               base::dtype_name(tensor.dtype));
  return {"all_reduce", base::text(describe(tensor), ", ", op_name(op))};
}

Call check_broadcast(const base::TensorView& tensor, int root, int world_size) {
  if (root < 0 || root >= world_size)
    base::fail(Status::kNotFound, "broadcast: root ", root, " is no rank of a world of ",
               world_size);
  return {"broadcast", base::text(describe(tensor), ", root ", root)};
}

Call check_gather(const base::TensorView& input, std::span<const base::TensorView> outputs,
                  int rank, int world_size) {
  check_count("all_gather outputs", outputs.size(), world_size);
  check_memory("all_gather input", input);
  check_types("all_gather outputs", input.dtype, outputs);
  check_own("all_gather", input, outputs[rank]);
  Call call{"all_gather", base::dtype_name(input.dtype)};
  for (const base::TensorView& output : outputs)
    call.detail += base::text(" ", output.shape.to_string());
  return call;
}

Call check_exchange(std::span<const base::TensorView> inputs,
                    std::span<const base::TensorView> outputs, int rank, int world_size) {
  check_count("all_to_all inputs", inputs.size(), world_size);
  check_count("all_to_all outputs", outputs.size(), world_size);
  check_types("all_to_all inputs", inputs[0].dtype, inputs);
  check_types("all_to_all outputs", inputs[0].dtype, outputs);
  check_own("all_to_all", inputs[rank], outputs[rank]);
  Call call{"all_to_all", base::dtype_name(inputs[0].dtype)};
  for (const base::TensorView& input : inputs) call.sent.push_back(input.shape.num_elements());
  for (const base::TensorView& output : outputs)
    call.received.push_back(output.shape.num_elements());
  return call;
}

void check_world(int world_size) {
  constexpr int kMaxThreads = 256;
  if (world_size < 1 || world_size > kMaxThreads)
    base::fail(Status::kInvalidArgument, "world size ", world_size, ": expected 1 to ", kMaxThreads,
               " ranks in one process");
}

}  // namespace gnnmg::comm
