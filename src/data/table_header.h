// Usual meanings of the names in the header of a table of edges.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace gnnmg::data {

enum class ColumnRole {
  kUnknown,
  kWeight,
  kTime,
  kLabel,
  kDirection,  // Gephi's "Type": Directed or Undirected, else a label
  kGraph,      // the graph that an edge is of, in a table of many
  kBeside      // an index, the number of an edge, features, ...: known, and no end of an edge
};
ColumnRole role_of(std::string_view name);
// Returns whether two columns may be the ends of edges: both have ids of something by their names
// (drug_id, gene_id), or are called as R calls any (V1, V2), or are the only `columns` and called
// as other programs do (x1, x2).
bool may_be_ends(std::string_view source, std::string_view target, size_t columns);
// Returns whether two columns are by their names an id and a value of nodes: "node" and "label".
bool may_name_nodes(std::string_view first, std::string_view second);
// Returns whether a column is called weight, and not by another name for that.
bool is_called_weight(std::string_view name);

struct EndColumns {
  size_t source = 0, target = 0;
  bool sure = false;       // nobody would call two nodes so
  bool two_kinds = false;  // the ends are of different kinds, each with ids of its own
};
// The columns of the two ends: "source,target", "src_id,dst_id", "Node1;Node2", ..., in any case,
// among other columns. Nullopt where no two names say so.
std::optional<EndColumns> find_ends(std::span<const std::string_view> names);

}  // namespace gnnmg::data
