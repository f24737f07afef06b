// EdgeConv of PyG and of DGL: the maximum of a network over both ends of each edge. Its first
// linear layer is split into a part for the target and a part for the source, so that it runs over
// nodes; without further layers no row of an edge is stored.
#include <ATen/TensorOperators.h>

#include <algorithm>

#include "base/error.h"
#include "nn/config/choices.h"
#include "nn/config/option_check.h"
#include "nn/conv/layers.h"
#include "nn/conv/make_conv.h"
#include "nn/conv/network.h"
#include "nn/conv/reductions.h"
#include "nn/ops/made_block.h"

namespace gnnmg::nn {
namespace {

NetworkOptions network_of(const EdgeOptions& o) {
  NetworkOptions network;
  network.widths = o.widths;
  network.name = "nn";
  network.mlp = o.mlp_keys && o.widths.size() > 2;
  network.norm = o.dgl ? Norm::kNone : o.norm;
  network.norm_options = o.norm_options;
  network.activation = o.activation;
  network.act_first = o.act_first;
  network.prelu = o.dgl ? nullptr : o.prelu;
  return network;
}

class EdgeConv final : public Conv {
 public:
  explicit EdgeConv(const EdgeOptions& options)
      : o_(options),
        in_(options.dgl ? options.in : options.widths.front() / 2),
        network_(network_of(options)) {
    if (o_.dgl && (o_.widths.size() != 1 || o_.reduce != Reduce::kMax))
      base::fail(base::Status::kInvalidArgument,
                 "EdgeConv in DGL's form has one width and takes the maximum");
    if (!o_.dgl && (o_.widths.size() < 2 || o_.widths.front() % 2 != 0))
      base::fail(base::Status::kInvalidArgument, "EdgeConv: widths begin with ", o_.widths.front(),
                 ", expected twice the columns of a row, and a second one");
  }

  void declare(ParameterList& list) override {
    if (o_.dgl) {
      list.linear("theta", o_.widths[0], in_, true, theta_);
      list.linear("phi", o_.widths[0], in_, true, phi_);
      if (!o_.batch_norm) return;
      const ParameterList::Scope scope(list, "bn");
      norm_.declare(list, /*plain_keys=*/true);
      return;
    }
    network_.declare(list);
  }
  int64_t output_width() const override { return o_.widths.back(); }
  std::vector<NormLayer*> norms() override {
    return o_.dgl && o_.batch_norm ? std::vector<NormLayer*>{&norm_} : network_.norms();
  }

  bool normalizes_all_rows() const override { return network_.normalizes_all_rows(); }

  bool transforms(bool, const sample::BlockView&) const override { return true; }
  int64_t transformed_width() const override { return o_.dgl ? o_.widths[0] : o_.widths[1]; }
  at::Tensor transform(const ConvInput& in, int64_t count,
                       const Execution& execution) const override {
    const at::Tensor weight =
        o_.dgl ? -theta_.weight : network_.linear(0).weight.narrow(1, in_, in_);
    return times(in, count, {weight, {}}, execution);
  }

  at::Tensor combine(const at::Tensor& rows, bool, int64_t, const ConvInput& own,
                     const ConvPass& pass) const override {
    const sample::BlockView& block = pass.block;
    if (deep()) {
      at::Tensor y = first_layer(rows, own, pass);
      after_first({&y, 1}, {nullptr, {}, {}, pass.execution});
      return complete(reduced(y, pass), own, pass);
    }
    const at::Tensor target = target_times(own, block.num_targets, target_part(), pass.execution);
    const at::Tensor sum = o_.dgl ? aggregate_last_max(rows, block, pass.execution)
                                  : aggregate(rows, block, o_.reduce, pass.execution);
    return complete(sum + counts(pass, rows) * target, own, pass);
  }

  std::vector<at::Tensor> forward_all(std::span<const ConvInput> in,
                                      std::span<const ConvPass> passes,
                                      const NormPass& norms) const override {
    if (!deep()) return Conv::forward_all(in, passes, norms);
    std::vector<at::Tensor> all;
    for (size_t i = 0; i < in.size(); ++i)
      all.push_back(first_layer(transform(in[i], passes[i].block.num_sources, passes[i].execution),
                                in[i], passes[i]));
    after_first(all, norms);
    for (size_t i = 0; i < in.size(); ++i)
      all[i] = complete(reduced(all[i], passes[i]), in[i], passes[i]);
    return all;
  }

 private:
  // True if rows of edges are stored, because more than a linear layer follows.
  bool deep() const { return o_.dgl ? o_.batch_norm : network_.num_linears() > 1; }

  // Applies the operations after the first layer to rows of edges.
  void after_first(std::span<at::Tensor> all, const NormPass& norms) const {
    o_.dgl ? norm_.apply(all, norms) : network_.after_first(all, norms);
  }

  at::Tensor reduced(const at::Tensor& rows, const ConvPass& pass) const {
    if (!o_.dgl) return aggregate_edges(rows, pass.block, o_.reduce, pass.execution);
    const auto to_targets = edges_to_targets(pass.block, pass.execution);
    return aggregate_last_max(rows, to_targets->view(), pass.execution.with(to_targets));
  }

  // Returns [num_edges, width]: the first layer, from the transformed rows of the sources.
  at::Tensor first_layer(const at::Tensor& rows, const ConvInput& own, const ConvPass& pass) const {
    const at::Tensor target =
        target_times(own, pass.block.num_targets, target_part(), pass.execution);
    const at::Tensor y = rows_of_edges(rows, target, pass.block, pass.execution);
    return o_.dgl ? y : apply_finish(y, network_.finish(0), pass.execution);
  }

  // The first layer's part for the target's row.
  Linear target_part() const {
    if (o_.dgl) return {theta_.weight + phi_.weight, theta_.bias + phi_.bias};
    const auto& [weight, bias] = network_.linear(0);
    return {weight.narrow(1, 0, in_) - weight.narrow(1, in_, in_), bias};
  }

  // Returns [num_targets, 1]: how often a target's own part is in the reduction.
  at::Tensor counts(const ConvPass& pass, const at::Tensor& like) const {
    const at::Tensor degrees = in_degrees(pass.block, like, pass.execution);
    return o_.reduce == Reduce::kSum ? degrees : degrees.clamp_max(1);
  }

  EdgeOptions o_;
  int64_t in_;
  Network network_;     // PyG
  Linear theta_, phi_;  // DGL
  NormLayer norm_{Norm::kBatch, o_.widths.back()};
};

std::unique_ptr<Conv> edge_of(const ModelConfig& c, const ConvWidths& widths, at::Tensor* prelu) {
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

}  // namespace

std::unique_ptr<Conv> make_edge_conv(const EdgeOptions& options) {
  return std::make_unique<EdgeConv>(options);
}

const MakeConv makers::kEdge = edge_of;

}  // namespace gnnmg::nn
