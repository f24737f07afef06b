// Named tensors in files that other tools read: safetensors both ways, and PyTorch's .pth (reading
// and writing without Python).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/tensor.h"

namespace gnnmg::io {

// Names in the file's order (.pth) or by name (safetensors, whose order means nothing).
struct StateFile {
  std::vector<std::pair<std::string, base::Tensor>> tensors;
  std::map<std::string, std::string> metadata;  // safetensors' __metadata__
  bool ordered = true;  // the names' order is that of the modules; false: of no meaning
  // The first 64 values of a .pth among the tensors that are none, "epoch (an int)".
  std::vector<std::string> passed_over = {};
  const base::Tensor* find(std::string_view name) const;
};

// The tensors whose keys begin with a prefix, such as "student" of "student.weight", under the rest
// of their keys. Error(kNotFound) if there are none.
StateFile below(const StateFile& state, std::string_view prefix, std::string_view path);

enum class StateFormat { kSafetensors, kPth };
// Detects the format by the first bytes, not by the name. Error(kFormat) naming the kind of another
// file.
StateFormat state_format(const std::string& path);

// For writers: kInvalidArgument, naming `path`, when two tensors have one name, a name is not UTF-8
// or a tensor is undefined.
void check_names(const StateFile& state, const std::string& path);

// Strict: gaps, overlaps, wrong sizes, trailing bytes, unknown types, non-string metadata are
// Error(kFormat). Integer types without a twin are widened as read_npy does.
StateFile read_safetensors(const std::string& path);
StateFile parse_safetensors(std::span<const uint8_t> bytes, std::string_view name);
// Header padded to a multiple of 8; tensors ordered by element size (wider first), then name;
// atomic. Equal states give equal bytes.
void write_safetensors(const std::string& path, const StateFile& state);

// A state dict written by torch.save: a pickle, of which nothing is run, and raw storages.
// `path_in_file` picks a nested dict ("model.state_dict"; a number picks the entry of that key), or
// of a dict of tensors those below a prefix of their keys; empty: the top, or the only dict of
// tensors on the first level that has any, or where there is none of tensors alone, of tensors and
// other values; the top too where it has more tensors than those below it. Other values among the
// tensors are skipped and named, except None; objects outside the dict are ignored. Contiguous
// tensors of a storage are views that share its memory; tensors with other strides become copies,
// which together must not exceed the size of the file plus 1 MiB. Files of PyTorch before 1.6 are
// read too. A path that does not exist is kNotFound.
StateFile read_pth(const std::string& path, std::string_view path_in_file = "");
StateFile parse_pth(std::span<const uint8_t> bytes, std::string_view name,
                    std::string_view path_in_file = "");
// Writes a file that torch.load reads with its defaults; atomic. Equal states give equal bytes.
void write_pth(const std::string& path, const StateFile& state);

}  // namespace gnnmg::io
