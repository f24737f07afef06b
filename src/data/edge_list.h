// Lists of edges in text, apart from the file they lie in, so that they can be fuzzed and used by
// the reader of OGB's tables.
#pragma once

#include <memory>

#include "data/assemble.h"
#include "data/readers.h"
#include "data/text_shape.h"
#include "io/text.h"

namespace gnnmg::data {

// Reads every line. Blank lines and lines that begin with '#', '%' or "//" are skipped. A header
// names the columns; without one the first columns are the ends and the first
// further column with numbers is the edge tensor "weight" (f32). Other columns are
// described in docs/formats.md; each that is left out is named in a warning. Of a text of `shape`
// kCounts or kCountsFromOne the first line is no edge. Error(kFormat / kRange) naming file and
// line.
Found parse_edges(std::unique_ptr<io::ByteSource> source, Reading& reading,
                  TextShape shape = TextShape::kEdges);

// Error(kRange) when `num_nodes`, which no array over the nodes proves, is out of proportion to the
// `bytes` of edges that came with it: arrays over such a number would not fit any memory.
void check_node_count(int64_t num_nodes, int64_t bytes, std::string_view where);

}  // namespace gnnmg::data
