// The plain layout: a folder with edges.npy [E, 2], or triples.npy [E, 3] of a knowledge graph,
// labels.npy [N], features as feat.npy, feat.npz or feat_{indptr,indices,data}.npy, splits as
// split_NAME.npy, and meta.json with counts.
#include <algorithm>
#include <limits>

#include "base/file.h"
#include "data/assemble.h"
#include "data/npz_splits.h"
#include "data/readers.h"
#include "data/split.h"
#include "data/split_files.h"
#include "data/triples.h"
#include "data/unused.h"
#include "io/json.h"
#include "io/npy.h"

namespace gnnmg::data {
namespace {

using base::fail;
using base::join_path;
using base::Status;
using base::Tensor;

class PlainFolder {
 public:
  PlainFolder(std::string folder, Reading& reading)
      : folder_(std::move(folder)), names_(base::list_visible(folder_)), reading_(reading) {}

  std::string path(std::string_view name) const { return join_path(folder_, name); }
  // Looks at names alone: a link that leads nowhere is an error of its reader, not a missing file.
  bool has(std::string_view name) const {
    return std::binary_search(names_.begin(), names_.end(), name);
  }
  const std::vector<std::string>& names() const { return names_; }  // ascending
  Tensor array(std::string_view name) {
    reading_.budget.take_file(path(name));
    return io::read_npy(path(name));
  }
  io::NamedArray named_array(std::string_view name) { return {array(name), path(name)}; }
  io::Npz archive(std::string_view name) {
    reading_.budget.take_file(path(name));
    return io::Npz::open(path(name));
  }
  const std::string& folder() const { return folder_; }
  io::SparseOptions sparse_options() const { return data::sparse_options(reading_.options); }

 private:
  std::string folder_;
  std::vector<std::string> names_;
  Reading& reading_;
};

// meta.json, where there is one: counts that the arrays must have.
class Counts {
 public:
  explicit Counts(const PlainFolder& folder) : path_(folder.path("meta.json")) {
    if (!folder.has("meta.json")) return;
    meta_ = io::parse_json(base::read_file(path_, io::JsonLimits().max_bytes), path_);
    if (!meta_.as<io::JsonValue::Object>())
      fail(Status::kFormat, path_, ": expected an object, found ", meta_.kind());
  }
  // -1 when it says nothing of `key`.
  int64_t get(const char* key) const {
    const io::JsonValue* value = meta_.find(key);
    return value ? integer(*value, key) : -1;
  }
  void expect(const char* key, int64_t found, std::string_view where) const {
    if (meta_.find(key) && get(key) != found)
      fail(Status::kFormat, where, ": holds ", found, ", expected ", get(key), " by \"", key,
           "\" in ", path_);
  }
  void expect_class_counts(const Tensor& labels, int64_t num_classes) const {
    const io::JsonValue* value = meta_.find("class_counts");
    if (!value) return;
    std::vector<int64_t> counts(num_classes, 0), expected;
    for (int64_t label : labels.as<const int64_t>())
      if (label >= 0) ++counts[label];
    const auto* list = value->as<io::JsonValue::Array>();
    if (!list)
      fail(Status::kFormat, path_, ": class_counts: expected a list, found ", value->kind());
    for (const io::JsonValue& item : *list) expected.push_back(integer(item, "class_counts"));
    if (counts != expected)
      fail(Status::kFormat, path_, ": class_counts are not those of labels.npy");
  }
  std::string name(const std::string& otherwise) const {
    const io::JsonValue* value = meta_.find("name");
    const auto* text = value ? value->as<std::string>() : nullptr;
    if (text) check_name(*text, base::text(path_, ": name"));
    return text ? *text : otherwise;
  }

 private:
  int64_t integer(const io::JsonValue& value, const char* key) const {
    const auto* number = value.as<int64_t>();
    if (!number)
      fail(Status::kFormat, path_, ": ", key, ": expected an integer of 64 bits, found ",
           value.kind());
    return *number;
  }

  std::string path_;
  io::JsonValue meta_;
};

// One more than the largest column id; ids below 0 are left to the check of the whole matrix.
int64_t width_of(const io::NamedArray& indices) {
  constexpr int64_t kMaxColumns = std::numeric_limits<int32_t>::max();
  const Tensor tensor = to_i64(indices.tensor, indices.name);
  const auto ids = tensor.as<const int64_t>();
  int64_t columns = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] >= kMaxColumns)
      fail(Status::kRange, indices.name, ": element ", i, " is ", ids[i], ", expected 0 to ",
           kMaxColumns - 1);
    columns = std::max(columns, ids[i] + 1);
  }
  return columns;
}

