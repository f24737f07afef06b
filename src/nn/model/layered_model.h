// Common parts of models of layers, whether a config describes them (stack.h) or lists them
// (layer_model.h): parameters, statistics of norms, data of the graph.
#pragma once

#include <memory>
#include <vector>

#include "nn/conv/conv.h"
#include "nn/layers/norm.h"
#include "nn/layers/parameters.h"
#include "nn/model/graph_facts.h"
#include "nn/model/model.h"

namespace gnnmg::nn {

// Dropout layers are numbered; dropout of attention comes after all others.
inline constexpr uint64_t kAttentionLayer = 1024;

class LayeredModel : public Model {
 public:
  const ModelConfig& config() const final { return config_; }
  const Device* device() const final { return device_; }
  at::Tensor forward(const ForwardArgs& args) final;
  std::vector<at::Tensor> forward_step(std::span<const ForwardArgs> batches,
                                       const SumOverRanks& sum) final;
  void absent_backward(const SumOverRanks& sum) final;
  const std::vector<NamedTensor>& parameters() const final { return parameters_.named(); }
  const std::vector<NamedTensor>& buffers() const final { return parameters_.buffers(); }
  const std::vector<NamedTensor>& state_tensors() const final { return parameters_.state(); }
  at::Tensor flat_parameters() const final { return parameters_.flat(); }
  at::Tensor flat_gradients() const final { return parameters_.flat_gradients(); }
  const std::vector<bool>& frozen() const final { return parameters_.frozen(); }
  void set_frozen(const std::vector<bool>& frozen) final;
  void train_in_bf16(bool on) final { bf16_ = on; }
  int64_t batch_statistics_width() const final { return statistics_.width(); }
  at::Tensor take_batch_statistics() final;
  bool take_lone_row() final { return statistics_.take_lone_row(); }
  void fold_batch_statistics(const at::Tensor& rows) final;

 protected:
  LayeredModel(const ModelConfig& config, const Device* device);
  struct RunOptions {
    bool training = false, gradients = false;
    SumOverRanks sum = {};  // empty: statistics of each mini-batch
    // Lives until backward() has run: the owner of blocks that were made for the run.
    std::shared_ptr<const void> owner = {};
  };
  // The batches are valid.
  virtual std::vector<at::Tensor> run(std::span<const ForwardArgs> batches,
                                      const RunOptions& options) = 0;
  // True if a convolution of these settings needs degrees in the whole graph.
  static bool reads_degrees(const Conv& conv, const ModelConfig& options);
  // True if these are sums of weights.
  static bool reads_weight_sums(const Conv& conv, const ModelConfig& options);
  // Adds the needs of inference by pieces for a convolution of these settings.
  static void add_piece_needs(const Conv& conv, const ModelConfig& options, PieceNeeds& needs);
  // The needs of the model apart from its convolutions.
  PieceNeeds own_piece_needs() const;
  // Returns the degrees of a mini-batch's first nodes that a convolution of these settings needs;
  // undefined if it needs none.
  at::Tensor degrees_of(const Conv& conv, const ModelConfig& options, const ForwardArgs& args,
                        int64_t num_nodes);
  // Returns the new model with this one's weights and buffers and, on the same device, its data of
  // the graph.
  std::unique_ptr<Model> filled(std::unique_ptr<LayeredModel> copy) const;

  // Declares the learned rows of Input::kEmbedding, "embedding.weight".
  void declare_embedding(ParameterList& list);

  // Returns the execution for the operations of a run.
  Execution execution_of(std::span<const ForwardArgs> batches, const RunOptions& options) const;

  ModelConfig config_;
  const Device* const device_;  // null: the CPU
  ParameterSet parameters_;
  at::Tensor embedding_;  // [input_dim, hidden_dim], for Input::kEmbedding
  Scratch scratch_;
  bool bf16_ = false;  // precision of training passes
  BatchStatistics statistics_;
  KnownGraph known_;

 private:
  std::vector<sample::NodeDegree> degrees_elsewhere(const ForwardArgs& args,
                                                    int64_t num_nodes) const;
  std::vector<graph::WeightSums> weight_sums_elsewhere(const ForwardArgs& args,
                                                       int64_t num_nodes) const;
  void expect_told_on_device() const;
  // Checks the batches, drops edges and nodes in training, and runs the rest.
  std::vector<at::Tensor> pass(std::span<const ForwardArgs> batches, RunOptions options);
};

}  // namespace gnnmg::nn
