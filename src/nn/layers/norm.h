// Normalization between and inside layers, with the statistics of batch norm, and activation
// functions.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <string>
#include <vector>

#include "nn/config/config.h"
#include "nn/layers/parameters.h"
#include "nn/layers/step_norm.h"
#include "nn/ops/functions.h"

namespace gnnmg::nn {

// Returns f(x); `prelu` is the learned slope [1] of that function.
at::Tensor activate(Activation activation, const at::Tensor& x, const at::Tensor& prelu);

// Mean and variance of each batch norm of one training pass.
class BatchStatistics;

// The statistics of a norm over all rows of a graph, while they are taken in passes over the rows.
struct RowStatistics {
  int pass = 0;              // passes that are over
  int64_t rows = 0;          // rows of the present pass
  at::Tensor sum;            // [1, columns], of the present pass
  at::Tensor mean, squares;  // results of the first and the second pass
};

class NormsOverRows;

// The context of the norms in one pass of one or several mini-batches.
struct NormPass {
  // Receives batch norm's statistics in training; otherwise null.
  BatchStatistics* statistics = nullptr;
  // If set, batch norm takes all rows of all mini-batches of a step on all ranks, and is
  // collective.
  SumOverRanks sum = {};
  // The graphs of each mini-batch, as in ForwardArgs; optional.
  std::vector<std::span<const int64_t>> graphs = {};
  Execution execution = {};
  // If set, norms over all rows of a graph get these rows in ranges: norm_over_rows.h.
  NormsOverRows* over_rows = nullptr;
};

class NormLayer {
 public:
  NormLayer() = default;
  NormLayer(Norm kind, int64_t width, const NormOptions& options = {});
  // Batch norm has PyG's keys, "module.weight"; with `plain_keys` torch's, "weight".
  void declare(ParameterList& list, bool plain_keys = false);
  // Normalizes the rows of the mini-batches in place.
  void apply(std::span<at::Tensor> rows, const NormPass& pass) const;
  bool takes_statistics() const { return kind_ == Norm::kBatch; }

  // For norms over all rows of a graph: the number of passes that take statistics; the summands of
  // a pass, by the results of the passes before; the end of a pass, which needs a
  // row; and the normalized rows once all passes are over.
  int row_passes() const { return kind_ == Norm::kPairRows ? 1 : 2; }
  at::Tensor summands(const at::Tensor& rows, const RowStatistics& known) const;
  void end_row_pass(RowStatistics& statistics) const;
  at::Tensor by_statistics(const at::Tensor& rows, const RowStatistics& known) const;

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
  at::Tensor scaled(const at::Tensor& x) const;  // applies the learned weight and bias, if any
  Norm kind_ = Norm::kNone;
  int64_t width_ = 0;
  NormOptions options_;
  int64_t offset_ = 0;  // position in a row of statistics: mean, variance, 1 if the pass has them
  at::Tensor weight_, bias_, mean_scale_, running_mean_, running_var_, num_batches_;
};

// Statistics need two rows. In a training pass a norm with one row uses its running statistics;
// norms with one row or none do not change them.
class BatchStatistics {
 public:
  BatchStatistics() = default;
  // Takes the statistics of these layers, in the order of a forward pass; the layers must not move.
  // Layers without statistics are ignored.
  explicit BatchStatistics(const std::vector<NormLayer*>& layers);
  int64_t width() const { return width_; }  // numbers per pass
  // Collective: takes part in the backward pass of the last pass's batch norms under `sum` without
  // a pass of its own.
  void absent_backward(const SumOverRanks& sum) const;
  void begin_pass();
  void end_pass();
  // Removes and returns one row per finished pass, [passes, width()], in the parameters' type and
  // on their device.
  at::Tensor take();
  // running <- (1 - m) running + m statistics with the momentum m, 0.1 by default, row after row.
  // The rows may be on any device.
  void fold(const at::Tensor& rows);
  // True if a norm has had a single row since the last call.
  bool take_lone_row();

 private:
  friend class NormLayer;
  void put(const NormLayer& layer, const at::Tensor& mean, const at::Tensor& variance);
  std::vector<NormLayer*> layers_;
  int64_t width_ = 0;
  at::Tensor pass_;
  std::vector<const NormLayer*> put_;  // norms of the last pass, in its order
  bool lone_row_ = false;
  std::vector<at::Tensor> finished_;
};

}  // namespace gnnmg::nn
