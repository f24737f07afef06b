// State dicts of PyTorch's optimizers in .pth files, for writing; read_pth() reads what is kept of
// one parameter at "state.<number>".
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "io/state_file.h"

namespace gnnmg::io {

// Of an optimizer with one group of parameters, numbered from 0.
struct OptimizerDict {
  // None, a flag, a number, or a pair of numbers.
  using Option = std::variant<std::monostate, bool, double, std::pair<double, double>>;
  struct Group {
    std::vector<std::pair<std::string, Option>> options;
    size_t count = 0;  // parameters, which follow those of the groups before
  };
  std::vector<StateFile> state;  // of each parameter; without tensors: no entry
  std::vector<Group> groups;
};

// Where in a file of several objects, such as {"model": ..., "optimizer": ...} or Lightning's
// {"state_dict": ..., "optimizer_states": [...]}, the only state dict of an optimizer lies, as
// read_pth() takes it; empty where it is the whole file, or there is none. Error(kFormat) naming
// them where there are several.
std::string find_optimizer_pth(const std::string& path);

// The keys of the dict at that place; none where there is no dict. Numbers are texts, and what is
// neither is "?".
std::vector<std::string> keys_of_pth(const std::string& path, std::string_view path_in_file);

// As write_pth(); what load_state_dict() of the optimizer takes.
void write_optimizer_pth(const std::string& path, const OptimizerDict& optimizer);

}  // namespace gnnmg::io
