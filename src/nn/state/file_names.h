// The keys of the file that a model's weights were loaded from, so that they can be saved under the
// same keys. Free of torch.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "io/state_file.h"

namespace gnnmg::nn {

struct FileNames {
  // The place of a tensor in the file.
  struct Place {
    std::string key;
    size_t number = 0;  // position among the file's tensors
  };
  bool other_framework = false;       // the keys are those of the model's counterpart
  bool ordered = true;                // the positions are those of the modules
  std::map<std::string, Place> keys;  // own key to file key; empty before weights were loaded
  // Prefixes and entries that wrappers had added to the file's keys, in one line; empty if none.
  // The keys are without them.
  std::string left_out;
  // A remark of the reader of an older version's keys, in one line; empty if none.
  std::string older;
  // A tensor of the file that is not a tensor of the model: several were merged, or all were
  // changed.
  std::string lost;
};

// Renames the state of a model, or with `other_framework` of its counterpart, to the keys of the
// file; counters that the file lacked are left out. In the order of the file, which is that of the
// modules, or, if the file has no order, that of to_torch_modules(). Returns the original position
// of each tensor. Error(kInvalidArgument) if no weights were loaded, or those of the other
// framework; Error(kUnsupported) if the tensors differed.
std::vector<size_t> to_file_names(io::StateFile& state, const FileNames& names,
                                  bool other_framework);

}  // namespace gnnmg::nn
