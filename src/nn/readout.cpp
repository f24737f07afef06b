#include "nn/readout.h"

#include <torch/csrc/autograd/custom_function.h>

#include <vector>

#include "base/error.h"
#include "nn/kernels/segments.h"
#include "nn/parallel.h"
#include "nn/tensors.h"

namespace gnnmg::nn {
namespace {

using base::fail;
using base::Status;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kGraphs = 16;  // a range of graphs

struct Spec : torch::CustomClassHolder {
  std::vector<int64_t> graph_ptr;
  Reduce reduce = Reduce::kSum;
  Ties ties = Ties::kSplit;
  Execution execution;
  int64_t num_graphs() const { return static_cast<int64_t>(graph_ptr.size()) - 1; }
};

struct ReadoutFunction : torch::autograd::Function<ReadoutFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            c10::intrusive_ptr<Spec> spec) {
    context->saved_data["spec"] = c10::IValue::make_capsule(spec);
    const int64_t width = x.size(1);
    const at::Tensor rows = with_dense_rows(x);
    at::Tensor out = scratch_tensor(spec->execution, {spec->num_graphs(), width}, x.scalar_type());
    visit_type(x.scalar_type(), [&]<typename T>() {
      for_ranges(
          spec->execution.pool, spec->num_graphs(), kGraphs, [&](int64_t begin, int64_t end) {
            kernels::reduce_segments<T>(spec->reduce, spec->graph_ptr.data(), const_matrix<T>(rows),
                                        width, matrix<T>(out), begin, end);
          });
    });
    if (spec->execution.gradients && spec->reduce == Reduce::kMax)
      context->save_for_backward({rows, out});
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto spec =
        c10::static_intrusive_pointer_cast<Spec>(context->saved_data["spec"].toCapsule());
    const at::Tensor dy = with_dense_rows(gradients[0]);
    const variable_list saved = context->get_saved_variables();
    const int64_t width = dy.size(1);
    const int64_t* pointers = spec->graph_ptr.data();
    at::Tensor dx =
        scratch_tensor(spec->execution, {spec->graph_ptr.back(), width}, dy.scalar_type());
    visit_type(dy.scalar_type(), [&]<typename T>() {
      for_ranges(
          spec->execution.pool, spec->num_graphs(), kGraphs, [&](int64_t begin, int64_t end) {
            if (spec->reduce != Reduce::kMax)
              kernels::spread_segments<T>(spec->reduce, pointers, const_matrix<T>(dy), width,
                                          matrix<T>(dx), begin, end);
            else
              kernels::segment_max_backward<T>(
                  spec->ties == Ties::kFirst, pointers, const_matrix<T>(saved[0]),
                  const_matrix<T>(saved[1]), const_matrix<T>(dy), width, matrix<T>(dx), begin, end);
          });
    });
    return {dx, at::Tensor()};
  }
};

Reduce reduce_of(Readout kind) {
  switch (kind) {
    case Readout::kSum:
      return Reduce::kSum;
    case Readout::kMean:
      return Reduce::kMean;
    case Readout::kMax:
      return Reduce::kMax;
    case Readout::kNone:
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
  auto spec = c10::make_intrusive<Spec>();
  spec->graph_ptr.assign(graph_ptr.begin(), graph_ptr.end());
  spec->reduce = reduce_of(kind);
  spec->ties = ties;
  spec->execution = execution;
  return ReadoutFunction::apply(x, std::move(spec));
}

}  // namespace gnnmg::nn
