// Files of kinds that the library does not read, known by how they begin, so that errors can name
// them and say what to do.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gnnmg::io {

struct Remedy {
  std::string_view text;
  bool for_graphs = false;  // it holds where a graph was meant; else for any file
};

struct ForeignKind {
  std::string_view name;  // "a GML file"
  Remedy remedy;
};

// "is a GML file, which is not read; write ...", for errors.
std::string not_read(const ForeignKind& kind);

// Of a file that begins with `start` (inflated, where gzip is read). Nullopt for one that may be
// text of edges, and for one of no kind that is known.
std::optional<ForeignKind> foreign_kind(std::string_view start);

// The same for what stands in the place of a file that Git LFS, git-annex or DVC has not fetched.
std::optional<ForeignKind> pointer_kind(std::string_view start);

}  // namespace gnnmg::io
