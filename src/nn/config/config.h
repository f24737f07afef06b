// The configuration of a model. Plain values, no torch: the C API and the trainer fill them in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "nn/config/layer_list.h"

namespace gnnmg::nn {

// The convolution of the layers: kLayers stands for those of ModelConfig::layers, in order.
enum class Architecture : int32_t {
#define GNNMG_KIND(constant, ...) constant,
  GNNMG_LAYER_KINDS(GNNMG_KIND)
#undef GNNMG_KIND
};
// The normalization of GCN's sum over neighbors: by the roots of the degrees of both ends; DGL also
// by the target's degree or the source's; none.
enum class DegreeNorm : int32_t { kBoth = 0, kRight = 1, kLeft = 2, kNone = 3 };
// The framework whose definitions and keys the layers follow.
enum class Framework : int32_t { kPyg = 0, kDgl = 1 };
// The name of the list of layers: keys begin with it, a dot and the layer's number.
constexpr const char* layer_list(Framework framework) {
  return framework == Framework::kDgl ? "layers" : "convs";
}
// The input of the first layer. Except with kFeatures, input_dim is the graph's number of nodes.
enum class Input : int32_t {
  kFeatures = 0,
  kEmbedding = 1,  // a learned row of hidden_dim columns per node
  // The node itself: PyG's R-GCN has a row of weights for each node in every relation's matrix, as
  // if the features were the unit matrix.
  kNodes = 2,
};
// PyG's GraphSAGE has mean, max, sum and LSTM; DGL's has mean and the last three.
enum class Aggregation : int32_t {
  kDefault = 0,  // the architecture's default: ModelConfig::reduction()
  kMean = 1,
  kMax = 2,
  kSum = 3,
  kPool = 4,  // maximum of the neighbors' rows after a linear layer and ReLU
  // A recurrent network over the neighbors in the order of the edges. PyG's continues with rows of
  // zeros: every node takes as many steps as the block's largest in-degree.
  kLstm = 5,
  kGcn = 6,  // mean over the neighbors and the node itself
};
enum class Activation : int32_t {
  kRelu = 0,
  kNone = 1,
  kElu = 2,
  kLeakyRelu = 3,
  kGelu = 4,
  kTanh = 5,
  kPrelu = 6,
  kSilu = 7,
  kSigmoid = 8
};
enum class Norm : int32_t {
  kNone = 0,
  kBatch = 1,
  kLayer = 2,       // each row independently
  kLayerGraph = 3,  // all entries of a graph together, the default of PyG's LayerNorm
  kGraph = 4,       // each column over a graph, minus a learned share of its mean
  kInstance = 5,    // each column over a graph
  kPair = 6,        // columns centered over a graph, then its rows to a mean square length
  kPairRows = 7,    // columns centered over a graph, then each row to a length
};
// True if a row's result depends on the other rows of its graph, even in evaluation. Nodes that
// belong to no graph of a batch form one graph together.
constexpr bool over_graph(Norm norm) { return norm == Norm::kLayerGraph || norm >= Norm::kGraph; }
// PNA's reductions of a node's messages, and the functions of the degree by which each reduction is
// multiplied.
enum class PnaReduction : int32_t {
  kMean = 1,
  kMin = 2,
  kMax = 3,
  kSum = 4,
  kVariance = 5,
  kDeviation = 6
};
enum class PnaScaler : int32_t {
  kIdentity = 1,
  kAmplification = 2,
  kAttenuation = 3,
  kLinear = 4,
  kInverseLinear = 5
};
// The features of a loop that attention adds, computed from the other edges into its node (0 if
// there are none); or a constant in every column.
enum class LoopFill : int32_t { kMean = 0, kSum = 1, kMax = 2, kMin = 3, kConstant = 4 };
// Selects whether a norm ends with a learned weight and bias per column.
enum class NormAffine : int32_t { kDefault = 0, kOn = 1, kOff = 2 };
enum class Skip : int32_t {
  kNone = 0,
  kLinear = 1,  // x <- dropout(act(norm(conv(x) + linear(x)))) in every layer, then a linear output
                // (tunedGNN's form)
  kResidual = 2,  // linear input; x <- x + dropout(act(conv(norm(x)))) in every layer; norm, linear
                  // output (Platonov's form)
};
// Distribution of the initial weights.
enum class Init : int32_t {
  kPyg = 0,     // uniform in +-1/sqrt(fan in), weights and biases; kDgl for DGL's layers
  kGlorot = 1,  // weights uniform in +-sqrt(6 / (fan in + fan out)), biases 0
  kDgl = 2,     // DGL SAGEConv's: Xavier uniform with gain sqrt 2
};

// The use of the layers' outputs. Except with kNone, every layer is followed by a norm, activation
// and dropout, and a linear layer computes the result.
enum class Jumping : int32_t {
  kNone = 0,
  kLast = 1,
  kCat = 2,
  kMax = 3,
  kLstm = 4,  // sum of the layers' outputs, weighted by attention
  // GIN's: the sum of the readouts of the input and of every layer, each after a linear layer of
  // its own. Needs a readout.
  kScores = 5,
};

// One row per graph, from the rows of its nodes: from the input of the last linear layer, or,
// without one, from the output of the last convolution.
enum class Readout : int32_t {
  kNone = 0,
  kSum = 1,
  kMean = 2,
  kMax = 3,
  kAttention = 4,  // sum weighted by a softmax over scores from a linear layer
  kSet2Set = 5,    // a recurrent network that attends to the nodes several times; twice as wide
  kSort = 6,       // the first rows in descending order of the last column, concatenated
};

struct NormOptions {
  double scale = 1;       // kPair and kPairRows; -1: the number of columns
  double epsilon = 1e-5;  // keeps roots away from 0
  // Batch norm: the weight of the newest statistics in the running ones; -1: all equally.
  double momentum = 0.1;
  NormAffine affine = NormAffine::kDefault;  // default: batch and layer on, instance off
  bool operator==(const NormOptions&) const = default;
};
// True if such a norm ends with a learned weight and bias per column.
bool learns(Norm norm, NormAffine affine);

struct LayerConfig;

// PyG's model classes, extended by skips. Without a skip: layers input -> hidden -> ... -> output
// (-> hidden if output_dim is 0); after each except the last: norm, activation, dropout (activation
// first with act_first).
struct ModelConfig {
  Architecture architecture = Architecture::kSage;
  // DGL's layers never add loops, and use the degrees of the block.
  Framework framework = Framework::kPyg;
  Input input = Input::kFeatures;
  int64_t input_dim = 0;
  int64_t hidden_dim = 256;
  int64_t output_dim = 0;
  int32_t num_layers = 2;  // 1 to 10
  Aggregation aggregation = Aggregation::kDefault;
  Activation activation = Activation::kRelu;
  Norm norm = Norm::kNone;
  NormOptions norm_options;
  Skip skip = Skip::kNone;
  Init init = Init::kPyg;
  Jumping jumping = Jumping::kNone;
  bool bias = true;
  // GraphSAGE, R-GCN and transformer:
  bool root_weight = true;
  bool normalize = false;  // scale the rows of each layer's output to unit length
  bool project = false;    // apply a linear layer and ReLU to the sources first
  // GCN: uses the degrees of the block, as PyG does on a trimmed subgraph, instead of the graph's.
  bool block_degrees = false;
  // GCN, GAT, GATv2: replaces the graph's loops by one loop per node.
  bool self_loops = true;
  bool improved = false;  // GCN with edge weights: loops have weight 2
  // GAT, GATv2 and transformer, with attention dropout of rate `dropout`:
  int32_t heads = 1;  // 1 to 64; hidden_dim is a multiple of it with concat
  // Heads of the layer that computes the result, which are averaged; 0: same as `heads`.
  int32_t output_heads = 0;
  bool concat = true;  // false: mean over the heads, each of the full width
  bool residual = false;
  double slope = 0.2;                    // negative slope of LeakyReLU
  bool beta = false;                     // transformer: a gate mixes in the own row
  bool share_weights = false;            // GATv2: one linear map for both ends of an edge
  LoopFill loop_fill = LoopFill::kMean;  // GAT, GATv2 with edge features and self_loops
  double loop_value = 0;                 // value of LoopFill::kConstant
  DegreeNorm degree_norm = DegreeNorm::kBoth;
  // GIN, GINE and PyG's EdgeConv:
  int32_t mlp_layers = 2;  // linear layers of the networks, 1 to 8; 0: DGL's GIN without a network
  bool train_eps = false;
  double eps = 0;
  // R-GCN, with `aggregation` mean, sum or max; DGL's with sum. Only one of bases and blocks may be
  // above 0.
  int64_t relations = 0;
  int64_t bases = 0;   // number of basis matrices, whose weighted sums are the relations' matrices
  int64_t blocks = 0;  // number of blocks of block-diagonal matrices
  // DGL's R-GCN: normalizes each row of the sums; DGL's EdgeConv: batch norm of the rows of edges.
  bool inner_norm = false;
  // PNA, where an empty list means mean, min, max and deviation; PyG's GraphSAGE, instead of
  // `aggregation`. The results of all reductions are concatenated.
  std::vector<PnaReduction> reductions;
  // PNA:
  std::vector<PnaScaler> scalers{PnaScaler::kIdentity, PnaScaler::kAmplification,
                                 PnaScaler::kAttenuation};
  int32_t pre_layers = 1, post_layers = 1;  // linear layers per tower, 1 to 8
  int32_t towers = 1;
  bool divide_input = false;  // each tower reads its own share of the columns
  // Means of the in-degree and of log(degree + 1) over the nodes of the training graph.
  double average_degree = 0, average_log_degree = 0;
  bool train_norm = false;  // average_degree and average_log_degree are learned

