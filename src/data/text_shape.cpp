#include "data/text_shape.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/lines.h"
#include "io/fields.h"

namespace gnnmg::data {
namespace {

constexpr size_t kMostShapeFields = size_t{1} << 16;
constexpr size_t kFewestOfMatrix = 5;  // columns; a list of edges has fewer, or a header
constexpr size_t kMostOfSmallMatrix = kFewestOfMatrix - 1;

constexpr int64_t kMostCounted = int64_t{1} << 40;  // nodes; a larger number is an id

constexpr size_t kMostListed = 16;         // numbers of a line that are looked at
constexpr int64_t kFewestOfAdjacency = 5;  // lines; fewer may be weighted edges by chance

using SmallRow = std::array<double, kMostOfSmallMatrix>;  // the first numbers of a line

// The separator at which a line of numbers falls into most of them; it need not be cut well.
class ShapeFields {
 public:
  // Passes over pandas' header of a table without names: "0,1,2,3,4", or ",0,1,2" where the first
  // column is an index, which is passed over from then on. False for another line.
  bool take_numbers_of_columns(std::string_view line) {
    if (!cut(line)) return false;
    const bool index = cutter_.fields()[0].empty();
    if (count() < (index ? kFewestNumbered : kFewestOfMatrix)) return false;
    for (size_t i = index; i < cutter_.fields().size(); ++i)
      if (cutter_.fields()[i] != std::to_string(i - index)) return false;
    indexed_ = index;
    return true;
  }
  // False when a field is no number.
  bool read(std::string_view line) {
    numbers_.clear();
    binary_ = true;
    if (!cut(line)) return false;
    size_t column = 0;
    for (const std::string_view field : std::span(cutter_.fields()).subspan(indexed_)) {
      const auto number = io::parse_double(field);
      if (!number) return false;
      if (column < kMostOfSmallMatrix) cells_[column++] = *number;
      binary_ &= field == "0" || field == "1";
      if (numbers_.size() < kMostListed) numbers_.push_back(io::parse_int(field).value_or(-1));
    }
    return true;
  }
  size_t count() const { return cutter_.fields().size() - indexed_; }
  bool indexed() const { return indexed_; }
  bool binary() const { return binary_; }
  // The first kMostListed, -1 for other numbers than integers.
  const std::vector<int64_t>& first() const { return numbers_; }
  const SmallRow& cells() const { return cells_; }

 private:
  static constexpr size_t kFewestNumbered = 4;  // fields

  bool cut(std::string_view line) {
    return cutter_.cut(line, io::guess_separator(line)) == io::FieldCutter::Result::kWhole &&
           !cutter_.fields().empty();
  }

  io::FieldCutter cutter_{kMostShapeFields};
  std::vector<int64_t> numbers_;
  SmallRow cells_{};
  bool binary_ = true;
  bool indexed_ = false;
};

// Lines of a node and its neighbors, in ascending order of the nodes. Either each neighbor lists
// the node too: the sum of a hash of all pairs, with a sign for their order, is then 0. Or they are
// the nearest neighbors: different ones in each line, and of all nodes in each column, as no
// weights are; the first may be the node itself.
class AdjacencyProbe {
 public:
  void begin(const ShapeFields& line) {
    columns_ = line.count();
    if (columns_ < 3 || columns_ > kMostListed) return;
    first_ = line.first()[0];
    open_ = first_ == 0 || first_ == 1;
    if (open_) add(line);
  }
  void add(const ShapeFields& line) {
    const auto& numbers = line.first();
    const int64_t node = first_ + rows_++;
    open_ = open_ && line.count() == columns_ && numbers[0] == node;
    for (size_t i = 1; open_ && i < numbers.size(); ++i) {
      add_pair(node, numbers[i]);
      loops_ |= numbers[i] == node;
      different_ &= std::ranges::count(std::span(numbers).subspan(1), numbers[i]) == 1 &&
                    (numbers[i] != node || i == 1);
      most_[i] = std::max(most_[i], numbers[i]);
    }
    along_ += open_ && std::abs(numbers[1] - node) == 1;
  }
  bool is_open() const { return open_; }
  bool holds() const {
    const bool both = sum_ == 0 && !loops_;
    return open_ && rows_ > 2 && largest_ < first_ + rows_ && (both || are_nearest());
  }
  int64_t rows() const { return rows_; }

 private:
  bool are_nearest() const {
    if (!different_ || rows_ < kFewestOfAdjacency || 2 * along_ >= rows_) return false;
    return std::all_of(most_.begin() + 1, most_.begin() + static_cast<ptrdiff_t>(columns_),
                       [&](int64_t most) { return most >= first_ + rows_ / 2; });
  }
  void add_pair(int64_t node, int64_t neighbor) {
    open_ = neighbor >= first_;
    largest_ = std::max(largest_, neighbor);
    const auto [less, more] = std::minmax(node, neighbor);
    const uint64_t hash = mix(mix(static_cast<uint64_t>(less)) + static_cast<uint64_t>(more));
    sum_ += node < neighbor ? hash : -hash;
  }
  static uint64_t mix(uint64_t x) {  // splitmix64
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  size_t columns_ = 0;
  int64_t first_ = 0, rows_ = 0, largest_ = -1;
  int64_t along_ = 0;  // lines whose first neighbor is the node's number and 1, or less 1
  std::array<int64_t, kMostListed> most_{};  // the largest of each column
  bool different_ = true, loops_ = false;
  uint64_t sum_ = 0;
  bool open_ = false;
};

class ShapeProbe {
 public:
  void take(const ShapeFields& line) {
    if (begun_)
      add(line);
    else
      begin(line);
    begun_ = true;
  }
  // True while the text may be something other than edges.
  bool is_open() const {
    return begun_ && (from_zero_ || from_one_ || matrix_ || transposed_ || adjacency_.is_open());
  }

