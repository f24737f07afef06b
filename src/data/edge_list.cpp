#include "data/edge_list.h"

#include <algorithm>
#include <cmath>

#include "data/lines.h"
#include "data/numbers.h"
#include "data/relabeller.h"
#include "io/bytes.h"

namespace gnnmg::data {
namespace {

using base::fail;
using base::Status;

bool is_comment(std::string_view line) {
  return line.starts_with('#') || line.starts_with('%') || line.starts_with("//");
}

// Whether a field might be meant as a number in whatever notation: 1, "1", +1, 0x1, .5, 1st. The
// first line is passed over as a header only when none is, so that no edge is lost.
bool begins_like_number(std::string_view field) {
  const size_t begin = field.find_first_not_of(" \t\"'+-.");
  return begin != field.npos && field[begin] >= '0' && field[begin] <= '9';
}

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t") == line.npos; }

// Index pointers of eight bytes a node may take twice the text and a mebibyte.
int64_t most_nodes(int64_t bytes) { return bytes / 4 + (int64_t{1} << 17); }

class EdgeParser {
 public:
  EdgeParser(std::unique_ptr<io::ByteSource> source, Reading& reading)
      : lines_(std::move(source), reading), reading_(reading), options_(reading.options) {
    if (options_.source_column < 0 || options_.target_column < 0 ||
        options_.source_column == options_.target_column)
      fail(Status::kInvalidArgument, "source_column ", options_.source_column, ", target_column ",
           options_.target_column, ": expected two different columns, counted from 0");
    if (options_.separator.size() > 1)
      fail(Status::kInvalidArgument, "separator \"", io::printable(options_.separator),
           "\": expected one character, or \"\" to guess it");
    if (options_.relabel && options_.num_nodes >= 0)
      fail(Status::kInvalidArgument, "num_nodes ", options_.num_nodes,
           ": expected -1 with relabel, which counts the nodes itself");
  }

  Found parse() {
    std::string_view line;
    for (int32_t i = 0; i < options_.header; ++i)
      if (!lines_.next(line)) break;
    while (lines_.next(line)) {
      if (is_blank(line) || is_comment(line)) continue;
      if (separator_ == 0)
        separator_ = options_.separator.empty() ? io::guess_separator(line) : options_.separator[0];
      io::split_fields(line, separator_, fields_);
      if (columns_ == 0 && begin_columns()) continue;
      if (fields_.size() != columns_)
        fail(Status::kFormat, lines_.where(), ": ", fields_.size(), " columns, expected ", columns_,
             " as in the first edge");
      add_edge();
    }
    return finish();
  }

 private:
  // Looks at the first line that is no comment; true when it is a header.
  bool begin_columns() {
    const size_t source = options_.source_column, target = options_.target_column;
    const size_t needed = std::max(source, target) + 1;
    const bool enough = fields_.size() >= needed;
    const bool no_numbers =
        enough ? !begins_like_number(fields_[source]) && !begins_like_number(fields_[target])
               : std::none_of(fields_.begin(), fields_.end(), begins_like_number);
    if (options_.header < 0 && !header_seen_ && no_numbers) {
      header_seen_ = true;
      separator_ = 0;
      return true;
    }
    first_edge_ = true;
    if (!enough)
      fail(Status::kFormat, lines_.where(), ": ", fields_.size(), " columns, expected at least ",
           needed);
    columns_ = fields_.size();
    weight_column_ = 0;
    while (weight_column_ == source || weight_column_ == target) ++weight_column_;
    has_weight_ = weight_column_ < columns_ && io::parse_double(fields_[weight_column_]);
    return false;
  }

  int64_t node(std::string_view field, const char* end) {
    const auto id = io::parse_int(field);
    if (options_.relabel) {
      if (!id)
        fail(Status::kFormat, lines_.where(), ": ", end, " \"", io::printable(field),
             "\", expected an integer of 64 bits");
      return relabeller_.number(*id);
    }
    if (!id)
      fail(Status::kFormat, lines_.where(), ": ", end, " \"", io::printable(field),
           "\", expected an integer from 0",
           options_.header < 0 && first_edge_ ? "; header_lines passes over a header" : "");
    if (*id < 0)
      fail(Status::kRange, lines_.where(), ": ", end, " ", *id, ", expected an integer from 0");
    if (options_.num_nodes >= 0 && *id >= options_.num_nodes)
      fail(Status::kRange, lines_.where(), ": ", end, " ", *id, ", expected 0 to ",
           options_.num_nodes - 1);
    if (*id > largest_) {
      largest_ = *id;
      largest_line_ = lines_.line_number();
    }
    return *id;
  }

