// Feature stores: where rows of node features come from, and the gather of a batch's rows.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/cancel.h"
#include "base/memory.h"
#include "base/tensor.h"
#include "base/thread_pool.h"
#include "graph/graph.h"

namespace gnnmg::feature {

// Sparse rows of a batch, in memory that is kept.
struct SparseRows {
  int64_t num_rows = 0, num_cols = 0;
  base::PageVector<int64_t> indptr;
  base::PageVector<int32_t> indices;
  base::PageVector<float> values;
};

// Of calls that nobody gives up.
inline const base::CancelToken kNeverCancelled;

class FeatureStore {
 public:
  virtual ~FeatureStore() = default;
  virtual int64_t num_rows() const = 0;
  virtual int64_t num_cols() const = 0;  // elements of a row
  virtual base::DType dtype() const = 0;
  virtual bool sparse() const = 0;
  // The table itself where it lies in memory as one dense array, for kernels that read rows in
  // place; undefined otherwise, for a mapped file too.
  virtual base::Tensor dense() const = 0;
  // Copies row ids[i] to out + i * row bytes. Dense stores only: Error(kInvalidArgument) from a
  // sparse one, as from gather_sparse of a dense one. Ids are in [0, num_rows), which the one who
  // made them has checked. `pool` may be null. A store that waits for others throws kCancelled once
  // `cancel` says so. Any thread.
  virtual void gather(std::span<const int64_t> ids, uint8_t* out, base::ThreadPool* pool,
                      const base::CancelToken& cancel = kNeverCancelled) const = 0;
  virtual void gather_sparse(std::span<const int64_t> ids, SparseRows& out, base::ThreadPool* pool,
                             const base::CancelToken& cancel = kNeverCancelled) const = 0;
};

// Over a column of a graph: a dense tensor in memory or mapped from a file (rows are then read from
// it, so that a file that shrinks is Error(kIo), not a signal), or CSR.
std::unique_ptr<FeatureStore> make_store(const graph::Column& column);
// Over a column of a graph's nodes, wherever its rows are; null where it has none of this name.
std::shared_ptr<const FeatureStore> make_store(const graph::Graph& graph, std::string_view name,
                                               int32_t node_type = 0);

// Row gather as a kernel: copies rows of `row_bytes` bytes, prefetched, around the caches when they
// would not hold the result. `pool` may be null.
void gather_rows(const uint8_t* table, int64_t row_bytes, std::span<const int64_t> ids,
                 uint8_t* out, base::ThreadPool* pool);

}  // namespace gnnmg::feature
