// Writes state dicts of PyTorch's optimizers to .pth files; read_pth() reads the state of one
// parameter at "state.<number>".
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "io/state_file.h"

namespace gnnmg::io {

// State dict of an optimizer; its parameters are numbered from 0.
struct OptimizerDict {
  // None, a flag, a number, or a pair of numbers.
  using Option = std::variant<std::monostate, bool, double, std::pair<double, double>>;
  struct Group {
    std::vector<std::pair<std::string, Option>> options;
    size_t count = 0;  // number of parameters; they follow those of the previous groups
  };
  std::vector<StateFile> state;  // one per parameter; without tensors: no entry
  std::vector<Group> groups;
};

// Path, for read_pth(), of the only optimizer state dict in a file of several objects, such as
// {"model": ..., "optimizer": ...} or Lightning's {"state_dict": ..., "optimizer_states": [...]}.
// Empty if the state dict is the whole file, or there is none. Error(kFormat) naming them if there
// are several.
std::string find_optimizer_pth(const std::string& path);

// The keys of the dict at that path; empty if there is no dict. A number is returned as text, a key
// of another type as "?".
std::vector<std::string> keys_of_pth(const std::string& path, std::string_view path_in_file);

// Like write_pth(), in the form that load_state_dict() of the optimizer reads.
void write_optimizer_pth(const std::string& path, const OptimizerDict& optimizer);

}  // namespace gnnmg::io
