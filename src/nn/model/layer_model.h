// A model whose config lists its layers one by one: users' own stacks. stack.h has the models with
// skips and jumping knowledge.
#pragma once

#include <memory>
#include <vector>

#include "nn/layers/readout_layer.h"
#include "nn/model/layered_model.h"

namespace gnnmg::nn {

struct Layer {
  LayerConfig config;
  int64_t out = 0;             // columns of its output
  std::unique_ptr<Conv> conv;  // defined for kConv; the other members likewise
  int block = -1;              // block of the convolution
  Linear linear;
  NormLayer norm;
  at::Tensor prelu;
  ReadoutLayer readout;
};

class LayerModel final : public LayeredModel {
 public:
  explicit LayerModel(const ModelConfig& config, const Device* device = nullptr);

  std::unique_ptr<Inference> inference(const graph::Graph& graph, const graph::Column* features,
                                       base::ThreadPool* pool, const GraphPiece* piece) override;
  PieceNeeds piece_needs() const override;
  std::unique_ptr<Model> clone_on(const Device* device) const override;
  bool reads_degrees() const override;
  bool reads_weight_sums() const override;
  int64_t hidden_width() const override;

 private:
  friend class LayerInference;

  struct Pass;
  // The layer that makes the result from the rows of ForwardArgs::hidden; null: there are none.
  const Layer* last_with_weights() const;
  std::vector<at::Tensor> run(std::span<const ForwardArgs> batches,
                              const RunOptions& options) override;
  void run_conv(const Layer& layer, std::span<Pass> passes, const Execution& execution,
                bool training, const NormPass& norms) const;
  // Runs all layers except convolutions. A readout turns the rows of a mini-batch's nodes into rows
  // of its graphs.
  void run_rows(const Layer& layer, std::span<Pass> passes, const Execution& execution,
                bool training, const NormPass& norms) const;

  std::vector<Layer> layers_;
};

}  // namespace gnnmg::nn
