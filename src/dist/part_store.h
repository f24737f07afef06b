// A feature store over parts: rows that are here, rows of others that are kept here, and rows that
// are asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "dist/parts.h"
#include "feature/store.h"

namespace gnnmg::dist {

// A store that keeps rows of other parts, which nobody is asked for again.
class KeepingStore : public feature::FeatureStore {
 public:
  // Keeps the rows of `nodes` that are not here, in place of those kept so far: the hottest
  // (feature/hotness.h). The nodes are distinct, in any order, dense columns' only. Rows kept so
  // far that are among them are not asked for again, and no more memory is taken than the first
  // time. gather() may be called meanwhile. Error(kRange) for a node that does not exist,
  // kInvalidArgument for nodes listed twice, rows of a sparse column, and more rows than the first
  // time; kCancelled once `cancel` says so, and the errors of asking, after which fewer rows are
  // kept. One thread at a time.
  virtual void keep(std::span<const int64_t> nodes, const base::CancelToken& cancel) = 0;
  virtual int64_t num_kept() const = 0;
};

// The rows of column `column` of all nodes, as one store over the whole graph would give them, to
// the bit. The rows of `kept` are asked for at once, by keep(). Error(kRange) for a column that
// does not exist, and those of keep(). gather() and gather_sparse() throw the channel's errors,
// naming the part.
std::unique_ptr<KeepingStore> make_part_store(std::shared_ptr<const Parts> parts, int32_t column,
                                              std::span<const int64_t> kept,
                                              const base::CancelToken& cancel);

}  // namespace gnnmg::dist
