// EdgeConv of PyG and of DGL: the maximum of a network over both ends of each edge. Its first
// linear layer is split into a part of the target and a part of the source, so that it runs over
// nodes, and without further layers no row of an edge is ever made.
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>

#include "base/error.h"
#include "nn/conv/layers.h"
#include "nn/tensors.h"

namespace gnnmg::nn {
namespace {

class EdgeConv final : public Conv {
 public:
  explicit EdgeConv(const EdgeOptions& options)
      : o_(options), in_(options.dgl ? options.in : options.widths.front() / 2) {
    if (o_.dgl && (o_.widths.size() != 1 || o_.reduce != Reduce::kMax))
      base::fail(base::Status::kInvalidArgument,
                 "EdgeConv in DGL's form has one width and takes the maximum");
    if (!o_.dgl && (o_.widths.size() < 2 || o_.widths.front() % 2 != 0))
      base::fail(base::Status::kInvalidArgument, "EdgeConv: widths begin with ", o_.widths.front(),
                 ", expected twice the columns of a row, and a second one");
    linears_.resize(o_.dgl ? 2 : o_.widths.size() - 1);
  }

  void declare(ParameterList& list) override {
    if (o_.dgl) {
      list.linear("theta", o_.widths[0], in_, true, linears_[0]);
      list.linear("phi", o_.widths[0], in_, true, linears_[1]);
      return;
    }
    for (size_t i = 0; i < linears_.size(); ++i) {
      const std::string name = linears_.size() == 1 ? "nn"
                               : o_.mlp_keys        ? base::text("nn.lins.", i)
                                                    : base::text("nn.", 2 * i);
      list.linear(name, o_.widths[i + 1], o_.widths[i], true, linears_[i]);
    }
  }
  int64_t output_width() const override { return o_.widths.back(); }

  bool transforms(bool, const sample::BlockView&) const override { return true; }
  int64_t transformed_width() const override { return o_.dgl ? o_.widths[0] : o_.widths[1]; }
  at::Tensor transform(const ConvInput& in, int64_t count,
                       const Execution& execution) const override {
    const at::Tensor weight = o_.dgl ? -linears_[0].weight : linears_[0].weight.narrow(1, in_, in_);
    return times(in, count, {weight, {}}, execution);
  }

  at::Tensor combine(const at::Tensor& rows, bool, int64_t, const ConvInput& own,
                     const ConvPass& pass) const override {
    const sample::BlockView& block = pass.block;
    const at::Tensor target = target_times(own, block.num_targets, target_part(), pass.execution);
    if (o_.dgl || linears_.size() == 1) {
      const at::Tensor sum = o_.dgl ? aggregate_last_max(rows, block, pass.execution)
                                    : aggregate(rows, block, o_.reduce, pass.execution);
      return complete(sum + counts(block, rows) * target, own, pass);
    }
    at::Tensor y = rows_of_edges(rows, target, block, pass.execution);
    for (size_t i = 1; i < linears_.size(); ++i)
      y = at::linear(at::relu(y), linears_[i].weight, linears_[i].bias);
    return complete(aggregate_edges(y, block, o_.reduce, pass.execution), own, pass);
  }

 private:
  // What the first layer does with the target's row.
  Linear target_part() const {
    if (o_.dgl)
      return {linears_[0].weight + linears_[1].weight, linears_[0].bias + linears_[1].bias};
    const at::Tensor& weight = linears_[0].weight;
    return {weight.narrow(1, 0, in_) - weight.narrow(1, in_, in_), linears_[0].bias};
  }

  // [num_targets, 1]: how often a target's own part is in the reduction.
  at::Tensor counts(const sample::BlockView& block, const at::Tensor& like) const {
    at::Tensor counts = at::empty({block.num_targets, 1}, like.options().requires_grad(false));
    visit_type(counts.scalar_type(), [&]<typename T>() {
      for (int64_t t = 0; t < block.num_targets; ++t) {
        const int32_t count = block.indptr[t + 1] - block.indptr[t];
        counts.mutable_data_ptr<T>()[t] =
            static_cast<T>(o_.reduce == Reduce::kSum ? count : count > 0);
      }
    });
    return counts;
  }

  EdgeOptions o_;
  int64_t in_;
  std::vector<Linear> linears_;
};

}  // namespace

std::unique_ptr<Conv> make_edge_conv(const EdgeOptions& options) {
  return std::make_unique<EdgeConv>(options);
}

}  // namespace gnnmg::nn
