// Graphs of METIS in text, apart from the file they lie in, so that they can be fuzzed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "data/assemble.h"
#include "data/readers.h"
#include "io/text.h"

namespace gnnmg::data {

// The first line that is no comment: "nodes edges [format [weights]]".
struct MetisHeader {
  int64_t num_nodes = 0, num_edges = 0;
  bool sizes = false, edge_weights = false;
  int64_t num_weights = 0;  // weights of each node
};
// Nullopt for a line that is none.
std::optional<MetisHeader> parse_metis_header(std::string_view line);

// A line a node: its size, its weights, then its neighbors, counted from 1, each with the weight
// of the edge, as the header says. '%' begins a comment; a blank line is a node without edges.
// Every edge is listed at both of its nodes. Becomes the graph with both directions, the node
// tensors "vertex_size" i64 [N] and "vertex_weight" i64 [N] or [N, weights], and the edge tensor
// "weight" f32. Error(kFormat / kRange) naming file and line; kMismatch where all is right but the
// number of edges, which counts both directions.
Found parse_metis(std::unique_ptr<io::ByteSource> source, Reading& reading);

}  // namespace gnnmg::data
