// GINConv of PyG and DGL, and PyG's GINEConv: a sum of neighbors through a small network.
#include <ATen/TensorOperators.h>
#include <ATen/ops/relu.h>

#include "base/error.h"
#include "nn/config/choices.h"
#include "nn/config/option_check.h"
#include "nn/conv/layers.h"
#include "nn/conv/make_conv.h"
#include "nn/conv/network.h"
#include "nn/conv/sage_conv.h"
#include "nn/ops/tensors.h"
#include "nn/torch/linear.h"

namespace gnnmg::nn {
namespace {

NetworkOptions network_of(const GinOptions& o) {
  NetworkOptions network;
  network.widths = o.widths;
  network.name = o.keys == GinOptions::Keys::kDgl ? "apply_func" : "nn";
  network.mlp = o.keys == GinOptions::Keys::kMlp;
  network.norm = o.norm;
  network.norm_options = o.norm_options;
  network.activation = o.activation;
  network.act_first = o.act_first;
  network.prelu = o.prelu;
  return network;
}

class GinConv final : public Conv, public StagedConv {
 public:
  explicit GinConv(const GinOptions& options) : o_(options), network_(network_of(options)) {}

  void declare(ParameterList& list) override {
    if (o_.train_eps)
      list.constant("eps", {1}, o_.eps, &eps_);
    else
      list.buffer("eps", {1}, o_.eps, &eps_);
    network_.declare(list);
    if (o_.edge_dim) list.linear("lin", o_.widths[0], o_.edge_dim, true, edge_);
  }
  int64_t output_width() const override { return network_.output_width(); }
  std::vector<NormLayer*> norms() override { return network_.norms(); }

  bool reads_by_source(bool sparse) const override {
    if (!may_change_places()) return false;
    return sparse || may_transform_first(o_.reduce, o_.widths[0], o_.widths[1]);
  }
  // The first linear layer and a sum commute.
  bool transforms(bool sparse, const sample::BlockView& block) const override {
    if (!may_change_places()) return false;
    return sparse || transforms_first(o_.reduce, block, o_.widths[0], o_.widths[1]);
  }
  int64_t transformed_width() const override { return o_.widths[has_network() ? 1 : 0]; }
  at::Tensor transform(const ConvInput& in, int64_t count,
                       const Execution& execution) const override {
    return times(in, count, {network_.linear(0).weight, {}}, execution);
  }

  std::optional<Linear> own_linear() const override { return Linear{}; }

  at::Tensor combine(const at::Tensor& rows, bool transformed, int64_t first_own,
                     const ConvInput& own, const ConvPass& pass) const override {
    at::Tensor y = first_layer(rows, transformed, first_own, own, pass);
    network_.after_first({&y, 1}, {nullptr, {}, {}, pass.execution});
    return complete(y, own, pass);
  }

  std::vector<at::Tensor> forward_all(std::span<const ConvInput> in,
                                      std::span<const ConvPass> passes,
                                      const NormPass& norms) const override {
    // The first layer may be after the sum in one mini-batch and before it in another.
    std::vector<at::Tensor> all;
    for (size_t i = 0; i < in.size(); ++i) {
      const bool first = transforms(in[i].sparse, passes[i].block);
      const int64_t sources = passes[i].block.num_sources;
      const Execution& execution = passes[i].execution;
      all.push_back(first_layer(
          first ? transform(in[i], sources, execution) : dense_rows(in[i], sources, execution),
          first, 0, in[i], passes[i]));
    }
    network_.after_first(all, norms);
    for (size_t i = 0; i < in.size(); ++i) all[i] = complete(all[i], in[i], passes[i]);
    return all;
  }

  bool normalizes_all_rows() const override { return network_.normalizes_all_rows(); }
  const StagedConv* staged() const override {
    return network_.normalizes_all_rows() ? this : nullptr;
  }
  int num_stages() const override { return static_cast<int>(network_.num_linears()) - 1; }
  int64_t stage_width(int stage) const override { return network_.width(stage); }
  at::Tensor first_stage(const at::Tensor& rows, bool transformed, int64_t first_own,
                         const ConvInput& own, const ConvPass& pass) const override {
    return first_layer(rows, transformed, first_own, own, pass);
  }
  at::Tensor next_stage(int stage, const at::Tensor& rows) const override {
    return torch_linear(rows, network_.linear(stage).weight, network_.linear(stage).bias);
  }
  at::Tensor together(int stage, at::Tensor rows, const NormPass& norms) const override {
    network_.after_linear(stage, {&rows, 1}, norms);
    return rows;
  }
  at::Tensor after_stages(const at::Tensor& rows, const ConvInput& own,
                          const ConvPass& pass) const override {
    return complete(next_stage(num_stages(), rows), own, pass);
  }

