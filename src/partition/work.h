// Arguments of every long step besides its data.
#pragma once

#include <functional>
#include <string>

#include "base/cancel.h"

namespace gnnmg::partition {

struct Work {
  base::CancelToken cancel;
  // Called at the beginning of each step with one line of text; may be empty.
  std::function<void(const std::string& step)> report;

  void begin(const std::string& step) const {
    check();
    if (report) report(step);
  }
  void check() const { cancel.check("partitioning"); }
};

// Rows between two checks of the cancel token.
inline constexpr int64_t kRowsPerCheck = 1 << 14;

}  // namespace gnnmg::partition
