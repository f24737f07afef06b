// DGL's SAGEConv.
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/relu.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "nn/conv/layers.h"
#include "nn/conv/sage_conv.h"
#include "nn/layers/sequence.h"
#include "nn/ops/device_lists.h"
#include "nn/ops/made_block.h"
#include "nn/ops/tensors.h"

namespace gnnmg::nn {
namespace {

using Aggregator = DglSageOptions::Aggregator;

class DglSageConv final : public Conv {
 public:
  explicit DglSageConv(const DglSageOptions& options) : o_(options) {
    if (o_.in_target == 0) o_.in_target = o_.in;
  }

  void declare(ParameterList& list) override {
    const auto weight = [&](const char* key, int64_t out, int64_t in, at::Tensor* slot) {
      list.uniform(key, {out, in}, std::sqrt(12 / static_cast<double>(in + out)), slot);
    };
    if (o_.aggregator == Aggregator::kGcn && o_.bias) list.constant("bias", {o_.out}, 0, &bias_);
    if (o_.aggregator == Aggregator::kPool) {
      weight("fc_pool.weight", o_.in, o_.in, &pool_.weight);
      list.bias("fc_pool.bias", o_.in, o_.in, &pool_.bias);
    }
    if (o_.aggregator == Aggregator::kLstm) lstm_.declare(list, "lstm", o_.in, o_.in);
    weight("fc_neigh.weight", o_.out, o_.in, &neighbors_);
    if (o_.aggregator == Aggregator::kGcn) return;
    weight("fc_self.weight", o_.out, o_.in_target, &self_);
    if (o_.bias) list.bias("fc_self.bias", o_.out, o_.in_target, &bias_);
  }
  int64_t output_width() const override { return o_.out; }

  bool reads_by_source(bool sparse) const override {
    if (!commutes()) return o_.aggregator == Aggregator::kPool;
    return sparse || may_transform_first(Reduce::kMean, o_.in, o_.out);
  }
  bool transforms(bool sparse, const sample::BlockView& block) const override {
    if (!commutes()) return o_.aggregator == Aggregator::kPool;
    return sparse || transforms_first(Reduce::kMean, block, o_.in, o_.out);
  }
  int64_t transformed_width() const override { return commutes() ? o_.out : o_.in; }
  at::Tensor transform(const ConvInput& in, int64_t count,
                       const Execution& execution) const override {
    if (commutes()) return times(in, count, {neighbors_, {}}, execution);
    return at::relu(times(in, count, pool_, execution));
  }
  std::optional<Linear> own_linear() const override {
    if (!commutes()) return std::nullopt;
    return Linear{self_, self_.defined() ? bias_ : at::Tensor()};
  }

  at::Tensor forward(const ConvInput& in, const ConvPass& pass) const override {
    if (o_.aggregator != Aggregator::kMean || in.edge_weight.defined())
      return Conv::forward(in, pass);
    SageConvWeights weights;
    weights.lin_l = neighbors_;
    weights.lin_l_bias = bias_;
    weights.lin_r = self_;
    weights.skip = pass.skip.weight;
    weights.skip_bias = pass.skip.bias;
    return sage_conv(weights, in, pass.block, {Reduce::kMean, false}, pass.finish, pass.execution);
  }

  at::Tensor combine(const at::Tensor& rows, bool transformed, int64_t first_own,
                     const ConvInput& own, const ConvPass& pass) const override {
    const int64_t n = pass.block.num_targets;
    at::Tensor y = gather(rows, transformed, first_own, own, pass);
    if (!transformed || !commutes()) y = nn::linear(y, neighbors_, {}, pass.execution);
    if (self_.defined())
      y = y + target_times(own, n, {self_, bias_}, pass.execution);
    else if (bias_.defined())
      y = y + bias_;
    return complete(y, own, pass);
  }

 private:
  // True if the aggregation is a weighted sum, with which the linear map changes places.
  bool commutes() const {
    return o_.aggregator == Aggregator::kMean || o_.aggregator == Aggregator::kGcn;
  }

  at::Tensor gather(const at::Tensor& rows, bool transformed, int64_t first_own,
                    const ConvInput& own, const ConvPass& pass) const {
    const sample::BlockView& block = pass.block;
    const bool weighted = own.edge_weight.defined();
    switch (o_.aggregator) {
      case Aggregator::kPool:
        return weighted ? weighted_last_max(rows, own.edge_weight, block, pass.execution)
                        : aggregate_last_max(rows, block, pass.execution);
      case Aggregator::kLstm: {
        if (!weighted) return lstm_packed(rows, lstm_, block, pass.execution);
        const auto to_targets = edges_to_targets(block, pass.execution);
        return lstm_packed(weighted_rows(rows, own.edge_weight, block, pass.execution), lstm_,
                           to_targets->view(), pass.execution.with(to_targets));
      }
      case Aggregator::kMean:
        if (!weighted) return aggregate(rows, block, Reduce::kMean, pass.execution);
        break;
      case Aggregator::kGcn:
        break;
    }
    // Divides by the number of edges, whatever their weights; with kGcn the node itself counts as
    // one more.
    const bool gcn = o_.aggregator == Aggregator::kGcn;
    const auto [shares, own_shares] = shares_of(block, gcn, rows.scalar_type(), pass.execution);
    WeightedSum sum;
    sum.x = rows;
    sum.weights = weighted ? own.edge_weight * shares : shares;
    if (gcn) {
      sum.self_weights = own_shares;
      if (own.x_target.defined()) {
        sum.x_target = target_rows(own, block.num_targets, pass.execution);
        if (transformed) sum.x_target = nn::linear(sum.x_target, neighbors_, {}, pass.execution);
      } else if (first_own != 0) {
        sum.x_target = rows.narrow(0, first_own, block.num_targets);
      }
    }
    return weighted_sum(sum, block, pass.execution);
  }

  // Returns 1 / (number of edges into each target, plus `extra`), for each edge and for each
  // target.
  static std::pair<at::Tensor, at::Tensor> shares_of(const sample::BlockView& block, bool extra,
                                                     at::ScalarType type,
                                                     const Execution& execution) {
    if (execution.device) {
      const at::Tensor counts = counts_of_targets(block, execution);
      const at::Tensor own = (extra ? counts + 1 : counts.clamp_min(1)).to(type).reciprocal();
      return {own.index_select(0, targets_of_edges(block, execution)), own};
    }
    at::Tensor shares = at::empty({block.num_edges}, at::TensorOptions(type));
    at::Tensor own_shares = at::empty({block.num_targets}, shares.options());
    visit_type(type, [&]<typename T>() {
      for (int64_t t = 0; t < block.num_targets; ++t) {
        const int64_t first = block.indptr[t], count = block.indptr[t + 1] - first;
        const T share = T{1} / static_cast<T>(extra ? count + 1 : std::max<int64_t>(1, count));
        std::fill_n(shares.mutable_data_ptr<T>() + first, count, share);
        own_shares.mutable_data_ptr<T>()[t] = share;
      }
    });
    return {shares, own_shares};
  }

  DglSageOptions o_;
  Linear pool_;
  Lstm lstm_;
  at::Tensor neighbors_, self_, bias_;
};

}  // namespace

std::unique_ptr<Conv> make_dgl_sage_conv(const DglSageOptions& options) {
  return std::make_unique<DglSageConv>(options);
}

}  // namespace gnnmg::nn
