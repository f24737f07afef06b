// Data sets in one .npz file: the layout of Shchur et al., "Pitfalls of graph neural network
// evaluation" (2018), and that of Platonov et al., "A critical look at the evaluation of GNNs under
// heterophily" (2023).
#include <algorithm>

#include "data/assemble.h"
#include "data/npz_splits.h"
#include "data/numbers.h"
#include "data/readers.h"
#include "data/split_files.h"
#include "data/unused.h"
#include "io/npy.h"

namespace gnnmg::data {
namespace {

using base::DType;
using base::fail;
using base::Status;
using base::Tensor;

std::string stem_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (name.ends_with(".npz")) name.resize(name.size() - 4);
  return name;
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

Found begin(const std::string& path, const char* format) {
  Found found;
  found.format = format;
  found.source = path;
  found.name = stem_of(path);
  return found;
}

std::string array_name(const io::Npz& npz, std::string_view key) {
  return base::text(npz.name(), ", array \"", key, "\"");
}

Tensor dense_features(const io::Npz& npz, std::string_view key) {
  Tensor table = npz.get(key);
  if (table.shape().num_dims != 2)
    fail(Status::kFormat, array_name(npz, key), ": shape ", table.shape().to_string(),
         ", expected [N, F]");
  return table;
}

// Takes entry (row, column) of the adjacency matrix for the edge row -> column, and its value for a
// weight, which is rounded like the weights of a list of edges.
void take_adjacency(const base::CsrMatrix& adjacency, std::string_view weights_from, Found& found) {
  found.sources = Tensor::empty(DType::kI32, {adjacency.nnz()});
  found.targets = adjacency.indices;
  const auto indptr = adjacency.indptr.as<const int64_t>();
  const auto sources = found.sources.as<int32_t>();
  for (int64_t row = 0; row < adjacency.num_rows; ++row)
    std::fill(sources.begin() + indptr[row], sources.begin() + indptr[row + 1],
              static_cast<int32_t>(row));
  const auto weights = adjacency.values.as<const float>();
  if (const int64_t bad = find_not_finite(weights.data(), DType::kF32, adjacency.nnz()); bad >= 0)
    fail(Status::kNan, weights_from, ": element ", bad, " is ", weights[bad],
         ", expected a finite weight");
  if (std::any_of(weights.begin(), weights.end(), [](float weight) { return weight != 1.0f; }))
    found.edge_columns.emplace("weight", adjacency.values);
}

// Warns of integers that are no 32-bit floats.
void warn_of_rounded_integers(const io::Npz& npz, std::string_view key, base::Log& log) {
  const io::NpyKind kind = npz.header(key).kind;
  if (kind != io::NpyKind::kSigned && kind != io::NpyKind::kUnsigned) return;
  const Tensor integers = to_i64(npz.get(key), array_name(npz, key));
  const auto values = integers.as<const int64_t>();
  const auto inexact = std::ranges::find_if_not(values, exact_as_float);
  if (inexact != values.end())
    log.add(base::LogLevel::kWarning, base::text(array_name(npz, key), ": integers such as ",
                                                 *inexact, " are rounded to 32-bit floats"));
}

}  // namespace

DatasetRef read_shchur(const std::string& path, Reading& reading) {
  reading.budget.take_file(path);
  const io::Npz npz = io::Npz::open(path);
  Found found = begin(path, "shchur");
  found.drop_loops = true;
  const base::CsrMatrix adjacency = io::read_scipy_sparse(npz, "adj_", {.round_values = true});
  if (adjacency.num_rows != adjacency.num_cols)
    fail(Status::kFormat, array_name(npz, "adj_shape"), ": ", adjacency.num_rows, " x ",
         adjacency.num_cols, ", expected a square matrix");
  found.num_nodes = adjacency.num_rows;
  found.edges_from = array_name(npz, "adj_indices");
  take_adjacency(adjacency, array_name(npz, "adj_data"), found);
  warn_of_rounded_integers(npz, "adj_data", reading.context.log);
  if (npz.has("attr_indptr")) {
    found.features_from = array_name(npz, "attr_indptr");
    found.feature_values_from = array_name(npz, "attr_data");
    found.features = io::read_scipy_sparse(npz, "attr_", sparse_options(reading.options));
  } else if (npz.has("attr_matrix")) {
    found.features_from = array_name(npz, "attr_matrix");
    found.features = dense_features(npz, "attr_matrix");
  }
  if (npz.has("labels")) {
    found.labels = npz.get("labels");
    found.labels_from = array_name(npz, "labels");
  }
  const bool has_splits =
      append_splits(arrays_of(npz), "published", found.num_nodes, "node", found.splits);
  warn_of_unused_arrays(
      npz,
      [has_splits](std::string_view key) {
        constexpr std::string_view kKnown[] = {
            "adj_data",  "adj_indices",  "adj_indptr",  "adj_shape",  "adj_format",  "labels",
            "attr_data", "attr_indices", "attr_indptr", "attr_shape", "attr_format", "attr_matrix"};
        return std::ranges::count(kKnown, key) > 0 || (has_splits && is_split_array(key));
      },
      reading.context.log);
  read_splits_beside(folder_of(path), reading, found);
  return assemble(std::move(found), reading.options, reading.context);
}

DatasetRef read_heterophilous(const std::string& path, Reading& reading) {
  reading.budget.take_file(path);
  const io::Npz npz = io::Npz::open(path);
  Found found = begin(path, "heterophilous");
  found.features = dense_features(npz, "node_features");
  found.features_from = array_name(npz, "node_features");
  found.num_nodes = graph::column_rows(*found.features);
  found.labels = npz.get("node_labels");
  found.labels_from = array_name(npz, "node_labels");
  found.edges_from = array_name(npz, "edges");
  std::tie(found.sources, found.targets) =
      edge_columns(npz.get("edges"), false, found.edges_from, reading.context.pool);
  append_npz_splits(npz, "published", found.num_nodes, found.splits);
  warn_of_unused_arrays(
      npz,
      [](std::string_view key) {
        return key == "node_features" || key == "node_labels" || key == "edges" ||
               is_split_array(key);
      },
      reading.context.log);
  read_splits_beside(folder_of(path), reading, found);
  return assemble(std::move(found), reading.options, reading.context);
}

}  // namespace gnnmg::data
