// GATConv and GATv2Conv, with PyG's keys and rules or DGL's.
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>

#include <cmath>

#include "base/error.h"
#include "nn/conv/layers.h"
#include "nn/conv/make_conv.h"
#include "nn/ops/tensors.h"

namespace gnnmg::nn {
namespace {

class GatConv final : public Conv {
 public:
  explicit GatConv(const GatOptions& options)
      : o_(options),
        pair_(options.in_target != 0),
        width_(options.heads * options.out),
        in_target_(pair_ ? options.in_target : options.in) {}

  void declare(ParameterList& list) override { o_.dgl ? declare_dgl(list) : declare_pyg(list); }
  int64_t output_width() const override { return o_.concat ? width_ : o_.out; }

  bool transforms(bool, const sample::BlockView&) const override { return true; }
  int64_t transformed_width() const override {
    return o_.v2 ? width_ : width_ + (pair_ ? 1 : 2) * o_.heads;
  }
  at::Tensor transform(const ConvInput& in, int64_t count,
                       const Execution& execution) const override {
    return times(in, count, sources(!pair_), execution);
  }
  std::optional<Linear> own_linear() const override {
    if (o_.residual || pair_) return std::nullopt;
    return o_.v2 ? target_ : Linear{};
  }
  at::Tensor combine(const at::Tensor& rows, bool, int64_t first_own, const ConvInput& own,
                     const ConvPass& pass) const override {
    return convolve(rows, !pair_, first_own, own, pass);
  }
  at::Tensor forward(const ConvInput& in, const ConvPass& pass) const override {
    const bool both = !pair_ && !in.x_target.defined();
    if (both && o_.v2 && !o_.share_weights && !in.sparse) {
      const auto [rows, targets] = linear_of_ends(
          dense_rows(in, pass.block.num_sources, pass.execution),
          {source_.weight, source_.bias, pass.block.num_targets, target_.weight, target_.bias},
          pass.execution);
      return convolve(rows, both, 0, in, pass, targets);
    }
    return convolve(times(in, pass.block.num_sources, sources(both), pass.execution), both, 0, in,
                    pass);
  }

 private:
  void declare_pyg(ParameterList& list) {
    const int64_t h = o_.heads, c = o_.out, total = output_width();
    const auto vector = [&](const char* key, at::Tensor* slot) {
      list.glorot(key, {1, h, c}, h * c, c, slot);
    };
    const auto linear = [&](const std::string& name, int64_t in, bool bias, Linear& slots,
                            int64_t out) {
      list.glorot(name + ".weight", {out, in}, in, out, &slots.weight);
      if (bias) list.bias(name + ".bias", out, in, &slots.bias);
    };
    if (o_.v2) {
      vector("att", &vector_);
      if (o_.bias) list.constant("bias", {total}, 0, &bias_);
      linear("lin_l", o_.in, o_.bias, source_, width_);
      second("lin_r", list, [&] { linear("lin_r", in_target_, o_.bias, target_, width_); });
    } else {
      vector("att_src", &vector_);
      vector("att_dst", &vector_target_);
      if (o_.edge_dim) vector("att_edge", &vector_edge_);
      if (o_.bias) list.constant("bias", {total}, 0, &bias_);
      linear(pair_ ? "lin_src" : "lin", o_.in, false, source_, width_);
      if (pair_) linear("lin_dst", in_target_, false, target_, width_);
    }
    if (o_.edge_dim) linear("lin_edge", o_.edge_dim, false, edge_, width_);
    if (o_.residual) linear("res", in_target_, false, residual_, total);
  }

  void declare_dgl(ParameterList& list) {
    const int64_t h = o_.heads, c = o_.out;
    const auto linear = [&](const std::string& name, int64_t in, bool bias, Linear& slots) {
      list.glorot(name + ".weight", {width_, in}, in, width_, &slots.weight);
      if (bias) list.constant(name + ".bias", {width_}, 0, &slots.bias);
    };
    const bool mapped = o_.residual && in_target_ != width_;
    if (o_.v2) {
      list.glorot("attn", {1, h, c}, h * c, c, &vector_);
      linear("fc_src", o_.in, o_.bias, source_);
      second("fc_dst", list, [&] { linear("fc_dst", in_target_, o_.bias, target_); });
    } else {
      list.glorot("attn_l", {1, h, c}, h * c, c, &vector_);
      list.glorot("attn_r", {1, h, c}, h * c, c, &vector_target_);
      if (o_.bias && !mapped) list.constant("bias", {width_}, 0, &bias_);
      linear(pair_ ? "fc_src" : "fc", o_.in, false, source_);
      if (pair_) linear("fc_dst", in_target_, false, target_);
    }
    if (mapped) linear("res_fc", in_target_, o_.bias, residual_);
  }

