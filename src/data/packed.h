// Many graphs in one .npz, apart from the file, so that it can be fuzzed.
#pragma once

#include "data/assemble.h"
#include "data/readers.h"
#include "io/npy.h"

namespace gnnmg::data {

// node_ptr and edge_ptr say where the rows of each graph begin in node_feat, edges (node ids of the
// graph itself) and edge_feat; labels and split_NAME are by graph. Error(kFormat / kRange) naming
// file, array and row.
Found parse_packed(const io::Npz& npz, Reading& reading);

}  // namespace gnnmg::data
