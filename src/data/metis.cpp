#include "data/metis.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "data/edge_list.h"
#include "data/lines.h"
#include "data/numbers.h"
#include "io/bytes.h"
#include "io/fields.h"

namespace gnnmg::data {
namespace {

using base::fail;
using base::Status;

constexpr int64_t kMostVertexWeights = 1000;

class MetisParser {
 public:
  MetisParser(std::unique_ptr<io::ByteSource> source, Reading& reading)
      : lines_(std::move(source), reading), log_(reading.context.log) {}

  Found parse() {
    read_header();
    std::string_view line;
    while (next(line)) {
      if (node_ == header_.num_nodes) {
        if (io::trim_blanks(line).empty()) continue;
        fail(Status::kFormat, lines_.where(), ": expected the end after ", header_.num_nodes,
             " nodes, found \"", io::printable(line), "\"");
      }
      read_node(line);
      ++node_;
    }
    return finish();
  }

 private:
  bool next(std::string_view& line) {
    do {
      if (!lines_.next(line)) return false;
    } while (line.starts_with('%'));
    return true;
  }

  void read_header() {
    std::string_view line;
    do {
      if (!next(line))
        fail(Status::kFormat, lines_.name(), ": ends before the line \"nodes edges\" of METIS");
    } while (io::trim_blanks(line).empty());
    const auto header = parse_metis_header(line);
    if (!header)
      fail(Status::kFormat, lines_.where(), ": \"", io::printable(line),
           "\", expected the numbers of nodes and edges, a format of up to three digits 0 and 1, "
           "and the number of weights of a node, as METIS has them");
    header_ = *header;
  }

  void read_node(std::string_view line) {
    rest_ = line;
    if (header_.sizes) sizes_.push_back(number("the size of a node", 0));
    for (int64_t i = 0; i < header_.num_weights; ++i)
      weights_.push_back(number("the weight of a node", 0));
    std::string_view field;
    while (take(field)) {
      const int64_t neighbor = integer(field, "the neighbor", 1);
      if (neighbor > header_.num_nodes)
        fail(Status::kRange, lines_.where(), ": the neighbor ", neighbor, ", expected 1 to ",
             header_.num_nodes);
      sources_.push(node_);
      targets_.push(neighbor - 1);
      loops_ += neighbor - 1 == node_;
      int64_t weight = 0;
      if (header_.edge_weights) {
        weight = number("the weight of an edge", 0);
        edge_weights_.push_back(static_cast<float>(weight));
        if (rounded_line_ == 0 && !exact_as_float(weight)) rounded_line_ = lines_.line_number();
      }
      asymmetry_ += mixed(node_, neighbor - 1, weight) - mixed(neighbor - 1, node_, weight);
    }
    if ((sources_.size() - loops_) / 2 > header_.num_edges) check_counts();
  }

  // A sum of these over all edges less that over their reverses is 0 when the two are the same.
  static uint64_t mixed(int64_t source, int64_t target, int64_t weight) {
    uint64_t hash = 0;
    for (const int64_t part : {source, target, weight}) {
      hash = (hash ^ static_cast<uint64_t>(part)) * 0x9E3779B97F4A7C15u;
      hash ^= hash >> 29;
    }
    return hash * 0xBF58476D1CE4E5B9u;
  }

  bool take(std::string_view& field) {
    rest_ = io::trim_blanks(rest_);
    if (rest_.empty()) return false;
    const size_t end = std::min(rest_.find_first_of(" \t"), rest_.size());
    field = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return true;
  }
  int64_t integer(std::string_view field, const char* what, int64_t least) const {
    const auto value = io::parse_int(field);
    if (!value || *value < least)
      fail(Status::kFormat, lines_.where(), ": ", what, " \"", io::printable(field),
           "\", expected an integer from ", least);
    return *value;
  }
  int64_t number(const char* what, int64_t least) {
    std::string_view field;
    if (!take(field)) fail(Status::kFormat, lines_.where(), ": the line ends, expected ", what);
    return integer(field, what, least);
  }

  // Each edge twice, but a loop once or twice.
  void check_counts() const {
    const int64_t listed = sources_.size(), pairs = listed - loops_;
    if (listed == 2 * header_.num_edges || pairs + 2 * loops_ == 2 * header_.num_edges) return;
    if (listed == header_.num_edges && loops_ == 0 && asymmetry_ == 0 && listed % 2 == 0)
      fail(Status::kMismatch, lines_.name(), ": the first line counts ", listed,
           " edges, each at both of its nodes, expected each once; write ", listed / 2,
           " in place of ", listed, "; format=edges takes the lines for edges");
    fail(Status::kFormat, lines_.name(), ": ", listed, " neighbors, expected ",
         2 * header_.num_edges, " by the first line, each edge at both of its nodes",
         node_ < header_.num_nodes
             ? base::text("; it has lines for ", node_, " of ", header_.num_nodes, " nodes")
             : std::string());
  }

