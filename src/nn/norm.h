// Normalization between and inside layers, with the statistics that batch norm takes, and the
// functions that stand beside it.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <string>
#include <vector>

#include "nn/config.h"
#include "nn/functions.h"
#include "nn/parameters.h"

namespace gnnmg::nn {

// f(x); `prelu` is the learned slope [1] of that function.
at::Tensor activate(Activation activation, const at::Tensor& x, const at::Tensor& prelu);

// Mean and variance of each batch norm of one training pass.
class BatchStatistics;

// What the norms of one pass of one or several mini-batches go by.
struct NormPass {
  BatchStatistics* statistics = nullptr;  // takes those of batch norm when training, else null
  // Where batch norm goes over all rows of all mini-batches of a step on all ranks, which is then
  // collective.
  SumOverRanks sum = {};
  // The graphs of each mini-batch, as ForwardArgs has them; may be left out.
  std::vector<std::span<const int64_t>> graphs = {};
  Execution execution = {};
};

class NormLayer {
 public:
  NormLayer() = default;
  NormLayer(Norm kind, int64_t width, const NormOptions& options = {});
  // Batch norm has PyG's keys, "module.weight"; with `plain_keys` those of torch's, "weight".
  void declare(ParameterList& list, bool plain_keys = false);
  // The rows of the mini-batches normalized, in place.
  void apply(std::span<at::Tensor> rows, const NormPass& pass) const;
  bool takes_statistics() const { return kind_ == Norm::kBatch; }

 private:
  friend class BatchStatistics;
  at::Tensor batch(const at::Tensor& x, BatchStatistics* statistics) const;
  at::Tensor by_running(const at::Tensor& x) const;  // batch norm by the running statistics
  // Batch norm over the rows of a step on all ranks.
  void step(std::span<at::Tensor> rows, const NormPass& pass) const;
  at::Tensor layer(const at::Tensor& x, std::span<const int64_t> graph_ptr,
                   const Execution& execution) const;
  at::Tensor graph(const at::Tensor& x, std::span<const int64_t> graph_ptr,
                   const Execution& execution) const;
  at::Tensor scaled(const at::Tensor& x) const;  // by the learned numbers, where there are any
  Norm kind_ = Norm::kNone;
  int64_t width_ = 0;
  NormOptions options_;
  int64_t offset_ = 0;  // in a row of statistics: mean, variance, 1 where the pass has them
  at::Tensor weight_, bias_, mean_scale_, running_mean_, running_var_, num_batches_;
};

// Statistics need two rows. A norm that meets one in a training pass goes by its running
// statistics, and neither it nor a norm that meets none moves them.
class BatchStatistics {
 public:
  BatchStatistics() = default;
  // Over these layers, in the order of a forward pass, which must stay where they are; those
  // without statistics are left out.
  explicit BatchStatistics(const std::vector<NormLayer*>& layers);
  int64_t width() const { return width_; }  // numbers of one pass
  // Collective: takes part in the backward pass of the last pass's batch norms under `sum` without
  // having one.
  void absent_backward(const SumOverRanks& sum) const;
  void begin_pass();
  void end_pass();
  // One row a finished pass, [passes, width()], in the parameters' type and where they lie; none
  // are left.
  at::Tensor take();
  // running <- (1 - m) running + m statistics with the momentum m, 0.1 by default, row after row,
  // which may lie anywhere.
  void fold(const at::Tensor& rows);
  // Whether a norm has met one row since the last call.
  bool take_lone_row();

 private:
  friend class NormLayer;
  void put(const NormLayer& layer, const at::Tensor& mean, const at::Tensor& variance);
  std::vector<NormLayer*> layers_;
  int64_t width_ = 0;
  at::Tensor pass_;
  std::vector<const NormLayer*> put_;  // of the last pass, in its order
  bool lone_row_ = false;
  std::vector<at::Tensor> finished_;
};

}  // namespace gnnmg::nn