  TextShape shape() const {
    if (!begun_) return TextShape::kEdges;
    if (further_ == 0 && columns_ >= kFewestOfMatrix) return TextShape::kOneLine;
    // Each edge once, or both ways.
    const bool counted = further_ == edges_ || further_ == 2 * edges_;
    // "rows columns entries" is the form of Matrix Market, whose ids count from 1.
    if (counted && from_zero_ && !(square_ && from_one_)) return TextShape::kCounts;
    if (counted && from_one_) return TextShape::kCountsFromOne;
    const bool square = further_ + 1 == static_cast<int64_t>(columns_);
    if (matrix_ && square && (binary_ || columns_ >= kFewestOfMatrix || is_symmetric()))
      return TextShape::kMatrix;
    if (matrix_ && square && has_zero_diagonal()) return TextShape::kEdgesOrMatrix;
    if (adjacency_.holds())
      return adjacency_.rows() < kFewestOfAdjacency ? TextShape::kEdgesOrAdjacency
                                                    : TextShape::kAdjacency;
    const bool transposed = transposed_ && further_ == 1;
    if (transposed && columns_ >= kFewestOfMatrix) return TextShape::kTransposed;
    return transposed && names_all_nodes() ? TextShape::kEdgesOrTransposed : TextShape::kEdges;
  }

 private:
  // Finds the shapes that the first line allows.
  void begin(const ShapeFields& line) {
    adjacency_.begin(line);
    columns_ = line.count();
    binary_ = line.binary();
    const auto& numbers = line.first();
    square_ = columns_ == 3 && numbers[0] == numbers[1];
    if (columns_ == 2 || square_) {
      nodes_ = numbers[0];
      edges_ = numbers[columns_ - 1];
      from_zero_ = from_one_ = nodes_ > 0 && nodes_ <= kMostCounted && edges_ > 0;
    }
    matrix_ = transposed_ = columns_ >= 3;
    rows_[0] = line.cells();
  }
  void add(const ShapeFields& line) {
    ++further_;
    adjacency_.add(line);
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
  // True for a small symmetric matrix with zeros on its diagonal.
  bool is_symmetric() const {
    for (size_t i = 0; i < columns_; ++i)
      for (size_t j = 0; j < i; ++j)
        if (rows_[i][j] != rows_[j][i]) return false;
    return has_zero_diagonal();
  }
  bool has_zero_diagonal() const {
    for (size_t i = 0; i < columns_; ++i)
      if (rows_[i][i] != 0) return false;
    return true;
  }
  // True if the numbers of two short lines are all ids from 0 or 1 to the largest.
  bool names_all_nodes() const {
    std::vector<double> ids;
    for (const size_t row : {0, 1})
      ids.insert(ids.end(), rows_[row].begin(), rows_[row].begin() + columns_);
    std::ranges::sort(ids);
    if (ids[0] != 0 && ids[0] != 1) return false;
    for (size_t i = 1; i < ids.size(); ++i)
      if (ids[i] != ids[i - 1] && ids[i] != ids[i - 1] + 1) return false;
    return true;
  }

  AdjacencyProbe adjacency_;
  std::array<SmallRow, kMostOfSmallMatrix> rows_{};
  size_t columns_ = 0;
  int64_t nodes_ = 0, edges_ = 0;
  int64_t further_ = 0;  // lines
  bool from_zero_ = false, from_one_ = false, matrix_ = false, transposed_ = false;
  bool binary_ = true, square_ = false, begun_ = false;
};

bool is_count(TextShape shape) {
  return shape == TextShape::kCounts || shape == TextShape::kCountsFromOne;
}

}  // namespace

TextShape shape_of_text(std::unique_ptr<io::ByteSource> source, Reading& reading) {
  CountedLines lines(std::move(source), reading, kMostBytesOfEdge);
  ShapeFields fields;
  ShapeProbe all, below;  // all lines; those below a first line that numbers the columns
  bool first = true, numbered = false;
  std::string_view line;
  while (lines.next(line)) {
    if (is_comment(line) || is_blank_row(line)) continue;
    const bool at_first = std::exchange(first, false);
    if (at_first) numbered = fields.take_numbers_of_columns(line);
    if (at_first && fields.indexed()) continue;
    if (!fields.read(line)) return TextShape::kEdges;
    if (!fields.indexed()) all.take(fields);
    if (numbered && !at_first) below.take(fields);
    if (!all.is_open() && !below.is_open()) return TextShape::kEdges;
  }
  const TextShape shape = below.shape();
  if (fields.indexed()) return is_count(shape) ? TextShape::kEdges : shape;
  return shape == TextShape::kMatrix || shape == TextShape::kTransposed ? shape : all.shape();
}

}  // namespace gnnmg::data
