// The networks inside GIN's and EdgeConv's layers: linear layers with a norm and a function between
// them. Both layers share this code and its keys.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "nn/layers/norm.h"

namespace gnnmg::nn {

struct NetworkOptions {
  std::vector<int64_t> widths;  // input first: one linear layer fewer than entries
  std::string name;             // prefix of its keys
  // Keys of PyG's MLP, <name>.lins.0; else of a Sequential, <name>.0, <name>.2, or with norms
  // <name>.0, <name>.1, <name>.3. A Sequential's single linear layer is <name> itself.
  bool mlp = false;
  Norm norm = Norm::kNone;
  NormOptions norm_options;
  Activation activation = Activation::kRelu;
  bool act_first = false;
  at::Tensor* prelu = nullptr;  // the model's slope, listed before; an MLP saves it a second time
};

class Network {
 public:
  explicit Network(const NetworkOptions& options);
  void declare(ParameterList& list);

  int64_t width(size_t layer) const { return o_.widths[layer + 1]; }  // columns of its output
  int64_t output_width() const { return o_.widths.back(); }
  size_t num_linears() const { return linears_.size(); }
  const Linear& linear(size_t layer) const { return linears_[layer]; }
  std::vector<NormLayer*> norms();
  // True if norms inside take all rows together.
  bool normalizes_all_rows() const { return !norms_.empty() && over_graph(o_.norm); }

  // Applies norm and function after a linear layer that is not the last, to several mini-batches,
  // in place. A norm over a graph takes all rows of a mini-batch, because PyG's layers do not pass
  // graphs to their networks.
  void after_linear(size_t layer, std::span<at::Tensor> all, const NormPass& norms) const;
  // Returns the operations after linear layer `layer` if they work row by row, so that the layer's
  // own pass applies them; after_linear() is not needed then.
  Finish finish(size_t layer) const;
  // Applies all operations after the first linear layer and its finish().
  void after_first(std::span<at::Tensor> all, const NormPass& norms) const;

 private:
  NetworkOptions o_;
  std::vector<Linear> linears_;
  std::vector<NormLayer> norms_;
};

}  // namespace gnnmg::nn
