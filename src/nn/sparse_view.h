// Sparse rows that somebody else keeps.
#pragma once

#include <cstdint>

namespace gnnmg::nn {

// They stay until backward() has run; indptr starts at 0. On a device all pointers are its own.
struct SparseView {
  int64_t num_rows = 0, num_cols = 0;
  int64_t num_entries = 0;           // indptr[num_rows]
  const int64_t* indptr = nullptr;   // [num_rows + 1]
  const int32_t* indices = nullptr;  // [num_entries]
  const float* values = nullptr;     // [num_entries]
};

}  // namespace gnnmg::nn
