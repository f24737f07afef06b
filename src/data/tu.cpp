#include "data/tu.h"

#include <algorithm>
#include <cmath>

#include "base/file.h"
#include "data/folds.h"
#include "data/graphs.h"
#include "data/lines.h"
#include "data/ogb.h"
#include "io/bytes.h"

namespace gnnmg::data {
namespace {

using base::fail;
using base::Status;
using base::Tensor;

constexpr int64_t kMostEdgeColumns = 32;  // of one-hot rows, which are dense

Tensor dense_one_hot(const Tensor& codes, int64_t columns) {
  Tensor rows = Tensor::zeros(base::DType::kF32, {codes.rows(), columns});
  const auto code = codes.as<const int64_t>();
  const auto values = rows.as<float>();
  for (size_t i = 0; i < code.size(); ++i) values[static_cast<int64_t>(i) * columns + code[i]] = 1;
  return rows;
}

// The lines of one file that are not blank.
class TuLines {
 public:
  TuLines(std::unique_ptr<io::ByteSource> source, Reading& reading)
      : lines_(std::move(source), reading) {}
  bool next(std::string_view& line) {
    do {
      if (!lines_.next(line)) return false;
    } while (line.find_first_not_of(" \t") == line.npos);
    return true;
  }
  int64_t integer(std::string_view field, const char* what, int64_t least, int64_t most) const {
    const auto value = io::parse_int(field);
    if (!value)
      fail(Status::kFormat, where(), ": ", what, " \"", io::printable(field),
           "\", expected an integer");
    if (*value < least || *value > most)
      fail(Status::kRange, where(), ": ", what, " ", *value, ", expected ", least, " to ", most);
    return *value;
  }
  std::string where() const { return lines_.where(); }
  const std::string& name() const { return lines_.name(); }

 private:
  CountedLines lines_;
};

class TuParser {
 public:
  TuParser(TuSources sources, Reading& reading) : sources_(std::move(sources)), reading_(reading) {}

  Found parse() {
    found_.format = "tu";
    found_.undirected = true;
    read_indicator();
    read_edges();
    read_graph_labels();
    read_nodes();
    read_edge_tables();
    return std::move(found_);
  }

 private:
  bool has(TuPart part) const { return sources_[static_cast<int>(part)] != nullptr; }
  TuLines lines(TuPart part) {
    return TuLines(std::move(sources_[static_cast<int>(part)]), reading_);
  }

  void read_indicator() {
    TuLines in = lines(TuPart::kIndicator);
    std::string_view line;
    int64_t graph = 0;
    while (in.next(line)) {
      const int64_t id = in.integer(line, "the graph", 1, kMaxNodesInText);
      if (id < graph || id > graph + 1)
        fail(Status::kFormat, in.where(), ": graph ", id, ", expected ",
             graph == 0 ? "" : base::text(graph, " or "), graph + 1,
             id < graph ? ", for the nodes of a graph stand together"
                        : base::text(", for graph ", graph + 1, " needs at least one node"));
      graph = id;
      if (graph_of_.size() == kMaxNodesInText)
        fail(Status::kRange, in.where(), ": more than ", kMaxNodesInText, " nodes in all");
      graph_of_.push_back(static_cast<int32_t>(graph - 1));
    }
    if (graph == 0) fail(Status::kFormat, in.name(), ": holds no nodes");
    indicator_ = in.name();
    found_.num_nodes = graph_of_.size();
    num_graphs_ = graph;
  }

  void read_edges() {
    TuLines in = lines(TuPart::kEdges);
    found_.source = found_.edges_from = in.name();
    Pieces<int32_t> from, to;
    std::string_view line;
    while (in.next(line)) {
      const size_t comma = line.find(',');
      if (comma == line.npos)
        fail(Status::kFormat, in.where(), ": \"", io::printable(line),
             "\", expected \"node, node\"");
      const int64_t u = in.integer(line.substr(0, comma), "node", 1, found_.num_nodes) - 1;
      const int64_t v = in.integer(line.substr(comma + 1), "node", 1, found_.num_nodes) - 1;
      if (graph_of_[u] != graph_of_[v])
        fail(Status::kRange, in.where(), ": joins node ", u + 1, " of graph ", graph_of_[u] + 1,
             " and node ", v + 1, " of graph ", graph_of_[v] + 1);
      from.push_back(static_cast<int32_t>(u));
      to.push_back(static_cast<int32_t>(v));
    }
    found_.sources = Tensor::empty(base::DType::kI32, {from.size()});
    found_.targets = Tensor::empty(base::DType::kI32, {to.size()});
    from.drain_into(found_.sources.as<int32_t>());
    to.drain_into(found_.targets.as<int32_t>());
    found_.graph_ptr = Tensor::zeros(base::DType::kI64, {num_graphs_ + 1});
    const auto ptr = found_.graph_ptr.as<int64_t>();
    graph_of_.drain([&](int32_t graph) { ++ptr[graph + 1]; });
    for (int64_t g = 0; g < num_graphs_; ++g) ptr[g + 1] += ptr[g];
  }

  void expect_rows(int64_t rows, int64_t expected, const char* of, const std::string& where,
                   const std::string& by) const {
    if (rows != expected)
      fail(Status::kFormat, where, ": holds ", rows, " rows, expected ", expected,
           ", the number of ", of, " in ", by);
  }

