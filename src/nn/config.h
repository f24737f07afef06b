// What a model is made of. Plain values, no torch: the C API and the trainer fill them
// in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/tensor.h"

namespace gnnmg::nn {

// Which convolution the layers are.
enum class Architecture : int32_t {
  kSage = 1,
  kGcn = 2,
  kGat = 3,
  kGatv2 = 4,
  kGin = 5,
  kGine = 6,
  kRelation = 7,     // R-GCN
  kTransformer = 8,  // TransformerConv
  kPna = 9,
  kGraphConv = 10,
  kLayers = 11,  // what ModelConfig::layers lists, one behind the other
  kEdge = 12,    // EdgeConv
};
// What GCN divides the sum over the neighbors by: the roots of the degrees of both ends; of DGL's
// also the target's degree or the source's; nothing.
enum class DegreeNorm : int32_t { kBoth = 0, kRight = 1, kLeft = 2, kNone = 3 };
// Whose definitions the layers follow, under whose keys.
enum class Framework : int32_t { kPyg = 0, kDgl = 1 };
// What a model keeps its layers in: keys begin with this name, a dot and the layer's number.
constexpr const char* layer_list(Framework framework) {
  return framework == Framework::kDgl ? "layers" : "convs";
}
// What the first layer reads. Other than kFeatures: input_dim is the number of the graph's nodes.
enum class Input : int32_t {
  kFeatures = 0,
  kEmbedding = 1,  // a learned row for each node, hidden_dim wide
  // Each node is itself: R-GCN of PyG's has a row of weights for it in every relation's matrix, as
  // if the features were the unit matrix.
  kNodes = 2,
};
// GraphSAGE of PyG has mean, max, sum and LSTM; of DGL mean and the last three.
enum class Aggregation : int32_t {
  kDefault = -1,  // the architecture's own: ModelConfig::reduction()
  kMean = 0,
  kMax = 1,
  kSum = 2,
  kPool = 3,  // maximum of the neighbors' rows behind a linear layer and ReLU
  // A recurrent network over the neighbors in the order of the edges. PyG's goes on over rows of
  // zeros, for every node as many steps as the block's largest in-degree.
  kLstm = 4,
  kGcn = 5,  // mean over the neighbors and the node itself
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
  kLayer = 2,       // each row by itself
  kLayerGraph = 3,  // all entries of a graph together, PyG's default LayerNorm
  kGraph = 4,       // each column over a graph, less a learned share of its mean
  kInstance = 5,    // each column over a graph
  kPair = 6,        // columns centered over a graph, then its rows to a mean square length
  kPairRows = 7,    // columns centered over a graph, then each row to a length
};
// Whether a row's result depends on the other rows of its graph, in evaluation too. Where the
// nodes belong to no graphs of a batch, those at hand are one graph.
constexpr bool over_graph(Norm norm) { return norm == Norm::kLayerGraph || norm >= Norm::kGraph; }
// What PNA reduces the messages of a node by, and what of the degree each reduction is times.
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
// What a loop that attention adds carries, from the rows of the other edges into its node: 0 where
// there is none; or a number in every column.
enum class LoopFill : int32_t { kMean = 0, kSum = 1, kMax = 2, kMin = 3, kConstant = 4 };
// Whether a norm ends with a learned weight and bias for each column.
enum class NormAffine : int32_t { kDefault = 0, kOn = 1, kOff = 2 };
enum class Skip : int32_t {
  kNone = 0,
  kLinear = 1,  // x <- dropout(act(norm(conv(x) + linear(x)))) in every layer, then a linear output
                // (tunedGNN's form)
  kResidual = 2,  // linear input; x <- x + dropout(act(conv(norm(x)))) in every layer; norm, linear
                  // output (Platonov's form)
};
// Law of the initial weights.
enum class Init : int32_t {
  kPyg = 0,     // uniform in +-1/sqrt(fan in), weights and biases; DGL's layers by kDgl
  kGlorot = 1,  // weights uniform in +-sqrt(6 / (fan in + fan out)), biases 0
  kDgl = 2,     // DGL SAGEConv's: Xavier uniform with gain sqrt 2
};

// What becomes of the layers' outputs. Other than kNone: a norm, activation and dropout stand
// behind every layer, and a linear layer yields the result.
enum class Jumping : int32_t {
  kNone = 0,
  kLast = 1,
  kCat = 2,
  kMax = 3,
  kLstm = 4,  // a sum of the layers' outputs weighted by attention
  // GIN's: the readouts of the input and of every layer, each through a linear layer of its own,
  // are added. Needs a readout.
  kScores = 5,
};

// One row a graph, from the rows of its nodes: of what the last linear layer reads, or, where there
// is none, of what the last convolution yields.
enum class Readout : int32_t {
  kNone = 0,
  kSum = 1,
  kMean = 2,
  kMax = 3,
  kAttention = 4,  // sum weighted by a softmax over scores that a linear layer gives
  kSet2Set = 5,    // a recurrent network that asks the nodes several times; twice as wide
  kSort = 6,       // the first rows by the last column, descending, beside each other
};

struct NormOptions {
  double scale = 1;       // of kPair and kPairRows; -1: the columns of the rows that it goes over
  double epsilon = 1e-5;  // what keeps roots from 0
  // Batch: what the newest statistics count in the running ones; -1: as much as each before.
  double momentum = 0.1;
  NormAffine affine = NormAffine::kDefault;  // batch, layer: on; instance: off
  bool operator==(const NormOptions&) const = default;
};
// Whether such a norm ends with a learned weight and bias for each column.
bool learns(Norm norm, NormAffine affine);

struct LayerConfig;

// PyG's model classes, with skips beyond them. Without a skip: layers input -> hidden -> ... ->
// output (-> hidden when output_dim is 0); after each but the last: norm, activation, dropout
// (activation first with act_first).
struct ModelConfig {
  Architecture architecture = Architecture::kSage;
  // DGL's layers never add loops, and degrees are those of the block.
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
  // GraphSAGE; R-GCN, transformer:
  bool root_weight = true;
  bool normalize = false;  // rows of each layer's output to unit length
  bool project = false;    // linear and ReLU on the sources first
  // GCN: degrees are those of the block, as PyG has them on a trimmed subgraph, not the graph's.
  bool block_degrees = false;
  // GCN, GAT, GATv2: loops replace those of the graph, one a node.
  bool self_loops = true;
  bool improved = false;  // GCN with edge weights: loops weigh 2
  // GAT, GATv2, transformer; attention drops out at the rate `dropout`:
  int32_t heads = 1;  // 1 to 64; hidden_dim is a multiple of it with concat
  // Of the layer that yields the result, which takes their mean; 0: as `heads`.
  int32_t output_heads = 0;
  bool concat = true;  // else the mean over the heads, each of the full width
  bool residual = false;
  double slope = 0.2;                    // of the leaky function
  bool beta = false;                     // transformer: the own row is mixed in by a gate
  bool share_weights = false;            // GATv2: one linear map for both ends
  LoopFill loop_fill = LoopFill::kMean;  // GAT, GATv2 with edge features and self_loops
  double loop_value = 0;                 // of LoopFill::kConstant
  DegreeNorm degree_norm = DegreeNorm::kBoth;
  // GIN, GINE, EdgeConv of PyG's:
  int32_t mlp_layers = 2;  // linear layers of its networks, 1 to 8; 0: DGL's GIN without a network
  bool train_eps = false;
  double eps = 0;
  // R-GCN; `aggregation` mean, sum or max, of DGL's sum. At most one of bases and blocks is above
  // 0.
  int64_t relations = 0;
  int64_t bases = 0;   // matrices that those of the relations are sums of
  int64_t blocks = 0;  // of block-diagonal matrices
  // DGL's R-GCN: each row of the sums normalized; DGL's EdgeConv: batch norm of the rows of edges.
  bool inner_norm = false;
  // PNA, where none stands for mean, min, max and deviation; PyG's GraphSAGE, in place of
  // `aggregation`: what all of them give beside each other.
  std::vector<PnaReduction> reductions;
  // PNA:
  std::vector<PnaScaler> scalers{PnaScaler::kIdentity, PnaScaler::kAmplification,
                                 PnaScaler::kAttenuation};
  int32_t pre_layers = 1, post_layers = 1;  // linear layers of each tower, 1 to 8
  int32_t towers = 1;
  bool divide_input = false;  // each tower reads its share of the columns
  // Means of the in-degree and of log(degree + 1) over the training graph's nodes.
  double average_degree = 0, average_log_degree = 0;
  bool train_norm = false;  // these two are learned

