#include "io/text.h"

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "base/cancel.h"
#include "io/bytes.h"
#include "io/foreign.h"

namespace gnnmg::io {
namespace {

using base::fail;
using base::Status;

constexpr size_t kTextPiece = 64 << 10;
constexpr size_t kMostAtOnce = size_t{16} << 20;  // inflated bytes between checks for a cancel
constexpr size_t kFirstLineBuffer = 256 << 10;
constexpr std::string_view kUtf8Mark = "\xef\xbb\xbf";

class FileSource final : public ByteSource {
 public:
  explicit FileSource(const std::string& path) : file_(path) {}
  int64_t read(std::span<uint8_t> out) override {
    const int64_t got = file_.read_some(position_, out);
    position_ += got;
    return got;
  }
  const std::string& name() const override { return file_.path(); }

 private:
  base::File file_;
  int64_t position_ = 0;
};

class MemorySource final : public ByteSource {
 public:
  MemorySource(std::span<const uint8_t> bytes, std::string name)
      : rest_(bytes), name_(std::move(name)) {}
  int64_t read(std::span<uint8_t> out) override {
    const size_t count = std::min(out.size(), rest_.size());
    std::copy_n(rest_.begin(), count, out.begin());
    rest_ = rest_.subspan(count);
    return static_cast<int64_t>(count);
  }
  const std::string& name() const override { return name_; }

 private:
  std::span<const uint8_t> rest_;
  std::string name_;
};

// Returns the bytes that were already read, then the rest.
class PeekedSource final : public ByteSource {
 public:
  PeekedSource(std::unique_ptr<ByteSource> source, std::vector<uint8_t> start)
      : source_(std::move(source)), start_(std::move(start)) {}
  int64_t read(std::span<uint8_t> out) override {
    if (given_ == start_.size()) return source_->read(out);
    const size_t count = std::min(out.size(), start_.size() - given_);
    std::copy_n(start_.begin() + given_, count, out.begin());
    given_ += count;
    return static_cast<int64_t>(count);
  }
  const std::string& name() const override { return source_->name(); }

 private:
  std::unique_ptr<ByteSource> source_;
  std::vector<uint8_t> start_;
  size_t given_ = 0;
};

class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(std::unique_ptr<ByteSource> source)
      : source_(std::move(source)), input_(kTextPiece) {
    if (inflateInit2(&z_, 16 + MAX_WBITS) != Z_OK)  // 16: a gzip wrapper is expected
      fail(Status::kNoMemory, name(), ": no memory to inflate");
  }
  ~GzipSource() override { inflateEnd(&z_); }
  const std::string& name() const override { return source_->name(); }

  int64_t read(std::span<uint8_t> out) override {
    for (;;) {
      base::check_cancelled();
      if (z_.avail_in == 0) {
        z_.avail_in = static_cast<uInt>(source_->read(input_));
        z_.next_in = input_.data();
        taken_ += z_.avail_in;
      }
      if (member_ended_) {
        if (z_.avail_in == 0) return 0;
        if (*z_.next_in == 0 || padded_) {
          skip_padding();
          continue;
        }
        inflateReset(&z_);
        member_ended_ = false;
      }
      const size_t wanted = std::min(out.size(), kMostAtOnce);
      z_.next_out = out.data();
      z_.avail_out = static_cast<uInt>(wanted);
      const bool input_ended = z_.avail_in == 0;
      const int code = inflate(&z_, Z_NO_FLUSH);
      member_ended_ = code == Z_STREAM_END;
      if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) refuse(code);
      if (z_.avail_out != wanted) return static_cast<int64_t>(wanted - z_.avail_out);
      if (!member_ended_ && input_ended)
        fail(Status::kFormat, name(), ": the gzip data is cut at byte ", taken_);
    }
  }

 private:
  // Zeros may fill the last block of a tape or device; nothing may follow them.
  void skip_padding() {
    padded_ = true;
    const Bytef* const end = z_.next_in + z_.avail_in;
    const Bytef* const other =
        std::find_if<const Bytef*>(z_.next_in, end, [](Bytef byte) { return byte != 0; });
    if (other != end)
      fail(Status::kFormat, name(),
           ": the gzip data is followed by zeros and then other bytes, at ",
           taken_ - (end - other));
    z_.avail_in = 0;
  }
  [[noreturn]] void refuse(int code) const {
    if (code == Z_MEM_ERROR) fail(Status::kNoMemory, name(), ": no memory to inflate");
    const std::string_view reason = z_.msg ? z_.msg : "broken data";
    const bool sums = reason == "incorrect data check" || reason == "incorrect length check";
    fail(sums ? Status::kChecksum : Status::kFormat, name(),
         ": the gzip data is broken before byte ", taken_, " (", reason, ")");
  }