 private:
  bool has_network() const { return network_.num_linears() > 0; }
  // True if the first linear layer may come before the sum.
  bool may_change_places() const { return has_network() && !o_.edges && o_.reduce != Reduce::kMax; }

  // Returns (1 + eps) x_i + AGG, of rows or of the first linear layer's results. In the second case
  // the sum also applies the layer's bias and the operations after it.
  at::Tensor gather(const at::Tensor& rows, bool transformed, int64_t first_own,
                    const ConvInput& own, const ConvPass& pass) const {
    const sample::BlockView& block = pass.block;
    const int64_t n = block.num_targets;
    const bool weighted = own.edge_weight.defined();
    if (weighted && o_.keys != GinOptions::Keys::kDgl)
      base::fail(base::Status::kUnsupported, "PyG's GIN with edge weights");
    at::Tensor target;
    if (own.x_target.defined())
      target = transformed ? linear(own.x_target, network_.linear(0).weight, {}, pass.execution)
                           : own.x_target;
    else
      target = rows.narrow(0, first_own, n);
    at::Tensor y;
    if (o_.edges) {
      if (!own.edge_attr.defined())
        base::fail(base::Status::kInvalidArgument, "GINE was given no edge features");
      y = messages(rows, own, pass) + (1 + eps_) * target;
    } else if (o_.reduce == Reduce::kSum) {
      WeightedSum sum;
      sum.x = rows;
      sum.self_weights = (1 + eps_).expand({n});
      sum.weights = own.edge_weight;
      if (own.x_target.defined() || first_own != 0) sum.x_target = target;
      if (transformed) {
        sum.bias = network_.linear(0).bias;
        sum.finish = network_.finish(0);
      }
      y = weighted_sum(sum, block, pass.execution);
    } else {
      y = (weighted          ? reduce_weighted(rows, own.edge_weight, pass)
           : o_.last_of_tied ? aggregate_last_max(rows, block, pass.execution)
                             : aggregate(rows, block, o_.reduce, pass.execution)) +
          (1 + eps_) * target;
    }
    return y;
  }

  // Returns the maximum or, by the number of edges, the mean of w x_j.
  at::Tensor reduce_weighted(const at::Tensor& rows, const at::Tensor& weights,
                             const ConvPass& pass) const {
    if (o_.reduce == Reduce::kMax)
      return weighted_last_max(rows, weights, pass.block, pass.execution);
    return aggregate_edges(weighted_rows(rows, weights, pass.block, pass.execution), pass.block,
                           Reduce::kMean, pass.execution);
  }

  // GINE: AGG relu(x_j + edge row).
  at::Tensor messages(const at::Tensor& rows, const ConvInput& own, const ConvPass& pass) const {
    const sample::BlockView& block = pass.block;
    const at::Tensor carried = o_.edge_dim
                                   ? linear(own.edge_attr, edge_.weight, edge_.bias, pass.execution)
                                   : own.edge_attr;
    if (o_.reduce == Reduce::kSum) return relu_sum(rows, carried, block, pass.execution);
    const at::Tensor ends = rows_of_edges(rows, {}, block, pass.execution);
    return aggregate_edges(at::relu(ends + carried), block, o_.reduce, pass.execution);
  }

  at::Tensor first_layer(const at::Tensor& rows, bool transformed, int64_t first_own,
                         const ConvInput& own, const ConvPass& pass) const {
    at::Tensor y = gather(rows, transformed, first_own, own, pass);
    if (!has_network()) return y;
    const Linear& first = network_.linear(0);
    if (!transformed)
      return linear(y, first.weight, first.bias, pass.execution, network_.finish(0));
    return o_.reduce == Reduce::kSum
               ? y
               : apply_finish(y, network_.finish(0), pass.execution, first.bias);
  }

  GinOptions o_;
  at::Tensor eps_;
  Network network_;
  Linear edge_;
};

std::unique_ptr<Conv> gin_of(const ModelConfig& c, const ConvWidths& widths, at::Tensor* prelu) {
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

}  // namespace

std::unique_ptr<Conv> make_gin_conv(const GinOptions& options) {
  return std::make_unique<GinConv>(options);
}

const MakeConv makers::kGin = gin_of;
const MakeConv makers::kGine = gin_of;

}  // namespace gnnmg::nn
