#include "data/text_shape.h"

#include <algorithm>
#include <array>
#include <vector>

#include "data/lines.h"
#include "io/fields.h"

namespace gnnmg::data {
namespace {

constexpr size_t kMostShapeFields = size_t{1} << 16;
constexpr size_t kFewestOfMatrix = 5;  // columns; a list of edges has fewer, or a header
constexpr size_t kMostOfSmallMatrix = kFewestOfMatrix - 1;

using SmallRow = std::array<double, kMostOfSmallMatrix>;  // the first numbers of a line

// The separator at which a line of numbers falls into most of them; it need not be cut well.
class ShapeFields {
 public:
  // False when a field is no number.
  bool read(std::string_view line) {
    const char separator = io::guess_separator(line);
    numbers_.clear();
    binary_ = true;
    if (cutter_.cut(line, separator) != io::FieldCutter::Result::kWhole) return false;
    size_t column = 0;
    for (const std::string_view field : cutter_.fields()) {
      const auto number = io::parse_double(field);
      if (!number) return false;
      if (column < kMostOfSmallMatrix) cells_[column++] = *number;
      binary_ &= field == "0" || field == "1";
      if (numbers_.size() < 3) numbers_.push_back(io::parse_int(field).value_or(-1));
    }
    return true;
  }
  size_t count() const { return cutter_.fields().size(); }
  bool binary() const { return binary_; }
  // The first three, -1 for what is no integer.
  const std::vector<int64_t>& first() const { return numbers_; }
  const SmallRow& cells() const { return cells_; }

 private:
  io::FieldCutter cutter_{kMostShapeFields};
  std::vector<int64_t> numbers_;
  SmallRow cells_{};
  bool binary_ = true;
};

class ShapeProbe {
 public:
  // The first line: what may the text be?
  void begin(const ShapeFields& line) {
    columns_ = line.count();
    binary_ = line.binary();
    const auto& numbers = line.first();
    square_ = columns_ == 3 && numbers[0] == numbers[1];
    if (columns_ == 2 || square_) {
      nodes_ = numbers[0];
      edges_ = numbers[columns_ - 1];
      from_zero_ = from_one_ = nodes_ > 0 && edges_ > 0;
    }
    matrix_ = transposed_ = columns_ >= 3;
    rows_[0] = line.cells();
  }
  void add(const ShapeFields& line) {
    ++further_;
    const size_t columns = line.count();
    const auto& numbers = line.first();
    const bool ends = columns >= 2 && further_ / 2 <= edges_;
    const auto within = [&](int64_t first) {
      const auto [least, most] = std::minmax(numbers[0], numbers[1]);
      return least >= first && most < first + nodes_;
    };
    from_zero_ = from_zero_ && ends && within(0);
    from_one_ = from_one_ && ends && within(1);
    binary_ &= line.binary();
    matrix_ = matrix_ && columns == columns_ && further_ < static_cast<int64_t>(columns_);
    if (further_ < static_cast<int64_t>(kMostOfSmallMatrix)) rows_[further_] = line.cells();
    transposed_ = transposed_ && columns == columns_ && further_ == 1;
  }
  bool decided() const { return !from_zero_ && !from_one_ && !matrix_ && !transposed_; }

  TextShape shape() const {
    // Each edge once, or both ways.
    const bool counted = further_ == edges_ || further_ == 2 * edges_;
    // "rows columns entries" is the form of Matrix Market, whose ids count from 1.
    if (counted && from_zero_ && !(square_ && from_one_)) return TextShape::kCounts;
    if (counted && from_one_) return TextShape::kCountsFromOne;
    const bool square = further_ + 1 == static_cast<int64_t>(columns_);
    if (matrix_ && square && (binary_ || columns_ >= kFewestOfMatrix || is_symmetric()))
      return TextShape::kMatrix;
    if (transposed_ && further_ == 1 && columns_ >= kFewestOfMatrix) return TextShape::kTransposed;
    return TextShape::kEdges;
  }

 private:
  // True for a small symmetric matrix with zeros on its diagonal.
  bool is_symmetric() const {
    for (size_t i = 0; i < columns_; ++i)
      for (size_t j = 0; j <= i; ++j)
        if (rows_[i][j] != rows_[j][i] || rows_[i][i] != 0) return false;
    return true;
  }

  std::array<SmallRow, kMostOfSmallMatrix> rows_{};
  size_t columns_ = 0;
  int64_t nodes_ = 0, edges_ = 0;
  int64_t further_ = 0;  // lines
  bool from_zero_ = false, from_one_ = false, matrix_ = false, transposed_ = false;
  bool binary_ = true, square_ = false;
};

}  // namespace

TextShape shape_of_text(std::unique_ptr<io::ByteSource> source, Reading& reading) {
  CountedLines lines(std::move(source), reading, kMostBytesOfEdge);
  ShapeFields fields;
  ShapeProbe probe;
  bool begun = false;
  std::string_view line;
  while (lines.next(line)) {
    if (is_comment(line) || io::trim_blanks(line).empty()) continue;
    if (!fields.read(line)) return TextShape::kEdges;
    if (begun)
      probe.add(fields);
    else
      probe.begin(fields);
    begun = true;
    if (probe.decided()) return TextShape::kEdges;
  }
  return begun ? probe.shape() : TextShape::kEdges;
}

}  // namespace gnnmg::data