  // Names an edge that stands at one of its nodes alone, or with two weights.
  [[noreturn]] void refuse_asymmetry(const Found& found, const base::Tensor& weights) const {
    using Edge = std::tuple<int64_t, int64_t, float>;
    const auto id = [](const base::Tensor& ids, int64_t i) {
      return ids.dtype() == base::DType::kI64 ? ids.as<const int64_t>()[i]
                                              : int64_t{ids.as<const int32_t>()[i]};
    };
    std::vector<Edge> edges;
    edges.reserve(found.sources.rows());
    for (int64_t i = 0; i < found.sources.rows(); ++i)
      edges.emplace_back(id(found.sources, i), id(found.targets, i),
                         weights.defined() ? weights.as<const float>()[i] : 0);
    std::sort(edges.begin(), edges.end());
    for (const auto& [source, target, weight] : edges)
      if (!std::binary_search(edges.begin(), edges.end(), Edge(target, source, weight)))
        fail(Status::kFormat, lines_.name(), ": node ", source + 1, " lists ", target + 1, ", but ",
             target + 1, " does not list ", source + 1,
             weights.defined() ? " with the same weight" : "",
             ", expected each edge at both of its nodes");
    fail(Status::kFormat, lines_.name(),
         ": an edge is listed more often at one of its nodes than at the other");
  }

  Found finish() {
    const std::string& where = lines_.name();
    check_counts();
    check_node_count(header_.num_nodes, lines_.bytes(), where);
    for (; node_ < header_.num_nodes; ++node_) {  // lost blank lines at the end
      if (header_.sizes || header_.num_weights > 0)
        fail(Status::kFormat, where, ": ends after ", node_, " of ", header_.num_nodes, " nodes");
    }
    Found found;
    found.format = "metis";
    found.source = found.edges_from = where;
    found.undirected = false;
    found.num_nodes = header_.num_nodes;
    const bool wide = sources_.wide() || targets_.wide();
    found.sources = sources_.take(wide);
    found.targets = targets_.take(wide);
    base::Tensor edge_weights;
    if (header_.edge_weights) {
      edge_weights = base::Tensor::empty(base::DType::kF32, {edge_weights_.size()});
      edge_weights_.drain_into(edge_weights.as<float>());
    }
    if (asymmetry_ != 0) refuse_asymmetry(found, edge_weights);
    if (rounded_line_ > 0)
      log_.add(base::LogLevel::kWarning,
               base::text(where, ": weights of edges such as those in line ", rounded_line_,
                          " are rounded to 32-bit floats"));
    if (header_.edge_weights) found.edge_columns.emplace("weight", std::move(edge_weights));
    if (header_.sizes) add_node_column(found, "vertex_size", sizes_, 1);
    if (header_.num_weights > 0)
      add_node_column(found, "vertex_weight", weights_, header_.num_weights);
    return found;
  }

  static void add_node_column(Found& found, const char* name, Pieces<int64_t>& values,
                              int64_t columns) {
    const base::Shape shape =
        columns == 1 ? base::Shape{found.num_nodes} : base::Shape{found.num_nodes, columns};
    base::Tensor tensor = base::Tensor::empty(base::DType::kI64, shape);
    values.drain_into(tensor.as<int64_t>());
    found.node_columns.emplace(name, std::move(tensor));
  }

  CountedLines lines_;
  base::Log& log_;
  MetisHeader header_;
  int64_t rounded_line_ = 0;  // the first with a weight of an edge that is no 32-bit float
  std::string_view rest_;     // unread part of the current line
  int64_t node_ = 0;          // node of the next line
  int64_t loops_ = 0;
  uint64_t asymmetry_ = 0;  // 0 when each edge has its reverse
  IdColumn sources_, targets_;
  Pieces<float> edge_weights_;
  Pieces<int64_t> sizes_, weights_;
};

}  // namespace

std::optional<MetisHeader> parse_metis_header(std::string_view line) {
  io::FieldCutter cutter(5);
  if (cutter.cut(line, ' ') != io::FieldCutter::Result::kWhole) return std::nullopt;
  const auto& fields = cutter.fields();
  if (fields.size() < 2 || fields.size() > 4) return std::nullopt;
  const auto nodes = io::parse_int(fields[0]), edges = io::parse_int(fields[1]);
  if (!nodes || !edges || *nodes < 0 || *edges < 0) return std::nullopt;
  constexpr int64_t kMostEdges = int64_t{1} << 60;  // twice so many are a number too
  if (*edges > kMostEdges) return std::nullopt;
  MetisHeader header{*nodes, *edges};
  const std::string_view format = fields.size() > 2 ? fields[2] : "0";
  if (format.size() > 3 || format.find_first_not_of("01") != format.npos) return std::nullopt;
  const auto digit = [&](size_t from_end) {
    return format.size() >= from_end && format[format.size() - from_end] == '1';
  };
  header.edge_weights = digit(1);
  header.sizes = digit(3);
  const auto weights = fields.size() > 3 ? io::parse_int(fields[3]) : int64_t{1};
  if (!weights || *weights < 1 || *weights > kMostVertexWeights) return std::nullopt;
  header.num_weights = digit(2) ? *weights : 0;
  return header;
}

Found parse_metis(std::unique_ptr<io::ByteSource> source, Reading& reading) {
  return MetisParser(std::move(source), reading).parse();
}

DatasetRef read_metis(const std::string& path, Reading& reading) {
  reading.budget.take_file(path);
  Found found = parse_metis(io::ByteSource::open(path), reading);
  found.name = name_of_text(path);
  return assemble(std::move(found), reading.options, reading.context);
}

}  // namespace gnnmg::data
