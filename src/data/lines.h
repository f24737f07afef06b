// The lines of a text of a data set, counted as they are read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "data/readers.h"
#include "io/text.h"

namespace gnnmg::data {

// Columns of a table in text, at most: enough for any features, and little beside the longest line.
inline constexpr int64_t kMostColumnsOfText = int64_t{1} << 20;

// The limit of a line of a list of edges.
inline constexpr int64_t kMostBytesOfEdge = int64_t{1} << 20;

// Returns whether a line of a list of edges is a comment, also after blanks.
inline bool is_comment(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return line.starts_with('#') || line.starts_with('%') || line.starts_with("//");
}

// Returns whether a line has no content: blanks, and separators of columns, as spreadsheets write
// for an empty row.
inline bool is_blank_row(std::string_view line) {
  return line.find_first_not_of(" \t,;|") == line.npos;
}

// The name of a data set in a text: the file's name up to its first dot.
std::string name_of_text(const std::string& path);

// The path of a text, or of its gzip, with ".gz", where that alone is there.
std::string packed_or_not(const std::string& path);

// A source that can be read ahead of its reader, by another thread. Errors come where the bytes
// would have come.
class AheadSource final : public io::ByteSource {
 public:
  explicit AheadSource(std::unique_ptr<io::ByteSource> source) : source_(std::move(source)) {}
  int64_t read(std::span<uint8_t> out) override;
  const std::string& name() const override { return source_->name(); }
  // Has at least `bytes` for read(), or all that there are.
  void read_ahead(int64_t bytes) noexcept;

 private:
  std::unique_ptr<io::ByteSource> source_;
  base::PageVector<uint8_t> bytes_;
  int64_t given_ = 0;
  std::exception_ptr error_;
};

class CountedLines {
 public:
  // `reading` must outlive it.
  CountedLines(std::unique_ptr<io::ByteSource> source, Reading& reading,
               int64_t max_line = int64_t{64} << 20)
      : CountedLines(std::make_unique<AheadSource>(std::move(source)), reading, max_line) {}
  // LineReader's next(). After each mebibyte, Error(kCancelled) when opening was cancelled, and the
  // budget's error when no more may be read.
  bool next(std::string_view& line);
  // Cuts a line that next() gave. Error(kFormat) for more than kMostColumnsOfText fields.
  void split(std::string_view line, char separator, std::vector<std::string_view>& fields) const;
  // The whole lines that follow, up to about `bytes` of them; empty where the next line is not
  // whole. Valid until the next call of next() or ahead(). Errors of their source are left to
  // next().
  std::string_view ahead(int64_t bytes);
  // Goes on beyond `lines` of them, `bytes` with their ends, of which `returns` are CRs before an
  // end.
  void skip(int64_t bytes, int64_t returns, int64_t lines);
  // Reads bytes of lines beyond ahead(). Another thread may use ahead()'s lines meanwhile.
  void read_ahead(int64_t bytes) { source_->read_ahead(bytes); }
  char end_of_line() const { return lines_.end_of_line(); }
  int64_t bytes() const { return bytes_; }  // bytes of the lines handed out
  int64_t line_number() const { return lines_.line_number(); }
  const std::string& name() const { return lines_.name(); }
  std::string where() const { return lines_.where(); }

 private:
  CountedLines(std::unique_ptr<AheadSource> source, Reading& reading, int64_t max_line)
      : source_(source.get()), lines_(std::move(source), max_line), reading_(reading) {}
  void count(int64_t bytes);

  AheadSource* source_;  // belongs to lines_
  io::LineReader lines_;
  Reading& reading_;
  int64_t bytes_ = 0, taken_ = 0;
};

}  // namespace gnnmg::data
