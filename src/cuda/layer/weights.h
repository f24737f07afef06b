// Sums with weights, their gradients, sparse matrices and softmax, as members of the table.
#pragma once

#include "cuda/layer/dots.h"
#include "cuda/layer/softmax.h"
#include "cuda/layer/sparse.h"
#include "cuda/layer/table.h"
#include "cuda/layer/weighted.h"

namespace gnnmg::cuda {

template <typename Queue, typename T>
void add_weights(nn::kernels::DeviceLayers<T>& table) {
  table.aggregate_transposed = aggregate_transposed<Queue, T>;
  table.sparse_times_dense = sparse_times_dense<Queue, T>;
  table.sparse_columns = sparse_columns<Queue>;
  table.sparse_transposed_times_dense = sparse_transposed_times_dense<Queue, T>;
  table.sparse_dropout = sparse_dropout<Queue, T>;
  table.densify = densify<Queue, T>;
  table.weighted_sum = weighted_sum<Queue, T>;
  table.weighted_transposed = weighted_transposed<Queue, T>;
  table.edge_dots = edge_dots<Queue, T>;
  table.row_dots = row_dots<Queue, T>;
  table.softmax = softmax<Queue, T>;
  table.softmax_backward = softmax_backward<Queue, T>;
}

}  // namespace gnnmg::cuda
