#include "data/edge_column.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/lower.h"
#include "data/missing_number.h"
#include "io/bytes.h"
#include "io/fields.h"
#include "io/text.h"

namespace gnnmg::data {
namespace {

using base::fail;
using base::Status;

constexpr size_t kShown = 40;  // characters of a field in a text

std::string shown(std::string_view field) { return io::printable(field, kShown); }

// Numbers, or no number at all. A column of both is an error at the first line without a number.
class NumericColumn : public EdgeColumn {
 public:
  NumericColumn(std::string title, const char* what) : EdgeColumn(std::move(title)), what_(what) {}

  void add(std::string_view field, const TextPlace& place) final {
    if (add_number(field, place))
      note_number(place);
    else
      note_odd(field, place);
  }
  void add_read(const Number& number, const TextPlace& place) final {
    if (number.whole)
      add_integer(number.integer, place);
    else
      add_real(number, place);
    note_number(place);
  }

 protected:
  virtual void add_integer(int64_t integer, const TextPlace& place) = 0;
  virtual void add_real(const Number&, const TextPlace&) {}
  // False for a text that is no number.
  virtual bool add_number(std::string_view field, const TextPlace& place) = 0;
  // Returns whether a row may be empty where others have a number.
  virtual bool may_be_empty() const { return false; }
  virtual std::string expected() const = 0;

  bool has_numbers() const { return has_numbers_; }
  bool has_gaps() const { return empty_line_ > 0; }
  int64_t gap_line() const { return empty_line_; }
  const char* what() const { return what_; }

  // True, and noted, when the column is left out for having no numbers.
  bool left_out_as_text(EdgeNotes& notes) const {
    if (has_numbers_) return false;
    std::string reason = title_;
    if (odd_line_ > 0 && !is_missing_number(odd_))
      reason += base::text(" (no number in it: \"", odd_, "\" in line ", odd_line_, ")");
    else if (odd_line_ > 0 || empty_line_ > 0)
      reason += " (empty)";
    notes.left_out.push_back(std::move(reason));
    return true;
  }

 private:
  void note_number(const TextPlace& place) {
    if (has_numbers_) return;
    has_numbers_ = true;
    if (odd_line_ > 0) refuse_odd(place);
  }
  void note_odd(std::string_view field, const TextPlace& place) {
    if (may_be_empty() && is_missing_number(field)) {
      if (empty_line_ == 0) empty_line_ = place.line;
      return;
    }
    if (odd_line_ == 0 || (is_missing_number(odd_) && !is_missing_number(field))) {
      odd_ = shown(field);
      odd_line_ = place.line;
    }
    if (has_numbers_) refuse_odd(place);
  }
  [[noreturn]] void refuse_odd(const TextPlace& place) const {
    fail(Status::kFormat, TextPlace{place.file, odd_line_}.where(), ": ", what_, " \"", odd_,
         "\", expected ", expected(), " as in other lines",
         is_missing_number(odd_)
             ? "; fillna() of pandas fills gaps, dropna() leaves out such lines"
             : "; write it as 1234.5 or 1e-3, without units or separators of thousands");
  }

  const char* const what_;
  bool has_numbers_ = false;
  int64_t empty_line_ = 0;
  int64_t odd_line_ = 0;  // line of the first field that is no number
  std::string odd_;
};

// A number as programs write it, or with a comma for its point. Where the comma separates columns,
// it stands in quotes.
struct DecimalReader {
  int64_t comma_line = 0, point_line = 0;
  bool like_thousands = true;  // every comma stands before three digits, as in 1,000

  std::optional<double> read(std::string_view field, const TextPlace& place) {
    const size_t comma = field.find(',');
    if (comma == field.npos) {
      const auto value = io::parse_double(field);
      if (value && field.find('.') != field.npos) note_point(place);
      return value;
    }
    std::string with_point(field);
    with_point[comma] = '.';
    const auto value = io::parse_double(with_point);
    if (value) note(comma_line, place);
    constexpr size_t kDigits = 3;
    like_thousands &= field.size() == comma + 1 + kDigits &&
                      field.find_first_not_of("0123456789", comma + 1) == field.npos;
    return value;
  }
  void note_point(const TextPlace& place) { note(point_line, place); }

 private:
  void note(int64_t& line, const TextPlace& place) {
    if (line == 0) line = place.line;
    if (comma_line > 0 && point_line > 0)
      fail(Status::kFormat, place.where(), ": decimal commas, as in line ", comma_line,
           ", and points, as in line ", point_line, ", in one column; expected one of them");
  }
};

// Finds whether all numbers of a column are seconds, or milliseconds, since 1970, from 1973 to
// 2286: large numbers that nobody takes for weights.
class TimeRange {
 public:
  void add(double value) {
    smallest_ = std::min(smallest_, value);
    largest_ = std::max(largest_, value);
  }
  bool is_of_times() const { return is_within(1) || is_within(1000); }

