// The settings of a model, each once: name, member of ModelConfig, range, architectures that have
// it, help for users. Checks, files of weights, agreed fields, checkpoints and the settings of
// gnnmg_model_create() are made from this list. The default is the member's own.
#pragma once

#include <limits>

#include "nn/config/config.h"

namespace gnnmg::nn {

using Architectures = uint32_t;  // a set

template <typename... T>
constexpr Architectures of(T... architectures) {
  return ((Architectures{1} << static_cast<int>(architectures)) | ... | 0);
}

// Tells if a file of weights and the model that reads it must have equal values.
enum class InFile {
  kEqual,  // results depend on it
  kFree    // only training depends on it, or initial weights, or the precision
};

// Range of a number. Flags, words and texts have none.
struct Range {
  double low, high;
  bool open = false;  // below `high`
};

// Entries of a list of words, and of a list of numbers.
inline constexpr size_t kMostReductions = 8, kMostColumns = 16;

struct Setting {
  const char* name;
  InFile in_file;
  Range range;
  Architectures pyg, dgl;  // architectures that have the setting, by framework
  const char* help;

  bool belongs_to(const ModelConfig& config) const {
    return ((config.framework == Framework::kDgl ? dgl : pyg) & of(config.architecture)) != 0;
  }
};

namespace setting_list {

using enum Architecture;
using enum InFile;

#define GNNMG_KIND(constant, ...) of(constant) |
#define GNNMG_KIND_HELP(constant, word, end, name, dgl, help) "\n" #word ": " help
inline constexpr Architectures kNone = 0, kAll = GNNMG_LAYER_KINDS(GNNMG_KIND) 0,
                               kReadyMade = kAll & ~of(kLayers);
#undef GNNMG_KIND
inline constexpr Architectures kAttention = of(kGat, kGatv2),
                               kHeads = kAttention | of(kTransformer),
                               kLooping = kAttention | of(kGcn), kGins = of(kGin, kGine),
                               kNetworks = kGins | of(kEdge),
                               kRooted = of(kSage, kRelation, kTransformer),
                               kReducingDgl = of(kSage, kGin, kRelation, kEdge),
                               kReducing = kReducingDgl | of(kGine, kGraphConv);

inline constexpr double kInfinite = std::numeric_limits<double>::infinity();
inline constexpr double kLargest = std::numeric_limits<double>::max();
constexpr Range from_to(double low, double high) { return {low, high}; }
inline constexpr Range kAny{-kInfinite, kInfinite}, kFinite{-kLargest, kLargest}, kRate{0, 1, true},
    kWidth{1, 1 << 24}, kWidthOr0{0, 1 << 24}, kTypes{0, 1 << 20},
    kInputs{1, std::numeric_limits<int32_t>::max()};

// clang-format off
//        name                member                 in file range              PyG               DGL
#define GNNMG_MODEL_SETTINGS(SETTING)                                                                                  \
  SETTING(architecture,       architecture,          kEqual, kAny,              kAll,             kAll,                \
          "Layers of the model." GNNMG_LAYER_KINDS(GNNMG_KIND_HELP))                                                   \
  SETTING(framework,          framework,             kEqual, kAny,              kReadyMade,       kReadyMade,          \
          "Framework whose layer definitions and tensor keys the model follows.\n"                                     \
          "pyg: PyTorch Geometric.\n"                                                                                  \
          "dgl: DGL, whose layers add no self-loops, use the degrees of the block, and give a tied maximum one "       \
          "winner.")                                                                                                   \
  SETTING(input,              input,                 kEqual, kAny,              kAll,             kAll,                \
          "Input of the first layer. Without features, input_dim is the number of nodes, the data set needs no "       \
          "features, and the model accepts only graphs of that size.\n"                                                \
          "features: features of the nodes.\n"                                                                         \
          "embedding: a learned row of hidden_dim columns for each node, also for architecture=layers.\n"              \
          "nodes: PyG's R-GCN, the node itself, as if the features were the unit matrix.")                             \
  SETTING(input_dim,          input_dim,             kEqual, kInputs,           kAll,             kAll,                \
          "Columns of the features, or the number of nodes if input is not features. 0: from the data set.")           \
  SETTING(hidden_dim,         hidden_dim,            kEqual, kWidth,            kAll,             kAll,                \
          "Columns between layers.")                                                                                   \
  SETTING(output_dim,         output_dim,            kEqual, kWidthOr0,         kAll,             kAll,                \
          "Columns of the result. 0: classes of the data set; -1: the last layer is like the others, hidden_dim "      \
          "wide, as in PyG's model classes without out_channels.")                                                     \
  SETTING(num_layers,         num_layers,            kEqual, from_to(1, 10),    kAll,             kAll,                \
          "Number of layers, equal to the sampler's.")                                                                 \
  SETTING(aggregation,        aggregation,           kEqual, kAny,              kReducing,        kReducingDgl,        \
          "Aggregation of a node's neighbors in GraphSAGE, GIN, GINE, GraphConv, R-GCN and EdgeConv.\n"                \
          "default: sum for GIN, GINE, GraphConv and DGL's R-GCN, max for EdgeConv, mean for GraphSAGE and R-GCN.\n"   \
          "mean: mean of each column.\n"                                                                               \
          "max: maximum of each column, not for DGL's GraphSAGE.\n"                                                    \
          "sum: sum of each column, not for DGL's GraphSAGE.\n"                                                        \
          "pool: DGL's maximum after a linear layer and ReLU.\n"                                                       \
          "lstm: GraphSAGE's recurrent network over the neighbors in edge order.\n"                                    \
          "gcn: DGL's mean of the neighbors and the node itself.")                                                     \
  SETTING(activation,         activation,            kEqual, kAny,              kReadyMade,       kReadyMade,          \
          "Function between layers.\n"                                                                                 \
          "relu: max(x, 0).\n"                                                                                         \
          "none: x.\n"                                                                                                 \
          "elu: x, or exp(x) - 1 below 0.\n"                                                                           \
          "leaky_relu: x, or 0.01 x below 0.\n"                                                                        \
          "gelu: x times the normal distribution function.\n"                                                          \
          "tanh: tanh(x).\n"                                                                                           \
          "prelu: x, or a learned multiple of x below 0.\n"                                                            \
          "silu: x / (1 + exp(-x)).\n"                                                                                 \
          "sigmoid: 1 / (1 + exp(-x)).")                                                                               \
  SETTING(norm,               norm,                  kEqual, kAny,              kReadyMade,       kReadyMade,          \
          "Normalization between layers, and between the linear layers inside GIN, GINE and PyG's EdgeConv. A "        \
          "graph is each graph of a batch of graphs, otherwise all rows at hand.\n"                                    \
          "none: no normalization.\n"                                                                                  \
          "batch: each column over the mini-batch.\n"                                                                  \
          "layer: each row.\n"                                                                                         \
          "layer_graph: all entries of a graph together, as PyG's LayerNorm.\n"                                        \
          "graph: each column over a graph, minus a learned share of its mean.\n"                                      \
          "instance: each column over a graph.\n"                                                                      \
          "pair: columns centered over a graph, then all its rows scaled to a mean square length of norm_scale.\n"     \
          "pair_rows: columns centered over a graph, then each row scaled to the length norm_scale.")                  \
  SETTING(norm_scale,         norm_options.scale,    kEqual, kAny,              kReadyMade,       kReadyMade,          \
          "norm=pair and norm=pair_rows: length of the rows. -1: the number of columns, as PyG's model classes "       \
          "use if given only the name.")                                                                               \
  SETTING(norm_epsilon,       norm_options.epsilon,  kEqual, kAny,              kReadyMade,       kReadyMade,          \
          "Norms: number that is added below the root.")                                                               \
  SETTING(norm_momentum,      norm_options.momentum, kFree,  kAny,              kReadyMade,       kReadyMade,          \
          "norm=batch: weight of new statistics in the running ones. -1: plain mean over all.")                        \
  SETTING(norm_affine,        norm_options.affine,   kEqual, kAny,              kReadyMade,       kReadyMade,          \
          "Batch, layer and instance norms: a learned weight and bias per column at the end.\n"                        \
          "default: on for batch and layer norms, off for instance norm.\n"                                            \
          "on: a weight and a bias.\n"                                                                                 \
          "off: neither.")                                                                                             \
  SETTING(skip,               skip,                  kEqual, kAny,              kReadyMade,       kReadyMade,          \
          "Connections around a layer.\n"                                                                              \
          "none: no connections.\n"                                                                                    \
          "linear: adds a linear map of each layer's input to its output, and a linear layer gives the result.\n"      \
          "residual: residual blocks that begin with the norm, between linear layers.")                                \
  SETTING(weight_init,        init,                  kFree,  kAny,              kAll,             kAll,                \
          "Distribution of the initial weights.\n"                                                                     \
          "pyg: default of each layer in PyG, or in DGL for DGL's layers, uniform within 1 / sqrt(fan in), GCN "       \
          "and attention Glorot, biases 0.\n"                                                                          \
          "glorot: Glorot uniform, biases 0.\n"                                                                        \
          "dgl: default of each layer in DGL, Glorot uniform with gain sqrt 2, attention Glorot normal, GCN with "     \
          "gain 1, biases 0.")                                                                                         \
  SETTING(jumping,            jumping,               kEqual, kAny,              kReadyMade,       kReadyMade,          \
          "Combination of the layers' outputs. Except for none, norm, activation and dropout follow every layer, "     \
          "and a linear layer gives the result.\n"                                                                     \
          "none: the last layer gives the result.\n"                                                                   \
          "last: output of the last layer.\n"                                                                          \
          "cat: outputs of all layers, concatenated.\n"                                                                \
          "max: maximum over all layers, entry by entry.\n"                                                            \
          "lstm: sum of the outputs, weighted by attention, whose scores a bidirectional recurrent network over "      \
          "the layers computes.\n"                                                                                     \
          "scores: GIN's sum of readouts of the features and of every layer's output, each after its own linear "      \
          "layer, which needs a readout.")                                                                             \
  SETTING(act_first,          act_first,             kEqual, kAny,              kReadyMade,       kReadyMade,          \
          "1: activation before norm.")                                                                                \
  SETTING(bias,               bias,                  kEqual, kAny,              kReadyMade,       kReadyMade,          \
          "1: layers add a bias.")                                                                                     \
  SETTING(root_weight,        root_weight,           kEqual, kAny,              kRooted,          of(kRelation),       \
          "GraphSAGE, R-GCN, transformer. 1: a layer also maps the node's own row.")                                   \
  SETTING(normalize,          normalize,             kEqual, kAny,              of(kSage),        kNone,               \
          "GraphSAGE. 1: scale each output row of a layer to unit length.")                                            \
  SETTING(project,            project,               kEqual, kAny,              of(kSage),        kNone,               \
          "GraphSAGE. 1: first apply a linear map and ReLU to the sources.")                                           \
  SETTING(self_loops,         self_loops,            kEqual, kAny,              kLooping,         kLooping,            \
          "GCN, GAT, GATv2. 1: one self-loop per node replaces those of the graph. DGL's layers add none with "        \
          "either value.")                                                                                             \
  SETTING(block_degrees,      block_degrees,         kEqual, kAny,              of(kGcn),         kNone,               \
          "PyG's GCN. 0: degrees of the whole graph, so that the sampled edges stand for all; 1: degrees of the block, "     \
          "as PyG on a sampled graph.")                                                                                \
  SETTING(degree_norm,        degree_norm,           kEqual, kAny,              of(kGcn),         of(kGcn),            \
          "GCN: normalization of the sum over the neighbors.\n"                                                        \
          "both: divides each row by the roots of the degrees of both ends.\n"                                         \
          "right: DGL's division by the target's degree, the mean.\n"                                                  \
          "left: DGL's division of each row by its source's degree.\n"                                                 \
          "none: plain sum, in PyG only without self_loops.")                                                          \
  SETTING(improved,           improved,              kEqual, kAny,              of(kGcn),         kNone,               \
          "PyG's GCN with edge weights. 1: added self-loops have weight 2.")                                           \
  SETTING(heads,              heads,                 kEqual, from_to(1, 64),    kHeads,           kAttention,          \
          "GAT, GATv2, transformer: number of attention heads. It must divide hidden_dim unless concat=0.")            \
  SETTING(output_heads,       output_heads,          kEqual, from_to(0, 64),    kHeads,           kAttention,          \
          "GAT, GATv2, transformer: heads of the layer that gives the result, which takes their mean. 0: as "          \
          "heads.")                                                                                                    \
  SETTING(concat,             concat,                kEqual, kAny,              kHeads,           kAttention,          \
          "GAT, GATv2, transformer. 1: concatenate the heads; 0: take their mean. The layer that gives the result "    \
          "takes the mean.")                                                                                           \
  SETTING(residual,           residual,              kEqual, kAny,              kAttention,       kAttention,          \
          "GAT, GATv2. 1: add a linear map of the node's own row.")                                                    \
  SETTING(negative_slope,     slope,                 kEqual, kFinite,           kAttention,       kAttention,          \
          "GAT, GATv2: slope of the leaky function below 0.")                                                          \
  SETTING(share_weights,      share_weights,         kEqual, kAny,              of(kGatv2),       of(kGatv2),          \
          "GATv2. 1: one linear map for both ends of an edge.")                                                        \
  SETTING(beta,               beta,                  kEqual, kAny,              of(kTransformer), kNone,               \
          "Transformer. 1: a gate mixes in the node's own row.")                                                       \
  SETTING(mlp_layers,         mlp_layers,            kEqual, from_to(0, 8),     kNetworks,        of(kGin),            \
          "GIN, GINE, EdgeConv: linear layers of their networks. 0: DGL's GIN without apply_func, with rows of "       \
          "equal width.")                                                                                              \
  SETTING(train_eps,          train_eps,             kEqual, kAny,              kGins,            of(kGin),            \
          "GIN, GINE. 1: learn the weight of the node's own row.")                                                     \
  SETTING(eps,                eps,                   kEqual, kFinite,           kGins,            of(kGin),            \
          "GIN, GINE: weight of the node's own row, minus 1.")                                                         \
  SETTING(num_relations,      relations,             kEqual, kTypes,            of(kRelation),    of(kRelation),       \
          "R-GCN: number of edge types. The types are the first integer tensor of the edge tensors edge_type, "        \
          "type and edge_label. 0: from the data set.")                                                                \
  SETTING(num_bases,          bases,                 kEqual, kTypes,            of(kRelation),    of(kRelation),       \
          "R-GCN: number of basis matrices, whose weighted sums are the matrices of the types. 0: one matrix per "     \
          "type.")                                                                                                     \
  SETTING(num_blocks,         blocks,                kEqual, kTypes,            of(kRelation),    of(kRelation),       \
          "R-GCN: blocks of block-diagonal matrices. 0: full matrices.")                                               \
  SETTING(loop_fill,          loop_fill,             kEqual, kAny,              kAttention,       kNone,               \
          "Edge features of the self-loops that PyG's GAT and GATv2 add (self_loops), computed from the other "        \
          "edges into the node; 0 without such edges.\n"                                                               \
          "mean: mean of each column.\n"                                                                               \
          "sum: sum of each column.\n"                                                                                 \
          "max: maximum of each column.\n"                                                                             \
          "min: minimum of each column.\n"                                                                             \
          "constant: loop_value in every column.")                                                                     \
  SETTING(loop_value,         loop_value,            kEqual, kFinite,           kReadyMade,       kReadyMade,          \
          "Value for loop_fill=constant.")                                                                             \
  SETTING(plain_edges,        plain_edges,           kEqual, kAny,              of(kGine),        kNone,               \
          "GINE. 1: no linear map of edge features, which must have as many columns as the rows of every layer.")      \
  SETTING(inner_norm,         inner_norm,            kEqual, kAny,              kNone,            of(kRelation, kEdge),\
          "1: DGL's R-GCN normalizes each row of its sums, and DGL's EdgeConv applies batch norm to the rows of "      \
          "edges.")                                                                                                    \
  SETTING(reductions,         reductions,            kEqual, kAny,              of(kSage, kPna),  kNone,               \
          "PNA: reductions of the messages into a node; if none is given, mean, min, max and deviation. PyG's "        \
          "GraphSAGE: concatenates these reductions, in place of aggregation. deviation is the standard "              \
          "deviation.")                                                                                                \
  SETTING(train_norm,         train_norm,            kEqual, kAny,              of(kPna),         kNone,               \
          "PNA. 1: learn average_degree and average_log_degree.")                                                      \
  SETTING(scalers,            scalers,               kEqual, kAny,              of(kPna),         kNone,               \
          "PNA: factors of each reduction; d is the number of edges into the node.\n"                                  \
          "identity: 1.\n"                                                                                             \
          "amplification: log(d + 1) / average_log_degree.\n"                                                          \
          "attenuation: average_log_degree / log(d + 1), d at least 1.\n"                                              \
          "linear: d / average_degree.\n"                                                                              \
          "inverse_linear: average_degree / d, d at least 1.")                                                         \
  SETTING(pre_layers,         pre_layers,            kEqual, from_to(1, 8),     of(kPna),         kNone,               \
          "PNA: linear layers before the reductions, with ReLU between them.")                                         \
  SETTING(post_layers,        post_layers,           kEqual, from_to(1, 8),     of(kPna),         kNone,               \
          "PNA: linear layers after the reductions, with ReLU between them.")                                          \
  SETTING(towers,             towers,                kEqual, from_to(1, 64),    of(kPna),         kNone,               \
          "PNA: number of parallel networks, each for its share of the output.")                                       \
  SETTING(divide_input,       divide_input,          kEqual, kAny,              of(kPna),         kNone,               \
          "PNA. 1: each tower reads only its share of the columns.")                                                   \
  SETTING(average_degree,     average_degree,        kEqual, kAny,              of(kPna),         kNone,               \
          "PNA: mean number of edges into a node. 0: from the data set.")                                              \
  SETTING(average_log_degree, average_log_degree,    kEqual, kAny,              of(kPna),         kNone,               \
          "PNA: mean of log(number of edges into a node + 1). 0: from the data set.")                                  \
  SETTING(edge_dim,           edge_dim,              kEqual, kWidthOr0,         kReadyMade,       kReadyMade,          \
          "GINE, GAT, GATv2, transformer, PNA: columns of edge features, which are the first of the edge tensors "     \
          "edge_attr, x and feat. 0: none, but for GINE from the data set; -1: from the data set.")                    \
  SETTING(edge_weights,       edge_weights,          kEqual, kAny,              kReadyMade,       kReadyMade,          \
          "GCN, GraphConv, and DGL's GraphSAGE, GCN, GAT, GIN and R-GCN. 1: weight edges by the edge tensor "          \
          "edge_weight, or else weight.")                                                                              \
  SETTING(node_vocabulary,    node_vocabulary,       kEqual, kWidth,            kReadyMade,       kReadyMade,          \
          "Categories of each feature column: the features are integers, and the layers read the sum of the "          \
          "learned rows of all columns, hidden_dim wide.")                                                             \
  SETTING(edge_vocabulary,    edge_vocabulary,       kEqual, kWidth,            kReadyMade,       kReadyMade,          \
          "Categories of each column of edge features, as node_vocabulary; the layers read edge_dim columns.")         \
  SETTING(readout,            readout,               kEqual, kAny,              kAll,             kAll,                \
          "Combination of a graph's node rows into one row of the result, for batches of graphs.\n"                    \
          "none: the result has one row per seed.\n"                                                                   \
          "sum: sum of each column.\n"                                                                                 \
          "mean: mean of each column.\n"                                                                               \
          "max: maximum of each column.\n"                                                                             \
          "attention: sum weighted by a softmax over scores, which a linear layer computes.\n"                         \
          "set2set: a recurrent network that reads the rows readout_steps times; the result is twice as wide.\n"       \
          "sort: the sort_rows rows that are largest in the last column, concatenated, with zeros if there are "       \
          "fewer.")                                                                                                    \
  SETTING(readout_steps,      readout_steps,         kEqual, from_to(1, 100),   kReadyMade,       kReadyMade,          \
          "readout=set2set: number of steps.")                                                                         \
  SETTING(sort_rows,          sort_rows,             kEqual, from_to(1, 10000), kReadyMade,       kReadyMade,          \
          "readout=sort: number of rows.")                                                                             \
  SETTING(dropout,            dropout,               kFree,  kRate,             kReadyMade,       kReadyMade,          \
          "Share of hidden entries and of attention weights that training sets to 0.")                                 \
  SETTING(input_dropout,      input_dropout,         kFree,  kRate,             kReadyMade,       kReadyMade,          \
          "Share of features that training sets to 0.")                                                                \
  SETTING(output_dropout,     output_dropout,        kFree,  kRate,             kReadyMade,       kReadyMade,          \
          "Share of the final linear layer's input, or with jumping=scores of each score, that training sets to "      \
          "0.")                                                                                                        \
  SETTING(edge_dropout,       edge_dropout,          kFree,  kRate,             kAll,             kAll,                \
          "Share of edges that training drops in each layer, as if not sampled.")                                      \
  SETTING(node_dropout,       node_dropout,          kFree,  kRate,             kAll,             kAll,                \
          "Share of nodes whose edges training drops in all layers.")                                                  \
  SETTING(dtype,              dtype,                 kFree,  kAny,              kAll,             kAll,                \
          "Type of the parameters.")                                                                                   \
  SETTING(seed,               seed,                  kFree,  kAny,              kAll,             kAll,                \
          "Seed of the initial weights.")
// clang-format on

// Calls visit(setting, member of each config...) for every setting.
template <typename Visit, typename... Config>
void visit_settings(const Visit& visit, Config&... configs) {
#define GNNMG_VISIT(name, member, ...) visit(Setting{#name, __VA_ARGS__}, configs.member...);
  GNNMG_MODEL_SETTINGS(GNNMG_VISIT)
#undef GNNMG_VISIT
}

}  // namespace setting_list

using setting_list::visit_settings;

}  // namespace gnnmg::nn