  CategoryColumn categories(TuPart part, int64_t rows, const char* of, const std::string& by,
                            std::string& where) {
    TuLines in = lines(part);
    where = in.name();
    CategoryColumn column;
    std::string_view line;
    while (in.next(line)) {
      if (column.size() == rows)
        fail(Status::kFormat, in.where(), ": expected the end after ", rows,
             " rows, the number of ", of, " in ", by);
      column.push(in.integer(line, "the label", INT64_MIN, INT64_MAX), [&] { return in.where(); });
    }
    expect_rows(column.size(), rows, of, where, by);
    return column;
  }

  Tensor numbers(TuPart part, int64_t rows, const char* of, const std::string& by,
                 std::string& where) {
    where = sources_[static_cast<int>(part)]->name();
    Table table = parse_table(std::move(sources_[static_cast<int>(part)]), reading_);
    expect_rows(table.rows, rows, of, where, by);
    return table.values.take_f32({table.rows, table.columns});
  }

  void read_graph_labels() {
    if (!has(TuPart::kGraphLabels)) {
      if (!has(TuPart::kGraphAttributes)) return;
      found_.labels =
          numbers(TuPart::kGraphAttributes, num_graphs_, "graphs", indicator_, found_.labels_from);
      found_.regression = true;
      return;
    }
    TuLines in = lines(TuPart::kGraphLabels);
    const std::string where = in.name();
    CategoryColumn classes;
    Pieces<float> values;  // as long as there are no others than classes, not needed
    std::string_view line;
    int64_t rows = 0;
    bool integral = true;
    while (in.next(line)) {
      if (rows == num_graphs_)
        fail(Status::kFormat, in.where(), ": expected the end after ", num_graphs_,
             " rows, the number of graphs in ", indicator_);
      ++rows;
      const auto whole = io::parse_int(line);
      const auto number = io::parse_double(line);
      const float value = number ? static_cast<float>(*number) : NAN;
      if (!whole && !std::isfinite(value))
        fail(Status::kFormat, in.where(), ": the label \"", io::printable(line),
             "\", expected a number");
      if (integral && whole) {
        classes.push(*whole, [&] { return in.where(); });
        continue;
      }
      if (integral) {  // the first that is no integer: all are numbers
        integral = false;
        const Tensor codes = classes.codes();
        const std::vector<int64_t> known = classes.values();
        for (const int64_t code : codes.as<const int64_t>())
          values.push_back(static_cast<float>(known[code]));
      }
      values.push_back(value);
    }
    expect_rows(rows, num_graphs_, "graphs", where, indicator_);
    if (integral) return set_graph_classes(classes, where, reading_.context.log, found_);
    found_.labels = Tensor::empty(base::DType::kF32, {rows, 1});
    values.drain_into(found_.labels.as<float>());
    found_.labels_from = where;
    found_.regression = true;
  }

  void read_nodes() {
    const int64_t rows = found_.num_nodes;
    found_.degree_features = reading_.options.degree_features >= 0;
    std::string where;
    if (has(TuPart::kNodeLabels)) {
      const CategoryColumn tags = categories(TuPart::kNodeLabels, rows, "nodes", indicator_, where);
      set_tag_features(tags, where, reading_.options, found_);
    }
    if (!has(TuPart::kNodeAttributes)) return;
    Tensor attributes = numbers(TuPart::kNodeAttributes, rows, "nodes", indicator_, where);
    const int32_t wanted = reading_.options.degree_features;
    if (wanted > 0 || (wanted < 0 && has(TuPart::kNodeLabels))) {  // those are the features
      add_column(found_.node_columns, "attributes", std::move(attributes), where);
      return;
    }
    found_.degree_features = false;
    found_.features_from = where;
    found_.features = std::move(attributes);
  }

  void read_edge_tables() {
    const int64_t rows = found_.sources.rows();
    std::string where;
    if (has(TuPart::kEdgeLabels)) {
      const CategoryColumn labels =
          categories(TuPart::kEdgeLabels, rows, "edges", found_.edges_from, where);
      Tensor codes = labels.codes();
      // Rows that models read, where the file has none of numbers.
      if (!has(TuPart::kEdgeAttributes) && labels.num_categories() <= kMostEdgeColumns)
        add_column(found_.edge_columns, "edge_attr", dense_one_hot(codes, labels.num_categories()),
                   where);
      add_column(found_.edge_columns, "edge_label", std::move(codes), where);
    }
    if (has(TuPart::kEdgeAttributes))
      add_column(found_.edge_columns, "edge_attr",
                 numbers(TuPart::kEdgeAttributes, rows, "edges", found_.edges_from, where), where);
  }

  TuSources sources_;
  Reading& reading_;
  Found found_;
  Pieces<int32_t> graph_of_;  // of each node
  std::string indicator_;     // the file that says so
  int64_t num_graphs_ = 0;
};

}  // namespace

Found parse_tu(TuSources sources, Reading& reading) {
  return TuParser(std::move(sources), reading).parse();
}

DatasetRef read_tu(const std::string& prefix, Reading& reading) {
  TuSources sources;
  for (int part = 0; part < kNumTuParts; ++part) {
    const std::string path = prefix + kTuEndings[part];
    const bool needed =
        part == static_cast<int>(TuPart::kEdges) || part == static_cast<int>(TuPart::kIndicator);
    if (!needed && !base::exists(path)) continue;
    reading.budget.take_file(path);
    sources[part] = io::ByteSource::open(path);
  }
  Found found = parse_tu(std::move(sources), reading);
  const size_t slash = prefix.rfind('/');
  found.source = prefix;
  found.name = slash == std::string::npos ? prefix : prefix.substr(slash + 1);
  read_folds(slash == std::string::npos ? "." : prefix.substr(0, slash), found.graph_ptr.rows() - 1,
             reading, found.splits);
  return assemble(std::move(found), reading.options, reading.context);
}

}  // namespace gnnmg::data
