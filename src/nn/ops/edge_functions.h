// Differentiable operations along edges that have weights, attention or rows. functions.h has the
// operations that treat all edges alike.
#pragma once

#include <memory>
#include <vector>

#include "nn/config/config.h"
#include "nn/ops/functions.h"

namespace gnnmg::nn {

// The edges of a block by source, with their positions in its order by target.
struct BySource {
  kernels::EdgesBySource edges;
  std::vector<at::Tensor> memory;  // owns lists that are not the block's own
};
// Error(kInvalidArgument) if the block has no lists by source.
BySource by_source(const sample::BlockView& block, const Execution& execution);

// [num_targets, heads * channels]: finish(sum of weights[e] * x[s] over the edges of each target,
// head by head, plus self_weights[t] * x_target[t] for the first targets, plus the bias). Heads are
// the columns of the weights; 1-d or undefined weights have one head.
struct WeightedSum {
  at::Tensor x;             // [num_sources, heads * channels]
  at::Tensor weights;       // [num_edges] or [num_edges, heads]; undefined: ones
  at::Tensor x_target;      // rows multiplied by self_weights; undefined: the first rows of x
  at::Tensor self_weights;  // [n] or [n, heads] with n <= num_targets; undefined: none
  at::Tensor bias;          // [heads * channels], or undefined
  Finish finish;
};
at::Tensor weighted_sum(const WeightedSum& in, const sample::BlockView& block,
                        const Execution& execution);

// Returns [num_edges, F]: x[s], plus x_target[t] if that is defined.
at::Tensor rows_of_edges(const at::Tensor& x, const at::Tensor& x_target,
                         const sample::BlockView& block, const Execution& execution);

// Returns [num_edges, F]: weights[e] * x[s].
at::Tensor weighted_rows(const at::Tensor& x, const at::Tensor& weights,
                         const sample::BlockView& block, const Execution& execution);

// Returns [num_targets, F]: sum, mean or max of the rows of the edges of each target.
at::Tensor aggregate_edges(const at::Tensor& rows, const sample::BlockView& block, Reduce reduce,
                           const Execution& execution);

// Like aggregate() with max, but the last of tied edges gets the whole gradient.
at::Tensor aggregate_last_max(const at::Tensor& x, const sample::BlockView& block,
                              const Execution& execution);

// The same for weights[e] * x[s].
at::Tensor weighted_last_max(const at::Tensor& x, const at::Tensor& weights,
                             const sample::BlockView& block, const Execution& execution);

// Returns [num_edges, heads]: <x[s], x_target[t]> head by head.
at::Tensor edge_dots(const at::Tensor& x, const at::Tensor& x_target, int64_t heads,
                     const sample::BlockView& block, const Execution& execution);
// Returns the softmax of [num_edges, heads] over the edges of each target.
at::Tensor edge_softmax(const at::Tensor& scores, const sample::BlockView& block,
                        const Execution& execution);

// Returns [num_targets, F]: sum of relu(x[s] + edge_rows[e]) over the edges of each target.
at::Tensor relu_sum(const at::Tensor& x, const at::Tensor& edge_rows,
                    const sample::BlockView& block, const Execution& execution);

// Attention of GAT and GATv2 as in kernels::Attention. With loops, arrays over edges have
// min(num_sources, num_targets) more rows for them.
struct Attend {
  int64_t heads = 1;
  bool loops = false;
  double slope = 0.2;
  Dropout dropout;  // dropout of the attention weights
  // [num_sources, heads * channels]. For GAT followed by `heads` columns with the rows' scores as
  // sources and, if target_scores is undefined, by further `heads` columns with their scores as
  // targets.
  at::Tensor source;
  at::Tensor target_scores;  // GAT: [num_targets, heads]
  at::Tensor target;         // GATv2: rows of the targets
  at::Tensor vector;         // GATv2: [heads * channels]; undefined: GAT
  at::Tensor edges;          // GAT: scores [edges, heads]; GATv2: features [edges, D]; or undefined
  // GATv2 with edges: [heads * channels, D], the linear map of the features.
  at::Tensor edge_weight;
  at::Tensor factors;  // [edges], or undefined
  // For passes without gradients over a range of a graph's nodes: target t is row first_own + t of
  // `source`.
  int64_t first_own = 0;
};
// Returns [num_targets, heads * channels]. Keeps two or three numbers per edge and head for
// backward(), and never stores a row of all channels for an edge.
at::Tensor attend(const Attend& in, const sample::BlockView& block, const Execution& execution);

// Returns the edges' data with a row for each loop at the end: the mean over the other edges into
// the node, 0 without any, or according to `fill`. `rows` is [num_edges, F], the result [num_edges
// + num_loops, F]. first_own as in Attend.
struct LoopRows {
  LoopFill fill = LoopFill::kMean;
  double value = 0;  // value of LoopFill::kConstant
  int64_t first_own = 0;
};
at::Tensor with_loop_rows(const at::Tensor& rows, const LoopRows& loops,
                          const sample::BlockView& block, const Execution& execution);

}  // namespace gnnmg::nn