 private:
  bool is_within(double unit) const {
    constexpr double kFirst = 1e8, kLast = 9'999'999'999;
    return smallest_ >= kFirst * unit && largest_ < (kLast + 1) * unit;
  }
  double smallest_ = std::numeric_limits<double>::infinity(), largest_ = 0;
};

class WeightColumn : public NumericColumn {
 public:
  explicit WeightColumn(std::string title) : NumericColumn(std::move(title), "weight") {}

  // NetworkX's functions take an edge without a weight for one of weight 1.
  void add_missing(int64_t count, const TextPlace& place) override {
    if (missing_ == 0 && count > 0) missing_line_ = place.line;
    missing_ += count;
    for (int64_t i = 0; i < count; ++i) values_.push(int64_t{1});
  }
  void finish(Found& found, EdgeNotes& notes) override {
    if (left_out_as_text(notes)) return;
    if (found.edge_columns.contains("weight")) return notes.left_out.push_back(title_);
    const int64_t rows = values_.size();
    std::string note = base::text("column ", title_, " kept as \"weight\"");
    if (decimal_.comma_line > 0) note += " with decimal commas";
    notes.kept.push_back(std::move(note));
    if (decimal_.comma_line > 0 && decimal_.like_thousands)
      notes.warnings.push_back(base::text(
          "column ", title_, ": commas before three digits, as in line ", decimal_.comma_line,
          ", are taken for decimal commas; numbers have no commas "
          "between thousands"));
    if (missing_ > 0)
      notes.warnings.push_back(base::text(missing_, " edges have no ", title_,
                                          ", the first in line ", missing_line_,
                                          ", and get 1, as in NetworkX"));
    if (rounded_line_ > 0)
      notes.warnings.push_back(base::text("column ", title_, ": integers such as that in line ",
                                          rounded_line_, " are rounded to 32-bit floats"));
    found.edge_columns.emplace("weight", values_.take_f32({rows}));
  }
  Numbers takes() const override { return Numbers::kAll; }

 protected:
  void add_integer(int64_t integer, const TextPlace& place) override {
    if (rounded_line_ == 0 && !exact_as_float(integer)) rounded_line_ = place.line;
    range_.add(static_cast<double>(integer));
    values_.push(integer);
  }
  void add_real(const Number& number, const TextPlace& place) override {
    if (number.has_point) decimal_.note_point(place);
    push_real(number.real);
  }
  virtual void push_real(double real) {
    range_.add(real);
    values_.push(real);
  }
  bool add_number(std::string_view field, const TextPlace& place) override {
    if (const auto integer = io::parse_int(field)) {
      add_integer(*integer, place);
      return true;
    }
    const auto weight = decimal_.read(field, place);
    if (!weight || std::isnan(*weight)) return false;
    if (!std::isfinite(static_cast<float>(*weight)))
      fail(Status::kFormat, place.where(), ": weight \"", shown(field),
           std::isfinite(*weight)
               ? "\" is beyond the range of 32-bit floats; divide all weights"
               : "\", expected a finite number; replace it or leave out the line");
    push_real(*weight);
    return true;
  }
  std::string expected() const override { return "a finite number"; }

  NumberColumn values_;
  TimeRange range_;
  int64_t rounded_line_ = 0;

 private:
  DecimalReader decimal_;
  int64_t missing_ = 0, missing_line_ = 0;
};

// Integers of 64 bits, also written as 1.0, as by pandas if the column once had gaps. Others would
// lose their meaning, so the column is left out with them.
class IntegerColumn : public NumericColumn {
 public:
  IntegerColumn(std::string title, const char* what, const char* tensor)
      : NumericColumn(std::move(title), what), tensor_(tensor) {}

  void finish(Found& found, EdgeNotes& notes) override {
    if (left_out_as_text(notes)) return;
    if (broken_line_ > 0 || has_gaps() || !taken() || found.edge_columns.contains(tensor_)) {
      const int64_t line = broken_line_ > 0 ? broken_line_ : gap_line();
      notes.left_out.push_back(
          line == 0 ? title_ : base::text(title_, " (line ", line, " has no integer of 64 bits)"));
      return;
    }
    notes.kept.push_back(base::text("column ", title_, " kept as \"", tensor_, "\""));
    const int64_t rows = values_.size();
    found.edge_columns.emplace(tensor_, values_.take_i64({rows}));
  }
  Numbers takes() const override { return Numbers::kIntegers; }

 protected:
  void add_integer(int64_t integer, const TextPlace&) override {
    if (broken_line_ > 0) return;
    values_.push(integer);
    note_integer(integer);
  }
  bool add_number(std::string_view field, const TextPlace& place) override {
    const auto integer = io::parse_whole(field);
    const auto number = integer ? std::nullopt : io::parse_double(field);
    if (!integer && (!number || std::isnan(*number))) return false;
    if (!integer && broken_line_ == 0) {
      broken_line_ = place.line;
      values_ = {};
    }
    if (integer) add_integer(*integer, place);
    return true;
  }
  bool may_be_empty() const override { return true; }
  std::string expected() const override { return "a number"; }
  virtual void note_integer(int64_t) {}
  virtual bool taken() const { return true; }

