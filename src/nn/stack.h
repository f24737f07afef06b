// A model made of convolutions one behind the other, with what stands between them: the models that
// a config describes. Its inference over a whole graph is in inference.cpp.
#pragma once

#include <memory>
#include <vector>

#include "nn/category_encoder.h"
#include "nn/layered_model.h"
#include "nn/readout_layer.h"
#include "nn/sequence.h"

namespace gnnmg::nn {

struct StackLayer {
  std::unique_ptr<Conv> conv;
  Linear skip;     // beside the convolution
  NormLayer norm;  // behind it, or in front of it in residual blocks
};

// A mini-batch on its way through the layers.
struct StackPass {
  const ForwardArgs* args;
  ConvInput in;                     // of the layer that is next
  at::Tensor before;                // what that layer's result is added to, in residual blocks
  Dropout dropout;                  // behind that layer
  at::Tensor degrees;               // of its nodes, where the layers ask for them
  std::vector<EdgeValues> edges;    // of each block as the layers read them; empty: nothing
  std::vector<at::Tensor> outputs;  // of the layers, where the result is made of all
};

// What stands behind the layers needs of a mini-batch.
struct StackEnd {
  std::span<const int64_t> graph_ptr;
  DropoutKey dropout;
  bool training = false;
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

 private:
  friend class StackInference;

  void declare(ParameterList& list);
  // What of norm, activation and dropout can go into the convolution of layer i, and the rest.
  // `dropout` is not active in evaluation.
  Finish finish_of_conv(int layer, const Dropout& dropout) const;
  void after_conv(int layer, std::span<StackPass> passes, const Execution& execution,
                  const NormPass& norms) const;
  // To the rows of all passes.
  static void apply_norm(const NormLayer& norm, std::span<StackPass> passes, const NormPass& norms);
  void run_layer(int layer, std::span<StackPass> passes, const Execution& execution, bool training,
                 const NormPass& norms);
  std::vector<at::Tensor> run(std::span<const ForwardArgs> batches,
                              const RunOptions& options) override;
  StackPass begin_pass(const ForwardArgs& args, const Execution& execution, bool training);
  bool plain_output(int layer) const;  // nothing behind the convolution
  // The result from the rows that the layers left for it.
  at::Tensor output(const at::Tensor& last, const std::vector<at::Tensor>& all, const StackEnd& end,
                    const Execution& execution) const;

  std::vector<StackLayer> layers_;
  NormLayer output_norm_;  // of residual blocks
  Linear input_, output_;  // their linear input; linear output of models with skips or jumping
  LayerAttention layer_attention_;  // of Jumping::kLstm
  std::vector<Linear> scores_;      // of Jumping::kScores: for the input and every layer
  CategoryEncoder nodes_, edges_;   // of features that are categories
  ReadoutLayer readout_;
  at::Tensor prelu_;
};

}  // namespace gnnmg::nn
