#include "nn/config/layer_config.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "base/error.h"
#include "nn/config/choices.h"
#include "nn/config/option_check.h"

namespace gnnmg::nn {
namespace {

using base::fail;
using base::Status;
using Kind = LayerConfig::Kind;

constexpr int64_t kMaxLayerWidth = int64_t{1} << 24;

bool has_parameters(const LayerConfig& layer) {
  const ModelConfig& o = layer.options;
  switch (layer.kind) {
    case Kind::kConv:
    case Kind::kLinear:
      return true;
    case Kind::kNorm:
      return o.norm == Norm::kBatch || learns(o.norm, o.norm_options.affine);
    case Kind::kActivation:
      return o.activation == Activation::kPrelu;
    case Kind::kReadout:
      return o.readout == Readout::kAttention || o.readout == Readout::kSet2Set;
    case Kind::kDropout:
      break;
  }
  return false;
}

// True for module names separated by dots, as in a prefix of state dict keys.
bool is_key(const std::string& name) {
  return !name.empty() && name.front() != '.' && name.back() != '.' &&
         name.find("..") == std::string::npos && std::ranges::all_of(name, [](char c) {
           return c == '.' || c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                  (c >= 'A' && c <= 'Z');
         });
}

// True if the layer is a norm with a name inside a convolution's, such as "conv1.norm" in DGL's
// SAGEConv; no convolution has other tensors under such keys.
bool is_inner_norm(const LayerConfig& layer, const std::string& conv) {
  return layer.kind == Kind::kNorm && layer.name == conv + ".norm";
}

// Checks the options of a convolution as for a model of that one layer. With `nodes` it reads the
// nodes themselves.
void check_conv(const ModelConfig& layer, int64_t in, bool nodes) {
  ModelConfig alone = layer;
  alone.input_dim = in;
  alone.hidden_dim = alone.output_dim;
  alone.num_layers = 1;
  if (alone.skip != Skip::kNone || alone.jumping != Jumping::kNone ||
      alone.readout != Readout::kNone || alone.activation == Activation::kPrelu ||
      !alone.reads_features() || alone.input_dropout != 0 || alone.edge_dropout != 0 ||
      alone.node_dropout != 0 || !alone.node_vocabulary.empty() || !alone.edge_vocabulary.empty() ||
      alone.output_heads != 0)
    fail(Status::kInvalidArgument,
         "a convolution has no input, dropout of features, edges or nodes, skip, jumping, readout, "
         "learned function, categories or output_heads of its own: these are options of whole "
         "models");
  if ((alone.norm != Norm::kNone || alone.act_first) && !has_network(alone))
    fail(Status::kInvalidArgument,
         "a convolution's norm, and act_first, are those in GIN's and EdgeConv's networks, and "
         "this is ",
         name_of(alone.architecture), ": add a layer of it");
  if (alone.norm != Norm::kNone && alone.mlp_layers <= 1)
    fail(Status::kInvalidArgument, "mlp_layers is ", alone.mlp_layers,
         ", and a convolution's norm stands between the linear layers of its "
         "network: add a layer of it");
  if (alone.act_first && alone.norm == Norm::kNone)
    fail(Status::kInvalidArgument,
         "act_first is on, and there is no norm in the network that the function could stand in "
         "front of");
  if (alone.dropout != 0 && !attends(alone.architecture))
    fail(Status::kInvalidArgument, "dropout of a convolution is that of attention, and this is ",
         name_of(alone.architecture), ": add a layer of dropout");
  if (alone.activation != Activation::kRelu && !has_network(alone))
    fail(Status::kInvalidArgument,
         "a convolution's activation is that in GIN's and EdgeConv's networks, and this "
         "is ",
         name_of(alone.architecture), ": add a layer of it");
  if (nodes) alone.input = Input::kNodes;
  alone.check();
}

void check_dropouts(const ModelConfig& c) {
  for (const auto& [name, rate] :
       {std::pair("edge_dropout", c.edge_dropout), std::pair("node_dropout", c.node_dropout)})
    if (!(rate >= 0 && rate < 1))
      fail(Status::kInvalidArgument, "model: ", name, " is ", rate,
           ", expected at least 0 and below 1");
}

class Checker {
 public:
  explicit Checker(ModelConfig& config) : config_(config), width_(config.first_width()) {
    if (config.input == Input::kEmbedding) names_.insert("embedding");
  }

