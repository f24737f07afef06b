// The layers that there are: what each can be told, and how it is made. Formulas and keys are those
// of the reference named with each.
#pragma once

#include <memory>
#include <vector>

#include "nn/config.h"
#include "nn/conv/conv.h"

namespace gnnmg::nn {

// PyG's SAGEConv: lin_l AGG + lin_r x. The aggregation and the products are fused.
struct SageOptions {
  int64_t in = 0, out = 0;
  int64_t in_target = 0;  // 0: as `in`
  Reduce reduce = Reduce::kMean;
  bool normalize = false, root_weight = true, project = false, bias = true;
};
std::unique_ptr<Conv> make_sage_conv(const SageOptions& options);

// PyG's GCNConv: out_i = sum r_j w r_i (lin x_j) + bias with r = degree^-1/2, loops added.
struct GcnOptions {
  int64_t in = 0, out = 0;
  bool improved = false;  // loops weigh 2; has an effect with edge weights only
  bool add_self_loops = true, normalize = true, bias = true;
};
std::unique_ptr<Conv> make_gcn_conv(const GcnOptions& options);

// DGL's GraphConv: its degrees are those of the block, at least 1.
struct DglGraphOptions {
  enum class Norm { kBoth, kRight, kLeft, kNone };
  int64_t in = 0, out = 0;
  Norm norm = Norm::kBoth;
  bool bias = true;
};
std::unique_ptr<Conv> make_dgl_graph_conv(const DglGraphOptions& options);

// PyG's GraphConv: lin_rel AGG w x_j + lin_root x_i. Sum or mean; max without edge weights.
struct GraphOptions {
  int64_t in = 0, out = 0;
  int64_t in_target = 0;  // 0: as `in`
  Reduce reduce = Reduce::kSum;
  bool bias = true;
};
std::unique_ptr<Conv> make_graph_conv(const GraphOptions& options);

// GATConv and GATv2Conv, of PyG or of DGL.
struct GatOptions {
  int64_t in = 0;
  int64_t out = 0;        // channels of each head
  int64_t in_target = 0;  // 0: one matrix of rows and one linear map for both ends
  int64_t heads = 1;
  int64_t edge_dim = 0;  // columns of edge features, 0: none
  bool v2 = false;
  bool dgl = false;    // DGL's keys; edge weights multiply the attention
  bool concat = true;  // else the mean over the heads
  bool add_self_loops = true;
  bool residual = false;
  bool bias = true;
  bool share_weights = false;  // v2
  double slope = 0.2;
};
std::unique_ptr<Conv> make_gat_conv(const GatOptions& options);

// GINConv of PyG or of DGL, and PyG's GINEConv: nn((1 + eps) x_i + AGG), where nn is made of linear
// layers with a function and a norm between them.
struct GinOptions {
  std::vector<int64_t> widths;  // of nn, input first: one linear layer fewer than numbers
  Reduce reduce = Reduce::kSum;
  double eps = 0;
  bool train_eps = false;
  bool edges = false;    // GINE: messages are relu(x_j + edge row)
  int64_t edge_dim = 0;  // GINE: columns of edge features that a linear layer maps, 0: none
  enum class Keys { kSequential, kMlp, kDgl } keys = Keys::kSequential;  // nn.0, nn.lins.0, ...
  // Between the linear layers; the norm with keys kMlp only.
  Norm norm = Norm::kNone;
  Activation activation = Activation::kRelu;
  bool act_first = false;
  at::Tensor* prelu = nullptr;  // the model's slope, listed before; saved a second time here
};
std::unique_ptr<Conv> make_gin_conv(const GinOptions& options);

}  // namespace gnnmg::nn
