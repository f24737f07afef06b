// The Open Graph Benchmark's layouts for properties of nodes and of graphs: raw/ with tables
// (edge.csv.gz, node-feat.csv.gz, node-label.csv.gz, num-node-list.csv.gz, num-edge-list.csv.gz and
// further node_*.csv.gz and edge_*.csv.gz) or with archives (data.npz, node-label.npz), and
// split/NAME/{train,valid,test}.csv.gz. With graph-label.csv.gz the counts are of many graphs, and
// edges count nodes within each.
#include "data/ogb.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/file.h"
#include "data/edge_list.h"
#include "data/graphs.h"
#include "data/lines.h"
#include "data/split.h"
#include "io/bytes.h"
#include "io/npy.h"

namespace gnnmg::data {

using base::DType;
using base::fail;
using base::join_path;
using base::Status;
using base::Tensor;

namespace {

void push_field(std::string_view field, const CountedLines& lines, Table& table) {
  if (field.empty() || field == "nan" || field == "NaN") return table.values.push(std::nan(""));
  const bool held = table.values.integral();
  // Integers by themselves: a double would not tell those beyond 2^53 apart.
  if (const auto integer = io::parse_int(field)) {
    table.values.push(*integer);
  } else if (const auto number = io::parse_double(field)) {
    if (std::isfinite(*number) && std::isinf(static_cast<float>(*number)))
      fail(Status::kRange, lines.where(), ": \"", io::printable(field),
           "\" is beyond the range of 32-bit floats");
    table.values.push(*number);
  } else {
    fail(Status::kFormat, lines.where(), ": \"", io::printable(field), "\", expected a number");
  }
  if (held && !table.values.integral() && table.values.whole()) table.too_large = lines.where();
}

}  // namespace

Table parse_table(std::unique_ptr<io::ByteSource> source, Reading& reading) {
  Table table;
  CountedLines lines(std::move(source), reading);
  std::string_view line;
  std::vector<std::string_view> fields;
  while (lines.next(line)) {
    if (line.empty()) continue;
    lines.split(line, ',', fields);
    const auto columns = static_cast<int64_t>(fields.size());
    if (table.rows == 0) table.columns = columns;
    if (columns != table.columns)
      fail(Status::kFormat, lines.where(), ": ", columns, " columns, expected ", table.columns,
           " as in the first row");
    for (std::string_view field : fields) {
      push_field(field, lines, table);
    }
    ++table.rows;
  }
  return table;
}

namespace {

// Sets whose publisher adds the reverse of every edge when it loads them.
bool lists_edges_once(std::string_view name) {
  return name.find("products") != name.npos || name.find("proteins") != name.npos ||
         (name.starts_with("ogbg") && name.find("code") == name.npos);
}

struct LabelKind {
  bool binary = false;
  bool classes = false;
};

// One column of integers: classes. Several of 0 and 1: binary targets. Else numbers to regress.
LabelKind kind_of(bool integral, bool zero_one, int64_t columns) {
  return {.binary = columns > 1 && zero_one, .classes = columns == 1 && integral};
}

// Labels as make_labels takes them. Floats are looked at as the text of the tables is: NaN is
// "none", and what is integral may be classes. Integers keep their type, in which -1 is "none".
void set_labels(const Tensor& raw, int64_t rows, std::string where, Found& found) {
  found.labels_from = std::move(where);
  found.labels = raw;
  if (raw.shape().num_dims < 1 || raw.shape().num_dims > 2)
    fail(Status::kFormat, found.labels_from, ": shape ", raw.shape().to_string(),
         ", expected [N, T]");
  if (raw.rows() != rows)
    fail(Status::kFormat, found.labels_from, ": ", raw.rows(), " rows, expected ", rows,
         ", the number of ", found.graph_ptr.defined() ? "graphs" : "nodes");
  NumberColumn numbers;
  bool zero_one = true;
  const auto scan = [&](auto values) {
    using T = std::remove_cv_t<typename decltype(values)::element_type>;
    for (const T value : values) {
      bool none = false;
      if constexpr (std::is_floating_point_v<T>) {
        none = std::isnan(value);
        numbers.push(value);
      }
      zero_one &= none || value == T{0} || value == T{1};
    }
  };
  switch (raw.dtype()) {
    case DType::kF32:
      scan(raw.as<const float>());
      break;
    case DType::kF64:
      scan(raw.as<const double>());
      break;
    case DType::kI64:
      scan(raw.as<const int64_t>());
      break;
    case DType::kI32:
      scan(raw.as<const int32_t>());
      break;
    case DType::kU8:
      scan(raw.as<const uint8_t>());
      break;
    case DType::kBool:
      break;  // nothing but 0 and 1
    default:
      fail(Status::kUnsupported, found.labels_from, ": labels of type ",
           base::dtype_name(raw.dtype()), ", expected i64, i32, u8, bool, f32 or f64");
  }
  const bool floating = base::is_floating(raw.dtype());
  const LabelKind kind =
      kind_of(!floating || numbers.integral(), zero_one, raw.shape().row_elements());
  found.binary = kind.binary;
  found.regression = !kind.binary && !kind.classes;
  if (kind.classes && floating) found.labels = numbers.take_i64({raw.rows()});
}

class OgbFolder {
 public:
  OgbFolder(std::string folder, Reading& reading) : folder_(std::move(folder)), reading_(reading) {}