  void add(const LayerConfig& layer) {
    const ModelConfig& o = layer.options;
    const bool first = std::exchange(first_, false);
    if (first && config_.input == Input::kNodes && layer.kind != Kind::kConv)
      fail(Status::kInvalidArgument,
           "the model's input is the nodes themselves, which have no rows: expected a convolution "
           "of R-GCN's");
    if (layer.kind == Kind::kConv || layer.kind == Kind::kLinear) {
      if (o.output_dim < 1 || o.output_dim > kMaxLayerWidth)
        fail(Status::kInvalidArgument, "output_dim is ", o.output_dim, ", expected 1 to ",
             kMaxLayerWidth);
    }
    if (has_parameters(layer)) {
      if (!is_key(layer.name))
        fail(Status::kInvalidArgument, "its name is '", layer.name,
             "', expected letters, digits, '_' and inner dots, as in 'conv1'");
      for (const std::string& other : names_)
        if (other == layer.name || other.starts_with(layer.name + ".") ||
            (layer.name.starts_with(other + ".") && !is_inner_norm(layer, other)))
          fail(Status::kInvalidArgument, "its name is '", layer.name, "', and there is a layer '",
               other, "' already");
      names_.insert(layer.name);
    }
    switch (layer.kind) {
      case Kind::kConv:
        conv(o, first && config_.input == Input::kNodes);
        break;
      case Kind::kLinear:
        width_ = o.output_dim;
        break;
      case Kind::kNorm:
        norm(o);
        break;
      case Kind::kActivation:
        if (o.activation < Activation::kRelu || o.activation > Activation::kSigmoid)
          fail(Status::kInvalidArgument, "there is no activation ", static_cast<int>(o.activation));
        break;
      case Kind::kDropout:
        if (!(o.dropout >= 0 && o.dropout < 1))
          fail(Status::kInvalidArgument, "dropout is ", o.dropout,
               ", expected at least 0 and below 1");
        break;
      case Kind::kReadout:
        readout(o);
        break;
    }
  }

  void finish(bool unfinished) {
    if (convs_ == 0 && !unfinished)
      fail(Status::kInvalidArgument, "model: none of its ", config_.layers.size(),
           " layers is a convolution, which mini-batches are made for; add one");
    config_.num_layers = convs_;
    config_.output_dim = width_;
    if (config_.input != Input::kEmbedding) config_.hidden_dim = width_;
    config_.readout = readout_;
  }

 private:
  void conv(const ModelConfig& o, bool nodes) {
    if (readout_ != Readout::kNone)
      fail(Status::kInvalidArgument, "after a readout there are no edges");
    if (++convs_ > 16) fail(Status::kInvalidArgument, "a model has at most 16 convolutions");
    check_conv(o, width_, nodes);
    if (o.edge_dim > 0 && edge_dim_ > 0 && o.edge_dim != edge_dim_)
      fail(Status::kInvalidArgument, "edge_dim is ", o.edge_dim,
           ", and a convolution before it reads ", edge_dim_, " columns of edge features");
    edge_dim_ = std::max(edge_dim_, o.edge_dim);
    width_ = o.output_dim;
  }

  void norm(const ModelConfig& o) const {
    if (o.norm <= Norm::kNone || o.norm > Norm::kPairRows)
      fail(Status::kInvalidArgument, "there is no norm ", static_cast<int>(o.norm));
    check_norm_options(o.norm, o.norm_options, "norm settings: ");
    if (over_graph(o.norm) && readout_ != Readout::kNone)
      fail(Status::kInvalidArgument, "after a readout a graph is one row: no norm over it");
  }

  void readout(const ModelConfig& o) {
    if (readout_ != Readout::kNone) fail(Status::kInvalidArgument, "there is a readout already");
    if (o.readout <= Readout::kNone || o.readout > Readout::kSort)
      fail(Status::kInvalidArgument, "there is no readout ", static_cast<int>(o.readout));
    if (o.readout_steps < 1 || o.readout_steps > 100 || o.sort_rows < 1 || o.sort_rows > 10000)
      fail(Status::kInvalidArgument, "readout_steps is ", o.readout_steps, " and sort_rows ",
           o.sort_rows, ", expected 1 to 100 and 1 to 10000");
    width_ = readout_width(o, width_);
    if (width_ > kMaxLayerWidth)
      fail(Status::kInvalidArgument, "its rows have ", width_, " columns, expected at most ",
           kMaxLayerWidth);
    readout_ = o.readout;
  }

  ModelConfig& config_;
  int64_t width_, edge_dim_ = 0;
  int32_t convs_ = 0;
  bool first_ = true;
  Readout readout_ = Readout::kNone;
  std::set<std::string> names_;
};

}  // namespace

void complete_layers(ModelConfig& config, bool unfinished) {
  const int64_t most =
      config.reads_features() ? kMaxLayerWidth : std::numeric_limits<int32_t>::max();
  if (config.input_dim < 1 || config.input_dim > most)
    fail(Status::kInvalidArgument, "model: input_dim is ", config.input_dim, ", expected 1 to ",
         most);
  if (config.input == Input::kEmbedding &&
      (config.hidden_dim < 1 || config.hidden_dim > kMaxLayerWidth))
    fail(Status::kInvalidArgument, "model: hidden_dim is ", config.hidden_dim, ", expected 1 to ",
         kMaxLayerWidth, " columns of the learned rows");
  check_options(config);
  check_dropouts(config);
  if (config.dtype != base::DType::kF32 && config.dtype != base::DType::kF64)
    fail(Status::kInvalidArgument, "model: dtype is ", base::dtype_name(config.dtype),
         ", expected f32 or f64");
  if (config.layers.size() > kMaxLayers)
    fail(Status::kInvalidArgument, "model: ", config.layers.size(), " layers, expected at most ",
         kMaxLayers);
  Checker checker(config);
  for (size_t i = 0; i < config.layers.size(); ++i) {
    const LayerConfig& layer = config.layers[i];
    try {
      checker.add(layer);
    } catch (const base::Error& error) {
      fail(error.status(), "layer ", i, ", ", word_of(layer.kind),
           layer.name.empty() ? "" : base::text(" '", layer.name, "'"), ": ", error.what());
    }
  }
  checker.finish(unfinished);
}

}  // namespace gnnmg::nn
