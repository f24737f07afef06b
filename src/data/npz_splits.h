// Splits in .npz archives: id lists or masks under the names that publishers use.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "io/npy.h"

namespace gnnmg::data {

// Appends the splits of an archive with the arrays train, val (or valid, validation) and test, also
// as train_mask(s), train_idx, idx_train and so on: ids [n] of one split, or masks [N], [S, N] or
// [N, S], of bools or, by these names, of 0 and 1. Where S is N too, a row is a split. False, and
// nothing is appended, when it has none of the three. Error(kFormat / kRange) naming archive, array
// and position.
bool append_npz_splits(const io::Npz& npz, const std::string& name, int64_t num_nodes,
                       std::vector<Split>& splits);

// Returns whether an array of that name is a part of such a split.
bool is_split_array(std::string_view key);

// Error(kFormat) naming the archive, its arrays and those that splits are made of.
[[noreturn]] void fail_without_splits(const io::Npz& npz);

// Arrays by their names: those of an archive, or the .npy files of a folder.
struct NamedArrays {
  std::string name;
  std::function<bool(const std::string& key)> has;
  std::function<base::Tensor(const std::string& key)> get;
};
// The archive must outlive them.
NamedArrays arrays_of(const io::Npz& npz);
// append_npz_splits() for such arrays, of nodes or graphs. False without any change if a part has
// none.
bool append_splits(const NamedArrays& npz, const std::string& name, int64_t num_nodes,
                   const char* of, std::vector<Split>& splits);

}  // namespace gnnmg::data
