// What every long step gets besides its data.
#pragma once

#include <functional>
#include <string>

#include "base/cancel.h"

namespace gnnmg::partition {

struct Work {
  base::CancelToken cancel;
  // Told at the beginning of each step, in one line; may be empty.
  std::function<void(const std::string& step)> report;

  void begin(const std::string& step) const {
    check();
    if (report) report(step);
  }
  void check() const { cancel.check("partitioning"); }
};

// Rows between two looks at the cancel token.
inline constexpr int64_t kRowsPerCheck = 1 << 14;

}  // namespace gnnmg::partition
