// Rows of other parts that are worth keeping: those that mini-batches read most, by the hotness
// that was kept with the parts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "data/parts.h"

namespace gnnmg::dist {

struct CacheConfig {
  int64_t bytes = -1;  // bytes of rows; below 0: `share` decides
  double share = 0.1;  // share of the rows of all nodes
};

struct CachedRows {
  std::vector<int64_t> nodes;  // hottest first
  double hit_rate = 0;         // expected: of the rows of other parts that mini-batches read
};

// The rows of `row_bytes` bytes to keep for a process that has the parts `own` and whose
// mini-batches have their training ids in these; in all parts where it has none. A part's hotness
// counts by its training ids. Nothing where no hotness was kept, which is not looked for where
// nothing may be kept. Errors as of data::hotness_of(), kCancelled between two parts.
CachedRows choose_cached_rows(const data::Parts& parts, const std::vector<int32_t>& own,
                              int64_t row_bytes, const CacheConfig& config,
                              const base::CancelToken& cancel);

}  // namespace gnnmg::dist
