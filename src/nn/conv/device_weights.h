// The weights that GCN and DGL's GraphConv give to edges, made of a device's tensors: the twin of
// the loops in gcn_conv.cpp.
#pragma once

#include "nn/conv/layers.h"

namespace gnnmg::nn {

// `weights` and `self_weights` of a layer that normalizes edges.
WeightedSum gcn_weights_on_device(const GcnOptions& options, at::ScalarType type, int64_t first_own,
                                  const ConvInput& own, const ConvPass& pass);

// [num_edges]: what the norm multiplies edges by.
at::Tensor dgl_scales_on_device(DglGraphOptions::Norm norm, at::ScalarType type,
                                const ConvInput& own, const ConvPass& pass);

}  // namespace gnnmg::nn
