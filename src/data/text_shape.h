// The kind of a text of numbers, where its first line alone does not tell: a list of edges, with or
// without a line of counts, or a matrix.
#pragma once

#include <memory>

#include "data/readers.h"
#include "io/text.h"

namespace gnnmg::data {

enum class TextShape {
  kEdges,
  kCounts,         // a list whose first line counts nodes and edges: "5 6", or "5 5 6"
  kCountsFromOne,  // the same with ids from 1
  kMatrix,         // the same number of lines and columns: an adjacency matrix
  kTransposed,     // two lines, all sources and all targets
  // Lists of three or four edges, or of two, that may also be one of the last two.
  kEdgesOrMatrix,
  kEdgesOrTransposed
};

// Reads on only while the text may still be something other than edges. Errors are those of lines.
TextShape shape_of_text(std::unique_ptr<io::ByteSource> source, Reading& reading);

}  // namespace gnnmg::data
