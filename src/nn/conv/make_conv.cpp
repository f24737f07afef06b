#include "nn/conv/make_conv.h"

#include "base/error.h"
#include "nn/conv/layers.h"

namespace gnnmg::nn {
namespace {

Reduce reduce_of(Aggregation aggregation) {
  switch (aggregation) {
    case Aggregation::kMean:
      return Reduce::kMean;
    case Aggregation::kMax:
      return Reduce::kMax;
    case Aggregation::kSum:
      return Reduce::kSum;
    case Aggregation::kDefault:
    case Aggregation::kPool:
    case Aggregation::kLstm:
    case Aggregation::kGcn:
      break;
  }
  base::fail(base::Status::kInternal, "aggregation ", static_cast<int>(aggregation),
             " has no kernel");
}

DglSageOptions::Aggregator aggregator_of(Aggregation aggregation) {
  using Aggregator = DglSageOptions::Aggregator;
  switch (aggregation) {
    case Aggregation::kPool:
      return Aggregator::kPool;
    case Aggregation::kLstm:
      return Aggregator::kLstm;
    case Aggregation::kGcn:
      return Aggregator::kGcn;
    default:
      return Aggregator::kMean;
  }
}

std::unique_ptr<Conv> sage(const ModelConfig& c, const ConvWidths& widths) {
  if (c.framework == Framework::kDgl) {
    DglSageOptions options;
    options.in = widths.in;
    options.out = widths.out;
    options.aggregator = aggregator_of(c.reduction());
    options.bias = c.bias;
    return make_dgl_sage_conv(options);
  }
  SageOptions options;
  options.in = widths.in;
  options.out = widths.out;
  options.reductions = c.reductions;
  options.lstm = c.reduction() == Aggregation::kLstm;
  if (!options.lstm) options.reduce = reduce_of(c.reduction());
  options.normalize = c.normalize;
  options.root_weight = c.root_weight;
  options.project = c.project;
  options.bias = c.bias;
  return make_sage_conv(options);
}

DglGraphOptions::Norm norm_of(DegreeNorm norm) {
  using Norm = DglGraphOptions::Norm;
  switch (norm) {
    case DegreeNorm::kRight:
      return Norm::kRight;
    case DegreeNorm::kLeft:
      return Norm::kLeft;
    case DegreeNorm::kNone:
      return Norm::kNone;
    case DegreeNorm::kBoth:
      break;
  }
  return Norm::kBoth;
}

std::unique_ptr<Conv> gcn(const ModelConfig& c, const ConvWidths& widths) {
  if (c.framework == Framework::kDgl) {
    DglGraphOptions options;
    options.in = widths.in;
    options.out = widths.out;
    options.norm = norm_of(c.degree_norm);
    options.bias = c.bias;
    return make_dgl_graph_conv(options);
  }
  GcnOptions options;
  options.in = widths.in;
  options.out = widths.out;
  options.improved = c.improved;
  options.normalize = c.degree_norm == DegreeNorm::kBoth;
  options.add_self_loops = c.self_loops;
  options.bias = c.bias;
  return make_gcn_conv(options);
}

int64_t heads_of(const ModelConfig& c, const ConvWidths& widths) {
  return widths.mean_of_heads && c.output_heads > 0 ? c.output_heads : c.heads;
}

std::unique_ptr<Conv> gat(const ModelConfig& c, const ConvWidths& widths) {
  GatOptions options;
  options.in = widths.in;
  options.heads = heads_of(c, widths);
  options.edge_dim = c.edge_dim;
  options.concat = c.concat && !widths.mean_of_heads;
  options.out = options.concat ? widths.out / options.heads : widths.out;
  options.v2 = c.architecture == Architecture::kGatv2;
  options.dgl = c.framework == Framework::kDgl;
  options.add_self_loops = c.self_loops;
  options.residual = c.residual;
  options.share_weights = c.share_weights;
  options.slope = c.slope;
  options.loops.fill = c.loop_fill;
  options.loops.value = c.loop_value;
  options.bias = c.bias;
  return make_gat_conv(options);
}

std::unique_ptr<Conv> gin(const ModelConfig& c, const ConvWidths& widths, at::Tensor* prelu) {
  GinOptions options;
  options.widths.assign(c.mlp_layers + 1, widths.out);
  options.widths[0] = widths.in;
  options.reduce = reduce_of(c.reduction());
  options.last_of_tied = c.framework == Framework::kDgl && options.reduce == Reduce::kMax;
  options.eps = c.eps;
  options.train_eps = c.train_eps;
  options.edges = c.architecture == Architecture::kGine;
  options.edge_dim = options.edges && !c.plain_edges ? c.edge_dim : 0;
  options.keys = c.framework == Framework::kDgl ? GinOptions::Keys::kDgl : GinOptions::Keys::kMlp;
  if (c.framework == Framework::kPyg || widths.own_norm) options.norm = c.norm;
  options.norm_options = c.norm_options;
  options.activation = c.activation;
  options.act_first = c.act_first;
  if (c.activation == Activation::kPrelu) options.prelu = prelu;
  return make_gin_conv(options);
}

std::unique_ptr<Conv> relation(const ModelConfig& c, const ConvWidths& widths) {
  RelationOptions options;
  options.in = widths.in;
  options.out = widths.out;
  options.features = !widths.nodes;
  options.relations = c.relations;
  options.bases = c.bases;
  options.blocks = c.blocks;
  options.reduce = reduce_of(c.reduction());
  options.dgl = c.framework == Framework::kDgl;
  options.layer_norm = c.inner_norm;
  options.root_weight = c.root_weight;
  options.bias = c.bias;
  return make_relation_conv(options);
}

std::unique_ptr<Conv> transformer(const ModelConfig& c, const ConvWidths& widths) {
  TransformerOptions options;
  options.in = widths.in;
  options.heads = heads_of(c, widths);
  options.edge_dim = c.edge_dim;
  options.concat = c.concat && !widths.mean_of_heads;
  options.out = options.concat ? widths.out / options.heads : widths.out;
  options.beta = c.beta;
  options.root_weight = c.root_weight;
  options.bias = c.bias;
  return make_transformer_conv(options);
}

std::unique_ptr<Conv> pna(const ModelConfig& c, const ConvWidths& widths) {
  PnaOptions options;
  options.in = widths.in;
  options.out = widths.out;
  options.edge_dim = c.edge_dim;
  options.reductions = c.pna_reductions();
  options.scalers = c.scalers;
  options.pre_layers = c.pre_layers;
  options.post_layers = c.post_layers;
  options.towers = c.towers;
  options.divide_input = c.divide_input;
  options.average_degree = c.average_degree;
  options.average_log_degree = c.average_log_degree;
  options.train_norm = c.train_norm;
  return make_pna_conv(options);
}

std::unique_ptr<Conv> edge(const ModelConfig& c, const ConvWidths& widths, at::Tensor* prelu) {
  EdgeOptions options;
  options.in = widths.in;
  options.dgl = c.framework == Framework::kDgl;
  options.batch_norm = options.dgl && c.inner_norm;
  options.reduce = reduce_of(c.reduction());
  options.mlp_keys = true;
  options.widths.assign(options.dgl ? 1 : c.mlp_layers + 1, widths.out);
  if (!options.dgl) options.widths[0] = 2 * widths.in;
  options.norm = c.norm;
  options.norm_options = c.norm_options;
  options.activation = c.activation;
  options.act_first = c.act_first;
  if (c.activation == Activation::kPrelu) options.prelu = prelu;
  return make_edge_conv(options);
}

std::unique_ptr<Conv> graph_conv(const ModelConfig& c, const ConvWidths& widths) {
  GraphOptions options;
  options.in = widths.in;
  options.out = widths.out;
  options.reduce = reduce_of(c.reduction());
  options.bias = c.bias;
  return make_graph_conv(options);
}

}  // namespace

std::unique_ptr<Conv> make_conv(const ModelConfig& config, const ConvWidths& widths,
                                at::Tensor* prelu) {
  switch (config.architecture) {
    case Architecture::kSage:
      return sage(config, widths);
    case Architecture::kGcn:
      return gcn(config, widths);
    case Architecture::kGat:
    case Architecture::kGatv2:
      return gat(config, widths);
    case Architecture::kGin:
    case Architecture::kGine:
      return gin(config, widths, prelu);
    case Architecture::kRelation:
      return relation(config, widths);
    case Architecture::kTransformer:
      return transformer(config, widths);
    case Architecture::kPna:
      return pna(config, widths);
    case Architecture::kGraphConv:
      return graph_conv(config, widths);
    case Architecture::kEdge:
      return edge(config, widths, prelu);
    case Architecture::kLayers:
      break;
  }
  base::fail(base::Status::kInternal, "architecture ", static_cast<int>(config.architecture),
             " has no layers");
}

}  // namespace gnnmg::nn
