// PyG's TransformerConv. The edges' features are multiplied by the heads' matrices on the side of
// the targets, so that no row of all channels is stored per edge.
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/einsum.h>
#include <ATen/ops/sigmoid.h>

#include <cmath>

#include "base/error.h"
#include "nn/conv/layers.h"
#include "nn/conv/make_conv.h"
#include "nn/ops/made_block.h"
#include "nn/torch/linear.h"

namespace gnnmg::nn {
namespace {

class TransformerConv final : public Conv {
 public:
  explicit TransformerConv(const TransformerOptions& options)
      : o_(options), width_(options.heads * options.out) {
    if (o_.in_target == 0) o_.in_target = o_.in;
    o_.beta = o_.beta && o_.root_weight;
  }

  void declare(ParameterList& list) override {
    const int64_t total = output_width();
    list.linear("lin_key", width_, o_.in, o_.bias, key_);
    list.linear("lin_query", width_, o_.in_target, o_.bias, query_);
    list.linear("lin_value", width_, o_.in, o_.bias, value_);
    if (o_.edge_dim) list.linear("lin_edge", width_, o_.edge_dim, false, edge_);
    list.linear("lin_skip", total, o_.in_target, o_.bias, root_);
    if (o_.beta) list.linear("lin_beta", 1, 3 * total, false, beta_);
  }
  int64_t output_width() const override { return o_.concat ? width_ : o_.out; }

  // Computes keys and values, concatenated.
  bool transforms(bool, const sample::BlockView&) const override { return true; }
  int64_t transformed_width() const override { return 2 * width_; }
  at::Tensor transform(const ConvInput& in, int64_t count,
                       const Execution& execution) const override {
    return at::cat({times(in, count, key_, execution), times(in, count, value_, execution)}, 1);
  }
  at::Tensor forward(const ConvInput& in, const ConvPass& pass) const override {
    const int64_t n = pass.block.num_sources;
    return attend(times(in, n, key_, pass.execution), times(in, n, value_, pass.execution), in,
                  pass);
  }
  at::Tensor combine(const at::Tensor& rows, bool, int64_t, const ConvInput& own,
                     const ConvPass& pass) const override {
    return attend(rows.narrow(1, 0, width_), rows.narrow(1, width_, width_), own, pass);
  }

 private:
  at::Tensor attend(const at::Tensor& keys, const at::Tensor& values, const ConvInput& own,
                    const ConvPass& pass) const {
    const sample::BlockView& block = pass.block;
    const Execution& execution = pass.execution;
    const int64_t n = block.num_targets, heads = o_.heads;
    if (o_.edge_dim && !own.edge_attr.defined())
      base::fail(base::Status::kInvalidArgument, "TransformerConv with edge_dim ", o_.edge_dim,
                 " was given no edge features");
    if (own.edge_weight.defined())
      base::fail(base::Status::kUnsupported, "TransformerConv with edge weights");
    const at::Tensor queries =
        target_times(own, n, query_, execution) * (1 / std::sqrt(static_cast<double>(o_.out)));
    at::Tensor scores = edge_dots(keys, queries, heads, block, execution);
    std::shared_ptr<const MadeBlock> edges;
    at::Tensor features, by_head;
    if (o_.edge_dim) {
      edges = edges_to_targets(block, execution);
      features = own.edge_attr.repeat({1, heads});
      by_head = edge_.weight.view({heads, o_.out, o_.edge_dim});
      const at::Tensor asked =
          at::einsum("thc,hcd->thd", {queries.view({n, heads, o_.out}), by_head})
              .reshape({n, heads * o_.edge_dim});
      scores = scores + edge_dots(features, asked, heads, edges->view(), execution.with(edges));
    }
    WeightedSum sum;
    sum.weights =
        apply_finish(edge_softmax(scores, block, execution), {false, pass.attention}, execution);
    sum.x = values;
    at::Tensor y = weighted_sum(sum, block, execution);
    if (edges) {
      sum.x = features;
      const at::Tensor carried = weighted_sum(sum, edges->view(), execution.with(edges));
      y = y + at::einsum("thd,hcd->thc", {carried.view({n, heads, o_.edge_dim}), by_head})
                  .reshape({n, width_});
    }
    if (!o_.concat) y = y.view({n, heads, o_.out}).mean(1);
    if (o_.root_weight) {
      const at::Tensor root = target_times(own, n, root_, execution);
      if (o_.beta) {
        const at::Tensor share =
            at::sigmoid(torch_linear(at::cat({y, root, y - root}, 1), beta_.weight));
        y = share * root + (1 - share) * y;
      } else {
        y = y + root;
      }
    }
    return complete(y, own, pass);
  }

  TransformerOptions o_;
  int64_t width_;
  Linear key_, query_, value_, edge_, root_, beta_;
};

std::unique_ptr<Conv> transformer_of(const ModelConfig& c, const ConvWidths& widths, at::Tensor*) {
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

}  // namespace

std::unique_ptr<Conv> make_transformer_conv(const TransformerOptions& options) {
  return std::make_unique<TransformerConv>(options);
}

const MakeConv makers::kTransformer = transformer_of;

}  // namespace gnnmg::nn