  // Declares the linear map of the targets, or the sources' map under a second name.
  template <typename F>
  void second(const std::string& name, ParameterList& list, const F& make) {
    if (!o_.share_weights) return make();
    list.alias(name + ".weight", &source_.weight);
    if (o_.bias) list.alias(name + ".bias", &source_.bias);
  }

  // Returns [heads, in]: the map from input rows of the linear map `weight` to scores.
  at::Tensor folded(const at::Tensor& weight, const at::Tensor& vector) const {
    return (weight.view({o_.heads, o_.out, weight.size(1)}) * vector.view({o_.heads, o_.out, 1}))
        .sum(1);
  }

  // Returns the map of the sources. For GAT the same product also gives the scores of the rows as
  // sources, and with `both` as targets, so that scores and their gradients need no pass over the
  // rows.
  Linear sources(bool both) const {
    if (o_.v2) return source_;
    const at::Tensor& weight = source_.weight;
    std::vector<at::Tensor> maps{weight, folded(weight, vector_)};
    if (both) maps.push_back(folded(weight, vector_target_));
    return {at::cat(maps), {}};
  }

  // `targets`: GATv2's rows of the targets, if they exist already.
  at::Tensor convolve(const at::Tensor& rows, bool both, int64_t first_own, const ConvInput& own,
                      const ConvPass& pass, const at::Tensor& targets = {}) const {
    const sample::BlockView& block = pass.block;
    const int64_t n = block.num_targets;
    Attend attention;
    attention.source = rows;
    attention.first_own = first_own;
    attention.heads = o_.heads;
    attention.loops = o_.add_self_loops && !o_.dgl;
    attention.slope = o_.slope;
    attention.dropout = pass.attention;
    const Linear& to_target = target_.weight.defined() ? target_ : source_;
    if (o_.v2) {
      attention.vector = vector_;
      attention.target = targets.defined() ? targets
                         : o_.share_weights && !own.x_target.defined()
                             ? rows.narrow(0, first_own, n)
                             : target_times(own, n, to_target, pass.execution);
    } else if (!both) {
      attention.target_scores =
          target_times(own, n, {folded(to_target.weight, vector_target_), {}}, pass.execution);
    }
    if (o_.edge_dim) {
      if (!own.edge_attr.defined())
        base::fail(base::Status::kInvalidArgument, "GAT with edge_dim ", o_.edge_dim,
                   " was given no edge features");
      // Means and sums commute with the linear map to scores, which are fewer.
      const bool linear = o_.loops.fill == LoopFill::kMean || o_.loops.fill == LoopFill::kSum;
      const LoopRows loops{o_.loops.fill, o_.loops.value, first_own};
      at::Tensor features = own.edge_attr;
      if (attention.loops && !linear)
        features = with_loop_rows(features, loops, block, pass.execution);
      attention.edges = edge_values(features, pass.execution);
      if (o_.v2) attention.edge_weight = edge_.weight;
      if (attention.loops && linear)
        attention.edges = with_loop_rows(attention.edges, loops, block, pass.execution);
    }
    if (own.edge_weight.defined()) {
      if (!o_.dgl)
        base::fail(base::Status::kInvalidArgument,
                   "GAT takes edge features, not edge weights, in PyG's form");
      attention.factors = own.edge_weight;
    }
    at::Tensor y = attend(attention, block, pass.execution);
    if (o_.dgl && o_.residual)
      y = y + (residual_.weight.defined() ? target_times(own, n, residual_, pass.execution)
                                          : target_rows(own, n, pass.execution));
    if (o_.dgl && !o_.concat && bias_.defined()) y = apply_finish(y, {}, pass.execution, bias_);
    if (!o_.concat) y = y.view({n, o_.heads, o_.out}).mean(1);
    if (!o_.dgl && residual_.weight.defined())
      y = y + target_times(own, n, residual_, pass.execution);
    return complete(y, own, pass, o_.dgl && !o_.concat ? at::Tensor() : bias_);
  }

  // GAT: the edges' scores, by a matrix that is computed first, so that no row per edge is stored.
  // GATv2: the features unchanged.
  at::Tensor edge_values(const at::Tensor& features, const Execution& execution) const {
    return o_.v2 ? features : linear(features, folded(edge_.weight, vector_edge_), {}, execution);
  }

  GatOptions o_;
  bool pair_;
  int64_t width_, in_target_;
  Linear source_, target_, edge_, residual_;
  at::Tensor vector_, vector_target_, vector_edge_, bias_;
};

std::unique_ptr<Conv> gat_of(const ModelConfig& c, const ConvWidths& widths, at::Tensor*) {
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

}  // namespace

std::unique_ptr<Conv> make_gat_conv(const GatOptions& options) {
  return std::make_unique<GatConv>(options);
}

const MakeConv makers::kGat = gat_of;
const MakeConv makers::kGatv2 = gat_of;

}  // namespace gnnmg::nn
