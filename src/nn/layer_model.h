// A model of layers that its config lists one by one: users' own stacks. What config-made models
// have beyond that, skips and jumping knowledge, is in stack.h.
#pragma once

#include <memory>
#include <vector>

#include "nn/layered_model.h"
#include "nn/readout_layer.h"

namespace gnnmg::nn {

struct Layer {
  LayerConfig config;
  int64_t out = 0;             // columns that it leaves
  std::unique_ptr<Conv> conv;  // of kConv, and so on
  int block = -1;              // that the convolution works on
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

 private:
  friend class LayerInference;

  struct Pass;
  std::vector<at::Tensor> run(std::span<const ForwardArgs> batches,
                              const RunOptions& options) override;
  void run_conv(const Layer& layer, std::span<Pass> passes, const Execution& execution,
                bool training, const NormPass& norms) const;
  // All layers but convolutions. Rows of a mini-batch become those of its graphs in a readout.
  void run_rows(const Layer& layer, std::span<Pass> passes, const Execution& execution,
                bool training, const NormPass& norms) const;

  std::vector<Layer> layers_;
};

}  // namespace gnnmg::nn
