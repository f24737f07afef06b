#include "nn/model/layer_model.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/linear.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <utility>

#include "nn/config/layer_config.h"
#include "nn/conv/make_conv.h"
#include "nn/model/input.h"
#include "nn/torch/tensor.h"

namespace gnnmg::nn {

using Kind = LayerConfig::Kind;

// The state of a mini-batch between layers.
struct LayerModel::Pass {
  const ForwardArgs* args;
  ConvInput in;
  int64_t rows = 0;                      // number of rows of `in`
  std::span<const int64_t> graph_ptr{};  // graphs of the rows; empty after a readout
  std::vector<EdgeValues> edges{};

  // Returns the rows as a dense matrix.
  at::Tensor& dense(const Execution& execution) {
    if (in.sparse || in.ids || in.x.size(0) != rows) {
      ConvInput made;
      made.x = dense_rows(in, rows, execution);
      in = std::move(made);
    }
    return in.x;
  }
  void keep_hidden(const Layer& last, const Execution& execution) {
    if (!args->hidden) return;
    const int64_t count = last.conv ? args->blocks[last.block].num_targets : rows;
    *args->hidden = dense(execution).narrow(0, 0, count);
  }
};

LayerModel::LayerModel(const ModelConfig& config, const Device* device)
    : LayeredModel(config, device) {
  complete_layers(config_);
  int64_t width = config_.first_width();
  int blocks = 0;
  for (const LayerConfig& each : config_.layers) {
    const ModelConfig& options = each.options;
    Layer layer;
    layer.config = each;
    const int64_t in = width;
    const bool nodes = layers_.empty() && config_.input == Input::kNodes;
    switch (each.kind) {
      case Kind::kConv:
      case Kind::kLinear:
        width = options.output_dim;
        break;
      case Kind::kReadout:
        width = readout_width(options, in);
        break;
      case Kind::kNorm:
      case Kind::kActivation:
      case Kind::kDropout:
        break;
    }
    if (each.kind == Kind::kConv) {
      layer.conv =
          make_conv(options, {.in = in, .out = width, .nodes = nodes, .own_norm = true}, nullptr);
      layer.block = blocks++;
    }
    if (each.kind == Kind::kNorm) layer.norm = NormLayer(options.norm, in, options.norm_options);
    if (each.kind == Kind::kReadout) layer.readout = ReadoutLayer(options, in);
    layer.out = width;
    layers_.push_back(std::move(layer));
  }
  // The list stores pointers to tensors, so the layers must not move any more.
  ParameterList list(config_.init);
  if (config_.input == Input::kEmbedding) declare_embedding(list);
  width = config_.first_width();
  for (Layer& layer : layers_) {
    const LayerConfig& c = layer.config;
    const int64_t in = std::exchange(width, layer.out);
    if (c.kind == Kind::kLinear) {
      list.linear(c.name, layer.out, in, c.options.bias, layer.linear);
      continue;
    }
    if (c.name.empty()) continue;
    const ParameterList::Scope scope(list, c.name);
    if (layer.conv) layer.conv->declare(list);
    if (c.kind == Kind::kNorm) layer.norm.declare(list);
    if (c.kind == Kind::kReadout) layer.readout.declare(list);
    if (c.kind == Kind::kActivation && c.options.activation == Activation::kPrelu)
      list.constant("weight", {1}, 0.25, &layer.prelu);
  }
  parameters_ = ParameterSet(list, scalar_type(config_.dtype), config_.seed,
                             device ? device->torch() : at::Device(at::kCPU));
  std::vector<NormLayer*> norms;
  for (Layer& layer : layers_) {
    if (layer.conv)
      for (NormLayer* inner : layer.conv->norms()) norms.push_back(inner);
    if (layer.config.kind == Kind::kNorm) norms.push_back(&layer.norm);
  }
  statistics_ = BatchStatistics(norms);
}

void LayerModel::run_conv(const Layer& layer, std::span<Pass> passes, const Execution& execution,
                          bool training, const NormPass& norms) const {
  std::vector<ConvInput> inputs;
  std::vector<ConvPass> conv_passes;
  for (Pass& pass : passes) {
    const sample::BlockView& block = pass.args->blocks[layer.block];
    if (!pass.edges.empty()) {
      const EdgeValues& edges = pass.edges[layer.block];
      if (layer.config.options.edge_weights) pass.in.edge_weight = edges.weight;
      if (layer.config.options.edge_dim > 0) pass.in.edge_attr = edges.features;
      pass.in.edge_type = edges.type;
    }
    inputs.push_back(std::exchange(pass.in, {}));
    const Dropout attention = training
                                  ? dropout_of(pass.args->dropout, layer.config.options.dropout,
                                               kAttentionLayer + layer.block)
                                  : Dropout{};
    conv_passes.push_back({block, execution, Finish{}, attention, {}});
  }
  const std::vector<at::Tensor> results = layer.conv->forward_all(inputs, conv_passes, norms);
  for (size_t k = 0; k < passes.size(); ++k) {
    passes[k].in.x = results[k];
    passes[k].rows = results[k].size(0);
  }
}

void LayerModel::run_rows(const Layer& layer, std::span<Pass> passes, const Execution& execution,
                          bool training, const NormPass& norms) const {
  const ModelConfig& options = layer.config.options;
  if (layer.config.kind == Kind::kLinear) {
    for (Pass& pass : passes) {
      ConvInput made;
      made.x = times(pass.in, pass.rows, layer.linear, execution);
      pass.in = std::move(made);
    }
    return;
  }
  for (Pass& pass : passes) pass.dense(execution);
  if (layer.config.kind == Kind::kNorm) {
    std::vector<at::Tensor> rows;
    for (const Pass& pass : passes) rows.push_back(pass.in.x);
    NormPass own = norms;
    for (size_t k = 0; k < own.graphs.size(); ++k) own.graphs[k] = passes[k].graph_ptr;
    layer.norm.apply(rows, own);
    for (size_t k = 0; k < passes.size(); ++k) passes[k].in.x = rows[k];
    return;
  }
  const uint64_t number = static_cast<uint64_t>(&layer - layers_.data()) + 1;
  for (Pass& pass : passes) {
    at::Tensor& x = pass.in.x;
    if (layer.config.kind == Kind::kActivation) {
      x = options.activation == Activation::kRelu ? apply_finish(x, {true, {}}, execution)
                                                  : activate(options.activation, x, layer.prelu);
    } else if (layer.config.kind == Kind::kDropout && training) {
      x = apply_finish(x, {false, dropout_of(pass.args->dropout, options.dropout, number)},
                       execution);
    } else if (layer.config.kind == Kind::kReadout) {
      x = layer.readout.apply(x, pass.graph_ptr, execution);
      pass.rows = x.size(0);
      pass.graph_ptr = {};
    }
  }
}

std::vector<at::Tensor> LayerModel::run(std::span<const ForwardArgs> batches,
                                        const RunOptions& options) {
  const c10::AutoGradMode grad_mode(options.gradients);
  const bool training = options.training;
  const Execution execution = execution_of(batches, options);
  NormPass norms{training ? &statistics_ : nullptr, options.sum, {}, execution};
  for (const ForwardArgs& args : batches) norms.graphs.push_back(args.graph_ptr);
  if (training) statistics_.begin_pass();
  std::vector<Pass> passes;
  for (const ForwardArgs& args : batches) {
    Pass pass{.args = &args, .in = {}};
    pass.in = first_input({config_, {}, embedding_, {}, execution}, args);
    pass.rows = args.blocks[0].num_sources;
    pass.graph_ptr = args.graph_ptr;
    pass.edges = edges_of(known_, {}, args, execution);
    passes.push_back(std::move(pass));
  }
  const Layer* const last = last_with_weights();
  for (const Layer& layer : layers_) {
    if (&layer == last)
      for (Pass& pass : passes) pass.keep_hidden(layer, execution);
    if (!layer.conv) {
      run_rows(layer, passes, execution, training, norms);
      continue;
    }
    for (Pass& pass : passes) {
      const int64_t sources = pass.args->blocks[layer.block].num_sources;
      pass.in.degrees = degrees_of(*layer.conv, layer.config.options, *pass.args, sources);
      if (!pass.args->node_ids.empty()) pass.in.node_ids = pass.args->node_ids.data();
    }
    run_conv(layer, passes, execution, training, norms);
  }
  if (training) statistics_.end_pass();
  std::vector<at::Tensor> logits;
  for (const Pass& pass : passes) logits.push_back(pass.in.x);
  return logits;
}

const Layer* LayerModel::last_with_weights() const {
  const auto weighs = [](const Layer& layer) {
    return layer.config.kind == Kind::kConv || layer.config.kind == Kind::kLinear;
  };
  const auto last = std::find_if(layers_.rbegin(), layers_.rend(), weighs);
  if (last == layers_.rend() || std::none_of(last + 1, layers_.rend(), weighs)) return nullptr;
  const bool reads_out = std::any_of(layers_.rbegin(), last, [](const Layer& layer) {
    return layer.config.kind == Kind::kReadout;
  });
  return reads_out ? nullptr : &*last;
}

int64_t LayerModel::hidden_width() const {
  const Layer* const last = last_with_weights();
  return last ? (last - 1)->out : 0;
}

bool LayerModel::reads_degrees() const {
  return std::ranges::any_of(layers_, [](const Layer& layer) {
    return layer.conv && LayeredModel::reads_degrees(*layer.conv, layer.config.options);
  });
}

bool LayerModel::reads_weight_sums() const {
  return std::ranges::any_of(layers_, [](const Layer& layer) {
    return layer.conv && LayeredModel::reads_weight_sums(*layer.conv, layer.config.options);
  });
}

PieceNeeds LayerModel::piece_needs() const {
  PieceNeeds needs = own_piece_needs();
  for (const Layer& layer : layers_) {
    if (layer.conv) add_piece_needs(*layer.conv, layer.config.options, needs);
    if (layer.conv && layer.conv->normalizes_all_rows())
      needs.obstacle = "norms over all rows inside a layer";
    if (layer.config.kind == Kind::kNorm && over_graph(layer.config.options.norm))
      needs.all_nodes = true;
  }
  return needs;
}

std::unique_ptr<Model> LayerModel::clone_on(const Device* device) const {
  return filled(std::make_unique<LayerModel>(config_, device));
}

}  // namespace gnnmg::nn
