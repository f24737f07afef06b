// A feature store over a mapped file that keeps the rows it has read in memory, because one call of
// the system for each row costs more than the row.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "feature/store.h"

namespace gnnmg::feature {

// Says whether a store may keep so many more bytes. Called with a lock held. Any thread.
using MayKeep = std::function<bool(int64_t bytes)>;

// True if half of the memory that the process can use stays free (base/free_memory.h).
bool half_stays_free(int64_t bytes);

// Makes a store like make_store(). For a tensor that is mapped from a file, the first read of a row
// reads the 64 KiB around it and keeps them as long as `may_keep` allows and half of the thread's
// memory budget stays free; then the rows that are not in memory are read from the file at each
// request. Rows in memory do not follow later changes of the file.
std::unique_ptr<FeatureStore> make_kept_store(const graph::Column& column, MayKeep may_keep);
// With half_stays_free(). The stores of one tensor share the rows that are in memory.
std::unique_ptr<FeatureStore> make_kept_store(const graph::Column& column);

}  // namespace gnnmg::feature
