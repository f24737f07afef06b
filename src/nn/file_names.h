// The keys of the file that a model's weights came from, so that they can be written as they were.
// Free of torch.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "io/state_file.h"

namespace gnnmg::nn {

struct FileNames {
  // Of a tensor.
  struct Place {
    std::string key;
    size_t number = 0;  // among the file's
  };
  bool other_framework = false;       // the keys are those of the model's counterpart
  bool ordered = true;                // the numbers are those of the modules
  std::map<std::string, Place> keys;  // to the file's; none before weights were loaded
  // What wrappers had put into the file's keys or beside them, one line; empty: nothing. The keys
  // are without it.
  std::string left_out;
  // What the reader of an older version's keys has to know, one line; empty: nothing.
  std::string older;
  // A tensor of the file that is not one of the model's: several became one, or all are others.
  std::string lost;
};

// Gives the state of a model, or with `other_framework` of its counterpart, the keys of the file;
// what the file did not have, counters, is left out. In the order of the file, which is that of the
// modules, or, where it has none, as to_torch_modules() has it. Returns where each tensor was.
// Error(kInvalidArgument) where no weights were loaded, or of the other framework;
// Error(kUnsupported) where they were others.
std::vector<size_t> to_file_names(io::StateFile& state, const FileNames& names,
                                  bool other_framework);

}  // namespace gnnmg::nn
