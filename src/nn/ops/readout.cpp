#include "nn/ops/readout.h"

#include <torch/csrc/autograd/custom_function.h>

#include <vector>

#include "base/error.h"
#include "nn/kernels/segments.h"
#include "nn/ops/device_lists.h"
#include "nn/ops/launch.h"

namespace gnnmg::nn {
namespace {

using base::fail;
using base::Status;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kGraphs = 16;  // graphs in one range

struct ReadoutSpec : torch::CustomClassHolder {
  std::vector<int64_t> graph_ptr;
  Reduce reduce = Reduce::kSum;
  Ties ties = Ties::kSplit;
  Execution execution;
  at::Tensor on_device;  // graph_ptr on the device
  const int64_t* pointers() const {
    return on_device.defined() ? on_device.const_data_ptr<int64_t>() : graph_ptr.data();
  }
  int64_t num_graphs() const { return static_cast<int64_t>(graph_ptr.size()) - 1; }
};

// Returns one row per graph from the rows of its nodes.
at::Tensor reduced(const at::Tensor& rows, const ReadoutSpec& spec) {
  const int64_t width = rows.size(1);
  at::Tensor out = scratch_tensor(spec.execution, {spec.num_graphs(), width}, rows.scalar_type());
  visit_type(rows.scalar_type(), [&]<typename T>() {
    if (const Device* device = spec.execution.device)
      return device->layers<T>().reduce_segments(device->queue, spec.reduce, spec.pointers(),
                                                 const_matrix<T>(rows), width, matrix<T>(out),
                                                 spec.num_graphs());
    for_ranges(spec.execution.pool, spec.num_graphs(), kGraphs, [&](int64_t begin, int64_t end) {
      kernels::reduce_segments<T>(spec.reduce, spec.graph_ptr.data(), const_matrix<T>(rows), width,
                                  matrix<T>(out), begin, end);
    });
  });
  return out;
}

// Returns one row per node from the rows of the graphs: the gradient of sums and means.
at::Tensor spread_out(const at::Tensor& rows, const ReadoutSpec& spec) {
  const int64_t width = rows.size(1);
  at::Tensor out =
      scratch_tensor(spec.execution, {spec.graph_ptr.back(), width}, rows.scalar_type());
  visit_type(rows.scalar_type(), [&]<typename T>() {
    if (const Device* device = spec.execution.device)
      return device->layers<T>().spread_segments(device->queue, spec.reduce, spec.pointers(),
                                                 const_matrix<T>(rows), width, matrix<T>(out),
                                                 spec.num_graphs());
    for_ranges(spec.execution.pool, spec.num_graphs(), kGraphs, [&](int64_t begin, int64_t end) {
      kernels::spread_segments<T>(spec.reduce, spec.graph_ptr.data(), const_matrix<T>(rows), width,
                                  matrix<T>(out), begin, end);
    });
  });
  return out;
}

at::Tensor max_gradient(const at::Tensor& x, const at::Tensor& max, const at::Tensor& dy,
                        const ReadoutSpec& spec) {
  const int64_t width = x.size(1);
  at::Tensor dx = scratch_tensor(spec.execution, x.sizes(), x.scalar_type());
  visit_type(x.scalar_type(), [&]<typename T>() {
    if (const Device* device = spec.execution.device)
      return device->layers<T>().segment_max_backward(
          device->queue, spec.ties == Ties::kFirst, spec.pointers(), const_matrix<T>(x),
          const_matrix<T>(max), const_matrix<T>(dy), width, matrix<T>(dx), spec.num_graphs());
    for_ranges(spec.execution.pool, spec.num_graphs(), kGraphs, [&](int64_t begin, int64_t end) {
      kernels::segment_max_backward<T>(spec.ties == Ties::kFirst, spec.graph_ptr.data(),
                                       const_matrix<T>(x), const_matrix<T>(max),
                                       const_matrix<T>(dy), width, matrix<T>(dx), begin, end);
    });
  });
  return dx;
}

c10::intrusive_ptr<ReadoutSpec> readout_spec(AutogradContext* context) {
  return c10::static_intrusive_pointer_cast<ReadoutSpec>(context->saved_data["spec"].toCapsule());
}

struct ReadoutFunction : torch::autograd::Function<ReadoutFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            c10::intrusive_ptr<ReadoutSpec> spec) {
    context->saved_data["spec"] = c10::IValue::make_capsule(spec);
    const at::Tensor rows = with_dense_rows(x);
    const at::Tensor out = reduced(rows, *spec);
    if (spec->execution.gradients && spec->reduce == Reduce::kMax)
      context->save_for_backward({rows, out});
    return out;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto spec = readout_spec(context);
    const at::Tensor dy = with_dense_rows(gradients[0]);
    if (spec->reduce != Reduce::kMax) return {spread_out(dy, *spec), at::Tensor()};
    const variable_list saved = context->get_saved_variables();
    return {max_gradient(saved[0], saved[1], dy, *spec), at::Tensor()};
  }
};

