// The lists of blocks on a device as LibTorch tensors, and operations that make such lists without
// a read by the host. Layers use them where the CPU version loops over a block.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "nn/ops/functions.h"

namespace gnnmg::nn {

// Copies host numbers to a tensor on the execution's device, for later work in its queue. Pageable
// memory may be freed at once, pinned memory after the copy in the queue.
at::Tensor put(const Execution& execution, std::span<const int32_t> numbers);
at::Tensor put(const Execution& execution, std::span<const int64_t> numbers);
// Allocates a tensor there. Error(kNoMemory) names `what`, the size, and the remedy.
at::Tensor reserve(const Execution& execution, at::IntArrayRef sizes, at::ScalarType type,
                   std::string_view what);
// Copies a CPU tensor to such a tensor and waits for that. Undefined tensors stay undefined.
at::Tensor put(const Execution& execution, const at::Tensor& tensor, std::string_view what);

// The lists of a block. If its counts are only bounds, entries after the last list belong to no
// list and may have any value.
// Returns [num_targets + 1] i32, in the block's own memory.
at::Tensor indptr_of(const sample::BlockView& block, const Execution& execution);
// Returns [num_targets] i32: in-degrees.
at::Tensor counts_of_targets(const sample::BlockView& block, const Execution& execution);
// Return [num_edges] i32: the ends of each edge; arbitrary for edges of no list.
at::Tensor sources_of_edges(const sample::BlockView& block, const Execution& execution);
at::Tensor targets_of_edges(const sample::BlockView& block, const Execution& execution);

// Returns the first position of each of 0, 1, ..., count - 1 in ascending numbers, and the first
// position of larger ones: [count + 1] i32.
at::Tensor starts_of(const at::Tensor& ascending, int64_t count);
// Returns [n] i64: the stable order that sorts these numbers.
at::Tensor stable_order(const at::Tensor& numbers);

// The entries of lists, sorted by the number that they contain: entry p of list s is an entry of
// list lists[p], ascending, and its original position is positions[p]. All i32.
struct Transposed {
  at::Tensor indptr, lists, positions;
};
// Transposes indptr [num_lists + 1] and indices [n] below `num_columns`, i32.
Transposed transposed(const at::Tensor& indptr, const at::Tensor& indices, int64_t num_columns,
                      const Execution& execution);
Transposed transposed(const sample::BlockView& block, const Execution& execution);

}  // namespace gnnmg::nn
