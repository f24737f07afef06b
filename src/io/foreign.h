// Kinds of files that the library does not read, detected by their first bytes, so that errors can
// name them and a remedy.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gnnmg::io {

struct Remedy {
  std::string_view text;
  bool for_graphs = false;  // applies only if a graph was expected
};

struct ForeignKind {
  std::string_view name;  // "a GML file"
  Remedy remedy;
};

// "is a GML file, which is not read; write ...", for errors.
std::string not_read(const ForeignKind& kind);

// Returns the kind of a file that begins with `start` (inflated, if gzip is read). Nullopt for text
// that may hold edges, and for unknown kinds.
std::optional<ForeignKind> foreign_kind(std::string_view start);

// Kind of the placeholder of a file that Git LFS, git-annex or DVC has not fetched.
std::optional<ForeignKind> pointer_kind(std::string_view start);

}  // namespace gnnmg::io
