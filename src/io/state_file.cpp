#include "io/state_file.h"

#include <algorithm>

#include "io/bytes.h"

namespace gnnmg::io {

using base::fail;
using base::Status;

const base::Tensor* StateFile::find(std::string_view name) const {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [name](const auto& named) { return named.first == name; });
  return found == tensors.end() ? nullptr : &found->second;
}

void check_names(const StateFile& state, const std::string& path) {
  std::vector<std::string_view> names;
  for (const auto& [name, tensor] : state.tensors) {
    if (!is_utf8(name))
      fail(Status::kInvalidArgument, path, ": the name \"", printable(name), "\" is not UTF-8");
    if (!tensor.defined())
      fail(Status::kInvalidArgument, path, ": the tensor \"", printable(name), "\" is undefined");
    names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end())
    fail(Status::kInvalidArgument, path, ": two tensors are named \"", printable(*twice), "\"");
}

}  // namespace gnnmg::io
