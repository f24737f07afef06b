#include "data/tu.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/file.h"
#include "data/folds.h"
#include "data/graphs.h"
#include "data/labels.h"
#include "data/lines.h"
#include "data/ogb.h"
#include "data/split_files.h"
#include "io/bytes.h"
#include "io/fields.h"

namespace gnnmg::data {
namespace {

using base::fail;
using base::Status;
using base::Tensor;

constexpr size_t kMostLabelColumns = 32;  // a file
// One-hot rows that are dense have so many columns, or so many numbers in all.
constexpr int64_t kMostColumns = 128, kMostNumbers = int64_t{1} << 18;

bool fits_dense(int64_t rows, int64_t columns) {
  return columns <= kMostColumns || rows == 0 || columns <= kMostNumbers / rows;
}

// A table of numbers, and beside it one-hot rows, where these fit.
Tensor with_one_hot(Tensor numbers, std::span<const Codes> labels) {
  const int64_t rows = numbers.rows(), columns = numbers.shape().row_elements();
  const int64_t all = columns + width_of(labels);
  if (labels.empty() || !fits_dense(rows, all)) return numbers;
  Tensor both = Tensor::empty(base::DType::kF32, {rows, all});
  const auto from = numbers.as<const float>();
  const auto to = both.as<float>();
  for (int64_t i = 0; i < rows; ++i)
    std::copy_n(from.data() + i * columns, columns, to.data() + i * all);
  set_one_hot(labels, both, columns);
  return both;
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
    const auto value = io::parse_whole(field);
    if (!value)
      fail(Status::kFormat, where(), ": ", what, " \"", io::printable(field),
           "\", expected an integer",
           io::is_integer(field)     ? " of 64 bits"
           : io::parse_double(field) ? ""
           : io::trim_blanks(field).find_first_of(" \t;") != field.npos
               ? "; several have commas between"
               : kWordsToNumbers);
    if (*value < least || *value > most)
      fail(Status::kRange, where(), ": ", what, " ", *value, ", expected ", least, " to ", most,
           *value == 0 && least == 1 ? "; the format counts from 1" : "");
    return *value;
  }
  void split(std::string_view line, std::vector<std::string_view>& fields) const {
    lines_.split(line, ',', fields);
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
    found_.undirected = found_.drop_loops = true;
    read_indicator();
    read_edges();
    read_graph_labels();
    set_graph_ptr();
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
      if (id < graph)
        fail(Status::kFormat, in.where(), ": graph ", id, ", expected ", graph,
             " or more, for the nodes of a graph stand together; number the nodes anew, sorted by "
             "graph, in all files");
      if (id > graph + 1) without_nodes_ += id - graph - 1;
      graph = id;
      if (graph_of_.size() == kMaxNodesInText)
        fail(Status::kRange, in.where(), ": more than ", kMaxNodesInText, " nodes in all");
      graph_of_.push_back(static_cast<int32_t>(graph - 1));
    }
    if (graph == 0) fail(Status::kFormat, in.name(), ": holds no nodes");
    indicator_ = in.name();
    found_.num_nodes = graph_of_.size();
    set_num_graphs(graph, in.name());
  }

