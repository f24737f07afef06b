// Named tensors in files that other tools read: safetensors and PyTorch's .pth, read and written
// without Python.
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

// Names in the file's order (.pth) or sorted by name (safetensors, whose order has no meaning).
struct StateFile {
  std::vector<std::pair<std::string, base::Tensor>> tensors;
  // safetensors' __metadata__; records "extra/<key>" of a .pth. Texts.
  std::map<std::string, std::string> metadata;
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

// For writers: kInvalidArgument, naming `path`, if two tensors have the same name, a name is not
// UTF-8 or a tensor is undefined.
void check_names(const StateFile& state, const std::string& path);

// Strict: gaps, overlaps, wrong sizes, trailing bytes, unknown types and non-string metadata are
// Error(kFormat). Integer types that the library lacks are widened as in read_npy.
StateFile read_safetensors(const std::string& path);
StateFile parse_safetensors(std::span<const uint8_t> bytes, std::string_view name);
// Header padded to a multiple of 8; tensors ordered by element size (wider first), then name;
// atomic. Equal states give equal bytes.
void write_safetensors(const std::string& path, const StateFile& state);

// Reads a state dict written by torch.save: a pickle, of which nothing is run, and raw storages.
// `path_in_file` selects a nested dict ("model.state_dict"; a number selects the entry with that
// key), or in a dict of tensors those below a prefix of their keys. Empty: the top dict, or the
// only dict of tensors on the first level that has any. Dicts with tensors only are preferred to
// dicts with other values too, and the top if it has more tensors than the dicts below it. Other
// values among the tensors are skipped and named, except None; objects outside the dict are
// ignored. Contiguous tensors of a storage are views that share its memory; tensors with other
// strides become copies, which together must not exceed the size of the file plus 1 MiB. Files of
// PyTorch before 1.6 are read too. A path that does not exist is kNotFound.
StateFile read_pth(const std::string& path, std::string_view path_in_file = "");
StateFile parse_pth(std::span<const uint8_t> bytes, std::string_view name,
                    std::string_view path_in_file = "");
// Writes a file that torch.load reads with its defaults, which ignores the records of the metadata.
// Atomic. Equal states give equal bytes.
void write_pth(const std::string& path, const StateFile& state);

}  // namespace gnnmg::io
