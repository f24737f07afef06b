// Sparse rows owned by another object.
#pragma once

#include <cstdint>

namespace gnnmg::nn {

// The arrays must stay until backward() has run; indptr starts at 0. For a model on a device all
// pointers are device pointers.
struct SparseView {
  int64_t num_rows = 0, num_cols = 0;
  int64_t num_entries = 0;           // indptr[num_rows]
  const int64_t* indptr = nullptr;   // [num_rows + 1]
  const int32_t* indices = nullptr;  // [num_entries]
  const float* values = nullptr;     // [num_entries]
};

}  // namespace gnnmg::nn
