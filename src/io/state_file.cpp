#include "io/state_file.h"

#include <algorithm>

#include "base/file.h"
#include "io/bytes.h"
#include "io/foreign.h"
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
  part.passed_over = state.passed_over;
  for (const auto& [name, tensor] : state.tensors)
    if (name.starts_with(start)) part.tensors.emplace_back(name.substr(start.size()), tensor);
  if (part.tensors.empty())
    fail(Status::kNotFound, path, ": has nothing at \"", printable(prefix), "\"");
  return part;
}

namespace {

// Refuses a file without weights, or with weights in an unsupported form, and names its kind.
[[noreturn]] void refuse_other(const std::string& path, std::string_view start) {
  const auto refuse = [&](std::string_view kind, std::string_view remedy) {
    fail(Status::kFormat, path, ": is ", kind,
         ", expected a file of torch.save() or of safetensors: ", remedy);
  };
  if (start.empty()) fail(Status::kFormat, path, ": is empty, expected a file of weights");
  if (start.starts_with("\x1f\x8b")) refuse("compressed by gzip", "decompress it");
  if (start.starts_with('{') && start.find("\"weight_map\"") != start.npos)
    refuse("the index of weights in several files (.index.json)",
           "load the files that it names in Python and save all tensors into one");
  if (const auto kind = foreign_kind(start))
    refuse(kind->name, kind->remedy.for_graphs
                           ? "write the weights as a dict of tensors with torch.save()"
                           : kind->remedy.text);
  fail(Status::kFormat, path, ": begins with \"", printable(start, 32),
       "\", expected a file of torch.save() or of safetensors");
}

}  // namespace

StateFormat state_format(const std::string& path) {
  constexpr size_t kHeader = 8;  // safetensors begin with the length of their JSON
  uint8_t bytes[4096];
  const base::File file(path);
  const std::string_view start = as_text(std::span(bytes).first(file.read_some(0, bytes)));
  // Checked first, since a header's length may begin with any bytes, such as "PK". Byte 8 of a zip
  // is its compression method, and text has no zeros at the end of the length.
  if (start.size() > kHeader && start[kHeader] == '{' && start[kHeader - 1] == '\0')
    return StateFormat::kSafetensors;
  if (start.starts_with("PK") || legacy_pth_start(start) > 0 || looks_like_pickle(start))
    return StateFormat::kPth;
  refuse_other(path, start);
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
