// The edge weights of GCN and DGL's GraphConv, computed with a device's tensors: the counterpart of
// the loops in gcn_conv.cpp.
#pragma once

#include "nn/conv/layers.h"

namespace gnnmg::nn {

// Returns `weights` and `self_weights` of a layer that normalizes edges.
WeightedSum gcn_weights_on_device(const GcnOptions& options, at::ScalarType type, int64_t first_own,
                                  const ConvInput& own, const ConvPass& pass);

// Returns [num_edges]: the norm's factor of each edge.
at::Tensor dgl_scales_on_device(DglGraphOptions::Norm norm, at::ScalarType type,
                                const ConvInput& own, const ConvPass& pass);

}  // namespace gnnmg::nn
