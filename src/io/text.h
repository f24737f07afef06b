// Lines and fields of text files, plain or gzip-compressed, in bounded memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/memory_charge.h"

namespace gnnmg::io {

// Bytes of a file or of memory, inflated if they begin with gzip's magic (several members in a row,
// zeros after the last; CRC and size checked).
class ByteSource {
 public:
  static std::unique_ptr<ByteSource> open(const std::string& path);
  static std::unique_ptr<ByteSource> memory(std::span<const uint8_t> bytes, std::string name);
  virtual ~ByteSource() = default;
  // Returns at least one byte, at most out.size(); 0 only at the end. `out` is not empty.
  virtual int64_t read(std::span<uint8_t> out) = 0;
  virtual const std::string& name() const = 0;
};

// Returns lines without their end: LF, CR LF, CR CR LF or CR, the same for all lines of a file.
// Drops a UTF-8 mark at the start and DOS's mark, a single Ctrl-Z, at the end; the last line may
// lack its end. A NUL byte or a line of more than `max_line` bytes is Error(kFormat) naming file
// and line. One thread at a time.
class LineReader {
 public:
  explicit LineReader(std::unique_ptr<ByteSource> source, int64_t max_line = int64_t{64} << 20);
  // False at the end. The view is valid until the next call.
  bool next(std::string_view& line);
  // The whole lines that follow with their ends, up to about `bytes` of them, without going on to
  // them; empty where the next line is not whole within so many. Valid until the next call of
  // next() or ahead().
  std::string_view ahead(int64_t bytes);
  // The same without reading.
  std::string_view buffered(int64_t bytes) const;
  // Goes on beyond the first `lines` of ahead(), which have `bytes`.
  void skip(int64_t bytes, int64_t lines);
  char end_of_line() const { return end_of_line_; }
  int64_t line_number() const { return line_number_; }  // number of the last returned line, from 1
  const std::string& name() const { return source_->name(); }
  // "file, line 17" for error texts.
  std::string where() const;

 private:
  struct Free {
    void operator()(uint8_t* memory) const;
  };
  void fill();
  void grow();
  void find_end_of_line();
  [[noreturn]] void refuse_nul(std::string_view line, size_t column) const;

  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<uint8_t, Free> buffer_;  // malloc memory, so that it can grow in place
  base::MemoryCharge charge_;              // memory of the buffer
  size_t capacity_ = 0, begin_ = 0, end_ = 0;
  bool ended_ = false;
  char end_of_line_ = '\n';
  int64_t max_line_;
  int64_t line_number_ = 0;
};

// Parses the whole field: an optional sign before the number and blanks around it. Nullopt for
// other text or a number that is too large for the type; a number too close to 0 is 0.
std::optional<int64_t> parse_int(std::string_view field) noexcept;
std::optional<double> parse_double(std::string_view field) noexcept;
// True for digits alone, with or without a sign: an integer of any size.
bool is_integer(std::string_view field) noexcept;
// An integer in any notation: 1, 1.0, 1.000e+00, as numpy.savetxt() writes one. With a point or an
// exponent it is below 2^53 in size.
std::optional<int64_t> parse_whole(std::string_view field) noexcept;

// Cuts a line at `separator`; ' ' means any run of blanks and tabs. Quotes are not interpreted.
// Reuses `fields`.
void split_fields(std::string_view line, char separator, std::vector<std::string_view>& fields);
// The separator that this line most likely uses: tab, comma, semicolon, '|' or blanks.
char guess_separator(std::string_view line) noexcept;

}  // namespace gnnmg::io
