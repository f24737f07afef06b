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
  constexpr int64_t kBlock = int64_t{1} << 20;
  if (!lines_.next(line)) return false;
  bytes_ += static_cast<int64_t>(line.size()) + 1;
  if (bytes_ - taken_ >= kBlock) {
    reading_.context.cancel.check("opening a data set");
    reading_.budget.take(bytes_ - taken_, lines_.name());
    taken_ = bytes_;
  }
  return true;
}

}  // namespace gnnmg::data