  std::unique_ptr<ByteSource> source_;
  std::vector<uint8_t> input_;
  z_stream z_{};
  int64_t taken_ = 0;  // compressed bytes read
  bool member_ended_ = false;
  bool padded_ = false;  // zeros have been found
};

std::unique_ptr<ByteSource> with_gzip(std::unique_ptr<ByteSource> source) {
  std::vector<uint8_t> start(2);
  int64_t count = source->read(start);
  if (count == 1) count += source->read(std::span(start).subspan(1));
  start.resize(count);
  const bool gzip = count == 2 && start[0] == 0x1f && start[1] == 0x8b;
  auto peeked = std::make_unique<PeekedSource>(std::move(source), std::move(start));
  if (!gzip) return peeked;
  return std::make_unique<GzipSource>(std::move(peeked));
}

std::string_view trim(std::string_view field) noexcept {
  const size_t begin = field.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return field.substr(begin, field.find_last_not_of(" \t") - begin + 1);
}

// True if a decimal number outside a type's range is below 1.
bool is_tiny(std::string_view number) noexcept {
  const size_t mark = std::min(number.find_first_of("eE"), number.size());
  const std::string_view digits = number.substr(0, mark);
  const size_t point = std::min(digits.find('.'), digits.size());
  const size_t first = digits.find_first_of("123456789");
  if (first == std::string_view::npos) return true;
  // The decimal place of the first digit; 0 is the place before the point.
  const int64_t place = first < point ? static_cast<int64_t>(point - first) - 1
                                      : static_cast<int64_t>(point) - static_cast<int64_t>(first);
  int64_t exponent = 0;
  if (mark < number.size()) {
    std::string_view text = number.substr(mark + 1);
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto [rest, code] = std::from_chars(text.data(), text.data() + text.size(), exponent);
    if (code != std::errc()) return text.starts_with('-');  // the exponent has more than 18 digits
  }
  return exponent < -place;
}

// Numbers of data files: the form of C++, an optional plus sign, and numbers too close to 0 for the
// type, which become 0.
template <typename T>
std::optional<T> parse_number(std::string_view field) noexcept {
  field = trim(field);
  if (field.starts_with('+') && !field.starts_with("+-")) field.remove_prefix(1);
  T value{};
  const char* end = field.data() + field.size();
  const auto [rest, code] = std::from_chars(field.data(), end, value);
  if (rest != end) return std::nullopt;
  if constexpr (std::is_floating_point_v<T>)
    if (code == std::errc::result_out_of_range && is_tiny(field))
      return field.starts_with('-') ? -T{0} : T{0};
  if (code != std::errc()) return std::nullopt;
  return value;
}

}  // namespace

std::unique_ptr<ByteSource> ByteSource::open(const std::string& path) {
  return with_gzip(std::make_unique<FileSource>(path));
}

std::unique_ptr<ByteSource> ByteSource::memory(std::span<const uint8_t> bytes, std::string name) {
  return with_gzip(std::make_unique<MemorySource>(bytes, std::move(name)));
}

LineReader::LineReader(std::unique_ptr<ByteSource> source, int64_t max_line)
    : source_(std::move(source)), max_line_(max_line) {
  grow();
  while (!ended_ && end_ < kUtf8Mark.size()) fill();
  if (end_ >= kUtf8Mark.size() &&
      std::memcmp(buffer_.get(), kUtf8Mark.data(), kUtf8Mark.size()) == 0)
    begin_ = kUtf8Mark.size();
  find_end_of_line();
}

// Every line ends as the first one does: with LF, after any number of CRs (a program that
// takes CR LF for LF writes two), or with CR alone, as old spreadsheets write it.
void LineReader::find_end_of_line() {
  bool returns = false;
  for (size_t at = begin_; static_cast<int64_t>(at - begin_) <= max_line_; ++at) {
    while (!ended_ && at >= end_) {
      at -= begin_;  // fill() moves the bytes to the front of the buffer
      fill();
      at += begin_;
    }
    const uint8_t byte = at < end_ ? buffer_.get()[at] : 0;
    if (byte == '\n') return;
    if (byte == '\r')
      returns = true;
    else if (returns || at >= end_)
      break;
  }
  if (returns) end_of_line_ = '\r';
}

void LineReader::Free::operator()(uint8_t* memory) const { std::free(memory); }

std::string LineReader::where() const { return base::text(name(), ", line ", line_number_); }

