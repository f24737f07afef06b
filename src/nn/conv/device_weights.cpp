#include "nn/conv/device_weights.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "base/error.h"
#include "nn/ops/device_lists.h"
#include "nn/ops/made_block.h"
#include "nn/ops/tensors.h"

namespace gnnmg::nn {
namespace {

// Returns 1 / sqrt(d), or 0 if d is not above 0.
at::Tensor root_of(const at::Tensor& degree) {
  const at::Tensor positive = degree > 0;
  const at::Tensor zero = at::zeros({}, degree.options().requires_grad(false));
  return at::where(positive, at::where(positive, degree, at::ones_like(degree)).rsqrt(), zero);
}

// A block's edges; loops are separate if the layer adds loops.
struct Edges {
  Edges(bool loops, int64_t first_own, const ConvPass& pass)
      : sources(sources_of_edges(pass.block, pass.execution)),
        targets(targets_of_edges(pass.block, pass.execution)) {
    const sample::BlockView& block = pass.block;
    counts = counts_of_targets(block, pass.execution);
    if (!loops) return;
    loop = sources == targets + first_own;
    // The number of loops before each edge.
    const at::Tensor before =
        at::cat({at::zeros({1}, options_of(pass.execution, at::kInt)), loop.cumsum(0, at::kInt)});
    const at::Tensor at_ends = before.index_select(0, indptr_of(block, pass.execution));
    const at::Tensor ends = at_ends.narrow(0, 1, block.num_targets);
    num_loops = ends - at_ends.narrow(0, 0, block.num_targets);
    last_loop = loop & (before.narrow(0, 1, loop.numel()) == ends.index_select(0, targets));
    counts = counts - num_loops;
  }
  // Returns the values with zeros for loops.
  at::Tensor without_loops(const at::Tensor& values) const {
    return loop.defined() ? values.masked_fill(loop, 0) : values;
  }
  at::Tensor sources, targets;  // [num_edges] i32
  at::Tensor counts;            // [num_targets] i32: number of edges that are not loops
  at::Tensor loop;              // [num_edges], or undefined: loops are ordinary edges
  at::Tensor last_loop;  // [num_edges], defined together with `loop`: the last loop of each target
  at::Tensor num_loops;  // [num_targets] i32
};

// If the whole graph's degrees, [num_sources], are known, the drawn edges stand for all.
at::Tensor share_of(const at::Tensor& root, const at::Tensor& number, const Edges& edges) {
  const at::Tensor drawn = edges.counts.to(root.scalar_type());
  return at::where(drawn > 0, root * (number / drawn.clamp_min(1)), root);
}

void unweighted(WeightedSum& sum, const GcnOptions& options, at::ScalarType type, int64_t first_own,
                const ConvInput& own, const ConvPass& pass) {
  const int64_t n = pass.block.num_targets;
  const bool loops = options.add_self_loops;
  const Edges edges(loops, first_own, pass);
  at::Tensor degrees = own.degrees;
  if (!degrees.defined())
    degrees = at::cat({edges.counts.to(type),
                       at::zeros({pass.block.num_sources - n}, options_of(pass.execution, type))});
  const at::Tensor root = root_of(loops ? degrees + 1 : degrees);
  const at::Tensor here = root.narrow(0, first_own, n);
  const at::Tensor share =
      own.degrees.defined() ? share_of(here, degrees.narrow(0, first_own, n), edges) : here;
  sum.weights = edges.without_loops(root.index_select(0, edges.sources) *
                                    share.index_select(0, edges.targets));
  if (loops) sum.self_weights = here * here;
}

// With weights, by their sums over the whole graph, which are known not to be negative.
void weighted_by_graph(WeightedSum& sum, const GcnOptions& options, int64_t first_own,
                       const ConvInput& own, const ConvPass& pass) {
  const int64_t n = pass.block.num_targets;
  const bool loops = options.add_self_loops;
  const Edges edges(loops, first_own, pass);
  const at::Tensor number = own.degrees.select(1, 1).narrow(0, first_own, n);
  at::Tensor degree = own.degrees.select(1, 0), loop = own.degrees.select(1, 2);
  if (loops) {
    loop = loop.masked_fill(loop.isnan(), options.improved ? 2 : 1);
    degree = degree + loop;
  }
  const at::Tensor root = root_of(degree), here = root.narrow(0, first_own, n);
  sum.weights = edges.without_loops(root.index_select(0, edges.sources) * own.edge_weight.detach() *
                                    share_of(here, number, edges).index_select(0, edges.targets));
  if (loops) sum.self_weights = loop.narrow(0, first_own, n) * here * here;
}

// Returns rows[index[e]] for each edge e; the gradient of a row is the sum over its edges.
at::Tensor rows_at(const at::Tensor& values, const at::Tensor& index, const ConvPass& pass) {
  const at::Tensor one_each = at::arange(index.numel() + 1, options_of(pass.execution, at::kInt));
  const auto block =
      std::make_shared<const MadeBlock>(pass.execution, values.size(0), one_each, index);
  return aggregate(values.unsqueeze(1), block->view(), Reduce::kSum, pass.execution.with(block))
      .squeeze(1);
}

// With weights, by the block's own degrees; gradients reach the weights.
void weighted(WeightedSum& sum, const GcnOptions& options, const ConvInput& own,
              const ConvPass& pass) {
  const sample::BlockView& block = pass.block;
  const bool loops = options.add_self_loops;
  const Edges edges(loops, 0, pass);
  const at::Tensor& given = own.edge_weight;
  const auto added = [&](const at::Tensor& weights) {
    return aggregate_edges(weights.unsqueeze(1), block, Reduce::kSum, pass.execution).squeeze(1);
  };
  const at::TensorOptions numbers = given.options().requires_grad(false);
  const at::Tensor zero = at::zeros({}, numbers);
  const at::Tensor weights = edges.without_loops(given);
  at::Tensor degree = added(weights), loop_weights;
  if (loops) {
    loop_weights =
        at::where(edges.num_loops == 0, at::full({}, options.improved ? 2 : 1, numbers), zero) +
        added(given.masked_fill(edges.last_loop.logical_not(), 0));
    degree = degree + loop_weights;
  }
  // A graph with a negative degree must be refused, so the host waits for one number.
  const at::Tensor negative = degree.detach() < 0;
  if (negative.any().item<bool>()) {
    const at::Tensor flags = negative.cpu();
    int64_t t = 0;
    while (!flags.const_data_ptr<bool>()[t]) ++t;
    const int64_t node =
        own.node_ids ? view_on(pass.execution, own.node_ids, {block.num_targets})[t].item<int64_t>()
                     : t;
    check_degree(node, degree[t].item<double>(), loops);
  }
  at::Tensor root = root_of(degree);
  if (loops) sum.self_weights = loop_weights * root * root;
  const at::Tensor at_targets = rows_at(root, edges.targets, pass);
  if (block.num_sources > block.num_targets) {
    const double alone = !loops ? 0 : options.improved ? std::sqrt(0.5) : 1;
    root = at::cat({root, at::full({block.num_sources - block.num_targets}, alone, numbers)});
  }
  sum.weights = rows_at(root, edges.sources, pass) * weights * at_targets;
}

}  // namespace

WeightedSum gcn_weights_on_device(const GcnOptions& options, at::ScalarType type, int64_t first_own,
                                  const ConvInput& own, const ConvPass& pass) {
  WeightedSum sum;
  if (!own.edge_weight.defined())
    unweighted(sum, options, type, first_own, own, pass);
  else if (own.degrees.defined())
    weighted_by_graph(sum, options, first_own, own, pass);
  else
    weighted(sum, options, own, pass);
  return sum;
}

at::Tensor dgl_scales_on_device(DglGraphOptions::Norm norm, at::ScalarType type,
                                const ConvInput& own, const ConvPass& pass) {
  using Norm = DglGraphOptions::Norm;
  const sample::BlockView& block = pass.block;
  const Execution& execution = pass.execution;
  const at::Tensor indices = sources_of_edges(block, execution);
  const auto of_targets = [&] {
    return counts_of_targets(block, execution)
        .to(type)
        .clamp_min(1)
        .index_select(0, targets_of_edges(block, execution));
  };
  if (norm == Norm::kRight) return of_targets().reciprocal();
  at::Tensor sent = own.degrees;
  // In inference, edges into some of the targets do not give the number of edges of a source.
  if (!sent.defined()) {
    const at::Tensor ends = transposed(block, execution).indptr;
    sent = (ends.narrow(0, 1, block.num_sources) - ends.narrow(0, 0, block.num_sources)).to(type);
  }
  const at::Tensor of_sources = sent.clamp_min(1).index_select(0, indices);
  return norm == Norm::kBoth ? of_sources.rsqrt() * of_targets().rsqrt() : of_sources.reciprocal();
}

}  // namespace gnnmg::nn
