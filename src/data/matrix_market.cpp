#include "data/matrix_market.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/lower.h"
#include "data/edge_column.h"
#include "data/edge_list.h"
#include "data/lines.h"
#include "data/number_lines.h"
#include "data/numbers.h"
#include "io/bytes.h"
#include "io/fields.h"

namespace gnnmg::data {
namespace {

using base::fail;
using base::Status;

constexpr std::string_view kBanner = "%%matrixmarket";

class MatrixMarketParser {
 public:
  MatrixMarketParser(std::unique_ptr<io::ByteSource> source, Reading& reading)
      : lines_(std::move(source), reading), blocks_(lines_, reading), context_(reading.context) {}

  Found parse() {
    read_banner();
    read_sizes();
    for (int64_t blocks_from = 0; listed_ < num_entries_; ++listed_) {
      if (lines_.line_number() >= blocks_from) {
        const int64_t others = read_blocks();
        blocks_from = lines_.line_number() + others;
        if (listed_ == num_entries_) break;
      }
      if (!next())
        fail(Status::kFormat, lines_.name(), ": ends after ", listed_, " entries, expected ",
             num_entries_, "; fetch the whole file, or write ", listed_, " as the last number of ",
             sizes_line());
      read_entry();
    }
    if (next())
      fail(Status::kFormat, lines_.where(), ": expected the end after ", num_entries_,
           " entries, found another line; write the number of all as the last number of ",
           sizes_line());
    return finish();
  }

 private:
  // The fields of the next line that is neither blank nor a comment.
  bool next() {
    std::string_view line;
    while (lines_.next(line)) {
      if (line.starts_with('%') || io::trim_blanks(line).empty()) continue;
      if (cutter_.cut(line, ' ') != io::FieldCutter::Result::kWhole)
        fail(Status::kFormat, lines_.where(), ": \"", io::printable(line),
             "\", expected numbers, at most three", remedy_of_comment(line));
      return true;
    }
    return false;
  }

  // The remedy for a comment after numbers.
  static std::string_view remedy_of_comment(std::string_view line) {
    return line.find('%') == line.npos
               ? ""
               : "; a comment has a line of its own: sed -i '2,$s/%.*//' removes those";
  }

  void read_banner() {
    std::string_view line;
    do {
      if (!lines_.next(line)) break;
    } while (io::trim_blanks(line).empty());
    if (!looks_like_matrix_market(line))
      fail(Status::kFormat, lines_.name(), ": does not begin with %%MatrixMarket");
    io::FieldCutter words(kMostWords);
    words.cut(line, ' ');
    std::string kind[4];
    for (size_t i = 0; i < 4; ++i)
      if (i + 1 < words.fields().size()) kind[i] = base::lower(words.fields()[i + 1]);
    const auto& [object, format, field, symmetry] = kind;
    const auto refuse = [&](std::string_view word, std::string_view expected) {
      fail(Status::kUnsupported, lines_.where(), ": a Matrix Market file of the kind \"",
           io::printable(word), "\", expected ", expected);
    };
    if (object != "matrix") refuse(object, "matrix");
    if (format != "coordinate")
      refuse(format,
             "coordinate, which lists entries, as scipy.io.mmwrite() writes scipy.sparse matrices");
    if (field == "complex")
      refuse(field, "real, integer or pattern; .real and .imag of SciPy's matrix are real");
    pattern_ = field == "pattern";
    if (!pattern_ && field != "real" && field != "double" && field != "integer" &&
        field != "unsigned-integer")
      refuse(field, "real, integer or pattern");
    skew_ = symmetry == "skew-symmetric";
    symmetric_ = skew_ || symmetry == "symmetric";
    if (!symmetric_ && symmetry != "general")
      refuse(symmetry, "general, symmetric or skew-symmetric");
    if (skew_ && pattern_) refuse("pattern skew-symmetric", "values whose signs differ");
  }