  // What edges carry: the graph's edge tensors of these names, the first that it has of
  // "edge_attr", "x" and "feat"; of "edge_weight" and "weight"; of "edge_type", "type" and
  // "edge_label", which R-GCN reads.
  // GINE, GAT and GATv2 of PyG's, transformer, PNA: columns of edge features, 0: none.
  int64_t edge_dim = 0;
  bool plain_edges = false;  // GINE: no linear map of them, which are as wide as every layer's rows
  bool edge_weights = false;  // GCN, GraphConv; of DGL's: GraphSAGE, GCN, GAT, GIN, R-GCN
  // Features are numbers of categories, column k one of node_vocabulary[k], and the layers read the
  // sum of a learned row for each, hidden_dim wide. As many as input_dim; empty: plain numbers.
  std::vector<int64_t> node_vocabulary;
  // The same of edge features; the layers read edge_dim columns.
  std::vector<int64_t> edge_vocabulary;
  // Of kLayers alone, which has input_dim, dtype and seed; the rest follows from them.
  std::vector<LayerConfig> layers;

  bool act_first = false;
  double dropout = 0.0;        // on hidden rows
  double input_dropout = 0.0;  // on the features; on the stored values where they are sparse
  // In training, as if the sampler had drawn fewer: each edge of each layer; and each node, with
  // which all edges from it and to it go, in all layers.
  double edge_dropout = 0.0, node_dropout = 0.0;
  Readout readout = Readout::kNone;  // logits are those of the batch's graphs
  // On what the last linear layer reads, or, with Jumping::kScores, on each score.
  double output_dropout = 0.0;
  int32_t readout_steps = 3;              // of Readout::kSet2Set, 1 to 100
  int32_t sort_rows = 30;                 // of Readout::kSort, 1 to 10000
  base::DType dtype = base::DType::kF32;  // f32 or f64
  uint64_t seed = 0;                      // of the initial weights
  // Error(kInvalidArgument) naming the field.
  void check() const;
  // What `aggregation` says, or where that is the default that of the framework's layer: the sum
  // for GIN, GINE, GraphConv and DGL's R-GCN, the maximum for EdgeConv, else the mean.
  Aggregation reduction() const;
  // PNA's, of which an empty list is the four that it has by default.
  std::vector<PnaReduction> pna_reductions() const;
  int64_t output_width() const;  // columns of the logits
  bool reads_features() const { return input == Input::kFeatures; }
  // Columns that the first layer reads.
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
  // In front of its keys, as "conv1"; of layers with parameters, each another.
  std::string name;
  // kConv, kLinear: output_dim columns. Beside that count: of kConv what is said of its
  // architecture, and `dropout` of attention; of kLinear bias; of kNorm norm and norm_options;
  // of kActivation activation; of kDropout dropout; of kReadout readout with its options.
  ModelConfig options;
};

// Columns of a readout's rows from `width` columns of a node's.
int64_t readout_width(const ModelConfig& config, int64_t width);

}  // namespace gnnmg::nn
