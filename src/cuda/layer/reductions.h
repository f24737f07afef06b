// Sums, means and maxima of rows, and their gradients, as members of the table.
#pragma once

#include "cuda/layer/maximum.h"
#include "cuda/layer/reduce.h"
#include "cuda/layer/segments.h"
#include "cuda/layer/table.h"

namespace gnnmg::cuda {

template <typename Queue, typename T>
void add_reductions(nn::kernels::DeviceLayers<T>& table) {
  table.aggregate = aggregate<Queue, T>;
  table.mean_scale = mean_scale<Queue, T>;
  table.max_share = max_share<Queue, T>;
  table.max_transposed = max_transposed<Queue, T>;
  table.reduce_segments = reduce_segments<Queue, T>;
  table.spread_segments = spread_segments<Queue, T>;
  table.segment_max_backward = segment_max_backward<Queue, T>;
}

}  // namespace gnnmg::cuda
