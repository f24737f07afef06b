// The lines of a text of a data set, counted as they are read.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/readers.h"
#include "io/text.h"

namespace gnnmg::data {

// Columns of a table in text, at most: enough for any features, and little beside the longest line.
inline constexpr int64_t kMostColumnsOfText = int64_t{1} << 20;

// The limit of a line of a list of edges.
inline constexpr int64_t kMostBytesOfEdge = int64_t{1} << 20;

// Returns whether a line of a list of edges is a comment.
inline bool is_comment(std::string_view line) {
  return line.starts_with('#') || line.starts_with('%') || line.starts_with("//");
}

// The name of a data set in a text: the file's name up to its first dot.
std::string name_of_text(const std::string& path);

// The path of a text, or of its gzip, with ".gz", where that alone is there.
std::string packed_or_not(const std::string& path);

class CountedLines {
 public:
  // `reading` must outlive it.
  CountedLines(std::unique_ptr<io::ByteSource> source, Reading& reading)
      : lines_(std::move(source)), reading_(reading) {}
  CountedLines(std::unique_ptr<io::ByteSource> source, Reading& reading, int64_t max_line)
      : lines_(std::move(source), max_line), reading_(reading) {}
  // LineReader's next(). After each mebibyte, Error(kCancelled) when opening was cancelled, and the
  // budget's error when no more may be read.
  bool next(std::string_view& line);
  // Cuts a line that next() gave. Error(kFormat) for more than kMostColumnsOfText fields.
  void split(std::string_view line, char separator, std::vector<std::string_view>& fields) const;
  int64_t bytes() const { return bytes_; }  // bytes of the lines handed out
  int64_t line_number() const { return lines_.line_number(); }
  const std::string& name() const { return lines_.name(); }
  std::string where() const { return lines_.where(); }

 private:
  io::LineReader lines_;
  Reading& reading_;
  int64_t bytes_ = 0, taken_ = 0;
};

}  // namespace gnnmg::data
