// The tables of TU Dortmund's graph sets, apart from the folder they lie in, so that they can be
// fuzzed.
#pragma once

#include <array>
#include <memory>

#include "data/assemble.h"
#include "data/readers.h"
#include "io/text.h"

namespace gnnmg::data {

enum class TuPart {
  kEdges,            // "source, target", nodes counted from 1 over all graphs
  kIndicator,        // the graph of each node, counted from 1, ascending
  kGraphLabels,      // a number a graph; integers are classes
  kGraphAttributes,  // numbers to regress, where there are no graph labels
  kNodeLabels,       // an integer a node
  kNodeAttributes,   // numbers of each node
  kEdgeLabels,       // an integer a line of kEdges
  kEdgeAttributes,   // numbers of each line of kEdges
};
inline constexpr const char* kTuEndings[] = {
    "_A.txt",           "_graph_indicator.txt", "_graph_labels.txt", "_graph_attributes.txt",
    "_node_labels.txt", "_node_attributes.txt", "_edge_labels.txt",  "_edge_attributes.txt"};
inline constexpr int kNumTuParts = 8;

// Sources by TuPart; null where there is no such file, which the first two must not be.
using TuSources = std::array<std::unique_ptr<io::ByteSource>, kNumTuParts>;
// Error(kFormat / kRange) naming file and line.
Found parse_tu(TuSources sources, Reading& reading);

}  // namespace gnnmg::data
