#include "data/lines.h"

#include <algorithm>

#include "base/file.h"

namespace gnnmg::data {

std::string name_of_text(const std::string& path) {
  std::string name = path.substr(path.rfind('/') + 1);
  name.resize(std::min(name.size(), std::max<size_t>(name.find('.'), 1)));
  return name;
}

std::string packed_or_not(const std::string& path) {
  const std::string packed = path + ".gz";
  return !base::is_present(path) && base::is_present(packed) ? packed : path;
}

void CountedLines::split(std::string_view line, char separator,
                         std::vector<std::string_view>& fields) const {
  if (std::count(line.begin(), line.end(), separator) >= kMostColumnsOfText)
    base::fail(base::Status::kFormat, where(), ": more than ", kMostColumnsOfText,
               " columns, expected at most so many");
  io::split_fields(line, separator, fields);
}

bool CountedLines::next(std::string_view& line) {
  if (!lines_.next(line)) return false;
  count(static_cast<int64_t>(line.size()) + 1);
  return true;
}

std::string_view CountedLines::ahead(int64_t bytes) {
  try {
    return lines_.ahead(bytes);
  } catch (const base::Error&) {
    return lines_.buffered(bytes);
  }
}

void CountedLines::skip(int64_t bytes, int64_t returns, int64_t lines) {
  lines_.skip(bytes, lines);
  count(bytes - returns);
}

void CountedLines::count(int64_t bytes) {
  constexpr int64_t kBlock = int64_t{1} << 20;
  bytes_ += bytes;
  if (bytes_ - taken_ < kBlock) return;
  reading_.context.cancel.check("opening a data set");
  reading_.budget.take(bytes_ - taken_, lines_.name());
  taken_ = bytes_;
}

int64_t AheadSource::read(std::span<uint8_t> out) {
  if (given_ == bytes_.size()) {
    if (error_) std::rethrow_exception(error_);
    try {
      return source_->read(out);
    } catch (const base::Error&) {
      error_ = std::current_exception();
      throw;
    }
  }
  const int64_t count = std::min(static_cast<int64_t>(out.size()), bytes_.size() - given_);
  std::copy_n(bytes_.data() + given_, count, out.data());
  given_ += count;
  return count;
}

void AheadSource::read_ahead(int64_t bytes) noexcept {
  const int64_t rest = bytes_.size() - given_;
  if (error_ || rest >= bytes) return;
  std::copy_n(bytes_.data() + given_, rest, bytes_.data());
  given_ = 0;
  try {
    bytes_.resize_keep(rest);
    bytes_.resize_keep(bytes);
    bytes_.resize_keep(rest);
  } catch (...) {  // read() needs no memory
    return;
  }
  try {
    while (bytes_.size() < bytes) {
      const int64_t had = bytes_.size();
      const int64_t got = source_->read({bytes_.data() + had, static_cast<size_t>(bytes - had)});
      if (got == 0) return;
      bytes_.resize_keep(had + got);
    }
  } catch (...) {
    error_ = std::current_exception();
  }
}

}  // namespace gnnmg::data
