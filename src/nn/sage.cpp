#include "nn/sage.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/elu.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/prelu.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/std.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "nn/step_norm.h"
#include "nn/tensors.h"

namespace gnnmg::nn {

using base::fail;
using base::Status;

namespace {

constexpr double kEpsilon = 1e-5;
constexpr double kMomentum = 0.1;

// Collects the parameters in the order of PyG's modules.
class SpecList {
 public:
  explicit SpecList(Init init) : init_(init) {}

  void weight(const std::string& key, int64_t out, int64_t in) {
    specs.push_back({key, {out, in}, weight_bound(out, in), 0});
  }
  void bias(const std::string& key, int64_t out, int64_t in) {
    const double bound = init_ == Init::kGlorot ? 0 : 1 / std::sqrt(static_cast<double>(in));
    specs.push_back({key, {out}, bound, 0});
  }
  void linear(const std::string& name, int64_t out, int64_t in) {
    weight(name + ".weight", out, in);
    bias(name + ".bias", out, in);
  }
  void constant(const std::string& key, int64_t size, double value) {
    specs.push_back({key, {size}, 0, value});
  }
  void norm(const std::string& name, int64_t size) {
    constant(name + ".weight", size, 1);
    constant(name + ".bias", size, 0);
  }
  std::vector<ParameterSpec> specs;