void LineReader::grow() {
  const size_t capacity = capacity_ ? 2 * capacity_ : kFirstLineBuffer;
  charge_.take(static_cast<int64_t>(capacity - capacity_), "a line of text");
  void* grown = std::realloc(buffer_.get(), capacity);
  if (!grown) fail(Status::kNoMemory, name(), ": no memory for a line of ", capacity, " bytes");
  static_cast<void>(buffer_.release());
  buffer_.reset(static_cast<uint8_t*>(grown));
  capacity_ = capacity;
}

void LineReader::fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == capacity_) grow();
  const int64_t got = source_->read({buffer_.get() + end_, capacity_ - end_});
  ended_ = got == 0;
  end_ += got;
}

// The first line still stands at the start of the buffer, and shows the kind of the file.
void LineReader::refuse_nul(std::string_view line, size_t column) const {
  constexpr size_t kStart = 4096;
  const auto* const end = reinterpret_cast<const char*>(buffer_.get()) + end_;
  const char* const begin = line.data();
  const auto start = std::string_view(begin, end - begin).substr(0, kStart);
  const auto kind = line_number_ == 1 ? foreign_kind(start) : std::nullopt;
  fail(Status::kFormat, where(), ": has a NUL byte at column ", column,
       kind ? base::text(", for the file ", not_read(*kind)) : ", so this is no text file");
}

bool LineReader::next(std::string_view& line) {
  const void* found = nullptr;
  for (size_t scanned = 0;;) {
    const uint8_t* start = buffer_.get() + begin_;
    const size_t size = end_ - begin_;
    found = scanned < size ? std::memchr(start + scanned, end_of_line_, size - scanned) : nullptr;
    if (found || ended_) break;
    scanned = size;
    if (static_cast<int64_t>(size) > max_line_) break;
    fill();
  }
  if (!found && ended_ && begin_ == end_) return false;

  ++line_number_;
  const char* start = reinterpret_cast<const char*>(buffer_.get()) + begin_;
  const char* stop =
      found ? static_cast<const char*>(found) : reinterpret_cast<const char*>(buffer_.get()) + end_;
  begin_ += stop - start + (found ? 1 : 0);
  line = {start, static_cast<size_t>(stop - start)};
  if (static_cast<int64_t>(line.size()) > max_line_)
    fail(Status::kFormat, where(), ": has more than ", max_line_, " bytes");
  if (const size_t nul = line.find('\0'); nul != std::string_view::npos) refuse_nul(line, nul + 1);
  while (line.ends_with('\r')) line.remove_suffix(1);
  if (found || line != "\x1a" || !ended_ || begin_ != end_) return true;
  --line_number_;  // DOS's end mark
  return false;
}

std::string_view LineReader::ahead(int64_t bytes) {
  while (!ended_ && end_ - begin_ < static_cast<size_t>(bytes)) fill();
  return buffered(bytes);
}

std::string_view LineReader::buffered(int64_t bytes) const {
  const std::string_view text(reinterpret_cast<const char*>(buffer_.get()) + begin_,
                              std::min(end_ - begin_, static_cast<size_t>(bytes)));
  return text.substr(0, text.rfind(end_of_line_) + 1);
}

void LineReader::skip(int64_t bytes, int64_t lines) {
  begin_ += bytes;
  line_number_ += lines;
}

std::optional<int64_t> parse_int(std::string_view field) noexcept {
  return parse_number<int64_t>(field);
}

std::optional<double> parse_double(std::string_view field) noexcept {
  return parse_number<double>(field);
}

bool is_integer(std::string_view field) noexcept {
  field = trim(field);
  if (field.starts_with('+') || field.starts_with('-')) field.remove_prefix(1);
  return !field.empty() && field.find_first_not_of("0123456789") == field.npos;
}

std::optional<int64_t> parse_whole(std::string_view field) noexcept {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (const auto integer = parse_int(field)) return integer;
  const auto number = parse_double(field);
  if (!number || std::trunc(*number) != *number || std::fabs(*number) >= kExact)
    return std::nullopt;
  return static_cast<int64_t>(*number);
}

void split_fields(std::string_view line, char separator, std::vector<std::string_view>& fields) {
  fields.clear();
  if (separator == ' ') {
    for (size_t begin = 0; (begin = line.find_first_not_of(" \t", begin)) != line.npos;) {
      const size_t end = std::min(line.find_first_of(" \t", begin), line.size());
      fields.push_back(line.substr(begin, end - begin));
      begin = end;
    }
    return;
  }
  for (size_t begin = 0;;) {
    const size_t end = line.find(separator, begin);
    fields.push_back(line.substr(begin, end - begin));
    if (end == line.npos) return;
    begin = end + 1;
  }
}

char guess_separator(std::string_view line) noexcept {
  for (const char candidate : {'\t', ',', ';', '|'})
    if (line.find(candidate) != line.npos) return candidate;
  return ' ';
}

}  // namespace gnnmg::io
