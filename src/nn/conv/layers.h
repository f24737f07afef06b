// The available convolutions: their options and factory functions. Formulas and keys are those of
// the reference named at each.
#pragma once

#include <memory>
#include <vector>

#include "nn/config/config.h"
#include "nn/conv/conv.h"

namespace gnnmg::nn {

// PyG's SAGEConv: lin_l AGG + lin_r x. The aggregation and the products are fused.
struct SageOptions {
  int64_t in = 0, out = 0;
  int64_t in_target = 0;  // 0: same as `in`
  Reduce reduce = Reduce::kMean;
  bool lstm = false;  // a recurrent network over the neighbors instead of `reduce`
  // Replaces both: the results of all these reductions, concatenated.
  std::vector<PnaReduction> reductions;
  bool normalize = false, root_weight = true, project = false, bias = true;
};
std::unique_ptr<Conv> make_sage_conv(const SageOptions& options);

// DGL's SAGEConv: fc_self x_i + fc_neigh AGG, or, with kGcn, fc_neigh of the mean over the
// neighbors and the node itself. Edge weights multiply the neighbors' rows.
struct DglSageOptions {
  enum class Aggregator { kMean, kPool, kGcn, kLstm };
  int64_t in = 0, out = 0;
  int64_t in_target = 0;  // 0: same as `in`
  Aggregator aggregator = Aggregator::kMean;
  bool bias = true;
};
std::unique_ptr<Conv> make_dgl_sage_conv(const DglSageOptions& options);

// PyG's GCNConv: out_i = sum r_j w r_i (lin x_j) + bias with r = degree^-1/2, with added loops. If
// a node has several loops, only the weight of the last one counts.
struct GcnOptions {
  int64_t in = 0, out = 0;
  bool improved = false;  // loops have weight 2; only used with edge weights
  bool add_self_loops = true, normalize = true, bias = true;
};
std::unique_ptr<Conv> make_gcn_conv(const GcnOptions& options);
// Error(kInvalidArgument) if the weights of the edges into a node, including its loop if `loops`,
// have a negative sum.
void check_degree(int64_t node, double degree, bool loops);

// DGL's GraphConv: uses the degrees of the block, at least 1.
struct DglGraphOptions {
  enum class Norm { kBoth, kRight, kLeft, kNone };
  int64_t in = 0, out = 0;
  Norm norm = Norm::kBoth;
  bool bias = true;
};
std::unique_ptr<Conv> make_dgl_graph_conv(const DglGraphOptions& options);

// PyG's GraphConv: lin_rel AGG w x_j + lin_root x_i.
struct GraphOptions {
  int64_t in = 0, out = 0;
  int64_t in_target = 0;  // 0: same as `in`
  Reduce reduce = Reduce::kSum;
  bool bias = true;
};
std::unique_ptr<Conv> make_graph_conv(const GraphOptions& options);

// GATConv and GATv2Conv, of PyG or of DGL.
struct GatOptions {
  int64_t in = 0;
  int64_t out = 0;        // channels per head
  int64_t in_target = 0;  // 0: one matrix of rows and one linear map for both ends
  int64_t heads = 1;
  int64_t edge_dim = 0;  // columns of edge features, 0: none
  bool v2 = false;
  bool dgl = false;    // DGL's keys; edge weights multiply the attention
  bool concat = true;  // false: mean over the heads
  bool add_self_loops = true;
  bool residual = false;
  bool bias = true;
  bool share_weights = false;  // v2
  double slope = 0.2;
  LoopRows loops = {};  // features of added loops; first_own is ignored
};
std::unique_ptr<Conv> make_gat_conv(const GatOptions& options);

// GINConv of PyG or of DGL, and PyG's GINEConv: nn((1 + eps) x_i + AGG). nn consists of linear
// layers with a function and a norm between them; DGL's may be absent.
struct GinOptions {
  // Widths of nn, input first: one linear layer fewer than entries, or none.
  std::vector<int64_t> widths;
  Reduce reduce = Reduce::kSum;
  bool last_of_tied = false;  // max: the last of tied edges gets the whole gradient, as in DGL
  double eps = 0;
  bool train_eps = false;
  bool edges = false;    // PyG's GINE: messages are relu(x_j + edge row)
  int64_t edge_dim = 0;  // GINE: columns of edge features with a linear map; 0: no map
  enum class Keys { kSequential, kMlp, kDgl } keys = Keys::kSequential;  // nn.0, nn.lins.0, ...
  // Norm and activation between the linear layers. The norm is for keys kMlp only, and takes all
  // rows of a mini-batch if it is a norm over graphs.
  Norm norm = Norm::kNone;
  NormOptions norm_options;
  Activation activation = Activation::kRelu;
  bool act_first = false;
  // The model's slope, which is listed before; keys kMlp save it a second time here.
  at::Tensor* prelu = nullptr;
};
std::unique_ptr<Conv> make_gin_conv(const GinOptions& options);

// EdgeConv. PyG: nn([x_i ; x_j - x_i]), where nn consists of linear layers with a function and a
// norm over edges between them. DGL: theta(x_i - x_j) + phi x_i. The result is 0 for a node without
// edges.
struct EdgeOptions {
  int64_t in = 0;               // DGL: columns per row
  std::vector<int64_t> widths;  // PyG: widths of nn, beginning with twice the columns; DGL: {out}
  bool mlp_keys = false;        // PyG, several linear layers: nn.lins.0, ..., else nn.0, nn.2, ...
  bool dgl = false;
  bool batch_norm = false;       // DGL: batch norm of the rows of edges
  Reduce reduce = Reduce::kMax;  // PyG
  // For PyG's network, as in GinOptions.
  Norm norm = Norm::kNone;
  NormOptions norm_options;
  Activation activation = Activation::kRelu;
  bool act_first = false;
  at::Tensor* prelu = nullptr;
};
std::unique_ptr<Conv> make_edge_conv(const EdgeOptions& options);

// PyG's RGCNConv and DGL's RelGraphConv: one linear map per relation. PyG reduces over the edges of
// each relation and then adds; DGL adds all, multiplied by the edge weights.
struct RelationOptions {
  int64_t in = 0, out = 0;
  int64_t in_target = 0;  // 0: same as `in`
  int64_t relations = 0;
  int64_t bases = 0;   // 0: one matrix per relation
  int64_t blocks = 0;  // number of blocks of block-diagonal matrices; 0: full matrices
  // False: rows are those of the unit matrix, and `in` is the number of nodes.
  bool features = true;
  Reduce reduce = Reduce::kMean;  // PyG
  bool dgl = false;
  bool layer_norm = false;  // DGL: layer norm of each row of the sums
  bool root_weight = true, bias = true;
};
std::unique_ptr<Conv> make_relation_conv(const RelationOptions& options);

// PyG's TransformerConv: attention by products of queries and keys.
struct TransformerOptions {
  int64_t in = 0;
  int64_t out = 0;        // channels per head
  int64_t in_target = 0;  // 0: same as `in`
  int64_t heads = 1;
  int64_t edge_dim = 0;  // columns of edge features, 0: none
  bool concat = true;    // false: mean over the heads
  bool beta = false;     // a gate mixes in the own row
  bool root_weight = true, bias = true;
};
std::unique_ptr<Conv> make_transformer_conv(const TransformerOptions& options);

// PyG's PNAConv: several reductions, each multiplied by several functions of the in-degree.
struct PnaOptions {
  using Reduction = PnaReduction;
  using Scaler = PnaScaler;
  int64_t in = 0, out = 0;
  int64_t edge_dim = 0;  // columns of edge features, 0: none
  std::vector<Reduction> reductions;
  std::vector<Scaler> scalers;
  // Linear layers of each tower's two networks, with ReLU between the layers.
  int64_t pre_layers = 1, post_layers = 1;
  int64_t towers = 1;
  bool divide_input = false;  // each tower reads its own share of the columns
  // Means of the degree and of log(degree + 1) over the nodes of the training graph.
  double average_degree = 1, average_log_degree = 1;
  bool train_norm = false;  // the two means are learned
};
std::unique_ptr<Conv> make_pna_conv(const PnaOptions& options);

}  // namespace gnnmg::nn
