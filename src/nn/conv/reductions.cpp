#include "nn/conv/reductions.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>

#include <algorithm>

#include "nn/ops/device_lists.h"
#include "nn/ops/tensors.h"

namespace gnnmg::nn {
namespace {

constexpr double kLeastVariance = 1e-5;  // the deviation of a smaller variance is 0

}  // namespace

std::vector<at::Tensor> reduce_messages(const Messages& messages,
                                        const std::vector<PnaReduction>& reductions,
                                        const sample::BlockView& block,
                                        const Execution& execution) {
  const at::Tensor& all_rows = messages.rows;
  const at::Tensor& shift = messages.shift;
  const auto reduced = [&](const at::Tensor& rows, Reduce kind) {
    return messages.of_edges ? aggregate_edges(rows, block, kind, execution)
                             : aggregate(rows, block, kind, execution);
  };
  const at::Tensor degree = shift.defined() ? in_degrees(block, all_rows, execution) : at::Tensor();
  const at::Tensor once = shift.defined() ? degree.clamp_max(1) * shift : at::Tensor();
  const auto shifted = [&](const at::Tensor& y) { return once.defined() ? y + once : y; };
  const auto needs = [&](PnaReduction kind) {
    return std::ranges::find(reductions, kind) != reductions.end();
  };
  const bool spread = needs(PnaReduction::kVariance) || needs(PnaReduction::kDeviation);
  at::Tensor mean, variance;
  if (spread || needs(PnaReduction::kMean)) mean = reduced(all_rows, Reduce::kMean);
  // The shift does not change the variance.
  if (spread) variance = reduced(all_rows * all_rows, Reduce::kMean) - mean * mean;
  std::vector<at::Tensor> all;
  for (PnaReduction kind : reductions) {
    switch (kind) {
      case PnaReduction::kMean:
        all.push_back(shifted(mean));
        break;
      case PnaReduction::kMin:
        all.push_back(shifted(-reduced(-all_rows, Reduce::kMax)));
        break;
      case PnaReduction::kMax:
        all.push_back(shifted(reduced(all_rows, Reduce::kMax)));
        break;
      case PnaReduction::kSum: {
        const at::Tensor sum = reduced(all_rows, Reduce::kSum);
        all.push_back(shift.defined() ? sum + degree * shift : sum);
        break;
      }
      case PnaReduction::kVariance:
        all.push_back(variance);
        break;
      case PnaReduction::kDeviation: {
        const at::Tensor deviation = variance.clamp_min(kLeastVariance).sqrt();
        all.push_back(deviation.masked_fill(variance.detach() <= kLeastVariance, 0));
        break;
      }
    }
  }
  return all;
}

at::Tensor in_degrees(const sample::BlockView& block, const at::Tensor& like,
                      const Execution& execution) {
  if (execution.device)
    return counts_of_targets(block, execution).to(like.scalar_type()).unsqueeze(1);
  at::Tensor degrees = at::empty({block.num_targets, 1}, like.options().requires_grad(false));
  visit_type(degrees.scalar_type(), [&]<typename T>() {
    for (int64_t t = 0; t < block.num_targets; ++t)
      degrees.mutable_data_ptr<T>()[t] = static_cast<T>(block.indptr[t + 1] - block.indptr[t]);
  });
  return degrees;
}

}  // namespace gnnmg::nn