struct SpreadFunction : torch::autograd::Function<SpreadFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& rows,
                            c10::intrusive_ptr<ReadoutSpec> spec) {
    context->saved_data["spec"] = c10::IValue::make_capsule(spec);
    return spread_out(with_dense_rows(rows), *spec);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    return {reduced(with_dense_rows(gradients[0]), *readout_spec(context)), at::Tensor()};
  }
};

c10::intrusive_ptr<ReadoutSpec> make_spec(std::span<const int64_t> graph_ptr, Reduce reduce,
                                          Ties ties, const Execution& execution) {
  auto spec = c10::make_intrusive<ReadoutSpec>();
  spec->graph_ptr.assign(graph_ptr.begin(), graph_ptr.end());
  spec->reduce = reduce;
  spec->ties = ties;
  spec->execution = execution;
  if (execution.device) spec->on_device = put(execution, spec->graph_ptr);
  return spec;
}

Reduce reduce_of(Readout kind) {
  switch (kind) {
    case Readout::kSum:
      return Reduce::kSum;
    case Readout::kMean:
      return Reduce::kMean;
    case Readout::kMax:
      return Reduce::kMax;
    case Readout::kNone:
    case Readout::kAttention:
    case Readout::kSet2Set:
    case Readout::kSort:
      break;
  }
  fail(Status::kInternal, "readout ", static_cast<int>(kind), " reduces nothing");
}

}  // namespace

void check_graph_ptr(std::span<const int64_t> graph_ptr, int64_t num_nodes) {
  if (graph_ptr.empty() || graph_ptr.front() != 0)
    fail(Status::kInvalidArgument, "graph_ptr begins with ",
         graph_ptr.empty() ? "nothing" : base::text(graph_ptr.front()), ", expected 0");
  for (size_t g = 1; g < graph_ptr.size(); ++g)
    if (graph_ptr[g] < graph_ptr[g - 1])
      fail(Status::kInvalidArgument, "graph_ptr[", g, "] is ", graph_ptr[g],
           ", less than the number before it, ", graph_ptr[g - 1]);
  if (graph_ptr.back() != num_nodes)
    fail(Status::kInvalidArgument, "graph_ptr ends with ", graph_ptr.back(), ", and the batch has ",
         num_nodes, " nodes");
}

at::Tensor readout(const at::Tensor& x, std::span<const int64_t> graph_ptr, Readout kind, Ties ties,
                   const Execution& execution) {
  check_graph_ptr(graph_ptr, x.size(0));
  return ReadoutFunction::apply(x, make_spec(graph_ptr, reduce_of(kind), ties, execution));
}

at::Tensor spread(const at::Tensor& rows, std::span<const int64_t> graph_ptr,
                  const Execution& execution) {
  return SpreadFunction::apply(rows, make_spec(graph_ptr, Reduce::kSum, Ties::kSplit, execution));
}

}  // namespace gnnmg::nn