  // Data of edges, from the graph's edge tensors of these names: the first that exists of
  // "edge_attr", "x" and "feat"; of "edge_weight" and "weight"; of "edge_type", "type" and
  // "edge_label", for R-GCN.
  // PyG's GINE, GAT and GATv2, transformer, PNA: columns of edge features, 0: none.
  int64_t edge_dim = 0;
  // GINE: no linear map of the edge features, which are as wide as every layer's rows.
  bool plain_edges = false;
  bool edge_weights = false;  // GCN, GraphConv; DGL's GraphSAGE, GCN, GAT, GIN, R-GCN
  // If not empty, features are categories, column k one of node_vocabulary[k], and the first layer
  // reads the sum of one learned row per column, hidden_dim wide. Length input_dim. Empty: plain
  // numbers.
  std::vector<int64_t> node_vocabulary;
  // The same for edge features; the layers read edge_dim columns.
  std::vector<int64_t> edge_vocabulary;
  // For kLayers only, which uses input_dim, dtype and seed; the layers determine the rest.
  std::vector<LayerConfig> layers;

  bool act_first = false;
  double dropout = 0.0;        // rate for hidden rows
  double input_dropout = 0.0;  // rate for features; for the stored values of sparse ones
  // Training as if the sampler had drawn fewer: each layer drops edges independently, and all
  // layers drop the same nodes with all their edges.
  double edge_dropout = 0.0, node_dropout = 0.0;
  Readout readout = Readout::kNone;  // logits are per graph of the batch
  // Dropout of the last linear layer's input, or, with Jumping::kScores, of each score.
  double output_dropout = 0.0;
  int32_t readout_steps = 3;              // Readout::kSet2Set: 1 to 100
  int32_t sort_rows = 30;                 // Readout::kSort: 1 to 10000
  base::DType dtype = base::DType::kF32;  // f32 or f64
  uint64_t seed = 0;                      // seed of the initial weights
  // Error(kInvalidArgument) names the invalid field.
  void check() const;
  // Returns `aggregation`, or for the default that of the framework's layer: the sum for GIN, GINE,
  // GraphConv and DGL's R-GCN, the maximum for EdgeConv, else the mean.
  Aggregation reduction() const;
  // Returns PNA's reductions; the default four if the list is empty.
  std::vector<PnaReduction> pna_reductions() const;
  int64_t output_width() const;  // columns of the logits
  bool reads_features() const { return input == Input::kFeatures; }
  // Columns of the first layer's input.
  int64_t first_width() const {
    return node_vocabulary.empty() && input != Input::kEmbedding ? input_dim : hidden_dim;
  }
  // Columns of edge features in the graph.
  int64_t edge_columns() const {
    return edge_vocabulary.empty() ? edge_dim : static_cast<int64_t>(edge_vocabulary.size());
  }
};

// One layer of Architecture::kLayers.
struct LayerConfig {
  enum class Kind : int32_t { kConv, kLinear, kNorm, kActivation, kDropout, kReadout };
  Kind kind = Kind::kConv;
  // Prefix of its keys, as "conv1"; layers with parameters have different names.
  std::string name;
  // kConv, kLinear: output_dim columns. Other fields that count: for kConv those of its
  // architecture, and `dropout` for attention; for kLinear bias; for kNorm norm and norm_options;
  // for kActivation activation; for kDropout dropout; for kReadout readout with its options.
  ModelConfig options;
};

// Returns the columns of a readout's rows, given `width` columns per node.
int64_t readout_width(const ModelConfig& config, int64_t width);

}  // namespace gnnmg::nn
