// Many graphs in one .npz: node_ptr and edge_ptr say where the rows of each graph begin in
// node_feat, edges (node ids of the graph itself) and edge_feat; labels and split_NAME are by
// graph.
#include "data/packed.h"

#include <algorithm>

#include "data/arrays.h"
#include "data/assemble.h"
#include "data/edge_list.h"
#include "data/graphs.h"
#include "data/npz_splits.h"
#include "data/readers.h"
#include "data/split.h"
#include "data/split_files.h"
#include "data/unused.h"

namespace gnnmg::data {
namespace {

using base::DType;
using base::fail;
using base::Status;
using base::Tensor;

class Packed {
 public:
  explicit Packed(const io::Npz& npz) : npz_(npz) {}
  bool has(const char* key) const { return npz_.has(key); }
  Tensor get(std::string_view key) const { return npz_.get(key); }
  std::string where(std::string_view key) const {
    return base::text(npz_.name(), ", array \"", key, "\"");
  }
  // Starts that begin with 0 and end with `rows` (-1: with anything).
  Tensor starts(const char* key, int64_t rows, const char* rows_of) const {
    const Tensor raw = get(key);
    if (raw.shape().num_dims != 1 || raw.rows() < 2)
      fail(Status::kFormat, where(key), ": shape ", raw.shape().to_string(),
           ", expected [graphs + 1] for at least one graph");
    Tensor ptr = to_i64(raw, where(key));
    const auto values = ptr.as<const int64_t>();
    if (values[0] != 0)
      fail(Status::kFormat, where(key), ": begins with ", values[0], ", expected 0");
    for (size_t g = 0; g + 1 < values.size(); ++g)
      if (values[g + 1] < values[g])
        fail(Status::kFormat, where(key), ", row ", g + 1, ": ", values[g + 1], " after ",
             values[g], ", expected no less");
    if (rows >= 0 && values.back() != rows)
      fail(Status::kFormat, where(key), ": ends with ", values.back(), ", expected ", rows,
           ", the number of rows of \"", rows_of, "\"");
    return ptr;
  }

 private:
  const io::Npz& npz_;
};

// Ids that count within each graph become ids of all nodes, i32.
void take_edges(const Packed& packed, std::span<const int64_t> node_ptr, Reading& reading,
                Found& found) {
  found.edges_from = packed.where("edges");
  std::tie(found.sources, found.targets) =
      edge_columns(packed.get("edges"), false, found.edges_from, reading.context.pool);
  const Tensor edge_ptr = packed.starts("edge_ptr", found.sources.rows(), "edges");
  if (edge_ptr.rows() != static_cast<int64_t>(node_ptr.size()))
    fail(Status::kFormat, packed.where("edge_ptr"), ": ", edge_ptr.rows(), " rows, expected ",
         node_ptr.size(), ", as \"node_ptr\" has");
  shift_edges(node_ptr, edge_ptr.as<const int64_t>(), found);
}

void take_splits(const Packed& packed, const io::Npz& npz, int64_t num_graphs, Found& found) {
  constexpr std::string_view kPrefix = "split_";
  for (const std::string& key : npz.keys()) {
    if (!key.starts_with(kPrefix)) continue;
    append_code_splits(packed.get(key), key.substr(kPrefix.size()), num_graphs, packed.where(key),
                       "graph", found.splits);
  }
}

}  // namespace

Found parse_packed(const io::Npz& npz, Reading& reading) {
  const Packed packed(npz);
  Found found;
  found.format = "packed";
  found.source = npz.name();

  int64_t rows = -1;
  if (packed.has("node_feat")) {
    found.features_from = packed.where("node_feat");
    Tensor table = packed.get("node_feat");
    if (table.shape().num_dims != 2)
      fail(Status::kFormat, found.features_from, ": shape ", table.shape().to_string(),
           ", expected [nodes, F]");
    rows = table.rows();
    found.features = std::move(table);
  }
  found.graph_ptr = packed.starts("node_ptr", rows, "node_feat");
  const auto node_ptr = found.graph_ptr.as<const int64_t>();
  found.num_nodes = node_ptr.back();
  if (found.num_nodes > kMaxNodesInText)
    fail(Status::kRange, packed.where("node_ptr"), ": ", found.num_nodes,
         " nodes in all, expected at most ", kMaxNodesInText);
  take_edges(packed, node_ptr, reading, found);
  if (rows < 0) {
    check_node_count(found.num_nodes,
                     found.graph_ptr.view().num_bytes() + 2 * found.sources.view().num_bytes(),
                     packed.where("node_ptr"));
    found.degree_features = true;
  }
  if (packed.has("edge_feat")) {
    Tensor table = packed.get("edge_feat");
    if (table.shape().num_dims < 1 || table.rows() != found.sources.rows())
      fail(Status::kFormat, packed.where("edge_feat"), ": shape ", table.shape().to_string(),
           ", expected a row for each of ", found.sources.rows(), " edges");
    add_column(found.edge_columns, "edge_attr", std::move(table), packed.where("edge_feat"));
  }
  const int64_t num_graphs = found.graph_ptr.rows() - 1;
  if (packed.has("labels")) {
    found.labels = packed.get("labels");
    found.labels_from = packed.where("labels");
  }
  take_splits(packed, npz, num_graphs, found);
  const bool has_splits =
      append_splits(arrays_of(npz), "published", num_graphs, "graph", found.splits);
  warn_of_unused_arrays(
      npz,
      [has_splits](std::string_view key) {
        constexpr std::string_view kKnown[] = {"node_ptr", "edge_ptr",  "node_feat",
                                               "edges",    "edge_feat", "labels"};
        return key.starts_with("split_") || std::ranges::count(kKnown, key) > 0 ||
               (has_splits && is_split_array(key));
      },
      reading.context.log);
  return found;
}

DatasetRef read_packed(const std::string& path, Reading& reading) {
  reading.budget.take_file(path);
  Found found = parse_packed(io::Npz::open(path), reading);
  const size_t slash = path.rfind('/');
  found.name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (found.name.ends_with(".npz")) found.name.resize(found.name.size() - 4);
  read_splits_beside(slash == std::string::npos ? "." : path.substr(0, slash), reading, found);
  return assemble(std::move(found), reading.options, reading.context);
}

}  // namespace gnnmg::data
