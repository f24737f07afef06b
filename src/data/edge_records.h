// The lines of a list of edges that are not comments, with quoted fields that go on in the next
// line put together.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/edge_column.h"
#include "data/edge_comments.h"
#include "data/lines.h"
#include "io/fields.h"

namespace gnnmg::data {

// The separator at which a line falls into integers in both columns of ends; where there is none,
// into names that say which columns are the ends; else into enough fields with whole quotes; else
// io::guess_separator().
char choose_separator(std::string_view line, size_t source, size_t target);

// The separator at which both lines fall into equally many fields, `preferred` if it is one;
// nullopt where there is none.
std::optional<char> common_separator(std::string_view header, std::string_view line,
                                     char preferred);

// Returns whether a field is a number, also with a decimal comma.
bool reads_as_number(std::string_view field);

class EdgeRecords {
 public:
  static constexpr size_t kMostFields = 4096;
  // Lines of a record; each makes another cut of all of them, so more would take long.
  static constexpr int64_t kMostLines = 1024;

  EdgeRecords(std::unique_ptr<io::ByteSource> source, Reading& reading)
      : lines_(std::move(source), reading, kMostBytesOfEdge),
        may_guess_(reading.options.separator.empty()) {}
  // True if "::" separates the fields of the first record. Lines then have tabs in its place.
  bool has_double_colons() const { return double_colons_; }
  // Passes over lines of any kind.
  void skip(int64_t count);
  // Goes on to the next line that is neither blank nor a comment; false at the end.
  bool next();
  // The line after that, without going on to it.
  std::optional<std::string_view> peek();
  // The line at hand, until the next call of next().
  std::string_view line() const { return line_; }
  // Returns the fields of the line. Reads on while a quoted field does, and cuts attributes() off
  // first.
  std::span<const std::string_view> cut(char separator);
  // "{...}" at the end of the line that was cut last; empty where there is none.
  std::string_view attributes() const { return attributes_; }

  // The lines after this one, for NumberLines; null while the next has been read already.
  CountedLines* following() { return peeked_ ? nullptr : &lines_; }

  TextPlace place() const { return {lines_.name(), number_}; }
  std::string where() const { return place().where(); }
  const std::string& name() const { return lines_.name(); }
  int64_t bytes() const { return lines_.bytes(); }
  const EdgeComments& comments() const { return comments_; }
  // The first line after the first record that holds # alone; 0 where there is none.
  int64_t lone_mark_line() const { return lone_mark_line_; }
  // The first comment after the first record that may be an edge whose source begins with a mark of
  // comments, and its line; empty where there is none.
  std::string_view comment_inside() const { return comment_inside_; }
  int64_t comment_inside_line() const { return comment_inside_line_; }
  // The comments before the first record, the last one first; at most a few, and a few kilobytes of
  // each.
  const std::deque<std::string>& comments_before() const { return comments_before_; }

 private:
  bool read(std::string_view& line);
  void cut_at_tabs(std::string_view& line);

  CountedLines lines_;
  const bool may_guess_;  // the separator
  bool double_colons_ = false;
  std::string with_tabs_;
  EdgeComments comments_;
  std::deque<std::string> comments_before_;
  bool begun_ = false;  // a record has been read
  int64_t lone_mark_line_ = 0, comment_inside_line_ = 0;
  std::string comment_inside_;
  io::FieldCutter cutter_{kMostFields};
  std::string_view line_, attributes_;
  int64_t number_ = 0;  // number of the current line
  std::optional<std::string> peeked_;
  int64_t peeked_number_ = 0;
  std::string held_;  // the line at hand, once another one has been read
};

}  // namespace gnnmg::data
