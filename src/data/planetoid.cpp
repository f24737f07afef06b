// Planetoid's raw files (Yang, Cohen, Salakhutdinov, "Revisiting semi-supervised learning with
// graph embeddings", 2016): pickles of Python with features and one-hot labels of all but the
// test nodes (allx, ally) and of the test nodes (tx, ty) in the order of test.index, and the graph
// as a dict of lists. The first len(y) nodes are the training set, the next 500 the validation set.
#include "data/planetoid.h"

#include <algorithm>
#include <numeric>

#include "base/file.h"
#include "base/memory_charge.h"
#include "data/numbers.h"
#include "data/pickled_arrays.h"
#include "data/pickled_ints.h"
#include "data/readers.h"
#include "data/split.h"
#include "data/split_files.h"
#include "io/bytes.h"
#include "io/pickled_array.h"
#include "io/text.h"

namespace gnnmg::data {
namespace {

using base::CsrMatrix;
using base::DType;
using base::fail;
using base::Status;
using base::Tensor;

constexpr int64_t kValidation = 500;

io::PickleRef unpickle(std::span<const uint8_t> bytes, const std::string& where) {
  const std::string_view text = io::as_text(bytes);
  if (text.starts_with("PK"))
    fail(Status::kFormat, where,
         ": is a file of torch.save() or a zip archive, expected a pickle; "
         "pickle.dump(torch.load(file), out) writes one");
  if (text.starts_with("\x1f\x8b"))
    fail(Status::kFormat, where, ": is compressed by gzip, expected a pickle; decompress it");
  io::PickleOptions options;
  options.accept = accept_array_globals;
  return io::parse_pickle(bytes, options, where);
}

// The class of each row of one-hot labels, -1 for a row of zeros.
struct RowClasses {
  std::vector<int64_t> of_rows;
  int64_t num_classes = 0;
  int64_t rows() const { return static_cast<int64_t>(of_rows.size()); }
};

// Finds the only 1 of a row.
class OneHotRow {
 public:
  OneHotRow(int64_t index, const std::string& where) : index_(index), where_(where) {}
  template <typename T>
  void add(int64_t column, T value) {
    if (value == T{0}) return;
    if (value != T{1} || found_ >= 0)
      fail(Status::kFormat, where_, ", row ", index_, ": expected one 1 among zeros");
    found_ = column;
  }
  int64_t found() const { return found_; }

