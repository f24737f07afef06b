#include "nn/model/stack.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/stack.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "nn/conv/make_conv.h"
#include "nn/model/input.h"
#include "nn/model/layer_model.h"
#include "nn/ops/tensors.h"
#include "nn/torch/linear.h"
#include "nn/torch/tensor.h"

namespace gnnmg::nn {

namespace {

constexpr uint64_t kOutputLayer = 512;  // dropout after all layers

std::string indexed(const char* list, int64_t i) { return base::text(list, ".", i); }

// Return the widths of layer i.
int64_t layer_input(const ModelConfig& c, int i) {
  return i > 0 || c.skip == Skip::kResidual ? c.hidden_dim : c.first_width();
}
bool yields_output(const ModelConfig& c, int i) {
  return c.skip == Skip::kNone && c.jumping == Jumping::kNone && i == c.num_layers - 1;
}
int64_t layer_output(const ModelConfig& c, int i) {
  return yields_output(c, i) ? c.output_width() : c.hidden_dim;
}
// True if a linear layer computes the result.
bool has_output_layer(const ModelConfig& c) {
  return c.jumping != Jumping::kNone || (c.skip != Skip::kNone && c.output_dim > 0);
}
// Returns the columns that the layers produce for the following step.
int64_t jumped_width(const ModelConfig& c) {
  return c.jumping == Jumping::kCat ? c.hidden_dim * c.num_layers : c.hidden_dim;
}
int num_norms(const ModelConfig& c) {
  if (c.norm == Norm::kNone) return 0;
  if (c.jumping != Jumping::kNone) return c.num_layers;
  return c.skip == Skip::kNone     ? c.num_layers - 1
         : c.skip == Skip::kLinear ? c.num_layers
                                   : c.num_layers + 1;
}

}  // namespace

StackModel::StackModel(const ModelConfig& config, const Device* device)
    : LayeredModel(config, device) {
  config_.check();
  for (int i = 0; i < config_.num_layers; ++i) {
    StackLayer layer;
    layer.conv = make_conv(config_,
                           {layer_input(config_, i), layer_output(config_, i),
                            // PyG's models without an output width end with a hidden layer.
                            yields_output(config_, i) && config_.output_dim > 0,
                            i == 0 && config_.input == Input::kNodes},
                           &prelu_);
    if (i < num_norms(config_))
      layer.norm = NormLayer(config_.norm, config_.hidden_dim, config_.norm_options);
    layers_.push_back(std::move(layer));
  }
  if (num_norms(config_) > config_.num_layers)
    output_norm_ = NormLayer(config_.norm, config_.hidden_dim, config_.norm_options);
  readout_ = ReadoutLayer(
      config_, has_output_layer(config_) ? jumped_width(config_) : config_.output_width());
  const bool dgl = config_.framework == Framework::kDgl;
  ParameterList list(dgl && config_.init == Init::kPyg ? Init::kDgl : config_.init);
  declare(list);
  parameters_ = ParameterSet(list, scalar_type(config_.dtype), config_.seed,
                             device ? device->torch() : at::Device(at::kCPU));
  std::vector<NormLayer*> norms;
  for (StackLayer& layer : layers_) {
    // In the order of a pass: before the convolution in residual blocks, else after it.
    if (config_.skip == Skip::kResidual) norms.push_back(&layer.norm);
    for (NormLayer* inner : layer.conv->norms()) norms.push_back(inner);
    if (config_.skip != Skip::kResidual) norms.push_back(&layer.norm);
  }
  norms.push_back(&output_norm_);
  statistics_ = BatchStatistics(norms);
}

void StackModel::declare(ParameterList& list) {
  const ModelConfig& c = config_;
  if (c.activation == Activation::kPrelu) list.constant("act.weight", {1}, 0.25, &prelu_);
  if (c.input == Input::kEmbedding) declare_embedding(list);
  if (!c.node_vocabulary.empty())
    nodes_.declare(list, "atom_encoder.atom_embedding_list", c.node_vocabulary, c.hidden_dim);
  if (!c.edge_vocabulary.empty())
    edges_.declare(list, "bond_encoder.bond_embedding_list", c.edge_vocabulary, c.edge_dim);
  if (c.skip == Skip::kResidual) list.linear("lin_in", c.hidden_dim, c.first_width(), true, input_);
  for (int i = 0; i < c.num_layers; ++i) {
    const ParameterList::Scope scope(list, indexed(layer_list(c.framework), i));
    layers_[i].conv->declare(list);
  }
  if (c.skip == Skip::kLinear)
    for (int i = 0; i < c.num_layers; ++i)
      list.linear(indexed("lins", i), c.hidden_dim, layer_input(c, i), true, layers_[i].skip);
  for (int i = 0; i < num_norms(c); ++i) {
    const ParameterList::Scope scope(list, indexed("norms", i));
    (i < c.num_layers ? layers_[i].norm : output_norm_).declare(list);
  }
  if (c.jumping == Jumping::kLstm) layer_attention_.declare(list, "jk", c.hidden_dim, c.num_layers);
  if (c.jumping == Jumping::kScores) {
    scores_.resize(c.num_layers + 1);
    for (int i = 0; i <= c.num_layers; ++i)
      list.linear(indexed("lins", i), c.output_width(), i ? c.hidden_dim : c.first_width(), true,
                  scores_[i]);
    return;
  }
  {
    const ParameterList::Scope scope(list, "readout");
    readout_.declare(list);
  }
  if (has_output_layer(c))
    list.linear("lin", c.output_width(), readout_width(c, jumped_width(c)), true, output_);
}

bool StackModel::reads_degrees() const {
  return LayeredModel::reads_degrees(*layers_.front().conv, config_);
}

bool StackModel::reads_weight_sums() const {
  return LayeredModel::reads_weight_sums(*layers_.front().conv, config_);
}

int64_t StackModel::hidden_width() const {
  const ModelConfig& c = config_;
  if (c.jumping == Jumping::kScores) return 0;
  if (has_output_layer(c)) return readout_width(c, jumped_width(c));
  if (c.output_dim == 0) return c.output_width();
  return c.readout == Readout::kNone && c.num_layers > 1 ? c.hidden_dim : 0;
}

PieceNeeds StackModel::piece_needs() const {
  PieceNeeds needs = own_piece_needs();
  for (const StackLayer& layer : layers_) add_piece_needs(*layer.conv, config_, needs);
  needs.all_nodes = needs.all_nodes || over_graph(config_.norm);
  return needs;
}

bool StackModel::reads_input_by_source(bool sparse) const {
  // Rows that are learned or depend on learned parameters.
  const bool learned = config_.input == Input::kEmbedding || !config_.node_vocabulary.empty() ||
                       config_.skip == Skip::kResidual;
  return learned || layers_.front().conv->reads_by_source(sparse);
}

bool StackModel::plain_output(int layer) const { return yields_output(config_, layer); }

Finish StackModel::finish_of_conv(int layer, const Dropout& dropout) const {
  if (plain_output(layer)) return {};
  const bool norm_between = config_.norm != Norm::kNone && config_.skip != Skip::kResidual;
  if (norm_between) return {};
  if (config_.activation == Activation::kRelu) return {true, dropout};
  if (config_.activation == Activation::kNone) return {false, dropout};
  return {};
}

void StackModel::apply_norm(const NormLayer& norm, std::span<StackPass> passes,
                            const NormPass& norms) {
  std::vector<at::Tensor> rows;
  for (const StackPass& pass : passes) rows.push_back(pass.in.x);
  norm.apply(rows, norms);
  for (size_t i = 0; i < passes.size(); ++i) passes[i].in.x = rows[i];
}

void StackModel::after_conv(int layer, std::span<StackPass> passes, const Execution& execution,
                            const NormPass& norms) const {
  const bool norm_here = config_.norm != Norm::kNone && config_.skip != Skip::kResidual;
  if (plain_output(layer)) return;
  // The convolution has applied it already.
  if (!norm_here &&
      (config_.activation == Activation::kRelu || config_.activation == Activation::kNone))
    return;
  const bool act_first = norm_here && config_.act_first;
  if (act_first)
    for (StackPass& pass : passes) pass.in.x = activate(config_.activation, pass.in.x, prelu_);
  if (norm_here) apply_norm(layers_[layer].norm, passes, norms);
  const bool relu = !act_first && config_.activation == Activation::kRelu;
  for (StackPass& pass : passes) {
    if (!act_first && !relu) pass.in.x = activate(config_.activation, pass.in.x, prelu_);
    pass.in.x = apply_finish(pass.in.x, {relu, pass.dropout}, execution);
  }
}

at::Tensor StackModel::output(const at::Tensor& last, const std::vector<at::Tensor>& all,
                              const StackEnd& end, const Execution& execution) const {
  const auto read_out = [&](const at::Tensor& x) {
    return readout_.any() ? readout_.apply(x, end.graph_ptr, execution) : x;
  };
  const auto drop_out = [&](const at::Tensor& x, uint64_t number) {
    if (!end.training || config_.output_dropout == 0) return x;
    return apply_finish(
        x, {false, dropout_of(end.dropout, config_.output_dropout, kOutputLayer + number)},
        execution);
  };
  if (config_.jumping == Jumping::kScores) {
    at::Tensor sum;
    for (size_t i = 0; i < all.size(); ++i) {
      const at::Tensor score =
          drop_out(torch_linear(read_out(all[i]), scores_[i].weight, scores_[i].bias), i);
      sum = sum.defined() ? sum + score : score;
    }
    return sum;
  }
  at::Tensor x = last;
  if (config_.jumping == Jumping::kCat) x = at::cat(all, 1);
  if (config_.jumping == Jumping::kMax) x = std::get<0>(at::stack(all, -1).max(-1));
  if (config_.jumping == Jumping::kLstm) x = layer_attention_(all);
  x = read_out(x);
  if (end.hidden) *end.hidden = x;
  return output_.weight.defined() ? torch_linear(drop_out(x, 0), output_.weight, output_.bias) : x;
}

StackPass StackModel::begin_pass(const ForwardArgs& args, const Execution& execution,
                                 bool training) {
  const Dropout dropout = training ? dropout_of(args.dropout, config_.input_dropout, 0) : Dropout{};
  const int64_t sources = args.blocks[0].num_sources;
  ConvInput in = first_input({config_, nodes_, embedding_, dropout, execution}, args);
  if (config_.skip == Skip::kResidual) {
    const at::Tensor rows = times(in, sources, input_, execution);
    in = {};
    in.x = rows;
  }
  std::vector<at::Tensor> outputs;
  if (config_.jumping == Jumping::kScores) outputs.push_back(dense_rows(in, sources, execution));
  return {.args = &args,
          .in = std::move(in),
          .before = {},
          .dropout = {},
          .degrees = degrees_of(*layers_[0].conv, config_, args,
                                static_cast<int64_t>(args.node_ids.size())),
          .edges = edges_of(known_, edges_, args, execution),
          .outputs = std::move(outputs)};
}

void StackModel::run_layer(int i, std::span<StackPass> passes, const Execution& execution,
                           bool training, const NormPass& norms) {
  const StackLayer& layer = layers_[i];
  std::vector<ConvInput> inputs;
  std::vector<ConvPass> conv_passes;
  for (StackPass& pass : passes) {
    const sample::BlockView& block = pass.args->blocks[i];
    const auto dropout = [&](uint64_t number) {
      return training ? dropout_of(pass.args->dropout, config_.dropout, number) : Dropout{};
    };
    pass.dropout = plain_output(i) ? Dropout{} : dropout(static_cast<uint64_t>(i) + 1);
    if (!pass.edges.empty()) {
      pass.in.edge_weight = pass.edges[i].weight;
      pass.in.edge_attr = pass.edges[i].features;
      pass.in.edge_type = pass.edges[i].type;
    }
    if (pass.degrees.defined()) pass.in.degrees = pass.degrees.narrow(0, 0, block.num_sources);
    if (!pass.args->node_ids.empty()) pass.in.node_ids = pass.args->node_ids.data();
    inputs.push_back(std::exchange(pass.in, {}));
    conv_passes.push_back({block, execution, finish_of_conv(i, pass.dropout),
                           dropout(kAttentionLayer + static_cast<uint64_t>(i)), layer.skip});
  }
  std::vector<at::Tensor> results = layer.conv->forward_all(inputs, conv_passes, norms);
  for (size_t k = 0; k < passes.size(); ++k) passes[k].in.x = std::move(results[k]);
}

std::vector<at::Tensor> StackModel::run(std::span<const ForwardArgs> batches,
                                        const RunOptions& options) {
  const c10::AutoGradMode grad_mode(options.gradients);
  const bool training = options.training;
  const Execution execution = execution_of(batches, options);
  NormPass norms{training ? &statistics_ : nullptr, options.sum, {}, execution};
  for (const ForwardArgs& args : batches) norms.graphs.push_back(args.graph_ptr);
  if (training) statistics_.begin_pass();
  std::vector<StackPass> passes;
  for (const ForwardArgs& args : batches) passes.push_back(begin_pass(args, execution, training));
  const bool residual = config_.skip == Skip::kResidual;
  const int last = config_.num_layers - 1;
  const bool conv_is_last = plain_output(last) && config_.output_dim > 0;
  for (int i = 0; i < config_.num_layers; ++i) {
    for (StackPass& pass : passes) pass.before = pass.in.x;
    if (conv_is_last && i == last)
      for (const StackPass& pass : passes)
        if (pass.args->hidden)
          *pass.args->hidden = pass.in.x.narrow(0, 0, pass.args->blocks[i].num_targets);
    if (residual) apply_norm(layers_[i].norm, passes, norms);
    run_layer(i, passes, execution, training, norms);
    after_conv(i, passes, execution, norms);
    for (StackPass& pass : passes) {
      if (residual)
        pass.in.x = pass.before.narrow(0, 0, pass.args->blocks[i].num_targets) + pass.in.x;
      pass.in.x_is_internal = config_.jumping == Jumping::kNone;
      if (config_.jumping != Jumping::kNone)
        pass.outputs.push_back(pass.in.x.narrow(0, 0, pass.args->blocks.back().num_targets));
    }
  }
  if (residual) apply_norm(output_norm_, passes, norms);
  std::vector<at::Tensor> logits;
  for (const StackPass& pass : passes)
    logits.push_back(output(pass.in.x, pass.outputs,
                            {pass.args->graph_ptr, pass.args->dropout, training,
                             conv_is_last ? nullptr : pass.args->hidden},
                            execution));
  if (training) statistics_.end_pass();
  return logits;
}

std::unique_ptr<Model> StackModel::clone_on(const Device* device) const {
  return filled(std::make_unique<StackModel>(config_, device));
}

std::shared_ptr<const sample::Sampler> training_sampler(
    const Model& model, std::shared_ptr<const sample::Sampler> sampler, bool sparse) {
  if (model.reads_degrees())
    if (std::shared_ptr<const sample::Sampler> telling = sampler->with_degrees())
      sampler = std::move(telling);
  if (const auto columns = sampler->edge_columns(); !columns.empty()) {
    const std::string weights = model.reads_weight_sums() ? weights_column(columns) : "";
    sampler = sampler->with_edge_columns(edge_columns_read(edge_needs(model.config()), columns));
    if (!weights.empty()) sampler = sampler->with_weight_sums(weights);
  }
  if (model.reads_input_by_source(sparse)) return sampler;
  std::shared_ptr<const sample::Sampler> lean = sampler->without_input_lists();
  return lean ? lean : sampler;
}

std::unique_ptr<Model> make_model(const ModelConfig& config) {
  std::unique_ptr<Model> model;
  if (config.architecture == Architecture::kLayers)
    model = std::make_unique<LayerModel>(config);
  else
    model = std::make_unique<StackModel>(config);
  if (model->flat_parameters().numel() == 0)
    base::fail(
        base::Status::kInvalidArgument,
        "model: no layer has learned parameters; set train_eps, or add a layer with weights");
  return model;
}

}  // namespace gnnmg::nn
