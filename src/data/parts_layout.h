// The layout of a data set's arrays in a folder of parts.
#pragma once

#include <map>
#include <string>

#include "data/native_metadata.h"

namespace gnnmg::data::parts {

enum class Lies {
  kWhole,        // one file in the folder itself
  kDegrees,      // index pointers of the edges: of a part, over its rows
  kEdges,        // one value an edge, in the order of the edges into each row
  kNodeRows,     // one row a node
  kNodeStarts,   // index pointers of sparse rows of nodes
  kNodeEntries,  // entries of sparse rows of nodes
  kEdgeRows,     // one row an edge, by edge id in the whole, in the order of kEdges in a part
  kEdgeStarts,   // index pointers of sparse rows of edges
  kEdgeEntries,  // entries of sparse rows of edges
};

struct Place {
  Lies lies = Lies::kWhole;
  native::Array array;  // the array of the whole
  std::string starts;   // the file of index pointers, for arrays of entries
};

// Keys are the names of the files, the same in each part. The labels of nodes, splits and weights
// lie whole: they are small, and every process needs them.
using Layout = std::map<std::string, Place>;

// `metadata` describes a data set with one node type and one edge type.
Layout layout_of(const native::Metadata& metadata);

// The shape that the array has in a part where it has `rows` rows.
base::Shape part_shape(const native::Array& array, int64_t rows);

}  // namespace gnnmg::data::parts
