// Lists of edges in text, apart from the file they lie in, so that they can be fuzzed and used by
// the reader of OGB's tables.
#pragma once

#include <memory>

#include "data/assemble.h"
#include "data/readers.h"
#include "io/text.h"

namespace gnnmg::data {

// Reads every line. Blank lines and lines that begin with '#', '%' or "//" are skipped. The first
// column besides the ends becomes the edge tensor "weight" (f32) if it holds a number in the first
// edge, and then must in all. Error(kFormat / kRange) naming file and line.
Found parse_edges(std::unique_ptr<io::ByteSource> source, Reading& reading);

// Error(kRange) when `num_nodes`, which no array over the nodes proves, is out of proportion to the
// `bytes` of edges that came with it: arrays over such a number would not fit any memory.
void check_node_count(int64_t num_nodes, int64_t bytes, std::string_view where);

}  // namespace gnnmg::data
