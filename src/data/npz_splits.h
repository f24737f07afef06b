// Splits in .npz archives: id lists or masks under the names that publishers use.
#pragma once

#include <string>
#include <vector>

#include "data/dataset.h"
#include "io/npy.h"

namespace gnnmg::data {

// Appends the splits of an archive with the arrays train, val (or valid, validation) and test, also
// as train_mask(s), train_idx and so on: ids [n] of one split, or bool masks [N] or [S, N]. Nothing
// is appended when there is no train array. Error(kFormat / kRange) naming archive, array and
// position.
void append_npz_splits(const io::Npz& npz, const std::string& name, int64_t num_nodes,
                       std::vector<Split>& splits);

}  // namespace gnnmg::data
