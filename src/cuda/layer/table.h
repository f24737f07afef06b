// The table of nn/kernels/device.h for a queue: each subject fills in its own members, in a header
// with its own .cu file for instantiation.
#pragma once

#include "nn/kernels/device.h"

namespace gnnmg::cuda {

// Sums, means and maxima of rows, and their gradients (reductions.h).
template <typename Queue, typename T>
void add_reductions(nn::kernels::DeviceLayers<T>& table);
// Direct reads of a table of features (stored.h).
template <typename Queue, typename T>
void add_stored(nn::kernels::DeviceLayers<T>& table);
// Sums with weights, sparse matrices, softmax (weights.h).
template <typename Queue, typename T>
void add_weights(nn::kernels::DeviceLayers<T>& table);
// Operations row by row: bias, relu, dropout, norms, sums of columns (rows.h).
template <typename Queue, typename T>
void add_rows(nn::kernels::DeviceLayers<T>& table);
// Attention and its gradients (attention.h).
template <typename Queue, typename T>
void add_attention(nn::kernels::DeviceLayers<T>& table);
// Sums of relu along edges, winners of maxima (edges.h).
template <typename Queue, typename T>
void add_edges(nn::kernels::DeviceLayers<T>& table);

template <typename Queue, typename T>
const nn::kernels::DeviceLayers<T>& layers_table() {
  static const nn::kernels::DeviceLayers<T> table = [] {
    nn::kernels::DeviceLayers<T> members{};
    add_reductions<Queue, T>(members);
    add_stored<Queue, T>(members);
    add_weights<Queue, T>(members);
    add_rows<Queue, T>(members);
    add_attention<Queue, T>(members);
    add_edges<Queue, T>(members);
    return members;
  }();
  return table;
}

}  // namespace gnnmg::cuda