  // Graphs without nodes take memory that no line of the indicator answers for.
  void set_num_graphs(int64_t count, const std::string& where) {
    const int64_t most = (int64_t{1} << 17) + 4 * found_.num_nodes;
    if (count > most)
      fail(Status::kRange, where, ": ", count, " graphs for ", found_.num_nodes,
           " nodes, expected at most ", most);
    num_graphs_ = count;
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
             "\", expected \"node, node\" with a comma between");
      if (line.find(',', comma + 1) != line.npos)
        fail(Status::kFormat, in.where(), ": \"", io::printable(line),
             "\", expected two nodes; numbers of edges stand in NAME_edge_attributes.txt");
      const int64_t u = in.integer(line.substr(0, comma), "node", 1, found_.num_nodes) - 1;
      const int64_t v = in.integer(line.substr(comma + 1), "node", 1, found_.num_nodes) - 1;
      if (graph_of_[u] != graph_of_[v])
        fail(Status::kRange, in.where(), ": joins node ", u + 1, " of graph ", graph_of_[u] + 1,
             " and node ", v + 1, " of graph ", graph_of_[v] + 1,
             "; nodes are counted from 1 over all graphs");
      from.push_back(static_cast<int32_t>(u));
      to.push_back(static_cast<int32_t>(v));
    }
    found_.sources = Tensor::empty(base::DType::kI32, {from.size()});
    found_.targets = Tensor::empty(base::DType::kI32, {to.size()});
    from.drain_into(found_.sources.as<int32_t>());
    to.drain_into(found_.targets.as<int32_t>());
  }

  // Once it is known how many graphs there are: the labels tell of those after the last node.
  void set_graph_ptr() {
    found_.graph_ptr = Tensor::zeros(base::DType::kI64, {num_graphs_ + 1});
    const auto ptr = found_.graph_ptr.as<int64_t>();
    graph_of_.drain([&](int32_t graph) { ++ptr[graph + 1]; });
    for (int64_t g = 0; g < num_graphs_; ++g) ptr[g + 1] += ptr[g];
    if (without_nodes_ > 0)
      reading_.context.log.add(
          base::LogLevel::kWarning,
          base::text(indicator_, ": ", without_nodes_, " of ", num_graphs_,
                     " graphs have no nodes; they stay, and a readout of them is 0"));
  }

  // Takes the number of rows of a table with a row a graph.
  void take_graph_rows(int64_t rows, const std::string& where) {
    if (rows < num_graphs_) return expect_rows(rows, num_graphs_, "graphs", where, indicator_);
    without_nodes_ += rows - num_graphs_;
    set_num_graphs(rows, where);
  }

  void expect_rows(int64_t rows, int64_t expected, const char* of, const std::string& where,
                   const std::string& by) const {
    if (rows != expected)
      fail(Status::kFormat, where, ": holds ", rows, " rows, expected ", expected,
           ", the number of ", of, " in ", by, "; write a row for each, blank lines do not count");
  }

  // One column, or several with commas between.
  std::vector<CategoryColumn> categories(TuPart part, int64_t rows, const char* of,
                                         const std::string& by, std::string& where) {
    TuLines in = lines(part);
    where = in.name();
    std::vector<CategoryColumn> columns;
    std::vector<std::string_view> fields;
    std::string_view line;
    int64_t count = 0;
    for (; in.next(line); ++count) {
      if (count == rows)
        fail(Status::kFormat, in.where(), ": expected the end after ", rows,
             " rows, the number of ", of, " in ", by);
      in.split(line, fields);
      if (count == 0 && fields.size() <= kMostLabelColumns)
        columns = std::vector<CategoryColumn>(fields.size());
      if (fields.size() != columns.size())
        fail(Status::kFormat, in.where(), ": ", fields.size(), " labels, expected ",
             count == 0 ? base::text("at most ", kMostLabelColumns)
                        : base::text(columns.size(), ", as in the first line"));
      for (size_t k = 0; k < fields.size(); ++k)
        columns[k].push(in.integer(fields[k], "the label", INT64_MIN, INT64_MAX),
                        [&] { return in.where(); });
    }
    expect_rows(count, rows, of, where, by);
    if (columns.empty()) columns.resize(1);  // no rows
    return columns;
  }

  Tensor numbers(TuPart part, int64_t rows, const char* of, const std::string& by,
                 std::string& where) {
    where = sources_[static_cast<int>(part)]->name();
    Table table = parse_table(std::move(sources_[static_cast<int>(part)]), reading_);
    expect_rows(table.rows, rows, of, where, by);
    return table.values.take_f32({table.rows, table.columns}, where, reading_.context.log);
  }

  std::string name_of(TuPart part) const { return sources_[static_cast<int>(part)]->name(); }

  void warn_unused(TuPart part, TuPart taken, std::string_view remedy) {
    reading_.context.log.add(
        base::LogLevel::kWarning,
        base::text(name_of(part), ": is left out beside ", name_of(taken), remedy));
  }

  void read_graph_attributes() {
    if (has(TuPart::kGraphLabels)) warn_unused(TuPart::kGraphLabels, TuPart::kGraphAttributes, "");
    found_.labels_from = name_of(TuPart::kGraphAttributes);
    Table table =
        parse_table(std::move(sources_[static_cast<int>(TuPart::kGraphAttributes)]), reading_);
    take_graph_rows(table.rows, found_.labels_from);
    found_.labels = table.values.take_f32({table.rows, table.columns}, found_.labels_from,
                                          reading_.context.log);
    found_.regression = true;
  }

  void read_graph_labels() {
    const bool numbers_wanted = reading_.options.task == Task::kRegression;
    if (has(TuPart::kGraphAttributes) && (numbers_wanted || !has(TuPart::kGraphLabels)))
      return read_graph_attributes();
    if (!has(TuPart::kGraphLabels)) return;
    if (has(TuPart::kGraphAttributes))
      warn_unused(TuPart::kGraphAttributes, TuPart::kGraphLabels, "; task=regression takes them");
    TuLines in = lines(TuPart::kGraphLabels);
    const std::string where = in.name();
    CategoryColumn classes;
    Pieces<float> values;  // empty while all labels are classes
    std::string_view line;
    int64_t rows = 0;
    bool integral = !numbers_wanted;
    while (in.next(line)) {
      ++rows;
      const auto number = io::parse_double(line);
      const auto whole = numbers_wanted ? std::nullopt : io::parse_whole(line);
      const float value = number ? static_cast<float>(*number) : NAN;
      if (!std::isfinite(value))
        fail(Status::kFormat, in.where(), ": the label \"", io::printable(line),
             "\", expected a number",
             number && std::isfinite(*number) ? " in the range of 32-bit floats"
             : number ? "; a class may be any integer; numbers of which some are missing stand in "
                        "NAME_graph_attributes.txt"
             : line.starts_with('#')                    ? "; the format has no comments"
             : line.find_first_of(", \t;") == line.npos ? kWordsToNumbers
                                                        : "; a line has one label");
      if (integral && !whole && io::is_integer(line))
        fail(Status::kRange, in.where(), ": the label ", io::printable(line), kTooLargeLabel);
      if (integral && whole) {
        classes.push(*whole, [&] { return in.where(); });
        continue;
      }
      if (integral) {  // the first that is no integer: all are numbers
        integral = false;
        const Tensor codes = classes.codes().values;
        const std::vector<int64_t> known = classes.values();
        for (const int64_t code : codes.as<const int64_t>())
          values.push_back(static_cast<float>(known[code]));
      }
      values.push_back(value);
    }
    take_graph_rows(rows, where);
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
    std::vector<Codes> labels;
    if (has(TuPart::kNodeLabels)) {
      const auto tags = categories(TuPart::kNodeLabels, rows, "nodes", indicator_, where);
      set_tag_features(tags, Coding::kRange, where, reading_.options, found_);
      labels = codes_of(tags, Coding::kRange);
    }
    if (!has(TuPart::kNodeAttributes)) return;
    Tensor attributes = numbers(TuPart::kNodeAttributes, rows, "nodes", indicator_, where);
    const int32_t wanted = reading_.options.degree_features;
    if (wanted > 0 || (wanted < 0 && !labels.empty())) {  // the labels or degrees are features
      add_column(found_.node_columns, "attributes", std::move(attributes), where);
      return;
    }
    found_.degree_features = false;
    found_.features_from = where;
    found_.features = with_one_hot(std::move(attributes), labels);
  }

  void read_edge_tables() {
    const int64_t rows = found_.sources.rows();
    std::string where;
    std::vector<Codes> labels;
    if (has(TuPart::kEdgeLabels)) {
      labels = codes_of(categories(TuPart::kEdgeLabels, rows, "edges", found_.edges_from, where),
                        Coding::kRange);
      add_column(found_.edge_columns, "edge_label", beside(labels), where);
    }
    // Rows that models read.
    if (has(TuPart::kEdgeAttributes))
      add_column(
          found_.edge_columns, "edge_attr",
          with_one_hot(numbers(TuPart::kEdgeAttributes, rows, "edges", found_.edges_from, where),
                       labels),
          where);
    else if (!labels.empty() && fits_dense(rows, width_of(labels)))
      add_column(found_.edge_columns, "edge_attr",
                 with_one_hot(Tensor::empty(base::DType::kF32, {rows, 0}), labels), where);
  }

  TuSources sources_;
  Reading& reading_;
  Found found_;
  Pieces<int32_t> graph_of_;  // one a node
  std::string indicator_;     // the file that says so
  int64_t num_graphs_ = 0;
  int64_t without_nodes_ = 0;  // graphs
};

}  // namespace

Found parse_tu(TuSources sources, Reading& reading) {
  return TuParser(std::move(sources), reading).parse();
}

DatasetRef read_tu(const std::string& prefix, Reading& reading) {
  TuSources sources;
  for (int part = 0; part < kNumTuParts; ++part) {
    const std::string path = packed_or_not(prefix + kTuEndings[part]);
    const bool needed =
        part == static_cast<int>(TuPart::kEdges) || part == static_cast<int>(TuPart::kIndicator);
    if (!needed && !base::is_present(path)) continue;
    reading.budget.take_file(path);
    sources[part] = io::ByteSource::open(path);
  }
  Found found = parse_tu(std::move(sources), reading);
  const size_t slash = prefix.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : prefix.substr(0, slash);
  found.source = prefix;
  found.name = slash == std::string::npos ? prefix : prefix.substr(slash + 1);
  read_folds(folder, found.graph_ptr.rows() - 1, reading, found.splits);
  read_splits_beside(folder, reading, found);
  return assemble(std::move(found), reading.options, reading.context);
}

}  // namespace gnnmg::data
