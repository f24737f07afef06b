#include "data/gin.h"

#include "data/folds.h"
#include "data/graphs.h"
#include "data/labels.h"
#include "data/lines.h"
#include "data/numbers.h"
#include "data/split_files.h"
#include "io/bytes.h"

namespace gnnmg::data {
namespace {

using base::fail;
using base::Status;

constexpr std::string_view kBlanks = " \t";

// The fields of a line, one after another: lines may be long, and are not cut up in memory.
class LineFields {
 public:
  explicit LineFields(std::string_view line) : rest_(line) {}
  // False at the end of the line.
  bool next(std::string_view& field) {
    const size_t begin = rest_.find_first_not_of(kBlanks);
    if (begin == rest_.npos) return false;
    rest_.remove_prefix(begin);
    const size_t end = std::min(rest_.find_first_of(kBlanks), rest_.size());
    field = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return true;
  }

 private:
  std::string_view rest_;
};

class GinParser {
 public:
  GinParser(std::unique_ptr<io::ByteSource> source, Reading& reading)
      : lines_(std::move(source), reading), reading_(reading) {}

  Found parse() {
    next("the number of graphs");
    const int64_t num_graphs = integer("the number of graphs", 1, INT64_MAX);
    end_of_line();
    for (int64_t g = 0; g < num_graphs; ++g) read_graph(g, num_graphs);
    std::string_view line;
    while (lines_.next(line))
      if (line.find_first_not_of(kBlanks) != line.npos)
        fail(Status::kFormat, lines_.where(), ": expected the end after ", num_graphs,
             " graphs, found \"", io::printable(line), "\"");
    return finish();
  }

 private:
  template <typename... Args>
  void next(const Args&... what) {
    std::string_view line;
    if (!lines_.next(line))
      fail(Status::kFormat, lines_.name(), ": ends at line ", lines_.line_number(), ", expected ",
           what...);
    fields_ = LineFields(line);
  }

  int64_t integer(const char* what, int64_t least, int64_t most) {
    std::string_view field;
    if (!fields_.next(field))
      fail(Status::kFormat, lines_.where(), ": the line ends, expected ", what);
    const auto value = io::parse_int(field);
    if (!value)
      fail(Status::kFormat, lines_.where(), ": ", what, " \"", io::printable(field),
           "\", expected an integer", io::parse_double(field) ? "" : kWordsToNumbers);
    if (*value < least || *value > most)
      fail(Status::kRange, lines_.where(), ": ", what, " ", *value, ", expected ",
           most == INT64_MAX ? base::text(least, " or more") : base::text(least, " to ", most));
    return *value;
  }

  void end_of_line() {
    std::string_view field;
    if (fields_.next(field))
      fail(Status::kFormat, lines_.where(), ": expected the end of the line, found \"",
           io::printable(field), "\"");
  }

  // The rest of a node's line: as many numbers as the first node has.
  void read_attributes() {
    const bool first = degrees_.size() == 0;
    int64_t count = 0;
    for (std::string_view field; fields_.next(field); ++count) {
      if (!first && num_attributes_ == 0)
        fail(Status::kFormat, lines_.where(), ": expected the end of the line, found \"",
             io::printable(field), "\"");
      if (count == kMostColumnsOfText)
        fail(Status::kFormat, lines_.where(), ": more than ", kMostColumnsOfText, " attributes");
      const auto value = io::parse_double(field);
      if (!value)
        fail(Status::kFormat, lines_.where(), ": the attribute \"", io::printable(field),
             "\", expected a number");
      attributes_.push(*value);
    }
    if (first) num_attributes_ = count;
    if (count != num_attributes_)
      fail(Status::kFormat, lines_.where(), ": ", count,
           " attributes after the neighbors, expected ", num_attributes_,
           ", as the first node has");
  }

  void read_graph(int64_t graph, int64_t num_graphs) {
    const auto where = [this] { return lines_.where(); };
    next("graph ", graph, " of ", num_graphs);
    const int64_t count = integer("the number of nodes", 0, kMaxNodesInText);
    if (count > kMaxNodesInText - num_nodes_)
      fail(Status::kRange, lines_.where(), ": more than ", kMaxNodesInText, " nodes in all");
    labels_.push(integer("the label", INT64_MIN, INT64_MAX), where);
    end_of_line();
    for (int64_t node = 0; node < count; ++node) {
      next("node ", node, " of ", count, " of graph ", graph);
      tags_.push(integer("the tag", INT64_MIN, INT64_MAX), where);
      const int64_t degree = integer("the degree", 0, INT32_MAX);
      for (int64_t i = 0; i < degree; ++i)
        sources_.push_back(
            static_cast<int32_t>(num_nodes_ + integer("the neighbor", 0, count - 1)));
      read_attributes();
      degrees_.push_back(static_cast<int32_t>(degree));
    }
    num_nodes_ += count;
    node_counts_.push_back(static_cast<int32_t>(count));
  }

