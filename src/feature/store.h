// Feature stores: the source of rows of node features, and the gather of a batch's rows.
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

// Sparse rows of a batch, in memory that is reused.
struct SparseRows {
  int64_t num_rows = 0, num_cols = 0;
  base::PageVector<int64_t> indptr;
  base::PageVector<int32_t> indices;
  base::PageVector<float> values;
};

// For calls that cannot be canceled.
inline const base::CancelToken kNeverCancelled;

class FeatureStore {
 public:
  virtual ~FeatureStore() = default;
  virtual int64_t num_rows() const = 0;
  virtual int64_t num_cols() const = 0;  // elements per row
  virtual base::DType dtype() const = 0;
  virtual bool sparse() const = 0;
  // The table itself if it is one dense array in memory, for kernels that read rows in place.
  // Undefined otherwise, and for a mapped file.
  virtual base::Tensor dense() const = 0;
  // Copies row ids[i] to out + i * row bytes. Dense stores only: a sparse one throws
  // Error(kInvalidArgument), as does gather_sparse() of a dense one. The caller has checked that
  // ids are in [0, num_rows). `pool` may be null. A store that waits for other processes throws
  // kCancelled once `cancel` is switched. Any thread.
  virtual void gather(std::span<const int64_t> ids, uint8_t* out, base::ThreadPool* pool,
                      const base::CancelToken& cancel = kNeverCancelled) const = 0;
  virtual void gather_sparse(std::span<const int64_t> ids, SparseRows& out, base::ThreadPool* pool,
                             const base::CancelToken& cancel = kNeverCancelled) const = 0;
};

// Makes a store over a column of a graph: a dense tensor in memory, a tensor mapped from a file
// (read from the file, so that a shrinking file is Error(kIo) and not a signal), or CSR.
std::unique_ptr<FeatureStore> make_store(const graph::Column& column);
// Makes a store over a node column of a graph, wherever its rows are; null if there is no column of
// this name. Rows of a mapped file are kept in memory as in kept_store.h.
std::shared_ptr<const FeatureStore> make_store(const graph::Graph& graph, std::string_view name,
                                               int32_t node_type = 0);

// Row gather as a kernel: copies rows of `row_bytes` bytes with prefetching, bypassing the caches
// if they could not hold the result. `pool` may be null.
void gather_rows(const uint8_t* table, int64_t row_bytes, std::span<const int64_t> ids,
                 uint8_t* out, base::ThreadPool* pool);

}  // namespace gnnmg::feature