 private:
  const int64_t index_;
  const std::string& where_;
  int64_t found_ = -1;
};

RowClasses classes_of(const Tensor& one_hot, const std::string& where) {
  if (one_hot.shape().num_dims != 2)
    fail(Status::kFormat, where, ": labels of shape ", one_hot.shape().to_string(),
         ", expected [n, classes]",
         one_hot.shape().num_dims == 1 ? "; numpy.eye(classes)[labels] makes it of numbers" : "");
  const int64_t rows = one_hot.rows(), width = one_hot.shape()[1];
  RowClasses classes{std::vector<int64_t>(rows), width};
  const auto convert = [&](auto values) {
    for (int64_t i = 0; i < rows; ++i) {
      OneHotRow row(i, where);
      for (int64_t c = 0; c < width; ++c) row.add(c, values[i * width + c]);
      classes.of_rows[i] = row.found();
    }
  };
  switch (one_hot.dtype()) {
    case DType::kI32:
      convert(one_hot.as<const int32_t>());
      break;
    case DType::kI64:
      convert(one_hot.as<const int64_t>());
      break;
    case DType::kU8:
      convert(one_hot.as<const uint8_t>());
      break;
    case DType::kBool:
      convert(one_hot.as<const bool>());
      break;
    case DType::kF32:
      convert(one_hot.as<const float>());
      break;
    case DType::kF64:
      convert(one_hot.as<const double>());
      break;
    default:
      fail(Status::kFormat, where, ": labels of type ", base::dtype_name(one_hot.dtype()),
           ", expected numbers");
  }
  return classes;
}

RowClasses classes_of(const CsrMatrix& one_hot, const std::string& where) {
  RowClasses classes{std::vector<int64_t>(one_hot.num_rows), one_hot.num_cols};
  const auto ends = one_hot.indptr.as<const int64_t>();
  const auto columns = one_hot.indices.as<const int32_t>();
  const auto values = one_hot.values.as<const float>();
  for (int64_t i = 0; i < one_hot.num_rows; ++i) {
    OneHotRow row(i, where);
    for (int64_t entry = ends[i]; entry < ends[i + 1]; ++entry)
      row.add(columns[entry], values[entry]);
    classes.of_rows[i] = row.found();
  }
  return classes;
}

RowClasses read_classes(std::span<const uint8_t> bytes, const std::string& where) {
  const io::PickleRef value = unpickle(bytes, where);
  if (is_pickled_sparse(*value))
    return classes_of(pickled_sparse(*value, where, io::SparseOptions{}), where);
  return classes_of(io::pickled_array(*value, where), where);
}

// Calls take(id, field, lines) with each field of test.index; `id` is none where that is no whole
// number. Several stand in a line, and in any notation, as PyTorch Geometric reads them.
template <typename F>
void for_each_test_node(std::span<const uint8_t> bytes, const std::string& where, F&& take) {
  io::LineReader lines(io::ByteSource::memory(bytes, where));
  std::string_view line;
  std::vector<std::string_view> fields;
  while (lines.next(line)) {
    io::split_fields(line, ' ', fields);
    for (const std::string_view field : fields) take(io::parse_whole(field), field, lines);
  }
}

// Ids of the test nodes in the file's order, each in [first, num_nodes) and once.
std::vector<int64_t> test_ids(std::span<const uint8_t> bytes, const std::string& where,
                              int64_t first, int64_t num_nodes) {
  std::vector<int64_t> ids;
  std::vector<bool> seen(std::max<int64_t>(num_nodes - first, 0));
  for_each_test_node(bytes, where, [&](auto id, std::string_view field, const auto& lines) {
    if (!id || *id < first || *id >= num_nodes)
      fail(Status::kFormat, lines.where(), ": expected a node from ", first, " to ", num_nodes - 1,
           ", found \"", io::printable(field), "\"");
    if (seen[*id - first]) fail(Status::kFormat, lines.where(), ": node ", *id, " occurs twice");
    seen[*id - first] = true;
    ids.push_back(*id);
  });
  return ids;
}

// One more than the largest test node.
int64_t nodes_of_test(std::span<const uint8_t> bytes, const std::string& where) {
  int64_t largest = -1;
  for_each_test_node(bytes, where, [&](auto id, std::string_view, const auto&) {
    largest = std::max(largest, id.value_or(-1));
  });
  return largest == INT64_MAX ? largest : largest + 1;
}

// The nodes that a node's entry lists.
class Neighbors {
 public:
  explicit Neighbors(int64_t file_bytes) : room_(file_bytes) {}

  // Returns the integers of a collection, or the keys of a dict, as in networkx.to_dict_of_dicts().
  std::vector<int64_t> of(const io::PickleValue& entry, const std::string& where) {
    const io::PickleDict* dict = as_pickled_dict(entry);
    if (!dict) return pickled_ints(entry, where, room_);
    std::vector<int64_t> ids;
    for (const auto& [key, value] : dict->items) {
      ids.push_back(pickled_int(*key, where));
      const io::PickleDict* attributes = as_pickled_dict(*value);
      lost_ |= !(attributes && attributes->items.empty());
    }
    return ids;
  }
  // Something stood beside the keys of a dict.
  bool lost() const { return lost_; }

