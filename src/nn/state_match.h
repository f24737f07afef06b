// Which tensor of a state dict becomes which tensor of a model: keys of older versions, of users'
// own classes and of wrappers are known.
#pragma once

#include <list>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "io/state_file.h"
#include "nn/config.h"
#include "nn/file_names.h"

namespace gnnmg::nn {

// A tensor that a model has: its numbers are of no matter.
struct ExpectedTensor {
  std::string key;
  base::DType dtype;
  base::Shape shape;
  bool counter() const { return key.ends_with("num_batches_tracked"); }
  bool variance() const { return key.ends_with("running_var"); }
  bool accepts(base::DType given) const {
    return counter() ? !base::is_floating(given) && given != base::DType::kBool
                     : base::is_floating(given);
  }
};

// The tensor of each expected one, in that order; null for counters that are missing. They are the
// state's, or in `made`.
struct MatchedState {
  std::vector<const base::Tensor*> tensors;
  std::list<base::Tensor> made;
  FileNames names;
};

// `framework` is the one that the expected keys are of. Error(kFormat) with one list of missing,
// unexpected and misshapen keys, or with the prefixes below which the model's keys are where others
// stand beside them; kNan naming the first element that is not finite, kRange that is none of the
// model's type or a variance or count below zero.
MatchedState match_state(const io::StateFile& state, const std::vector<ExpectedTensor>& expected,
                         Framework framework, const ModelConfig& config);

}  // namespace gnnmg::nn
