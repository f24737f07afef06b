// The differentiable operations along edges that carry something: weights, attention, rows of their
// own. Apart from functions.h, whose operations take every edge alike.
#pragma once

#include <memory>

#include "nn/functions.h"

namespace gnnmg::nn {

// Where the edges of `block` by source stand in its order by target: [entries of out_targets], i32.
// Error(kInvalidArgument) where the block has no lists by source.
at::Tensor edge_positions(const sample::BlockView& block, const Execution& execution);

// [num_targets, heads * channels]: sum of weights[e] * x[s] over the edges of each target, head by
// head, plus self_weights[t] * x_target[t] for the first targets. Heads are the columns of the
// weights, one for 1-d or undefined ones.
struct WeightedSum {
  at::Tensor x;             // [num_sources, heads * channels]
  at::Tensor weights;       // [num_edges] or [num_edges, heads]; undefined: ones
  at::Tensor x_target;      // rows behind self_weights; undefined: the first rows of x
  at::Tensor self_weights;  // [n] or [n, heads] with n <= num_targets; undefined: none
};
at::Tensor weighted_sum(const WeightedSum& in, const sample::BlockView& block,
                        const Execution& execution);

// [num_targets, F]: sum of relu(x[s] + edge_rows[e]) over the edges of each target.
at::Tensor relu_sum(const at::Tensor& x, const at::Tensor& edge_rows,
                    const sample::BlockView& block, const Execution& execution);

// Attention of GAT and GATv2 as kernels::Attention says. With loops, the arrays over edges have
// min(num_sources, num_targets) more rows for them.
struct Attend {
  int64_t heads = 1;
  bool loops = false;
  double slope = 0.2;
  Dropout dropout;     // of the weights
  at::Tensor source;   // [num_sources, heads * channels]
  at::Tensor factors;  // [edges], or undefined
  at::Tensor edges;    // GAT: scores [edges, heads]; GATv2: rows [edges, heads * channels]; or
                       // undefined
  at::Tensor target;   // GAT: what the target's score is made from; undefined: the first rows of
                       // `source`. GATv2: rows of the targets
  at::Tensor vector;   // GAT: att_src [heads * channels]; GATv2: att
  at::Tensor vector_target;  // GAT: att_dst; GATv2: undefined
  // Without gradients, over a range of a graph's nodes: target t is row first_own + t of `source`,
  // whose scores [num_sources, heads] may be given.
  int64_t first_own = 0;
  at::Tensor source_scores;
};
// [num_targets, heads * channels]. Keeps two or three numbers an edge and head for backward().
at::Tensor attend(const Attend& in, const sample::BlockView& block, const Execution& execution);

// [n, heads]: <row, vector> head by head, without a gradient.
at::Tensor head_scores(const at::Tensor& rows, const at::Tensor& vector, int64_t heads,
                       const Execution& execution);

// Edges that are sources of their own: the block that leads from edge to target.
class Incidence {
 public:
  explicit Incidence(const sample::BlockView& block);
  const sample::BlockView& view() const { return view_; }

 private:
  std::vector<int32_t> indices_, out_indptr_, out_targets_;
  sample::BlockView view_;
};

// What edges carry, with a row for each loop behind: the mean over the other edges into the node, 0
// where there is none. `rows` is [num_edges, F], the result [num_edges + num_loops, F].
at::Tensor with_loop_rows(const at::Tensor& rows, const sample::BlockView& block,
                          const Execution& execution);

}  // namespace gnnmg::nn
