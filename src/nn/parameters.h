// The parameters of a model as views of one flat tensor, their gradients as views of another, and
// their initial values.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "nn/model.h"

namespace gnnmg::nn {

// A parameter to be made. Its values are uniform in +-bound where bound is above 0, else `fill`.
struct ParameterSpec {
  std::string key;
  std::vector<int64_t> shape;
  double bound = 0;
  double fill = 0;
};

class ParameterSet {
 public:
  ParameterSet() = default;
  // Value j of parameter i is made from word j of stream (seed, initial weights, i), for f32 and
  // f64 alike. Sizes are checked before anything is allocated.
  ParameterSet(const std::vector<ParameterSpec>& specs, at::ScalarType type, uint64_t seed);

  const std::vector<NamedTensor>& named() const { return named_; }
  const at::Tensor& flat() const { return flat_; }
  const at::Tensor& flat_gradients() const { return gradients_; }
  // Undefined where there is none.
  at::Tensor find(const std::string& key) const;

 private:
  at::Tensor flat_, gradients_;
  std::vector<NamedTensor> named_;
};

}  // namespace gnnmg::nn
