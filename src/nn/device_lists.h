// The lists of blocks on a device, as LibTorch's tensors there, and how such lists are made without
// the host reading any. Apart from the layers, which make them where the CPU loops over a block.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "nn/functions.h"

namespace gnnmg::nn {

// Numbers of the host's as a tensor on the execution's device, there for what comes into its queue
// from here on. Pageable memory may go at once, pinned memory when the queue is behind the copy.
at::Tensor put(const Execution& execution, std::span<const int32_t> numbers);
at::Tensor put(const Execution& execution, std::span<const int64_t> numbers);
// Room there. Error(kNoMemory) that names `what`, how much it is, and what can be done about it.
at::Tensor reserve(const Execution& execution, at::IntArrayRef sizes, at::ScalarType type,
                   std::string_view what);
// A copy of a tensor of the CPU's in such room; waits for it. Undefined stays so.
at::Tensor put(const Execution& execution, const at::Tensor& tensor, std::string_view what);

// Tensors on a block's own memory: [num_targets + 1] and [num_edges], i32.
at::Tensor indptr_of(const sample::BlockView& block, const Execution& execution);
at::Tensor indices_of(const sample::BlockView& block, const Execution& execution);
// [num_targets] i32: numbers of edges; [num_edges] i32: the target of each.
at::Tensor counts_of_targets(const sample::BlockView& block, const Execution& execution);
at::Tensor targets_of_edges(const sample::BlockView& block, const Execution& execution);

// Where 0, 1, ..., count - 1 first stand in ascending numbers, and at the end how many these are:
// [count + 1] i32.
at::Tensor starts_of(const at::Tensor& ascending, int64_t count);
// [n] i64: the order that sorts these numbers, equal ones as they stood.
at::Tensor stable_order(const at::Tensor& numbers);

// The entries of lists by the number that they name: entry p of list s is an entry of list
// lists[p], ascending, and stands at positions[p] of the entries. All i32.
struct Transposed {
  at::Tensor indptr, lists, positions;
};
// From indptr [num_lists + 1] and indices [n] below `num_columns`, i32, where all entries belong to
// a list.
Transposed transposed(const at::Tensor& indptr, const at::Tensor& indices, int64_t num_columns,
                      const Execution& execution);

}  // namespace gnnmg::nn
