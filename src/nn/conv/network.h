// The networks inside GIN's and EdgeConv's layers: linear layers with a norm and a function between
// them. Apart from the layers because both have the same, under the same keys.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "nn/norm.h"

namespace gnnmg::nn {

struct NetworkOptions {
  std::vector<int64_t> widths;  // input first: one linear layer fewer than numbers
  std::string name;             // in front of its keys
  // Keys of PyG's MLP, <name>.lins.0; else of a Sequential, <name>.0, <name>.2, or with norms
  // <name>.0, <name>.1, <name>.3, whose only linear layer is <name> itself.
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

  int64_t width(size_t layer) const { return o_.widths[layer + 1]; }  // of its output
  int64_t output_width() const { return o_.widths.back(); }
  size_t num_linears() const { return linears_.size(); }
  const Linear& linear(size_t layer) const { return linears_[layer]; }
  std::vector<NormLayer*> norms();
  // Norms inside that go over all rows together.
  bool normalises_all_rows() const { return !norms_.empty() && over_graph(o_.norm); }

  // Norm and function behind a linear layer that is not the last, for several mini-batches, in
  // place. A norm over a graph goes over all rows of a mini-batch: PyG's layers hand their networks
  // no graphs.
  void behind(size_t layer, std::span<at::Tensor> all, const NormPass& norms) const;
  // What stands behind linear layer `layer` where that goes row by row and is part of the layer's
  // own pass: then behind() has been seen to.
  Finish finish(size_t layer) const;
  // All that stands behind the first linear layer and its finish().
  void behind_first(std::span<at::Tensor> all, const NormPass& norms) const;

 private:
  NetworkOptions o_;
  std::vector<Linear> linears_;
  std::vector<NormLayer> norms_;
};

}  // namespace gnnmg::nn