  Found finish() {
    const std::string& where = lines_.name();
    if (num_nodes_ == 0) fail(Status::kFormat, where, ": no graph has a node");
    // "2", "0 1", "1 2", "0 0" may be a count and edges.
    const bool pairs = sources_.size() == 0 && num_attributes_ == 0;
    if (node_counts_[0] == 0 && pairs && reading_.options.format != "gin")
      fail(Status::kFormat, where,
           ": begins with a graph without nodes, and its lines may be edges after a count; set "
           "format=gin, or for a list of edges format=edges and header_lines=1");
    Found found;
    found.format = "gin";
    found.source = found.edges_from = where;
    found.undirected = false;
    found.num_nodes = num_nodes_;
    found.graph_ptr = graph_ptr_of(node_counts_);
    found.sources = base::Tensor::empty(base::DType::kI32, {sources_.size()});
    sources_.drain_into(found.sources.as<int32_t>());
    found.targets = base::Tensor::empty(base::DType::kI32, found.sources.shape());
    int32_t* to = found.targets.as<int32_t>().data();
    int32_t node = 0;
    degrees_.drain([&](int32_t degree) { to = std::fill_n(to, degree, node++); });
    set_graph_classes(labels_, where, reading_.context.log, found);
    set_tag_features({&tags_, 1}, Coding::kOccurring, where, reading_.options, found);
    if (num_attributes_ > 0) set_attributes(where, found);
    return found;
  }

  // Sets the attributes as the features, unless the options ask for others.
  void set_attributes(const std::string& where, Found& found) {
    base::Tensor table =
        attributes_.take_f32({found.num_nodes, num_attributes_}, where, reading_.context.log);
    if (reading_.options.degree_features != 0) {
      add_column(found.node_columns, "attributes", std::move(table), where);
      return;
    }
    found.degree_features = false;
    found.features = std::move(table);
  }

  CountedLines lines_;
  Reading& reading_;
  LineFields fields_{std::string_view()};
  CategoryColumn labels_, tags_;
  Pieces<int32_t> node_counts_;  // one a graph
  Pieces<int32_t> degrees_;      // one a node
  Pieces<int32_t> sources_;      // node after node
  NumberColumn attributes_;      // rows of nodes
  int64_t num_attributes_ = 0;
  int64_t num_nodes_ = 0;
};

}  // namespace

Found parse_gin(std::unique_ptr<io::ByteSource> source, Reading& reading) {
  return GinParser(std::move(source), reading).parse();
}

namespace {

// The next line of `start`, which may end in the middle of one.
struct StartLine {
  std::string_view text;
  bool whole;
};
StartLine take_start_line(std::string_view& start) {
  const size_t end = start.find_first_of("\r\n");
  const StartLine line{start.substr(0, end), end != start.npos};
  start.remove_prefix(line.whole ? end : start.size());
  start.remove_prefix(start.starts_with("\r\n") ? 2 : line.whole);
  return line;
}

// The first of the line's integers; -1 if it is not `count` integers, the first of them 0 or more.
int64_t first_of(const StartLine& line, int64_t count) {
  LineFields fields(line.text);
  int64_t found = 0, first = -1;
  for (std::string_view field; fields.next(field); ++found) {
    const auto value = io::parse_int(field);
    if (!value || (found == 0 && *value < 0)) return -1;
    if (found == 0) first = *value;
  }
  return line.whole && found == count ? first : -1;
}

// True if the line may be a node's: tag, degree, neighbors, and then numbers of any kind.
bool is_node(const StartLine& line) {
  LineFields fields(line.text);
  int64_t count = 0, degree = -1;
  for (std::string_view field; fields.next(field); ++count) {
    const auto value = io::parse_int(field);
    const bool attribute = count > 1 && count - 2 >= degree;
    if (!value && line.whole && !(attribute && io::parse_double(field))) return false;
    if (count == 1) degree = value ? *value : -1;
  }
  return degree >= 0 && (!line.whole || count - 2 >= degree);
}

}  // namespace

bool looks_like_gin(std::string_view start) {
  if (first_of(take_start_line(start), 1) < 1) return false;
  StartLine line = take_start_line(start);
  const bool begins_empty = first_of(line, 2) == 0;  // or the line is the edge "0 1"
  while (first_of(line, 2) == 0) line = take_start_line(start);
  if (first_of(line, 2) < 1) return false;
  line = take_start_line(start);
  return is_node(line) && !(begins_empty && first_of(line, 2) >= 0);
}

bool begins_with_a_count(const std::string& path) {
  constexpr int64_t kMostOfLine = 4096;
  io::LineReader lines(io::ByteSource::open(path), kMostOfLine);
  std::string_view line, word, second;
  try {
    if (!lines.next(line) || io::guess_separator(line) != ' ') return false;
  } catch (const base::Error& error) {
    if (error.status() != Status::kFormat) throw;
    return false;  // a longer line, which is no count
  }
  LineFields fields(line);
  constexpr std::string_view kDigits = "0123456789";
  if (!fields.next(word) || fields.next(second) || kDigits.find(word[0]) == kDigits.npos)
    return false;
  // "0-1" and "1::2" are no counts.
  const size_t end = std::min(word.find_first_not_of(kDigits), word.size());
  return word.find_first_of(kDigits, end) == word.npos;
}

DatasetRef read_gin(const std::string& path, Reading& reading) {
  reading.budget.take_file(path);
  Found found = parse_gin(io::ByteSource::open(path), reading);
  const size_t slash = path.rfind('/');
  found.name = name_of_text(path);
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash);
  read_folds(folder, found.graph_ptr.rows() - 1, reading, found.splits);
  read_splits_beside(folder, reading, found);
  return assemble(std::move(found), reading.options, reading.context);
}

}  // namespace gnnmg::data