  void read_sizes() {
    if (!next())
      fail(Status::kFormat, lines_.name(), ": ends before the line of sizes; fetch the whole file");
    if (cutter_.fields().size() != 3)
      fail(Status::kFormat, lines_.where(), ": ", cutter_.fields().size(),
           " numbers, expected rows, columns and entries");
    sizes_line_ = lines_.line_number();
    num_nodes_ = integer(0, "the number of rows", 0, INT64_MAX);
    const int64_t columns = integer(1, "the number of columns", 0, INT64_MAX);
    num_entries_ = integer(2, "the number of entries", 0, INT64_MAX);
    if (columns != num_nodes_)
      fail(Status::kFormat, lines_.where(), ": a matrix of ", num_nodes_, " rows and ", columns,
           " columns, expected an adjacency matrix, which has as many of both; of two kinds of "
           "nodes "
           "write an edge a line, with the number of rows added to the columns");
  }

  int64_t integer(size_t at, const char* what, int64_t least, int64_t most) const {
    const std::string_view field = cutter_.fields()[at];
    const auto value = io::parse_int(field);
    if (!value)
      fail(Status::kFormat, lines_.where(), ": ", what, " \"", io::printable(field),
           "\", expected an integer");
    if (*value < least || *value > most)
      fail(Status::kRange, lines_.where(), ": ", what, " ", *value, ", expected ", least, " to ",
           most,
           *value == 0 && least == 1 ? "; the format counts from 1: add 1 to all rows and columns"
           : *value > most && least == 1
               ? base::text(", the numbers of rows and columns in ", sizes_line())
               : "");
    return *value;
  }
  std::string sizes_line() const { return base::text("line ", sizes_line_); }

  // The entries of lines that hold nothing else; returns NumberLines::take().
  int64_t read_blocks() {
    constexpr int64_t kNarrow = std::numeric_limits<int32_t>::max();
    NumberShape shape{.columns = columns(),
                      .least = 1,
                      .most = num_nodes_,
                      .wide = num_nodes_ > kNarrow,
                      .values = {}};
    if (!pattern_) shape.values = {{2, true}};
    return blocks_.take(shape, [&](const NumberBlock& block) {
      if (block.lines > num_entries_ - listed_) return false;
      if (shape.wide)
        add_block(block, block.wide_sources.span(), block.wide_targets.span());
      else
        add_block(block, block.sources.span(), block.targets.span());
      listed_ += block.lines;
      return true;
    });
  }
  template <typename Id>
  void add_block(const NumberBlock& block, std::span<const Id> rows, std::span<const Id> columns) {
    for (int64_t i = 0; i < block.lines; ++i) {
      line_ = lines_.line_number() + 1 + i;
      add_entry(rows[i], columns[i], pattern_ ? 0 : value(block.numbers[i]));
    }
  }

  void read_entry() {
    line_ = lines_.line_number();
    if (const size_t found = cutter_.fields().size(); found != columns())
      fail(Status::kFormat, lines_.where(), ": ", found, " numbers, expected ", columns(),
           pattern_ ? ", row and column" : ", row, column and value", remedy_of_columns(found));
    const int64_t row = integer(0, "row", 1, num_nodes_) - 1;
    const int64_t column = integer(1, "column", 1, num_nodes_) - 1;
    add_entry(row, column, pattern_ ? 0 : value(cutter_.fields()[2]));
  }
  size_t columns() const { return pattern_ ? 2 : 3; }
  std::string_view remedy_of_columns(size_t found) const {
    for (const std::string_view field : cutter_.fields())
      if (field.starts_with('%')) return remedy_of_comment(field);
    if (pattern_ && found == 3) return "; to keep values write real in place of pattern in line 1";
    if (!pattern_ && found == 2 && !skew_)
      return "; entries without values need pattern in place of the type of values in line 1";
    return "";
  }
  void add_entry(int64_t row, int64_t column, float weight) {
    if (skew_ && row == column)
      fail(Status::kFormat, TextPlace{lines_.name(), line_}.where(),
           ": an entry on the diagonal, where a skew-symmetric matrix has none; leave it out, and "
           "write one entry less in ",
           sizes_line());
    above_ |= row < column;
    below_ |= row > column;
    add_edge(row, column, weight);
    if (symmetric_ && row != column) add_edge(column, row, skew_ ? -weight : weight);
  }
  float value(const Number& number) {
    if (rounded_line_ == 0 && number.whole && !exact_as_float(number.integer))
      rounded_line_ = line_;
    return static_cast<float>(number.real);
  }
  float value(std::string_view field) {
    const auto number = io::parse_double(field);
    if (!number || !std::isfinite(static_cast<float>(*number)))
      fail(Status::kFormat, lines_.where(), ": value \"", io::printable(field),
           number && std::isfinite(*number) ? "\" is beyond the range of 32-bit floats"
                                            : "\", expected a finite number",
           number                        ? std::isfinite(*number)
                                               ? "; scale the values"
                                               : base::text("; leave the entry out, and write one entry less in ",
                                                            sizes_line())
                                  : has_fortran_exponent(field) ? "; sed -i '2,$s/[dD]/e/g' writes exponents with e"
                                         : "");
    const auto integer = io::parse_int(field);
    return value(
        Number{.whole = integer.has_value(), .integer = integer.value_or(0), .real = *number});
  }
  // "1.5D+00"
  static bool has_fortran_exponent(std::string_view field) {
    std::string number(field);
    std::ranges::replace_if(number, [](char c) { return base::lower(c) == 'd'; }, 'e');
    return io::parse_double(number).has_value();
  }
  void add_edge(int64_t source, int64_t target, float weight) {
    sources_.push(source);
    targets_.push(target);
    if (!pattern_) weights_.push_back(weight);
  }

