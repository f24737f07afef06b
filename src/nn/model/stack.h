// A model of consecutive convolutions with norms, activations, dropout and skips: the models that a
// config describes. nn/inference has its inference over a whole graph.
#pragma once

#include <memory>
#include <vector>

#include "nn/layers/category_encoder.h"
#include "nn/layers/readout_layer.h"
#include "nn/layers/sequence.h"
#include "nn/model/layered_model.h"

namespace gnnmg::nn {

struct StackLayer {
  std::unique_ptr<Conv> conv;
  Linear skip;     // linear layer beside the convolution
  NormLayer norm;  // follows the convolution; precedes it in residual blocks
};

// The state of a mini-batch between layers.
struct StackPass {
  const ForwardArgs* args;
  ConvInput in;                     // input of the next layer
  at::Tensor before;                // residual blocks: added to the next layer's result
  Dropout dropout;                  // applied after the next layer
  at::Tensor degrees;               // degrees of its nodes, if the layers need them
  std::vector<EdgeValues> edges;    // data of each block's edges in the layers' form; empty: none
  std::vector<at::Tensor> outputs;  // results of the layers, if the result needs all
};

// The data of a mini-batch that the steps after the layers need.
struct StackEnd {
  std::span<const int64_t> graph_ptr;
  DropoutKey dropout;
  bool training = false;
  at::Tensor* hidden = nullptr;  // ForwardArgs::hidden
};

class StackModel final : public LayeredModel {
 public:
  explicit StackModel(const ModelConfig& config, const Device* device = nullptr);

  std::unique_ptr<Inference> inference(const graph::Graph& graph, const graph::Column* features,
                                       base::ThreadPool* pool, const GraphPiece* piece) override;
  PieceNeeds piece_needs() const override;
  std::unique_ptr<Model> clone_on(const Device* device) const override;
  bool reads_input_by_source(bool sparse) const override;
  bool reads_degrees() const override;
  bool reads_weight_sums() const override;
  int64_t hidden_width() const override;

 private:
  friend class StackInference;

  void declare(ParameterList& list);
  // Splits norm, activation and dropout into the part that the convolution of layer i can apply,
  // and the rest. `dropout` is inactive in evaluation.
  Finish finish_of_conv(int layer, const Dropout& dropout) const;
  void after_conv(int layer, std::span<StackPass> passes, const Execution& execution,
                  const NormPass& norms) const;
  // Applies the norm to the rows of all passes.
  static void apply_norm(const NormLayer& norm, std::span<StackPass> passes, const NormPass& norms);
  void run_layer(int i, std::span<StackPass> passes, const Execution& execution, bool training,
                 const NormPass& norms);
  std::vector<at::Tensor> run(std::span<const ForwardArgs> batches,
                              const RunOptions& options) override;
  StackPass begin_pass(const ForwardArgs& args, const Execution& execution, bool training);
  bool plain_output(int layer) const;  // nothing follows the convolution
  // Computes the result from the layers' rows.
  at::Tensor output(const at::Tensor& last, const std::vector<at::Tensor>& all, const StackEnd& end,
                    const Execution& execution) const;

  std::vector<StackLayer> layers_;
  NormLayer output_norm_;  // norm before the output of residual blocks
  // Linear input of residual blocks; linear output of models with skips or jumping.
  Linear input_, output_;
  LayerAttention layer_attention_;  // weights of Jumping::kLstm
  std::vector<Linear> scores_;      // layers of Jumping::kScores, for the input and every layer
  CategoryEncoder nodes_, edges_;   // encoders of features that are categories
  ReadoutLayer readout_;
  at::Tensor prelu_;
};

}  // namespace gnnmg::nn
