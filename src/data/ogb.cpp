// The Open Graph Benchmark's layouts for properties of nodes and of graphs: raw/ with tables
// (edge, node-feat, node-label, num-node-list, num-edge-list and further node_* and edge_*, each a
// .csv.gz or unpacked) or with archives (data.npz, node-label.npz), and split/NAME. With labels of
// graphs (graph-label) the counts are of many graphs, and edges count nodes within each.
#include "data/ogb.h"

#include <algorithm>
#include <cmath>

#include "base/file.h"
#include "data/edge_list.h"
#include "data/graphs.h"
#include "data/labels.h"
#include "data/lines.h"
#include "data/missing_number.h"
#include "data/ogb_folder.h"
#include "data/split_files.h"
#include "data/unused.h"
#include "io/bytes.h"
#include "io/npy.h"

namespace gnnmg::data {

using base::DType;
using base::fail;
using base::Status;
using base::Tensor;

namespace {

constexpr const char* kNoHeader =
    ", as the format has commas between numbers and no header; pandas writes it by "
    "to_csv(header=False, index=False)";

std::string_view unquoted(std::string_view field) {
  const bool quoted = field.size() >= 2 && field.starts_with('"') && field.ends_with('"');
  return quoted ? field.substr(1, field.size() - 2) : field;
}

bool is_text(std::string_view field) {
  field = unquoted(field);
  return !io::parse_double(field) && !is_missing_number(field);
}

void push_field(std::string_view field, const CountedLines& lines, Table& table) {
  field = unquoted(field);
  const bool held = table.values.integral();
  // Integers by themselves: a double would not tell those beyond 2^53 apart.
  if (const auto integer = io::parse_int(field)) {
    table.values.push(*integer);
  } else if (const auto number = io::parse_double(field)) {
    if (std::isfinite(*number) && std::isinf(static_cast<float>(*number)))
      fail(Status::kRange, lines.where(), ": \"", io::printable(field),
           "\" is beyond the range of 32-bit floats");
    table.values.push(*number);
  } else if (is_missing_number(field)) {
    table.values.push(std::nan(""));
  } else {
    fail(Status::kFormat, lines.where(), ": \"", io::printable(field), "\", expected a number",
         table.rows == 0 ? kNoHeader : "", kWordsToNumbers);
  }
  if (held && !table.values.integral() && table.values.whole()) table.too_large = lines.where();
}

// Makes missing numbers of blank lines where so many rows are lacking: of all between rows, and of
// those after the last one as far as they are needed.
void take_blank_rows(std::span<const int64_t> blank, int64_t lacking, Table& table) {
  const auto after = std::ranges::count(blank, table.rows);
  const auto between = static_cast<int64_t>(blank.size()) - after;
  if (lacking <= 0 || between > lacking || between + after < lacking) return;
  table.values.insert_nan(blank.first(static_cast<size_t>(lacking)));
  table.rows += lacking;
  table.columns = 1;
}

}  // namespace

Table parse_table(std::unique_ptr<io::ByteSource> source, Reading& reading, int64_t rows) {
  Table table;
  CountedLines lines(std::move(source), reading);
  std::string_view line;
  std::vector<std::string_view> fields;
  std::vector<int64_t> blank;  // the row before which each blank line stands
  while (lines.next(line)) {
    if (line.find_first_not_of(" \t") == line.npos) {
      if (static_cast<int64_t>(blank.size()) < rows) blank.push_back(table.rows);
      continue;
    }
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
  if (table.columns <= 1) take_blank_rows(blank, rows - table.rows, table);
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
// "none", and integral floats may be classes. Integers keep their type, in which -1 is "none".
void set_labels(const Tensor& given, int64_t rows, std::string where, Found& found) {
  const Tensor raw = widen_halves(given);
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
           base::dtype_name(raw.dtype()), ", expected i64, i32, u8, bool or floats");
  }
  const bool floating = base::is_floating(raw.dtype());
  const LabelKind kind =
      kind_of(!floating || numbers.integral(), zero_one, raw.shape().row_elements());
  found.binary = kind.binary;
  found.regression = !kind.binary && !kind.classes;
  if (kind.classes && floating) found.labels = numbers.take_i64({raw.rows()});
}

// The content of the lists of counts: one graph, or many side by side.
struct OgbCounts {
  int64_t num_edges = 0;
  Tensor edge_ptr;       // starts of the edges of each graph; undefined: one graph
  std::string nodes_by;  // file with the number of nodes
  std::string edges_by;
};

int64_t only_count(std::span<const int64_t> counts, const std::string& where) {
  if (counts.size() != 1)
    fail(Status::kUnsupported, where, ": counts for ", counts.size(),
         " graphs, expected one graph");
  if (counts[0] < 0) fail(Status::kFormat, where, ": ", counts[0], ", expected 0 or more");
  return counts[0];
}

// The starts of the rows of each graph, [graphs + 1], from their counts.
Tensor starts_of(const Tensor& counts, const std::string& where) {
  Tensor starts = Tensor::empty(DType::kI64, {counts.rows() + 1});
  const auto from = counts.as<const int64_t>();
  const auto to = starts.as<int64_t>();
  to[0] = 0;
  for (size_t g = 0; g < from.size(); ++g) {
    if (from[g] < 0 || from[g] > kMaxNodesInText)
      fail(Status::kFormat, where, ", row ", g, ": ", from[g], ", expected 0 to ", kMaxNodesInText);
    to[g + 1] = to[g] + from[g];
  }
  return starts;
}

// Sets found.num_nodes, and of many graphs found.graph_ptr.
OgbCounts take_counts(const Tensor& nodes_of, std::string nodes_by, const Tensor& edges_of,
                      std::string edges_by, bool graphs, Found& found) {
  OgbCounts counts;
  counts.nodes_by = std::move(nodes_by);
  counts.edges_by = std::move(edges_by);
  if (!graphs) {
    found.num_nodes = only_count(nodes_of.as<const int64_t>(), counts.nodes_by);
    counts.num_edges = only_count(edges_of.as<const int64_t>(), counts.edges_by);
    return counts;
  }
  if (nodes_of.rows() < 1 || nodes_of.rows() != edges_of.rows())
    fail(Status::kFormat, counts.edges_by, ": counts for ", edges_of.rows(), " graphs, ",
         counts.nodes_by, " for ", nodes_of.rows(),
         ", expected both for the same graphs, of which there is one");
  found.graph_ptr = starts_of(nodes_of, counts.nodes_by);
  counts.edge_ptr = starts_of(edges_of, counts.edges_by);
  found.num_nodes = found.graph_ptr.as<const int64_t>().back();
  counts.num_edges = counts.edge_ptr.as<const int64_t>().back();
  if (found.num_nodes > kMaxNodesInText)
    fail(Status::kRange, counts.nodes_by, ": ", found.num_nodes, " nodes in all, expected at most ",
         kMaxNodesInText);
  return counts;
}

// Edges of many graphs count nodes within each.
void number_edges(const OgbCounts& counts, Found& found) {
  if (counts.edge_ptr.defined())
    shift_edges(found.graph_ptr.as<const int64_t>(), counts.edge_ptr.as<const int64_t>(), found);
}

// Decimal text may be rounded, a column of integers may not. With gaps it is one of floats.
Tensor table_tensor(Table table, bool as_float, const std::string& path, base::Log& log) {
  if (!as_float && table.values.whole() && !table.values.integral())
    fail(Status::kRange, table.too_large, ": an integer that 64 bits do not hold");
  const base::Shape shape{table.rows, table.columns};
  if (!as_float && table.values.integral() && !table.values.has_nan())
    return table.values.take_i64(shape);
  return table.values.take_f32(shape, path, log);
}

void expect_rows(int64_t found, int64_t expected, const std::string& where, const std::string& by) {
  if (found != expected)
    fail(Status::kFormat, where, ": ", found, " rows, expected ", expected, " by ", by);
}

// Reads a table with as many rows as `by` counts.
Table counted_table(OgbFolder& folder, std::string_view name, int64_t rows, const std::string& by) {
  Table table = folder.table(name, rows);
  expect_rows(table.rows, rows, folder.table_path(name), by);
  return table;
}

// The reader of edges would name options that do not count here.
void refuse_header(const std::string& path) {
  io::LineReader lines(io::ByteSource::open(path), kMostBytesOfEdge);
  std::string_view line;
  if (!lines.next(line)) return;
  if (const auto commas = std::ranges::count(line, ','); commas > 1)
    fail(Status::kFormat, lines.where(), ": ", commas + 1,
         " columns, expected source and target; to_csv(index=False, header=False) of pandas writes "
         "no index");
  if (is_text(line.substr(0, line.find(','))))
    fail(Status::kFormat, lines.where(), ": \"", io::printable(line, 40),
         "\", expected a source and a target", kNoHeader);
}

void read_edge_table(OgbFolder& folder, const OgbCounts& counts, Reading& reading, Found& found) {
  found.edges_from = folder.table_path("raw/edge");
  OpenOptions list = reading.options;
  list.separator = ",";
  list.source_column = 0;
  list.target_column = 1;
  list.header = 0;
  list.relabel = false;
  list.num_nodes = found.num_nodes;
  auto source = folder.source("raw/edge");
  Reading list_reading{list, reading.context, reading.budget};
  refuse_header(found.edges_from);
  Found edges = parse_edges(std::move(source), list_reading);
  reading.budget = list_reading.budget;
  if (!edges.edge_columns.empty())
    fail(Status::kFormat, found.edges_from, ": more than 2 columns, expected source and target");
  expect_rows(edges.sources.rows(), counts.num_edges, found.edges_from, counts.edges_by);
  found.sources = std::move(edges.sources);
  found.targets = std::move(edges.targets);
  number_edges(counts, found);
}

// Names and the like, by the first two lines: the first alone may be a header of numbers.
bool holds_text(const std::string& path) {
  io::LineReader lines(io::ByteSource::open(path), kMostBytesOfEdge);
  std::vector<std::string_view> fields;
  std::string_view line;
  bool text = false;
  for (int i = 0; i < 2 && lines.next(line); ++i) {
    io::split_fields(line, ',', fields);
    text = std::ranges::any_of(fields, is_text);
    if (!text) break;
  }
  return text;
}

// Tables whose names say that they are of nodes or of edges, except those with texts.
void read_more_tables(OgbFolder& folder, const OgbCounts& counts, Reading& reading, Found& found) {
  for (const std::string& name : folder.raw_tables()) {
    const std::string table = base::text("raw/", name);
    const bool of_nodes = name.starts_with("node_");
    const bool features = name == "edge-feat";
    if (!of_nodes && !features && !name.starts_with("edge_")) continue;
    if (!features && holds_text(folder.table_path(table))) continue;
    Table rows = of_nodes ? counted_table(folder, table, found.num_nodes, counts.nodes_by)
                          : counted_table(folder, table, counts.num_edges, counts.edges_by);
    const std::string path = folder.table_path(table);
    add_column(of_nodes ? found.node_columns : found.edge_columns, features ? "x" : name.substr(5),
               table_tensor(std::move(rows), features, path, reading.context.log), path);
  }
}

void read_tables(OgbFolder& folder, Reading& reading, Found& found) {
  const bool graphs = folder.has_table("raw/graph-label");
  const Tensor nodes_of = folder.integers("raw/num-node-list", "integer");
  const Tensor edges_of = folder.integers("raw/num-edge-list", "integer");
  const OgbCounts counts = take_counts(nodes_of, folder.table_path("raw/num-node-list"), edges_of,
                                       folder.table_path("raw/num-edge-list"), graphs, found);
  bool nodes_proved = false;
  if (folder.has_table("raw/node-feat")) {
    found.features_from = folder.table_path("raw/node-feat");
    found.features =
        table_tensor(counted_table(folder, "raw/node-feat", found.num_nodes, counts.nodes_by), true,
                     found.features_from, reading.context.log);
    nodes_proved = true;
  }
  const std::string label_table = graphs ? "raw/graph-label" : "raw/node-label";
  if (folder.has_table(label_table)) {
    const int64_t rows = graphs ? nodes_of.rows() : found.num_nodes;
    Table table = counted_table(folder, label_table, rows, counts.nodes_by);
    const bool classes = table.columns == 1 && table.values.integral();
    if (table.columns == 1 && table.values.whole() && !classes &&
        reading.options.task != Task::kRegression)
      fail(Status::kRange, table.too_large, ": the label", kTooLargeLabel);
    set_labels(classes ? table.values.take_i64({table.rows})
                       : table.values.take_f32({table.rows, table.columns},
                                               folder.table_path(label_table), reading.context.log),
               rows, folder.table_path(label_table), found);
    nodes_proved |= !graphs;
  }
  if (graphs && !found.features) found.degree_features = true;
  if (!nodes_proved)
    check_node_count(found.num_nodes, base::File(folder.table_path("raw/edge")).size(),
                     counts.nodes_by);
  read_edge_table(folder, counts, reading, found);
  read_more_tables(folder, counts, reading, found);
}

void read_archives(OgbFolder& folder, Reading& reading, Found& found) {
  const io::Npz npz = folder.archive("raw/data.npz");
  const auto array = [&](std::string_view key) {
    return base::text(npz.name(), ", array \"", key, "\"");
  };
  const auto integers = [&](const char* key) { return to_i64(npz.get(key), array(key)); };
  const bool graphs = folder.has("raw/graph-label.npz");
  const Tensor nodes_of = integers("num_nodes_list");
  const OgbCounts counts =
      take_counts(nodes_of, array("num_nodes_list"), integers("num_edges_list"),
                  array("num_edges_list"), graphs, found);
  found.edges_from = array("edge_index");
  std::tie(found.sources, found.targets) =
      edge_columns(npz.get("edge_index"), true, found.edges_from, reading.context.pool);
  if (found.sources.rows() != counts.num_edges)
    fail(Status::kFormat, found.edges_from, ": ", found.sources.rows(), " edges, expected ",
         counts.num_edges, " by num_edges_list");
  number_edges(counts, found);
  bool nodes_proved = false;
  for (const std::string& key : npz.keys()) {
    const bool of_nodes = key.starts_with("node_");
    const bool of_edges = key.starts_with("edge_") && key != "edge_index";
    if (!of_nodes && !of_edges) continue;
    Tensor tensor = npz.get(key);
    const int64_t expected = of_nodes ? found.num_nodes : counts.num_edges;
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
  const std::string label = graphs ? "graph_label" : "node_label";
  const std::string label_file = graphs ? "raw/graph-label.npz" : "raw/node-label.npz";
  if (folder.has(label_file)) {
    const io::Npz labels = folder.archive(label_file);
    set_labels(labels.get(label), graphs ? nodes_of.rows() : found.num_nodes,
               base::text(labels.name(), ", array \"", label, "\""), found);
    nodes_proved |= !graphs && found.labels.shape().row_elements() > 0;
  }
  if (graphs && !found.features) found.degree_features = true;
  // Rows without columns take no bytes, so any number of them proves nothing.
  if (!nodes_proved) check_node_count(found.num_nodes, 8 * counts.num_edges, counts.nodes_by);
  warn_of_unused_arrays(
      npz,
      [](std::string_view key) {
        return key.starts_with("node_") || key.starts_with("edge_") || key == "num_nodes_list" ||
               key == "num_edges_list";
      },
      reading.context.log);
}

}  // namespace

DatasetRef read_ogb(const std::string& path, Reading& reading) {
  OgbFolder folder(path, reading);
  if (folder.has_table("raw/triplet-type-list"))
    fail(Status::kUnsupported, folder.table_path("raw/triplet-type-list"),
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
  read_ogb_splits(folder, reading, found);
  read_splits_beside(path, reading, found);
  return assemble(std::move(found), reading.options, reading.context);
}

}  // namespace gnnmg::data