  void warn(std::string_view text) const {
    context_.log.add(base::LogLevel::kWarning, base::text(lines_.name(), ": ", text));
  }

  Found finish() {
    check_node_count(num_nodes_, lines_.bytes(), lines_.name());
    if (rounded_line_ > 0)
      warn(base::text("integers such as that in line ", rounded_line_,
                      " are rounded to 32-bit floats"));
    if (symmetric_ && above_ && below_)
      warn(
          "a symmetric matrix with entries on both sides of the diagonal, where each stands for "
          "the other; edges that are listed on both sides count twice");
    Found found;
    found.format = "matrix_market";
    found.source = found.edges_from = lines_.name();
    found.undirected = false;
    found.num_nodes = num_nodes_;
    const bool wide = sources_.wide() || targets_.wide();
    found.sources = sources_.take(wide, context_.pool);
    found.targets = targets_.take(wide, context_.pool);
    if (!pattern_) {
      base::Tensor weights = base::Tensor::empty(base::DType::kF32, {weights_.size()});
      weights_.drain_into(weights.as<float>());
      found.edge_columns.emplace("weight", std::move(weights));
    }
    return found;
  }

  static constexpr size_t kMostWords = 8, kMostNumbersInLine = 4;
  CountedLines lines_;
  NumberLines blocks_;
  io::FieldCutter cutter_{kMostNumbersInLine};
  const ReadContext& context_;
  bool pattern_ = false, symmetric_ = false, skew_ = false;
  bool above_ = false, below_ = false;  // there are entries on this side of the diagonal
  int64_t sizes_line_ = 0;
  int64_t line_ = 0;          // line of the current entry
  int64_t rounded_line_ = 0;  // the first with an integer that is no 32-bit float
  int64_t num_nodes_ = 0, num_entries_ = 0, listed_ = 0;
  IdColumn sources_, targets_;
  Pieces<float> weights_;
};

}  // namespace

bool looks_like_matrix_market(std::string_view start) noexcept {
  if (start.starts_with("\xef\xbb\xbf")) start.remove_prefix(3);
  start.remove_prefix(std::min(start.find_first_not_of(" \t\r\n"), start.size()));
  return std::ranges::equal(start.substr(0, kBanner.size()), kBanner,
                            [](char a, char b) { return base::lower(a) == b; });
}

Found parse_matrix_market(std::unique_ptr<io::ByteSource> source, Reading& reading) {
  return MatrixMarketParser(std::move(source), reading).parse();
}

DatasetRef read_matrix_market(const std::string& path, Reading& reading) {
  reading.budget.take_file(path);
  Found found = parse_matrix_market(io::ByteSource::open(path), reading);
  found.name = name_of_text(path);
  return assemble(std::move(found), reading.options, reading.context);
}

}  // namespace gnnmg::data
