// PyG's GraphConv: one linear map for the neighbors and one for the node itself.
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>

#include <algorithm>

#include "base/error.h"
#include "nn/config/choices.h"
#include "nn/conv/layers.h"
#include "nn/conv/make_conv.h"
#include "nn/conv/sage_conv.h"
#include "nn/ops/device_lists.h"
#include "nn/ops/tensors.h"

namespace gnnmg::nn {
namespace {

class GraphConv final : public Conv {
 public:
  explicit GraphConv(const GraphOptions& options) : options_(options) {
    if (options_.in_target == 0) options_.in_target = options_.in;
  }

  void declare(ParameterList& list) override {
    list.linear("lin_rel", options_.out, options_.in, options_.bias, rel_);
    list.linear("lin_root", options_.out, options_.in_target, false, root_);
  }
  int64_t output_width() const override { return options_.out; }
  int64_t transformed_width() const override { return options_.out; }
  bool reads_by_source(bool sparse) const override {
    if (options_.reduce == Reduce::kMax) return false;
    return sparse || may_transform_first(options_.reduce, options_.in, options_.out);
  }
  bool transforms(bool sparse, const sample::BlockView& block) const override {
    if (options_.reduce == Reduce::kMax) return false;
    return sparse || transforms_first(options_.reduce, block, options_.in, options_.out);
  }
  at::Tensor transform(const ConvInput& in, int64_t count,
                       const Execution& execution) const override {
    return times(in, count, {rel_.weight, {}}, execution);
  }

  std::optional<Linear> own_linear() const override { return Linear{root_.weight, rel_.bias}; }

  at::Tensor combine(const at::Tensor& rows, bool transformed, int64_t, const ConvInput& own,
                     const ConvPass& pass) const override {
    at::Tensor y;
    if (!own.edge_weight.defined()) {
      y = aggregate(rows, pass.block, options_.reduce, pass.execution);
    } else if (options_.reduce == Reduce::kMax) {
      y = aggregate_edges(weighted_rows(rows, own.edge_weight, pass.block, pass.execution),
                          pass.block, Reduce::kMax, pass.execution);
    } else {
      WeightedSum sum;
      sum.x = rows;
      sum.weights = own.edge_weight;
      if (options_.reduce == Reduce::kMean) {
        // Divides the sum by the number of edges, whatever their weights.
        sum.weights = own.edge_weight / counts(pass, own.edge_weight);
      }
      y = weighted_sum(sum, pass.block, pass.execution);
    }
    if (!transformed) y = linear(y, rel_.weight, {}, pass.execution);
    y = y + target_times(own, pass.block.num_targets, {root_.weight, rel_.bias}, pass.execution);
    return complete(y, own, pass);
  }

 private:
  // Returns [num_edges]: the in-degree of each edge's target.
  static at::Tensor counts(const ConvPass& pass, const at::Tensor& like) {
    const sample::BlockView& block = pass.block;
    if (pass.execution.device) {
      return counts_of_targets(block, pass.execution)
          .to(like.scalar_type())
          .index_select(0, targets_of_edges(block, pass.execution));
    }
    const at::Tensor counts = at::empty({block.num_edges}, like.options());
    visit_type(counts.scalar_type(), [&]<typename T>() {
      for (int64_t t = 0; t < block.num_targets; ++t) {
        const int64_t first = block.indptr[t], last = block.indptr[t + 1];
        std::fill_n(counts.mutable_data_ptr<T>() + first, last - first,
                    static_cast<T>(last - first));
      }
    });
    return counts;
  }

  GraphOptions options_;
  Linear rel_, root_;
};

std::unique_ptr<Conv> graph_conv_of(const ModelConfig& c, const ConvWidths& widths, at::Tensor*) {
  GraphOptions options;
  options.in = widths.in;
  options.out = widths.out;
  options.reduce = reduce_of(c.reduction());
  options.bias = c.bias;
  return make_graph_conv(options);
}

}  // namespace

std::unique_ptr<Conv> make_graph_conv(const GraphOptions& options) {
  return std::make_unique<GraphConv>(options);
}

const MakeConv makers::kGraphConv = graph_conv_of;

}  // namespace gnnmg::nn