 private:
  RangeRoom room_;
  bool lost_ = false;
};

// A node without edges may lack its entry: the test nodes show how many there are, though not more
// than twice those that have one.
void read_graph(std::span<const uint8_t> bytes, const std::string& where, int64_t of_test,
                base::Log& log, Found& found) {
  const io::PickleRef root = unpickle(bytes, where);
  const auto& entries = pickled_dict(*root, where).items;
  const auto num_entries = static_cast<int64_t>(entries.size());
  const int64_t num_nodes =
      of_test <= 2 * num_entries ? std::max(num_entries, of_test) : num_entries;
  const auto node = [&](int64_t id, std::string_view of, int64_t position) {
    if (id < 0 || id >= num_nodes)
      fail(Status::kRange, where, ", ", of, " ", position, ": node ", id, ", expected 0 to ",
           num_nodes - 1);
    return id;
  };
  std::vector<bool> seen(num_nodes);
  IdColumn sources, targets;
  Neighbors neighbors(static_cast<int64_t>(bytes.size()));
  for (int64_t i = 0; i < num_entries; ++i) {
    if (const std::string_view* name = entries[i].first->as_text())
      fail(Status::kFormat, where, ", entry ", i, ": the node \"", io::printable(*name),
           "\", expected a number; number the nodes from 0, those of allx first");
    const int64_t source = node(pickled_int(*entries[i].first, where), "entry", i);
    if (seen[source]) fail(Status::kFormat, where, ": node ", source, " occurs twice");
    seen[source] = true;
    for (const int64_t neighbor :
         neighbors.of(*entries[i].second, base::text(where, ", node ", source))) {
      targets.push(node(neighbor, "neighbors of node", source));
      sources.push(source);
    }
  }
  if (neighbors.lost())
    log.add(base::LogLevel::kWarning,
            base::text(where,
                       ": dicts of neighbors have values, such as counts or weights, which are "
                       "left out"));
  found.num_nodes = num_nodes;
  found.sources = sources.take(false);
  found.targets = targets.take(false);
  found.edges_from = where;
}

// Rows of `all` for the first nodes, row i of `test` for node ids[i], empty rows elsewhere.
CsrMatrix join_rows(const CsrMatrix& all, const CsrMatrix& test, std::span<const int64_t> ids,
                    int64_t num_nodes) {
  std::vector<int64_t> test_row(num_nodes - all.num_rows, -1);
  for (size_t i = 0; i < ids.size(); ++i) test_row[ids[i] - all.num_rows] = static_cast<int64_t>(i);
  const int64_t nnz = all.nnz() + test.nnz();
  CsrMatrix joined{num_nodes, all.num_cols, Tensor::empty(DType::kI64, {num_nodes + 1}),
                   Tensor::empty(DType::kI32, {nnz}), Tensor::empty(DType::kF32, {nnz})};
  const auto indptr = joined.indptr.as<int64_t>();
  auto next_index = joined.indices.as<int32_t>().begin();
  auto next_value = joined.values.as<float>().begin();
  indptr[0] = 0;
  for (int64_t node = 0; node < num_nodes; ++node) {
    const bool in_all = node < all.num_rows;
    const CsrMatrix& from = in_all ? all : test;
    const int64_t row = in_all ? node : test_row[node - all.num_rows];
    indptr[node + 1] = indptr[node];
    if (row < 0) continue;
    const auto pointers = from.indptr.as<const int64_t>();
    const int64_t begin = pointers[row], count = pointers[row + 1] - begin;
    next_index = std::copy_n(from.indices.as<const int32_t>().begin() + begin, count, next_index);
    next_value = std::copy_n(from.values.as<const float>().begin() + begin, count, next_value);
    indptr[node + 1] += count;
  }
  return joined;
}

void expect_equal(int64_t found, int64_t expected, const std::string& where, const char* what,
                  const std::string& as) {
  if (found != expected)
    fail(Status::kFormat, where, ": ", found, " ", what, ", expected ", expected, " as in ", as);
}

}  // namespace

Found parse_planetoid(const PlanetoidBytes& bytes, const std::string& prefix,
                      const OpenOptions& options, base::Log& log) {
  const auto file = [&](const char* part) { return prefix + part; };
  Found found;
  found.format = "planetoid";
  found.drop_loops = true;
  found.source = prefix;
  const size_t slash = prefix.rfind('/');
  found.name = slash == std::string::npos ? prefix : prefix.substr(slash + 1);
  if (found.name.starts_with("ind.")) found.name.erase(0, 4);
  read_graph(bytes.graph, file(".graph"), nodes_of_test(bytes.test_index, file(".test.index")), log,
             found);

  const io::SparseOptions sparse = sparse_options(options);
  const CsrMatrix all = pickled_sparse(*unpickle(bytes.allx, file(".allx")), file(".allx"), sparse);
  const CsrMatrix test = pickled_sparse(*unpickle(bytes.tx, file(".tx")), file(".tx"), sparse);
  expect_equal(test.num_cols, all.num_cols, file(".tx"), "columns", file(".allx"));
  if (all.num_rows > found.num_nodes)
    fail(Status::kFormat, file(".allx"), ": ", all.num_rows, " rows, expected at most ",
         found.num_nodes, ", the nodes in ", file(".graph"));
  const std::vector<int64_t> ids =
      test_ids(bytes.test_index, file(".test.index"), all.num_rows, found.num_nodes);
  expect_equal(static_cast<int64_t>(ids.size()), test.num_rows, file(".test.index"), "nodes",
               file(".tx"));

  RowClasses all_labels = read_classes(bytes.ally, file(".ally"));
  const RowClasses test_labels = read_classes(bytes.ty, file(".ty"));
  const RowClasses train_labels = read_classes(bytes.y, file(".y"));
  expect_equal(all_labels.rows(), all.num_rows, file(".ally"), "rows", file(".allx"));
  expect_equal(test_labels.rows(), test.num_rows, file(".ty"), "rows", file(".tx"));
  found.num_classes = all_labels.num_classes;
  expect_equal(test_labels.num_classes, found.num_classes, file(".ty"), "columns", file(".ally"));
  expect_equal(train_labels.num_classes, found.num_classes, file(".y"), "columns", file(".ally"));
  const int64_t num_train = train_labels.rows();
  if (num_train >= all.num_rows)
    fail(Status::kFormat, file(".y"), ": ", num_train, " rows, expected fewer than the ",
         all.num_rows, " of ", file(".allx"), ", which hold the validation set too");

  found.features_from = file(".allx");
  found.feature_values_from = file(".allx and .tx");
  found.features = join_rows(all, test, ids, found.num_nodes);
  found.labels_from = file(".ally");
  std::vector<int64_t>& labels = all_labels.of_rows;
  const std::vector<int64_t>& of_train = train_labels.of_rows;
  const auto other = std::mismatch(of_train.begin(), of_train.end(), labels.begin());
  if (other.first != of_train.end())
    fail(Status::kFormat, file(".y"), ", row ", other.first - of_train.begin(), ": class ",
         *other.first, ", expected ", *other.second, " as in ", file(".ally"));
  labels.resize(found.num_nodes, -1);
  for (size_t i = 0; i < ids.size(); ++i) labels[ids[i]] = test_labels.of_rows[i];
  found.labels = Tensor::copy_of(std::span<const int64_t>(labels));

  std::vector<int64_t> train(num_train);
  std::vector<int64_t> validation(std::min(kValidation, all.num_rows - num_train));
  std::iota(train.begin(), train.end(), 0);
  std::iota(validation.begin(), validation.end(), num_train);
  found.splits.push_back(
      split_from_ids(train, validation, ids, found.num_nodes, "public", 0, prefix));
  return found;
}

DatasetRef read_planetoid(const std::string& prefix, Reading& reading) {
  base::MemoryCharge charge;
  const auto load = [&](const char* part) {
    const std::string path = prefix + part;
    const int64_t size = reading.budget.take_file(path);
    charge.take(size, path);
    return base::read_file(path, size);
  };
  const auto y = load(".y"), tx = load(".tx"), ty = load(".ty"), allx = load(".allx"),
             ally = load(".ally"), graph = load(".graph"), test_index = load(".test.index");
  Found found = parse_planetoid({y, tx, ty, allx, ally, graph, test_index}, prefix, reading.options,
                                reading.context.log);
  const size_t slash = prefix.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : prefix.substr(0, slash);
  read_split_files(folder, found.name, reading, found);
  read_splits_beside(folder, reading, found);
  return assemble(std::move(found), reading.options, reading.context);
}

}  // namespace gnnmg::data
