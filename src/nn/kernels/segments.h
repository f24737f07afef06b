// Reductions over runs of consecutive rows, such as the graphs of a batch, and their gradients.
// Separate from the other kernels because runs need no lists: rows are read once, in order.
#pragma once

#include "nn/kernels/kernels.h"

namespace gnnmg::nn::kernels {

// Run g holds the rows pointers[g] .. pointers[g + 1] - 1; ranges are of runs. T is float or
// double.

// out[g] = sum, mean or maximum of the rows of run g; 0 for an empty run. NaNs in x propagate.
template <typename T>
void reduce_segments(Reduce reduce, const int64_t* pointers, Matrix<const T> x, int64_t width,
                     Matrix<T> out, int64_t begin, int64_t end);

// The gradient of sums and means: every row of run g gets dy[g], or its share of it.
template <typename T>
void spread_segments(Reduce reduce, const int64_t* pointers, Matrix<const T> dy, int64_t width,
                     Matrix<T> dx, int64_t begin, int64_t end);

// The gradient of the maximum: the rows of run g that equal max[g] share dy[g] evenly, or the first
// of them gets all of it.
template <typename T>
void segment_max_backward(bool first_of_tied, const int64_t* pointers, Matrix<const T> x,
                          Matrix<const T> max, Matrix<const T> dy, int64_t width, Matrix<T> dx,
                          int64_t begin, int64_t end);

}  // namespace gnnmg::nn::kernels