void read_features(PlainFolder& folder, const Counts& counts, Found& found) {
  const bool dense = folder.has("feat.npy"), archive = folder.has("feat.npz"),
             parts = folder.has("feat_indptr.npy") || folder.has("feat_indices.npy") ||
                     folder.has("feat_data.npy");
  if (dense + archive + parts > 1)
    fail(Status::kFormat, folder.folder(),
         ": holds features twice, expected one of feat.npy, feat.npz and "
         "feat_{indptr,indices,data}.npy");
  if (dense) {
    found.features_from = folder.path("feat.npy");
    Tensor table = folder.array("feat.npy");
    if (table.shape().num_dims != 2)
      fail(Status::kFormat, found.features_from, ": shape ", table.shape().to_string(),
           ", expected [N, F]");
    counts.expect("feat_dim", table.shape()[1], found.features_from);
    found.features = std::move(table);
  } else if (archive) {
    found.features_from = folder.path("feat.npz");
    found.features = io::read_scipy_sparse(folder.archive("feat.npz"), "", folder.sparse_options());
  } else if (parts) {
    found.features_from = folder.path("feat_indptr.npy");
    found.feature_values_from = folder.path("feat_data.npy");
    const io::NamedArray indptr = folder.named_array("feat_indptr.npy");
    const io::NamedArray indices = folder.named_array("feat_indices.npy");
    const io::NamedArray values = folder.named_array("feat_data.npy");
    int64_t columns = counts.get("feat_dim");
    if (columns < 0) {  // nothing says how wide the table is but its last column
      columns = width_of(indices);
    }
    found.features =
        io::csr_from_arrays(indptr, indices, values, std::max<int64_t>(indptr.tensor.rows() - 1, 0),
                            columns, folder.sparse_options());
  }
  if (!found.features) {
    if (counts.get("feat_dim") > 0)
      fail(Status::kNotFound, folder.folder(),
           ": holds no feat.npy, feat.npz or feat_indptr.npy, expected ", counts.get("feat_dim"),
           " features by \"feat_dim\" in meta.json");
    return;
  }
  if (const auto* sparse = std::get_if<base::CsrMatrix>(&*found.features)) {
    counts.expect("feat_dim", sparse->num_cols, found.features_from);
    if (!folder.sparse_options().sum_duplicates)
      counts.expect("feat_nnz", sparse->nnz(), found.features_from);
  }
}

void read_splits(PlainFolder& folder, int64_t num_nodes, base::Log& log,
                 std::vector<Split>& splits) {
  constexpr std::string_view kPrefix = "split_";
  for (const std::string& file : folder.names()) {
    const bool archive = file.ends_with(".npz");
    if (!file.starts_with(kPrefix) || (!archive && !file.ends_with(".npy"))) continue;
    const std::string where = folder.path(file);
    const std::string name =
        file.substr(kPrefix.size(), file.size() - kPrefix.size() - std::string_view(".npy").size());
    if (archive && folder.has(base::text(kPrefix, name, ".npy")))
      fail(Status::kFormat, where, ": the splits \"", name, "\" are in ", kPrefix, name,
           ".npy too, expected one of both");
    if (archive) {
      const io::Npz npz = folder.archive(file);
      if (!append_npz_splits(npz, name, num_nodes, splits)) fail_without_splits(npz);
      warn_of_unused_arrays(npz, is_split_array, log);
      continue;
    }
    append_code_splits(folder.array(file), name, num_nodes, where, "node", splits);
  }
}

void read_edges(PlainFolder& folder, const Counts& counts, Reading& reading, Found& found) {
  found.edges_from = folder.path("edges.npy");
  Tensor edges = folder.array("edges.npy");
  counts.expect("edges_stored", edges.rows(), found.edges_from);
  std::tie(found.sources, found.targets) =
      edge_columns(std::move(edges), false, found.edges_from, reading.context.pool);
}

// Reverse edges are relations of their own: without them nothing would be known of a node that is
// never an object.
void read_triples(PlainFolder& folder, const Counts& counts, const Reading& reading, Found& found) {
  found.edges_from = folder.path("triples.npy");
  const Tensor rows = folder.array("triples.npy");
  counts.expect("triples", rows.rows(), found.edges_from);
  Triples triples = split_triples(rows, found.num_nodes, counts.get("relations"),
                                  reading.options.undirected != 0, found.edges_from);
  found.sources = std::move(triples.sources);
  found.targets = std::move(triples.targets);
  add_column(found.edge_columns, "edge_type", std::move(triples.relations), found.edges_from);
}

// "DIR/cora/plain" is about cora.
std::string name_of(const std::string& folder) {
  std::string_view rest = folder;
  std::string_view last;
  do {
    while (rest.ends_with('/')) rest.remove_suffix(1);
    const size_t slash = rest.rfind('/');
    last = slash == rest.npos ? rest : rest.substr(slash + 1);
    rest = slash == rest.npos ? std::string_view() : rest.substr(0, slash);
  } while (last == "plain" && !rest.empty());
  return std::string(last);
}

}  // namespace

DatasetRef read_plain(const std::string& path, Reading& reading) {
  PlainFolder folder(path, reading);
  const Counts counts(folder);
  Found found;
  found.format = "plain";
  found.source = path;
  found.name = counts.name(name_of(path));

  found.labels = folder.array("labels.npy");
  found.labels_from = folder.path("labels.npy");
  if (found.labels.shape().num_dims < 1)
    fail(Status::kFormat, found.labels_from, ": shape [], expected [N]");
  found.num_nodes = found.labels.rows();
  const bool of_triples = folder.has("triples.npy");
  if (of_triples && folder.has("edges.npy"))
    fail(Status::kFormat, path, ": holds edges.npy and triples.npy, expected one of both");
  counts.expect(of_triples ? "entities" : "nodes", found.num_nodes, found.labels_from);
  const int64_t classes = counts.get("classes");
  found.num_classes = classes > 0 ? classes : 0;

  OpenOptions options = reading.options;
  if (of_triples) {
    read_triples(folder, counts, reading, found);
    options.undirected = 0;  // done already
  } else {
    read_edges(folder, counts, reading, found);
  }

  read_features(folder, counts, found);
  read_splits(folder, found.num_nodes, reading.context.log, found.splits);
  read_splits_beside(path, reading, found);
  DatasetRef dataset = assemble(std::move(found), options, reading.context);
  if (dataset->task == Task::kMulticlass)
    counts.expect_class_counts(std::get<Tensor>(*dataset->graph->node_column("y")),
                               dataset->num_classes);
  return dataset;
}

}  // namespace gnnmg::data
