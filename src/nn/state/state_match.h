// Matches the tensors of a state dict with the tensors of a model, including keys of older
// versions, of users' own classes and of wrappers.
#pragma once

#include <list>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "io/state_file.h"
#include "nn/config/config.h"
#include "nn/state/file_names.h"

namespace gnnmg::nn {

// A tensor of the model; its values are not used.
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

// The tensor for each expected one, in that order; null for missing counters, and in part of a
// state for all that does not fit. They belong to the state or to `made`.
struct MatchedState {
  std::vector<const base::Tensor*> tensors;
  std::list<base::Tensor> made;
  FileNames names;
  std::string left;  // lists of missing, unexpected and misshapen keys, if a part is enough
};

// `framework` is that of the expected keys. Error(kFormat) has one list of missing, unexpected and
// misshapen keys, or the prefixes below which the model's keys are found beside other keys; kNan
// names the first element that is not finite, kRange the first that the model's type cannot hold or
// a negative variance or count. If a part is enough, one tensor has to fit.
enum class Extent { kWhole, kPart };
MatchedState match_state(const io::StateFile& state, const std::vector<ExpectedTensor>& expected,
                         Framework framework, const ModelConfig& config,
                         Extent extent = Extent::kWhole);

}  // namespace gnnmg::nn
