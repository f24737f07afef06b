// Checks and conversions of arrays that several readers share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/tensor.h"
#include "base/thread_pool.h"
#include "graph/graph.h"

namespace gnnmg::data {

// The bytes that one open_dataset may read, over all of its files.
class ByteBudget {
 public:
  explicit ByteBudget(int64_t max_bytes) : left_(max_bytes) {}
  // kInvalidArgument naming `path` and the option max_file_bytes when the budget does not hold
  // `bytes` more.
  void take(int64_t bytes, std::string_view path);
  // The size of the file at `path`, taken from the budget.
  int64_t take_file(const std::string& path);
  // The paths of these files.
  const std::vector<std::string>& files() const { return files_; }

 private:
  int64_t left_;
  std::vector<std::string> files_;
};

// Every id of an i32 or i64 tensor lies in [0, bound); Error(kRange) "WHERE, row R: node ..., ...".
// With `stride` 2 rows are pairs.
void check_ids(const base::Tensor& ids, int64_t bound, std::string_view where,
               base::ThreadPool& pool, int64_t stride = 1);

// Cuts [E, 2] pairs (`transposed`: [2, E]) into two tensors [E], i32 if all ids fit, else i64;
// checks type and shape. Pairs that nobody shares are given back while they are read.
std::pair<base::Tensor, base::Tensor> edge_columns(base::Tensor pairs, bool transposed,
                                                   std::string_view where, base::ThreadPool& pool);

// Dense features as numbers to compute with: floats as they are, integers and bools as f32.
// Error(kRange) "WHERE, row R, column C: ..." at the first that no f32 holds, unless `round`.
base::Tensor float_features(const base::Tensor& table, bool round, std::string_view where,
                            base::ThreadPool& pool);

// Error(kRange) "WHERE, row R, column C: ..." at the first element of a bool tensor that is neither
// 0 nor 1. Nothing for other types.
void check_bools(const base::TensorView& tensor, std::string_view where);

// Error(kNan) "WHERE, row R, column C: ..." at the first value of a floating column that is NaN or
// infinite; Error(kRange) at one of f64 that would be infinite as f32, in which most models
// compute.
void check_finite(const graph::Column& column, std::string_view where, base::ThreadPool& pool);
// The first such value among `count` elements, or -1. Without `as_f32` large ones of f64 are none.
int64_t find_not_finite(const void* data, base::DType dtype, int64_t count,
                        bool as_f32 = true) noexcept;
// `value` points to the element.
[[noreturn]] void fail_not_finite(std::string_view where, int64_t row, int64_t column,
                                  const void* value, base::DType dtype);

// Error(kFormat) "WHERE: ..." for a name from a file that holds a NUL byte, where C would end it.
void check_name(std::string_view name, std::string_view where);

// The tensor itself, or its values as i64; floats and bools, of which neither counts nor names
// anything, are Error(kFormat).
base::Tensor to_i64(const base::Tensor& tensor, std::string_view where);

}  // namespace gnnmg::data
