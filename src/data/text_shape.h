// The shape of a text of numbers, where its first line alone does not say: a list of edges, with or
// without a line of counts, a matrix, or an adjacency list.
#pragma once

#include <memory>

#include "data/readers.h"
#include "io/text.h"

namespace gnnmg::data {

enum class TextShape {
  kEdges,
  kCounts,         // a list whose first line counts nodes and edges: "5 6", or "5 5 6"
  kCountsFromOne,  // the same with ids from 1
  kMatrix,         // an adjacency matrix: as many lines as columns
  kTransposed,     // two lines, all sources and all targets
  kOneLine,        // one line of more numbers than an edge has
  kAdjacency,      // each line has a node and its neighbors, equally many
  // Lists of a few edges that may also have another shape.
  kEdgesOrMatrix,
  kEdgesOrTransposed,
  kEdgesOrAdjacency
};

// Reads only while the text may have another shape than edges. Errors are those of lines.
TextShape shape_of_text(std::unique_ptr<io::ByteSource> source, Reading& reading);

}  // namespace gnnmg::data
