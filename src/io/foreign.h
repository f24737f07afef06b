// Files that the library does not read, known by how they begin, so that errors can name them and
// say what to do.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gnnmg::data {

// "is a GML file; write ..." for a file that begins with `start` (inflated, if it was gzip).
// Nullopt for one that may be text of edges, and for one of no kind that is known.
std::optional<std::string> foreign_kind(std::string_view start);

// The same for what stands in the place of a file that Git LFS, git-annex or DVC has not fetched.
std::optional<std::string> pointer_kind(std::string_view start);

}  // namespace gnnmg::data
