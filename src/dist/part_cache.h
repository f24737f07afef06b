// Rows of other parts that are worth keeping: those that mini-batches read most, by the hotness
// that was kept with the parts.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/cancel.h"
#include "base/log.h"
#include "data/parts.h"
#include "dist/part_store.h"

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
// mini-batches have their training ids in the parts `seeds_of`. A part's hotness counts by its
// training ids. Nothing where no hotness was kept, which is not looked for where nothing may be
// kept. Errors as of data::hotness_of(), kCancelled between two parts.
CachedRows choose_cached_rows(const data::Parts& parts, const std::vector<int32_t>& own,
                              const std::vector<int32_t>& seeds_of, int64_t row_bytes,
                              const CacheConfig& config, const base::CancelToken& cancel);

// Makes a store keep such rows, and others for another plan.
class RowChooser {
 public:
  // `own` ascends.
  RowChooser(std::shared_ptr<const data::Parts> parts, std::vector<int32_t> own,
             std::shared_ptr<KeepingStore> store, const CacheConfig& config);

  // Keeps the rows for mini-batches with training ids of the parts `seeds_of`, which ascend; where
  // it is empty, of the own parts, or of all if there are none. Nothing is done where they are kept
  // already. The log tells the rows and their expected hits. Errors are those of
  // choose_cached_rows() and KeepingStore::keep(). Any thread; one waits for another's choice.
  void choose(std::vector<int32_t> seeds_of, base::Log& log, const base::CancelToken& cancel);
  int64_t num_kept() const { return store_->num_kept(); }

 private:
  const std::shared_ptr<const data::Parts> parts_;
  const std::vector<int32_t> own_;
  const std::shared_ptr<KeepingStore> store_;
  const CacheConfig config_;
  std::mutex choosing_;
  std::vector<int32_t> chosen_for_;  // guarded by choosing_; empty: nothing is chosen
};

}  // namespace gnnmg::dist
