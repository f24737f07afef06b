#include "data/lines.h"

namespace gnnmg::data {

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
