// A model of layers that its config lists one by one: users' own stacks. What config-made models
// have beyond that, skips and jumping knowledge, is in stack.h.
#pragma once

#include <memory>
#include <vector>

#include "nn/conv/conv.h"
#include "nn/graph_facts.h"
#include "nn/model.h"
#include "nn/norm.h"
#include "nn/parameters.h"
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

class LayerModel final : public Model {
 public:
  explicit LayerModel(const ModelConfig& config);

  const ModelConfig& config() const override { return config_; }
  at::Tensor forward(const ForwardArgs& args) override;
  std::vector<at::Tensor> forward_step(std::span<const ForwardArgs> batches,
                                       const SumOverRanks& sum) override;
  void absent_backward(const SumOverRanks& sum) override { statistics_.absent_backward(sum); }
  std::unique_ptr<Inference> inference(const graph::Graph& graph, const graph::Column& features,
                                       base::ThreadPool* pool) override;
  const std::vector<NamedTensor>& parameters() const override { return parameters_.named(); }
  const std::vector<NamedTensor>& buffers() const override { return parameters_.buffers(); }
  const std::vector<NamedTensor>& state_tensors() const override { return parameters_.state(); }
  at::Tensor flat_parameters() const override { return parameters_.flat(); }
  at::Tensor flat_gradients() const override { return parameters_.flat_gradients(); }
  int64_t batch_statistics_width() const override { return statistics_.width(); }
  at::Tensor take_batch_statistics() override;
  void fold_batch_statistics(const at::Tensor& rows) override { statistics_.fold(rows); }
  std::unique_ptr<Model> clone() const override;

 private:
  friend class LayerInference;

  struct Pass;
  // Empty `sum`: statistics of each mini-batch.
  std::vector<at::Tensor> run(std::span<const ForwardArgs> batches, bool training, bool gradients,
                              const SumOverRanks& sum);
  void run_conv(const Layer& layer, std::span<Pass> passes, const Execution& execution,
                bool training, const NormPass& norms) const;
  // All layers but convolutions. Rows of a mini-batch become those of its graphs in a readout.
  void run_rows(const Layer& layer, std::span<Pass> passes, const Execution& execution,
                bool training, const NormPass& norms) const;
  // Of the sources of the layer's block; undefined where it asks for none.
  at::Tensor degrees_of(const Layer& layer, const ForwardArgs& args);

  ModelConfig config_;
  ParameterSet parameters_;
  std::vector<Layer> layers_;
  Scratch scratch_;
  BatchStatistics statistics_;
  KnownGraph known_;
};

}  // namespace gnnmg::nn