 private:
  double weight_bound(int64_t out, int64_t in) const {
    if (init_ == Init::kPyg) return 1 / std::sqrt(static_cast<double>(in));
    const double glorot = std::sqrt(6 / static_cast<double>(in + out));
    return init_ == Init::kGlorot ? glorot : std::sqrt(2.0) * glorot;
  }
  Init init_;
};

std::string indexed(const char* list, int64_t i) { return base::text(list, ".", i); }

// Widths of layer i.
int64_t layer_input(const SageConfig& c, int i) {
  return i > 0 || c.skip == Skip::kResidual ? c.hidden_dim : c.input_dim;
}
int64_t layer_output(const SageConfig& c, int i) {
  return c.skip == Skip::kNone && i == c.num_layers - 1 ? c.output_width() : c.hidden_dim;
}
int num_norms(const SageConfig& c) {
  if (c.norm == Norm::kNone) return 0;
  return c.skip == Skip::kNone     ? c.num_layers - 1
         : c.skip == Skip::kLinear ? c.num_layers
                                   : c.num_layers + 1;
}
std::string norm_name(const SageConfig& c, int i) {
  return indexed("norms", i) + (c.norm == Norm::kBatch ? ".module" : "");
}

std::vector<ParameterSpec> specs_for(const SageConfig& c) {
  SpecList list(c.init);
  if (c.activation == Activation::kPrelu) list.constant("act.weight", 1, 0.25);
  if (c.skip == Skip::kResidual) list.linear("lin_in", c.hidden_dim, c.input_dim);
  for (int i = 0; i < c.num_layers; ++i) {
    const std::string name = indexed("convs", i);
    const int64_t in = layer_input(c, i), out = layer_output(c, i);
    if (c.project) list.linear(name + ".lin", in, in);
    list.weight(name + ".lin_l.weight", out, in);
    if (c.bias) list.bias(name + ".lin_l.bias", out, in);
    if (c.root_weight) list.weight(name + ".lin_r.weight", out, in);
  }
  if (c.skip == Skip::kLinear)
    for (int i = 0; i < c.num_layers; ++i)
      list.linear(indexed("lins", i), c.hidden_dim, layer_input(c, i));
  for (int i = 0; i < num_norms(c); ++i) list.norm(norm_name(c, i), c.hidden_dim);
  if (c.skip != Skip::kNone && c.output_dim > 0) list.linear("lin", c.output_dim, c.hidden_dim);
  return std::move(list.specs);
}

Reduce reduce_of(Aggregation aggregation) {
  switch (aggregation) {
    case Aggregation::kMean:
      return Reduce::kMean;
    case Aggregation::kMax:
      return Reduce::kMax;
    case Aggregation::kSum:
      return Reduce::kSum;
  }
  fail(Status::kInternal, "aggregation ", static_cast<int>(aggregation), " has no kernel");
}

}  // namespace

SageModel::SageModel(const SageConfig& config) : config_(config) {
  config_.check();
  parameters_ = ParameterSet(specs_for(config_), scalar_type(config_.dtype), config_.seed);
  const auto find = [&](const std::string& key) { return parameters_.find(key); };
  for (int i = 0; i < config_.num_layers; ++i) {
    const std::string name = indexed("convs", i), skip = indexed("lins", i);
    layers_.push_back({{find(name + ".lin.weight"), find(name + ".lin.bias"),
                        find(name + ".lin_l.weight"), find(name + ".lin_l.bias"),
                        find(name + ".lin_r.weight"), find(skip + ".weight"), find(skip + ".bias")},
                       {}});
  }
  for (int i = 0; i < num_norms(config_); ++i) {
    const std::string name = norm_name(config_, i);
    SageNorm norm{find(name + ".weight"), find(name + ".bias"), {}, {}, {}};
    if (config_.norm == Norm::kBatch) {
      norm.running_mean = at::zeros_like(norm.weight);
      norm.running_var = at::ones_like(norm.weight);
      norm.num_batches = at::zeros({}, at::TensorOptions(at::kLong));
      buffers_.push_back({name + ".running_mean", norm.running_mean});
      buffers_.push_back({name + ".running_var", norm.running_var});
      buffers_.push_back({name + ".num_batches_tracked", norm.num_batches});
    }
    (i < config_.num_layers ? layers_[i].norm : output_norm_) = norm;
  }
  input_weight_ = find("lin_in.weight");
  input_bias_ = find("lin_in.bias");
  output_weight_ = find("lin.weight");
  output_bias_ = find("lin.bias");
  prelu_ = find("act.weight");
}

SageConvOptions SageModel::conv_options() const {
  return {reduce_of(config_.aggregation), config_.normalize};
}

bool SageModel::plain_output(int layer) const {
  return config_.skip == Skip::kNone && layer == config_.num_layers - 1;
}

at::Tensor SageModel::activate(const at::Tensor& x) const {
  switch (config_.activation) {
    case Activation::kRelu:
      return at::relu(x);
    case Activation::kNone:
      return x;
    case Activation::kElu:
      return at::elu(x);
    case Activation::kLeakyRelu:
      return at::leaky_relu(x, 0.01);
    case Activation::kGelu:
      return at::gelu(x);
    case Activation::kTanh:
      return at::tanh(x);
    case Activation::kPrelu:
      return at::prelu(x, prelu_);
  }
  return x;
}

at::Tensor SageModel::apply_norm(const SageNorm& norm, const at::Tensor& x, bool training) {
  if (x.size(0) == 0) return x;
  switch (config_.norm) {
    case Norm::kNone:
      return x;
    case Norm::kLayer:
      return at::layer_norm(x, {x.size(1)}, norm.weight, norm.bias, kEpsilon);
    case Norm::kLayerGraph: {
      const at::Tensor centred = x - x.mean();
      return centred / (at::std(x, /*unbiased=*/false) + kEpsilon) * norm.weight + norm.bias;
    }
    case Norm::kBatch:
      break;
  }
  if (!training)
    return at::batch_norm(x, norm.weight, norm.bias, norm.running_mean, norm.running_var, false,
                          kMomentum, kEpsilon, false);
  if (x.size(0) == 1)
    fail(Status::kInvalidArgument,
         "batch norm needs more than one row when training, and this mini-batch has one: take a "
         "larger batch_size or another norm");
  // With a momentum of 1 the "running" statistics are those of these rows alone.
  at::Tensor mean = at::zeros_like(norm.running_mean), var = at::zeros_like(norm.running_var);
  at::Tensor y = at::batch_norm(x, norm.weight, norm.bias, mean, var, true, 1.0, kEpsilon, false);
  pass_statistics_.push_back(mean);
  pass_statistics_.push_back(var);
  return y;
}

Finish SageModel::finish_of_conv(int layer, const Dropout& dropout) const {
  if (plain_output(layer)) return {};
  const bool norm_between = config_.norm != Norm::kNone && config_.skip != Skip::kResidual;
  if (norm_between) return {};
  if (config_.activation == Activation::kRelu) return {true, dropout};
  if (config_.activation == Activation::kNone) return {false, dropout};
  return {};
}

void SageModel::apply_norms(const SageNorm& norm, std::span<SagePass> passes, bool training,
                            const SumOverRanks& sum) {
  if (!sum || config_.norm != Norm::kBatch) {
    for (SagePass& pass : passes) pass.in.x = apply_norm(norm, pass.in.x, training);
    return;
  }
  std::vector<at::Tensor> rows;
  for (const SagePass& pass : passes) rows.push_back(pass.in.x);
  const StepNorm step = step_norm(rows, {norm.weight, norm.bias, norm.running_mean, kEpsilon}, sum);
  for (size_t i = 0; i < passes.size(); ++i) passes[i].in.x = step.rows[i];
  pass_statistics_.push_back(step.mean);
  pass_statistics_.push_back(step.variance);
}

void SageModel::after_conv(int layer, std::span<SagePass> passes, const Execution& execution,
                           bool training, const SumOverRanks& sum) {
  const bool norm_here = config_.norm != Norm::kNone && config_.skip != Skip::kResidual;
  if (plain_output(layer)) return;
  // What the convolution has done already.
  if (!norm_here &&
      (config_.activation == Activation::kRelu || config_.activation == Activation::kNone))
    return;
  const bool act_first = norm_here && config_.act_first;
  if (act_first)
    for (SagePass& pass : passes) pass.in.x = activate(pass.in.x);
  if (norm_here) apply_norms(layers_[layer].norm, passes, training, sum);
  const bool relu = !act_first && config_.activation == Activation::kRelu;
  for (SagePass& pass : passes) {
    if (!act_first && !relu) pass.in.x = activate(pass.in.x);
    pass.in.x = apply_finish(pass.in.x, {relu, pass.dropout}, execution);
  }
}

void SageModel::check_input(const ForwardArgs& args) const {
  const RowInput& in = args.input;
  if (static_cast<int64_t>(args.blocks.size()) != config_.num_layers)
    fail(Status::kInvalidArgument, "the mini-batch has ", args.blocks.size(),
         " blocks, the model has ", config_.num_layers, " layers");
  if (in.dense.defined() + (in.sparse != nullptr) + in.table.defined() != 1)
    fail(Status::kInvalidArgument, "expected rows in one form: dense, sparse or a table with ids");
  const at::Tensor& rows = in.dense.defined() ? in.dense : in.table;
  if (rows.defined() && rows.dim() != 2)
    fail(Status::kInvalidArgument, "features have ", rows.dim(), " dimensions, expected 2");
  const int64_t width = in.sparse ? in.sparse->num_cols : rows.size(1);
  if (width != config_.input_dim)
    fail(Status::kInvalidArgument, "features have ", width, " columns, the model has input_dim ",
         config_.input_dim);
  int64_t available = in.sparse            ? in.sparse->num_rows
                      : in.dense.defined() ? in.dense.size(0)
                                           : static_cast<int64_t>(in.ids.size());
  for (size_t i = 0; i < args.blocks.size(); ++i) {
    const sample::BlockView& block = args.blocks[i];
    if (block.num_sources > available || block.num_targets > block.num_sources)
      fail(Status::kInvalidArgument, "block ", i, " leads from ", block.num_sources, " sources to ",
           block.num_targets, " targets, and there are ", available, " rows");
    available = block.num_targets;
  }
}

SageConvInput SageModel::first_input(const RowInput& input, const sample::BlockView& block,
                                     const Dropout& dropout, const Execution& execution) const {
  SageConvInput in;
  if (input.sparse) {
    const feature::SparseRows& rows = *input.sparse;
    in.sparse = true;
    in.rows = {rows.num_rows, rows.num_cols, rows.indptr.data(), rows.indices.data(),
               rows.values.data()};
    in.rows_dropout = dropout;
    return in;
  }
  const at::ScalarType type = scalar_type(config_.dtype);
  if (input.table.defined()) {
    if (input.table.scalar_type() == type && !dropout.active()) {
      in.x = input.table;
      in.ids = input.ids.data();
      return in;
    }
    const at::Tensor ids = at::from_blob(const_cast<int64_t*>(input.ids.data()),
                                         {block.num_sources}, at::TensorOptions(at::kLong));
    in.x = input.table.index_select(0, ids).to(type);
  } else {
    in.x = input.dense.to(type);
  }
  in.x = apply_finish(in.x, {false, dropout}, execution);
  return in;
}

SagePass SageModel::begin_pass(const ForwardArgs& args, const Execution& execution,
                               bool training) const {
  const Dropout dropout = training
                              ? kernels::make_dropout(config_.input_dropout, args.dropout.seed,
                                                      args.dropout.epoch, args.dropout.batch, 0)
                              : Dropout{};
  SageConvInput in = first_input(args.input, args.blocks[0], dropout, execution);
  if (config_.skip == Skip::kResidual) {
    const int64_t sources = args.blocks[0].num_sources;
    if (in.sparse) {
      in.x =
          sparse_linear(in.rows, sources, in.rows_dropout, input_weight_, execution) + input_bias_;
      in.sparse = false;
    } else {
      if (in.ids) {
        const at::Tensor ids =
            at::from_blob(const_cast<int64_t*>(in.ids), {sources}, at::TensorOptions(at::kLong));
        in.x = in.x.index_select(0, ids);
        in.ids = nullptr;
      }
      in.x = at::linear(in.x, input_weight_, input_bias_);
    }
  }
  return {&args, std::move(in), {}, {}};
}

std::vector<at::Tensor> SageModel::run(std::span<const ForwardArgs> batches, bool training,
                                       bool gradients, const SumOverRanks& sum) {
  for (const ForwardArgs& args : batches) check_input(args);
  c10::AutoGradMode grad_mode(gradients);
  const Execution execution{batches.empty() ? nullptr : batches[0].pool, scratch_, gradients};
  pass_statistics_.clear();
  std::vector<SagePass> passes;
  for (const ForwardArgs& args : batches) passes.push_back(begin_pass(args, execution, training));
  const bool residual = config_.skip == Skip::kResidual;
  for (int i = 0; i < config_.num_layers; ++i) {
    for (SagePass& pass : passes) pass.before = pass.in.x;
    if (residual) apply_norms(layers_[i].norm, passes, training, sum);
    for (SagePass& pass : passes) {
      const DropoutKey& key = pass.args->dropout;
      pass.dropout = training && !plain_output(i)
                         ? kernels::make_dropout(config_.dropout, key.seed, key.epoch, key.batch,
                                                 static_cast<uint64_t>(i) + 1)
                         : Dropout{};
      at::Tensor y = sage_conv(layers_[i].conv, pass.in, pass.args->blocks[i], conv_options(),
                               finish_of_conv(i, pass.dropout), execution);
      pass.in = {};
      pass.in.x = std::move(y);
    }
    after_conv(i, passes, execution, training, sum);
    for (SagePass& pass : passes) {
      if (residual)
        pass.in.x = pass.before.narrow(0, 0, pass.args->blocks[i].num_targets) + pass.in.x;
      pass.in.x_is_internal = true;
    }
  }
  if (residual) apply_norms(output_norm_, passes, training, sum);
  std::vector<at::Tensor> logits;
  for (SagePass& pass : passes)
    logits.push_back(output_weight_.defined() ? at::linear(pass.in.x, output_weight_, output_bias_)
                                              : pass.in.x);
  if (!pass_statistics_.empty()) {
    c10::NoGradGuard no_grad;
    statistics_.push_back(at::cat(pass_statistics_));
    pass_statistics_.clear();
  }
  return logits;
}

at::Tensor SageModel::forward(const ForwardArgs& args) {
  return run({&args, 1}, args.training, args.training || args.gradients, {})[0];
}

std::vector<at::Tensor> SageModel::forward_step(std::span<const ForwardArgs> batches,
                                                const SumOverRanks& sum) {
  return run(batches, true, true, sum);
}

void SageModel::absent_backward(const SumOverRanks& sum) {
  if (config_.norm != Norm::kBatch) return;
  for (int i = 0; i < num_norms(config_); ++i) absent_step_norm(config_.hidden_dim, sum);
}

int64_t SageModel::batch_statistics_width() const {
  return config_.norm == Norm::kBatch ? 2 * config_.hidden_dim * num_norms(config_) : 0;
}

at::Tensor SageModel::take_batch_statistics() {
  at::Tensor rows = statistics_.empty()
                        ? at::empty({0, batch_statistics_width()}, parameters_.flat().options())
                        : at::stack(statistics_);
  statistics_.clear();
  return rows;
}

void SageModel::fold_batch_statistics(const at::Tensor& rows) {
  c10::NoGradGuard no_grad;
  const int64_t width = config_.hidden_dim;
  if (rows.dim() != 2 || rows.size(1) != batch_statistics_width())
    fail(Status::kInvalidArgument, "batch statistics have ", rows.dim() == 2 ? rows.size(1) : 0,
         " numbers a row, expected ", batch_statistics_width());
  for (int64_t r = 0; r < rows.size(0); ++r)
    for (int i = 0; i < num_norms(config_); ++i) {
      SageNorm& norm = i < config_.num_layers ? layers_[i].norm : output_norm_;
      norm.running_mean.mul_(1 - kMomentum)
          .add_(rows[r].narrow(0, 2 * i * width, width), kMomentum);
      norm.running_var.mul_(1 - kMomentum)
          .add_(rows[r].narrow(0, (2 * i + 1) * width, width), kMomentum);
      norm.num_batches.add_(1);
    }
}

std::unique_ptr<Model> SageModel::clone() const {
  c10::NoGradGuard no_grad;
  auto copy = std::make_unique<SageModel>(config_);
  copy->parameters_.flat().copy_(parameters_.flat());
  for (size_t i = 0; i < buffers_.size(); ++i) copy->buffers_[i].tensor.copy_(buffers_[i].tensor);
  return copy;
}

std::unique_ptr<Model> make_sage(const SageConfig& config) {
  return std::make_unique<SageModel>(config);
}

}  // namespace gnnmg::nn
