// GINConv of PyG and DGL, and PyG's GINEConv: a sum of neighbours through a small network.
#include <ATen/TensorOperators.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>

#include "base/error.h"
#include "nn/conv/layers.h"
#include "nn/conv/sage_conv.h"
#include "nn/tensors.h"

namespace gnnmg::nn {
namespace {

class GinConv final : public Conv {
 public:
  explicit GinConv(const GinOptions& options) : o_(options), linears_(options.widths.size() - 1) {
    if (o_.keys == GinOptions::Keys::kMlp)
      for (size_t i = 0; i + 2 < o_.widths.size(); ++i)
        norms_.emplace_back(o_.norm, o_.widths[i + 1], o_.norm_scale);
  }

  void declare(ParameterList& list) override {
    using Keys = GinOptions::Keys;
    if (o_.train_eps)
      list.constant("eps", {1}, o_.eps, &eps_);
    else
      list.buffer("eps", {1}, o_.eps, &eps_);
    const char* network = o_.keys == Keys::kDgl ? "apply_func" : "nn";
    for (size_t i = 0; i < linears_.size(); ++i) {
      const std::string name = o_.keys == Keys::kMlp  ? base::text(network, ".lins.", i)
                               : linears_.size() == 1 ? std::string(network)
                                                      : base::text(network, ".", 2 * i);
      list.linear(name, o_.widths[i + 1], o_.widths[i], true, linears_[i]);
    }
    for (size_t i = 0; i < norms_.size(); ++i) {
      const ParameterList::Scope scope(list, base::text(network, ".norms.", i));
      norms_[i].declare(list);
    }
    if (o_.prelu && o_.keys == Keys::kMlp) list.alias(base::text(network, ".act.weight"), o_.prelu);
    if (o_.edge_dim) list.linear("lin", o_.widths[0], o_.edge_dim, true, edge_);
  }
  int64_t output_width() const override { return o_.widths.back(); }
  std::vector<NormLayer*> norms() override {
    std::vector<NormLayer*> all;
    for (NormLayer& norm : norms_) all.push_back(&norm);
    return all;
  }

  // The first linear layer and a sum may change places.
  bool transforms(bool sparse, const sample::BlockView& block) const override {
    if (o_.edges || o_.reduce == Reduce::kMax) return false;
    return sparse || transforms_first(o_.reduce, block, o_.widths[0], o_.widths[1]);
  }
  int64_t transformed_width() const override { return o_.widths[1]; }
  at::Tensor transform(const ConvInput& in, int64_t count,
                       const Execution& execution) const override {
    return times(in, count, {linears_[0].weight, {}}, execution);
  }

  at::Tensor combine(const at::Tensor& rows, bool transformed, int64_t first_own,
                     const ConvInput& own, const ConvPass& pass) const override {
    at::Tensor y = first_layer(gather(rows, transformed, first_own, own, pass), transformed);
    behind_first_layer({&y, 1}, {});
    return complete(y, own, pass);
  }

  std::vector<at::Tensor> forward_all(std::span<const ConvInput> in,
                                      std::span<const ConvPass> passes,
                                      const NormPass& norms) const override {
    // The first layer may be behind the sum in one mini-batch and in front of it in another.
    std::vector<at::Tensor> all;
    for (size_t i = 0; i < in.size(); ++i) {
      const bool first = transforms(in[i].sparse, passes[i].block);
      const int64_t sources = passes[i].block.num_sources;
      const Execution& execution = passes[i].execution;
      const at::Tensor y = gather(
          first ? transform(in[i], sources, execution) : dense_rows(in[i], sources, execution),
          first, 0, in[i], passes[i]);
      all.push_back(first_layer(y, first));
    }
    behind_first_layer(all, norms);
    for (size_t i = 0; i < in.size(); ++i) all[i] = complete(all[i], in[i], passes[i]);
    return all;
  }

 private:
  // (1 + eps) x_i + AGG, of rows or of what the first linear layer made of them.
  at::Tensor gather(const at::Tensor& rows, bool transformed, int64_t first_own,
                    const ConvInput& own, const ConvPass& pass) const {
    const sample::BlockView& block = pass.block;
    const int64_t n = block.num_targets;
    if (own.edge_weight.defined()) base::fail(base::Status::kUnsupported, "GIN with edge weights");
    at::Tensor target;
    if (own.x_target.defined())
      target = transformed ? at::linear(own.x_target, linears_[0].weight) : own.x_target;
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
      if (own.x_target.defined() || first_own != 0) sum.x_target = target;
      y = weighted_sum(sum, block, pass.execution);
    } else {
      y = (o_.last_of_tied ? aggregate_last_max(rows, block, pass.execution)
                           : aggregate(rows, block, o_.reduce, pass.execution)) +
          (1 + eps_) * target;
    }
    return y;
  }

  // GINE: AGG relu(x_j + edge row).
  at::Tensor messages(const at::Tensor& rows, const ConvInput& own, const ConvPass& pass) const {
    const sample::BlockView& block = pass.block;
    const at::Tensor carried =
        o_.edge_dim ? at::linear(own.edge_attr, edge_.weight, edge_.bias) : own.edge_attr;
    if (o_.reduce == Reduce::kSum) return relu_sum(rows, carried, block, pass.execution);
    const at::Tensor ends = rows_of_edges(rows, {}, block, pass.execution);
    return aggregate_edges(at::relu(ends + carried), block, o_.reduce, pass.execution);
  }

  at::Tensor first_layer(const at::Tensor& y, bool transformed) const {
    return transformed ? y + linears_[0].bias : at::linear(y, linears_[0].weight, linears_[0].bias);
  }

  // The rest of the network, for several mini-batches, in place.
  void behind_first_layer(std::span<at::Tensor> all, const NormPass& norms) const {
    for (size_t i = 1; i < linears_.size(); ++i) {
      const bool norm = i - 1 < norms_.size();
      if (norm && !o_.act_first) norms_[i - 1].apply(all, norms);
      for (at::Tensor& y : all) y = activate(o_.activation, y, o_.prelu ? *o_.prelu : at::Tensor());
      if (norm && o_.act_first) norms_[i - 1].apply(all, norms);
      for (at::Tensor& y : all) y = at::linear(y, linears_[i].weight, linears_[i].bias);
    }
  }

  GinOptions o_;
  at::Tensor eps_;
  std::vector<Linear> linears_;
  std::vector<NormLayer> norms_;
  Linear edge_;
};

}  // namespace

std::unique_ptr<Conv> make_gin_conv(const GinOptions& options) {
  return std::make_unique<GinConv>(options);
}

}  // namespace gnnmg::nn
