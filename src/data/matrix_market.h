// Matrix Market files that hold an adjacency matrix, apart from the file they lie in, so that they
// can be fuzzed.
#pragma once

#include <memory>
#include <string_view>

#include "data/assemble.h"
#include "data/readers.h"
#include "io/text.h"

namespace gnnmg::data {

// Returns whether a text with this beginning has the first line "%%MatrixMarket ...", in any case.
bool looks_like_matrix_market(std::string_view start) noexcept;

// "matrix coordinate", real, integer or pattern, general, symmetric or skew-symmetric: entry (i,
// j), counted from 1, is the edge from node i - 1 to node j - 1, and its value the edge tensor
// "weight". Each entry beside the diagonal of a symmetric matrix is two edges, the second right
// after the first; of a skew-symmetric one, with the weight's sign changed. Error(kUnsupported)
// naming other kinds of the format; Error(kFormat / kRange) naming file and line.
Found parse_matrix_market(std::unique_ptr<io::ByteSource> source, Reading& reading);

}  // namespace gnnmg::data
