// GraphSAGE: what its forward pass and its inference share.
#pragma once

#include <optional>
#include <vector>

#include "nn/model.h"
#include "nn/parameters.h"
#include "nn/sage_conv.h"
#include "nn/torch_tensor.h"

namespace gnnmg::nn {

struct SageNorm {
  at::Tensor weight, bias;
  at::Tensor running_mean, running_var, num_batches;  // batch norm
};

struct SageLayer {
  SageConvWeights conv;
  SageNorm norm;  // behind the convolution, or in front of it in residual blocks
};

// A mini-batch on its way through the layers.
struct SagePass {
  const ForwardArgs* args;
  SageConvInput in;   // of the layer that is next
  at::Tensor before;  // what that layer's result is added to, in residual blocks
  Dropout dropout;    // behind that layer
};

class SageModel final : public Model {
 public:
  explicit SageModel(const SageConfig& config);

  const SageConfig& config() const override { return config_; }
  at::Tensor forward(const ForwardArgs& args) override;
  std::vector<at::Tensor> forward_step(std::span<const ForwardArgs> batches,
                                       const SumOverRanks& sum) override;
  void absent_backward(const SumOverRanks& sum) override;
  std::unique_ptr<Inference> inference(const graph::Graph& graph, const graph::Column& features,
                                       base::ThreadPool* pool) override;
  const std::vector<NamedTensor>& parameters() const override { return parameters_.named(); }
  const std::vector<NamedTensor>& buffers() const override { return buffers_; }
  at::Tensor flat_parameters() const override { return parameters_.flat(); }
  at::Tensor flat_gradients() const override { return parameters_.flat_gradients(); }
  int64_t batch_statistics_width() const override;
  at::Tensor take_batch_statistics() override;
  void fold_batch_statistics(const at::Tensor& rows) override;
  std::unique_ptr<Model> clone() const override;

 private:
  friend class SageInference;

  at::Tensor activate(const at::Tensor& x) const;
  // What of norm, activation and dropout can go into the convolution of layer i, and the rest.
  // `dropout` is not active in evaluation.
  Finish finish_of_conv(int layer, const Dropout& dropout) const;
  void after_conv(int layer, std::span<SagePass> passes, const Execution& execution, bool training,
                  const SumOverRanks& sum);
  at::Tensor apply_norm(const SageNorm& norm, const at::Tensor& x, bool training);
  // To the rows of all passes: each by itself, or, with `sum`, batch norm over all of them.
  void apply_norms(const SageNorm& norm, std::span<SagePass> passes, bool training,
                   const SumOverRanks& sum);
  // Empty `sum`: statistics of each mini-batch.
  std::vector<at::Tensor> run(std::span<const ForwardArgs> batches, bool training, bool gradients,
                              const SumOverRanks& sum);
  SagePass begin_pass(const ForwardArgs& args, const Execution& execution, bool training) const;
  bool plain_output(int layer) const;  // nothing behind the convolution
  SageConvOptions conv_options() const;
  SageConvInput first_input(const RowInput& input, const sample::BlockView& block,
                            const Dropout& dropout, const Execution& execution) const;
  void check_input(const ForwardArgs& args) const;

  SageConfig config_;
  ParameterSet parameters_;
  std::vector<NamedTensor> buffers_;
  std::vector<SageLayer> layers_;
  SageNorm output_norm_;                    // of residual blocks
  at::Tensor input_weight_, input_bias_;    // their linear input
  at::Tensor output_weight_, output_bias_;  // linear output of models with skips
  at::Tensor prelu_;
  Scratch scratch_;
  std::vector<at::Tensor> pass_statistics_;  // of the pass under way: mean, variance, mean, ...
  std::vector<at::Tensor> statistics_;       // one row a finished pass
};

}  // namespace gnnmg::nn
