#include "io/state_file.h"

#include <algorithm>

#include "base/file.h"
#include "io/bytes.h"
#include "io/pth_file.h"

namespace gnnmg::io {

using base::fail;
using base::Status;

const base::Tensor* StateFile::find(std::string_view name) const {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [name](const auto& named) { return named.first == name; });
  return found == tensors.end() ? nullptr : &found->second;
}

StateFile below(const StateFile& state, std::string_view prefix, std::string_view path) {
  const std::string start = std::string(prefix) + ".";
  StateFile part;
  part.metadata = state.metadata;
  part.ordered = state.ordered;
  for (const auto& [name, tensor] : state.tensors)
    if (name.starts_with(start)) part.tensors.emplace_back(name.substr(start.size()), tensor);
  if (part.tensors.empty())
    fail(Status::kNotFound, path, ": has nothing at \"", printable(prefix), "\"");
  return part;
}

StateFormat state_format(const std::string& path) {
  constexpr size_t kHeader = 8;  // of safetensors, in front of its JSON: the length of that
  constexpr std::string_view kZip = "PK", kPickle = "\x80";
  uint8_t bytes[64];
  const base::File file(path);
  const std::string_view start = as_text(std::span(bytes).first(file.read_some(0, bytes)));
  // First, as the length may have any bytes. A zip has a method of compression there.
  if (start.size() > kHeader && start[kHeader] == '{') return StateFormat::kSafetensors;
  if (start.starts_with(kZip) || start.starts_with(kPickle) || legacy_pth_start(start) > 0)
    return StateFormat::kPth;
  if (start.empty()) fail(Status::kFormat, path, ": is empty, expected a file of weights");
  fail(Status::kFormat, path, ": begins with \"", printable(start.substr(0, 32)),
       "\", expected a file of torch.save() or of safetensors");
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