  std::string path(std::string_view name) const { return join_path(folder_, name); }
  bool has(std::string_view name) const { return base::exists(path(name)); }
  std::unique_ptr<io::ByteSource> source(std::string_view name) {
    // An empty table is the gzip of no lines; no bytes at all are what is left of a lost file.
    if (reading_.budget.take_file(path(name)) == 0)
      fail(Status::kFormat, path(name), ": has 0 bytes, expected gzip data");
    return io::ByteSource::open(path(name));
  }
  Table table(std::string_view name) { return parse_table(source(name), reading_); }
  io::Npz archive(std::string_view name) {
    reading_.budget.take_file(path(name));
    return io::Npz::open(path(name));
  }

 private:
  std::string folder_;
  Reading& reading_;
};

// Counts per graph; a set for node properties has one graph.
int64_t only_count(std::span<const int64_t> counts, const std::string& where) {
  if (counts.size() != 1)
    fail(Status::kUnsupported, where, ": counts for ", counts.size(),
         " graphs, expected one graph");
  if (counts[0] < 0) fail(Status::kFormat, where, ": ", counts[0], ", expected 0 or more");
  return counts[0];
}

Tensor counts_in_table(OgbFolder& folder, const std::string& name) {
  Table table = folder.table(name);
  if (table.columns > 1 || !table.values.integral() || table.values.has_nan())
    fail(Status::kFormat, folder.path(name), ": expected one integer a row");
  return table.values.take_i64({table.rows});
}

// Where the rows of each graph begin, [graphs + 1], from how many there are.
Tensor starts_of(const Tensor& counts, int64_t least, const std::string& where) {
  Tensor starts = Tensor::empty(DType::kI64, {counts.rows() + 1});
  const auto from = counts.as<const int64_t>();
  const auto to = starts.as<int64_t>();
  to[0] = 0;
  for (size_t g = 0; g < from.size(); ++g) {
    if (from[g] < least || from[g] > kMaxNodesInText)
      fail(Status::kFormat, where, ", row ", g, ": ", from[g], ", expected ", least, " to ",
           kMaxNodesInText);
    to[g + 1] = to[g] + from[g];
  }
  return starts;
}

// Decimal text may be rounded, a column of integers may not.
Tensor table_tensor(Table table, bool as_float) {
  if (!as_float && table.values.whole() && !table.values.integral())
    fail(Status::kRange, table.too_large, ": an integer that 64 bits do not hold");
  const base::Shape shape{table.rows, table.columns};
  if (!as_float && table.values.integral() && !table.values.has_nan())
    return table.values.take_i64(shape);
  return table.values.take_f32(shape);
}

void expect_rows(int64_t found, int64_t expected, const std::string& where, const std::string& by) {
  if (found != expected)
    fail(Status::kFormat, where, ": ", found, " rows, expected ", expected, " by ", by);
}

void read_tables(OgbFolder& folder, Reading& reading, Found& found) {
  const std::string nodes_by = folder.path("raw/num-node-list.csv.gz");
  const std::string edges_by = folder.path("raw/num-edge-list.csv.gz");
  const Tensor nodes_of = counts_in_table(folder, "raw/num-node-list.csv.gz");
  const Tensor edges_of = counts_in_table(folder, "raw/num-edge-list.csv.gz");
  const bool graphs = folder.has("raw/graph-label.csv.gz");
  int64_t num_edges = 0;
  Tensor edge_ptr;
  if (graphs) {
    if (nodes_of.rows() < 1 || nodes_of.rows() != edges_of.rows())
      fail(Status::kFormat, edges_by, ": counts for ", edges_of.rows(), " graphs, ", nodes_by,
           " for ", nodes_of.rows(), ", expected both for the same graphs, of which there is one");
    found.graph_ptr = starts_of(nodes_of, 1, nodes_by);
    edge_ptr = starts_of(edges_of, 0, edges_by);
    found.num_nodes = found.graph_ptr.as<const int64_t>().back();
    num_edges = edge_ptr.as<const int64_t>().back();
    if (found.num_nodes > kMaxNodesInText)
      fail(Status::kRange, nodes_by, ": ", found.num_nodes, " nodes in all, expected at most ",
           kMaxNodesInText);
  } else {
    found.num_nodes = only_count(nodes_of.as<const int64_t>(), nodes_by);
    num_edges = only_count(edges_of.as<const int64_t>(), edges_by);
  }
  bool nodes_proved = false;
  if (folder.has("raw/node-feat.csv.gz")) {
    found.features_from = folder.path("raw/node-feat.csv.gz");
    Table table = folder.table("raw/node-feat.csv.gz");
    expect_rows(table.rows, found.num_nodes, found.features_from, nodes_by);
    found.features = table_tensor(std::move(table), true);
    nodes_proved = true;
  }
  const char* label_file = graphs ? "raw/graph-label.csv.gz" : "raw/node-label.csv.gz";
  if (folder.has(label_file)) {
    const std::string where = folder.path(label_file);
    const int64_t rows = graphs ? nodes_of.rows() : found.num_nodes;
    Table table = folder.table(label_file);
    expect_rows(table.rows, rows, where, nodes_by);
    const bool classes = table.columns == 1 && table.values.integral();
    set_labels(classes ? table.values.take_i64({table.rows})
                       : table.values.take_f32({table.rows, table.columns}),
               rows, where, found);
    nodes_proved |= !graphs;
  }
  if (graphs && !found.features) found.degree_features = true;
  if (!nodes_proved) {
    const int64_t bytes = base::File(folder.path("raw/edge.csv.gz")).size();
    check_node_count(found.num_nodes, bytes, nodes_by);
  }

  found.edges_from = folder.path("raw/edge.csv.gz");
  OpenOptions list = reading.options;
  list.separator = ",";
  list.source_column = 0;
  list.target_column = 1;
  list.header = 0;
  list.relabel = false;
  list.num_nodes = found.num_nodes;
  Reading list_reading{list, reading.context, reading.budget};
  Found edges = parse_edges(folder.source("raw/edge.csv.gz"), list_reading);
  reading.budget = list_reading.budget;
  if (!edges.edge_columns.empty())
    fail(Status::kFormat, found.edges_from, ": more than 2 columns, expected source and target");
  expect_rows(edges.sources.rows(), num_edges, found.edges_from, edges_by);
  found.sources = std::move(edges.sources);
  found.targets = std::move(edges.targets);
  if (graphs) shift_edges(found.graph_ptr.as<const int64_t>(), edge_ptr.as<const int64_t>(), found);

  for (const std::string& file : base::list_visible(folder.path("raw"))) {
    constexpr std::string_view kEnding = ".csv.gz";
    if (!file.ends_with(kEnding)) continue;
    const std::string stem = file.substr(0, file.size() - kEnding.size());
    const bool of_nodes = stem.starts_with("node_");
    const bool of_edges = stem.starts_with("edge_") || stem == "edge-feat";
    if (!of_nodes && !of_edges) continue;
    const std::string where = folder.path("raw/" + file);
    Table table = folder.table("raw/" + file);
    expect_rows(table.rows, of_nodes ? found.num_nodes : num_edges, where,
                of_nodes ? nodes_by : edges_by);
    const bool features = stem == "edge-feat";
    add_column(of_nodes ? found.node_columns : found.edge_columns, features ? "x" : stem.substr(5),
               table_tensor(std::move(table), features), where);
  }
}

void read_archives(OgbFolder& folder, Reading& reading, Found& found) {
  const io::Npz npz = folder.archive("raw/data.npz");
  const auto array = [&](std::string_view key) {
    return base::text(npz.name(), ", array \"", key, "\"");
  };
  const auto count = [&](const char* key) {
    const Tensor counts = to_i64(npz.get(key), array(key));
    return only_count(counts.as<const int64_t>(), array(key));
  };
  found.num_nodes = count("num_nodes_list");
  const int64_t num_edges = count("num_edges_list");
  found.edges_from = array("edge_index");
  std::tie(found.sources, found.targets) =
      edge_columns(npz.get("edge_index"), true, found.edges_from, reading.context.pool);
  if (found.sources.rows() != num_edges)
    fail(Status::kFormat, found.edges_from, ": ", found.sources.rows(), " edges, expected ",
         num_edges, " by num_edges_list");
  bool nodes_proved = false;
  for (const std::string& key : npz.keys()) {
    const bool of_nodes = key.starts_with("node_");
    const bool of_edges = key.starts_with("edge_") && key != "edge_index";
    if (!of_nodes && !of_edges) continue;
    Tensor tensor = npz.get(key);
    const int64_t expected = of_nodes ? found.num_nodes : num_edges;
    if (tensor.shape().num_dims < 1 || tensor.rows() != expected)
      fail(Status::kFormat, array(key), ": shape ", tensor.shape().to_string(), ", expected ",
           expected, " rows");
    nodes_proved |= of_nodes && tensor.shape().row_elements() > 0;
    const std::string name = key.substr(5);
    if (key == "node_feat") {
      found.features_from = array(key);
      found.features = std::move(tensor);
    } else {
      add_column(of_nodes ? found.node_columns : found.edge_columns, name == "feat" ? "x" : name,
                 std::move(tensor), array(key));
    }
  }
  if (folder.has("raw/node-label.npz")) {
    const io::Npz labels = folder.archive("raw/node-label.npz");
    set_labels(labels.get("node_label"), found.num_nodes,
               base::text(labels.name(), ", array \"node_label\""), found);
    nodes_proved |= found.labels.shape().row_elements() > 0;
  }
  // Rows without columns take no bytes, so any number of them proves nothing.
  if (!nodes_proved) check_node_count(found.num_nodes, 8 * num_edges, array("num_nodes_list"));
}

void read_splits(OgbFolder& folder, Reading& reading, Found& found) {
  if (!base::is_directory(folder.path("split"))) return;
  for (const std::string& name : base::list_visible(folder.path("split"))) {
    const std::string inner = "split/" + name;
    if (!base::is_directory(folder.path(inner))) continue;
    if (!folder.has(inner + "/train.csv.gz")) {
      reading.context.log.add(
          base::LogLevel::kWarning,
          base::text(folder.path(inner), ": no train.csv.gz, the split is passed over"));
      continue;
    }
    std::array<Tensor, 3> ids;
    constexpr const char* kFiles[] = {"/train.csv.gz", "/valid.csv.gz", "/test.csv.gz"};
    for (int part = 0; part < 3; ++part) {
      const std::string where = folder.path(inner + kFiles[part]);
      Table table = folder.table(inner + kFiles[part]);
      if (table.columns > 1 || !table.values.integral() || table.values.has_nan())
        fail(Status::kFormat, where, ": expected one ",
             found.graph_ptr.defined() ? "graph" : "node", " id a row");
      ids[part] = table.values.take_i64({table.rows});
    }
    const bool graphs = found.graph_ptr.defined();
    found.splits.push_back(split_from_ids(ids[0].as<const int64_t>(), ids[1].as<const int64_t>(),
                                          ids[2].as<const int64_t>(),
                                          graphs ? found.graph_ptr.rows() - 1 : found.num_nodes,
                                          name, 0, folder.path(inner), graphs ? "graph" : "node"));
  }
}

}  // namespace

DatasetRef read_ogb(const std::string& path, Reading& reading) {
  OgbFolder folder(path, reading);
  if (folder.has("raw/triplet-type-list.csv.gz"))
    fail(Status::kUnsupported, folder.path("raw/triplet-type-list.csv.gz"),
         ": the graph has several types of edges, expected a layout with one");
  Found found;
  found.format = "ogb";
  found.source = path;
  std::string_view name = path;
  while (name.size() > 1 && name.ends_with('/')) name.remove_suffix(1);
  found.name = std::string(name.substr(name.rfind('/') + 1));
  found.undirected = lists_edges_once(found.name);
  if (folder.has("raw/data.npz"))
    read_archives(folder, reading, found);
  else
    read_tables(folder, reading, found);
  read_splits(folder, reading, found);
  return assemble(std::move(found), reading.options, reading.context);
}

}  // namespace gnnmg::data
