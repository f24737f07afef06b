// The text that GIN and DGCNN take their graphs from, apart from the folder it lies in, so that it
// can be fuzzed.
#pragma once

#include <memory>
#include <string_view>

#include "data/assemble.h"
#include "data/readers.h"
#include "io/text.h"

namespace gnnmg::data {

// A line with the number of graphs; for each a line "nodes label", where all but the first may have
// no nodes, and for each of its nodes a line "tag degree neighbor ... attribute ...", neighbors
// counted within the graph. A node's line lists the sources of its incoming edges; all have equally
// many attributes, or none. Error(kFormat / kRange) naming file and line.
Found parse_gin(std::unique_ptr<io::ByteSource> source, Reading& reading);

// Returns whether a text with this beginning is meant as GIN's.
bool looks_like_gin(std::string_view start);
// Returns whether the text, plain or gzip, has one word in its first line, which begins like a
// number: the number of graphs, and no edge.
bool begins_with_a_count(const std::string& path);

}  // namespace gnnmg::data
