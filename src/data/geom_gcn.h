// The texts of Geom-GCN's sets (Cornell, Texas, Wisconsin, Chameleon, Squirrel, Film), apart from
// the folder they lie in, so that they can be fuzzed.
#pragma once

#include <memory>
#include <string_view>

#include "data/assemble.h"
#include "data/readers.h"
#include "io/text.h"

namespace gnnmg::data {

inline constexpr std::string_view kGeomGcnNodes = "out1_node_feature_label.txt";
inline constexpr std::string_view kGeomGcnEdges = "out1_graph_edges.txt";

// A line a node: its number, its features with commas between, its label; and a line an edge. Both
// may begin with a header. Error(kFormat / kRange) naming file and line.
Found parse_geom_gcn(std::unique_ptr<io::ByteSource> nodes, std::unique_ptr<io::ByteSource> edges,
                     Reading& reading);

}  // namespace gnnmg::data