 private:
  const char* const tensor_;
  NumberColumn values_;
  int64_t broken_line_ = 0;  // line of the first number that is no integer of 64 bits
};

// The first column without a name.
class GuessedWeight final : public WeightColumn {
 public:
  GuessedWeight(std::string title, bool before_ends)
      : WeightColumn(std::move(title)), before_ends_(before_ends) {}
  void finish(Found& found, EdgeNotes& notes) override {
    constexpr int64_t kFewest = 4;  // lines: fewer are numbered by chance
    const bool is_index = counts_ && has_numbers();
    if (is_index && before_ends_) return notes.left_out.push_back(title_ + " (numbers the lines)");
    if (is_index && first_ <= 1 && values_.size() >= kFewest)
      notes.warnings.push_back(base::text("column ", title_,
                                          " numbers the lines, as ids of edges "
                                          "do, but is taken for the weight"));
    if (!has_numbers() || !range_.is_of_times()) return WeightColumn::finish(found, notes);
    if (found.edge_columns.contains("time")) return notes.left_out.push_back(title_);
    if (!values_.integral()) {
      notes.left_out.push_back(
          base::text(title_,
                     " (Unix times with fractions; a header with the name weight keeps "
                     "them as weights)"));
      return;
    }
    notes.kept.push_back(base::text("column ", title_, ", Unix times, kept as \"time\""));
    const int64_t rows = values_.size();
    found.edge_columns.emplace("time", values_.take_i64({rows}));
  }

 protected:
  void add_integer(int64_t integer, const TextPlace& place) override {
    if (values_.size() == 0) first_ = integer;
    counts_ &= integer == first_ + values_.size();
    WeightColumn::add_integer(integer, place);
  }
  void push_real(double real) override {
    counts_ = false;
    WeightColumn::push_real(real);
  }

 private:
  const bool before_ends_;
  bool counts_ = true;  // every number so far is one more than the last
  int64_t first_ = 0;
};

// The second column without a name, where it holds Unix times.
class GuessedTime final : public IntegerColumn {
 public:
  explicit GuessedTime(std::string title) : IntegerColumn(std::move(title), "time", "time") {}

 protected:
  void note_integer(int64_t value) override { range_.add(static_cast<double>(value)); }
  bool taken() const override { return range_.is_of_times(); }

 private:
  TimeRange range_;
};

// Gephi's "Type" says of every edge whether it has a direction; other tables have labels there.
class DirectionColumn final : public EdgeColumn {
 public:
  explicit DirectionColumn(std::string title)
      : EdgeColumn(title), labels_(std::move(title), "label", "edge_label") {}
  void add(std::string_view field, const TextPlace& place) override {
    directions_ &= is(field, "undirected") || is(field, "directed");
    undirected_ |= is(field, "undirected");
    labels_.add(field, place);
  }
  void finish(Found& found, EdgeNotes& notes) override {
    if (!directions_) return labels_.finish(found, notes);
    notes.undirected |= undirected_;
    notes.kept.push_back(base::text("column ", title_, " says ",
                                    undirected_ ? "that edges are undirected" : "directed"));
  }

 private:
  static bool is(std::string_view field, std::string_view word) {
    return std::ranges::equal(field, word, [](char a, char b) { return base::lower(a) == b; });
  }
  IntegerColumn labels_;
  bool directions_ = true, undirected_ = false;
};

// Edges of many graphs count their nodes anew in each, so they make no one graph.
class GraphColumn final : public EdgeColumn {
 public:
  using EdgeColumn::EdgeColumn;
  void add(std::string_view field, const TextPlace& place) override {
    if (!first_) first_ = shown(field);
    if (shown(field) != *first_)
      fail(Status::kUnsupported, place.where(), ": column ", title_, " has graph \"", shown(field),
           "\" after \"", *first_,
           "\": a table with the edges of many graphs is not read; write each graph into a file of "
           "its own, or many in a format for them, such as packed or tu");
  }
  void finish(Found&, EdgeNotes& notes) override {
    notes.left_out.push_back(title_ + " (the same in every line)");
  }

 private:
  std::optional<std::string> first_;
};

}  // namespace

std::unique_ptr<EdgeColumn> make_edge_column(ColumnRole role, std::string title) {
  switch (role) {
    case ColumnRole::kWeight:
      return std::make_unique<WeightColumn>(std::move(title));
    case ColumnRole::kTime:
      return std::make_unique<IntegerColumn>(std::move(title), "time", "time");
    case ColumnRole::kLabel:
      return std::make_unique<IntegerColumn>(std::move(title), "label", "edge_label");
    case ColumnRole::kDirection:
      return std::make_unique<DirectionColumn>(std::move(title));
    case ColumnRole::kGraph:
      return std::make_unique<GraphColumn>(std::move(title));
    case ColumnRole::kUnknown:
    case ColumnRole::kBeside:
      break;
  }
  return nullptr;
}

std::unique_ptr<EdgeColumn> make_edge_column(size_t position, bool before_ends, std::string title) {
  if (position == 0) return std::make_unique<GuessedWeight>(std::move(title), before_ends);
  if (position == 1) return std::make_unique<GuessedTime>(std::move(title));
  return nullptr;
}

}  // namespace gnnmg::data
