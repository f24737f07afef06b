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
  // safetensors' __metadata__; records "extra/<key>" of a .pth. Texts.
  std::map<std::string, std::string> metadata;
  bool ordered = true;  // the names' order is that of the modules; false: of no meaning
  // The first 64 values of a .pth among the tensors that are none, "epoch (an int)".
  std::vector<std::string> passed_over = {};
  const base::Tensor* find(std::string_view name) const;
};

// The tensors below a prefix of keys, "student" of "student.weight", under what is left of their
// keys. Error(kNotFound) where there are none.
StateFile below(const StateFile& state, std::string_view prefix, std::string_view path);

enum class StateFormat { kSafetensors, kPth };
// Told by the first bytes, whatever the name ends in; Error(kFormat) saying what they are where it
// is neither.
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
// tensors are passed over and named, but None; what stands beside the dict is of no matter. Tensors
// that lie one after the other in a storage are views of it and share its memory; views with other
// strides become copies of their own, which in all must not be larger than the file and 1 MiB. What
// PyTorch before 1.6 wrote is read too. A path that is not there is kNotFound.
StateFile read_pth(const std::string& path, std::string_view path_in_file = "");
StateFile parse_pth(std::span<const uint8_t> bytes, std::string_view name,
                    std::string_view path_in_file = "");
// What torch.load reads under its defaults; it passes over the records of the metadata. Atomic.
// Equal states give equal bytes.
void write_pth(const std::string& path, const StateFile& state);

}  // namespace gnnmg::io
