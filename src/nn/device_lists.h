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

// The lists of a block. Where its counts are bounds only, entries behind the last list belong to
// none, whatever stands there.
// [num_targets + 1] i32, on the block's own memory.
at::Tensor indptr_of(const sample::BlockView& block, const Execution& execution);
// [num_targets] i32: numbers of edges.
at::Tensor counts_of_targets(const sample::BlockView& block, const Execution& execution);
// [num_edges] i32: the ends of each edge; those of no list have any.
at::Tensor sources_of_edges(const sample::BlockView& block, const Execution& execution);
at::Tensor targets_of_edges(const sample::BlockView& block, const Execution& execution);

// Where 0, 1, ..., count - 1 first stand in ascending numbers, and where those above begin:
// [count + 1] i32.
at::Tensor starts_of(const at::Tensor& ascending, int64_t count);
// [n] i64: the order that sorts these numbers, equal ones as they stood.
at::Tensor stable_order(const at::Tensor& numbers);

// The entries of lists by the number that they name: entry p of list s is an entry of list
// lists[p], ascending, and stands at positions[p] of the entries. All i32.
struct Transposed {
  at::Tensor indptr, lists, positions;
};
// From indptr [num_lists + 1] and indices [n] below `num_columns`, i32.
Transposed transposed(const at::Tensor& indptr, const at::Tensor& indices, int64_t num_columns,
                      const Execution& execution);
Transposed transposed(const sample::BlockView& block, const Execution& execution);

}  // namespace gnnmg::nn