  void add_edge() {
    sources_.push(node(fields_[options_.source_column], "source"));
    targets_.push(node(fields_[options_.target_column], "target"));
    first_edge_ = false;
    if (!has_weight_) return;
    const auto weight = io::parse_double(fields_[weight_column_]);
    const float value = weight ? static_cast<float>(*weight) : 0.0f;
    if (!weight || !std::isfinite(value))
      fail(Status::kFormat, lines_.where(), ": weight \"", io::printable(fields_[weight_column_]),
           weight && std::isfinite(*weight) ? "\" is beyond the range of 32-bit floats"
                                            : "\", expected a finite number");
    weights_.push_back(value);
  }

  Found finish() {
    const std::string& where = lines_.name();
    if (sources_.size() == 0 && options_.num_nodes < 0)
      fail(Status::kFormat, where, ": holds no edges; give num_nodes to open a graph without any");
    Found found;
    found.format = "edges";
    found.source = found.edges_from = where;
    found.undirected = false;
    if (options_.relabel) {
      found.num_nodes = relabeller_.count();
      found.node_columns.emplace("original_id", relabeller_.take());
    } else if (options_.num_nodes >= 0) {
      found.num_nodes = options_.num_nodes;
    } else {
      // The largest id of 64 bits has no successor; it fails here like any id beyond proportion.
      const int64_t most = most_nodes(lines_.bytes());
      if (largest_ >= most)
        fail(Status::kRange, where, ", line ", largest_line_, ": id ", largest_,
             ", expected less than ", most, " in a text of ", lines_.bytes(),
             " bytes; give num_nodes, or relabel the ids");
      found.num_nodes = largest_ + 1;
    }
    const bool wide = sources_.wide() || targets_.wide();
    found.sources = sources_.take(wide);
    found.targets = targets_.take(wide);
    if (has_weight_) {
      base::Tensor weights = base::Tensor::empty(base::DType::kF32, {weights_.size()});
      weights_.drain_into(weights.as<float>());
      found.edge_columns.emplace("weight", std::move(weights));
    }
    log_columns(where);
    return found;
  }

  void log_columns(const std::string& where) {
    std::string note = base::text(where, ": separator ",
                                  separator_ == '\t'  ? "tab"
                                  : separator_ == ' ' ? "blanks"
                                                      : std::string{'"', separator_, '"'});
    if (header_seen_) note += ", the first line is a header";
    if (has_weight_) note += base::text(", column ", weight_column_, " kept as \"weight\"");
    const size_t kept = has_weight_ ? 3 : 2;
    if (columns_ > kept) note += base::text(", ", columns_ - kept, " more columns not kept");
    if (columns_ > 0) reading_.context.log.add(base::LogLevel::kInfo, std::move(note));
  }

  CountedLines lines_;
  Reading& reading_;
  const OpenOptions& options_;
  std::vector<std::string_view> fields_;
  char separator_ = 0;
  bool header_seen_ = false;
  bool first_edge_ = false;  // that is the line at hand
  size_t columns_ = 0;       // of every line; 0 before the first edge
  size_t weight_column_ = 0;
  bool has_weight_ = false;
  Relabeller relabeller_;
  IdColumn sources_, targets_;
  Pieces<float> weights_;
  int64_t largest_ = -1, largest_line_ = 0;
};

}  // namespace

void check_node_count(int64_t num_nodes, int64_t bytes, std::string_view where) {
  const int64_t most = most_nodes(bytes);
  if (num_nodes > most)
    fail(Status::kRange, where, ": ", num_nodes,
         " nodes without features or labels, expected at most ", most, " beside ", bytes,
         " bytes of edges");
}

Found parse_edges(std::unique_ptr<io::ByteSource> source, Reading& reading) {
  return EdgeParser(std::move(source), reading).parse();
}

DatasetRef read_edges(const std::string& path, Reading& reading) {
  reading.budget.take_file(path);
  Found found = parse_edges(io::ByteSource::open(path), reading);
  const size_t slash = path.rfind('/');
  found.name = slash == std::string::npos ? path : path.substr(slash + 1);
  found.name.resize(std::min(found.name.size(), std::max<size_t>(found.name.find('.'), 1)));
  return assemble(std::move(found), reading.options, reading.context);
}

}  // namespace gnnmg::data
