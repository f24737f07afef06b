// Named tensors in files that other tools read: safetensors both ways, and PyTorch's .pth (reading
// and writing without Python).
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/tensor.h"

namespace gnnmg::io {

// Names in the file's order (.pth) or by name (safetensors, whose order means nothing).
struct StateFile {
  std::vector<std::pair<std::string, base::Tensor>> tensors;
  std::map<std::string, std::string> metadata;  // safetensors' __metadata__
  const base::Tensor* find(std::string_view name) const;
};

// Strict: gaps, overlaps, wrong sizes, trailing bytes, unknown types, non-string metadata are
// Error(kFormat).
StateFile read_safetensors(const std::string& path);
StateFile parse_safetensors(std::span<const uint8_t> bytes, std::string_view name);
// Header padded to a multiple of 8; tensors ordered by element size (wider first), then name;
// atomic.
void write_safetensors(const std::string& path, const StateFile& state);

// A state dict written by torch.save: zip of a restricted pickle and raw storages. `path_in_file`
// picks a nested dict
// ("model.state_dict"); empty: the top, or the only value that is a dict of tensors. One leading
// "module." is stripped if every key has it. The layout before torch 1.6 is refused with a hint.
StateFile read_pth(const std::string& path, std::string_view path_in_file = "");
StateFile parse_pth(std::span<const uint8_t> bytes, std::string_view name,
                    std::string_view path_in_file = "");
void write_pth(const std::string& path, const StateFile& state);

}  // namespace gnnmg::io
