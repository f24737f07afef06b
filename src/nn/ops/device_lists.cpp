#include "nn/ops/device_lists.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/sort.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include <limits>

#include "base/error.h"
#include "nn/ops/launch.h"

namespace gnnmg::nn {
namespace {

template <typename T>
at::Tensor put_numbers(const Execution& execution, std::span<const T> numbers) {
  const at::Tensor to = at::empty({static_cast<int64_t>(numbers.size())},
                                  options_of(execution, c10::CppTypeToScalarType<T>::value));
  const Device& device = *execution.device;
  if (!numbers.empty())
    device.table->copy(device.queue, to.mutable_data_ptr(), numbers.data(),
                       static_cast<int64_t>(numbers.size_bytes()));
  return to;
}

// Returns the entries of lists, with `other` in place of entries after the last list.
at::Tensor listed(const at::Tensor& indptr, const at::Tensor& indices, int64_t other) {
  const at::Tensor end = indptr[indptr.numel() - 1];
  return indices.masked_fill(at::arange(indices.numel(), indices.options()) >= end, other);
}

}  // namespace

at::Tensor put(const Execution& execution, std::span<const int32_t> numbers) {
  return put_numbers(execution, numbers);
}
at::Tensor put(const Execution& execution, std::span<const int64_t> numbers) {
  return put_numbers(execution, numbers);
}

at::Tensor reserve(const Execution& execution, at::IntArrayRef sizes, at::ScalarType type,
                   std::string_view what) {
  int64_t bytes = static_cast<int64_t>(c10::elementSize(type));
  for (const int64_t size : sizes) bytes = base::checked_mul(bytes, size, "tensor size");
  try {
    return at::empty(sizes, options_of(execution, type));
  } catch (const c10::OutOfMemoryError&) {
    base::fail(base::Status::kNoMemory, "no memory on GPU ", execution.device->index, " for ", what,
               ", ", bytes, " bytes: use a GPU with more memory, or run this part on the CPU");
  }
}

at::Tensor put(const Execution& execution, const at::Tensor& tensor, std::string_view what) {
  if (!tensor.defined()) return tensor;
  return reserve(execution, tensor.sizes(), tensor.scalar_type(), what).copy_(tensor);
}

at::Tensor indptr_of(const sample::BlockView& block, const Execution& execution) {
  return view_on(execution, block.indptr, {block.num_targets + 1});
}

at::Tensor counts_of_targets(const sample::BlockView& block, const Execution& execution) {
  const at::Tensor indptr = indptr_of(block, execution);
  return indptr.narrow(0, 1, block.num_targets) - indptr.narrow(0, 0, block.num_targets);
}

at::Tensor sources_of_edges(const sample::BlockView& block, const Execution& execution) {
  return listed(indptr_of(block, execution), view_on(execution, block.indices, {block.num_edges}),
                0);
}

at::Tensor targets_of_edges(const sample::BlockView& block, const Execution& execution) {
  const at::Tensor ends = indptr_of(block, execution).narrow(0, 1, block.num_targets);
  return at::searchsorted(ends, at::arange(block.num_edges, ends.options()), /*out_int32=*/true,
                          /*right=*/true)
      .clamp_max(block.num_targets - 1);
}

at::Tensor starts_of(const at::Tensor& ascending, int64_t count) {
  return at::searchsorted(ascending, at::arange(count + 1, ascending.options()),
                          /*out_int32=*/true);
}

at::Tensor stable_order(const at::Tensor& numbers) {
  return std::get<1>(at::sort(numbers, /*stable=*/true, /*dim=*/0, /*descending=*/false));
}

Transposed transposed(const at::Tensor& indptr, const at::Tensor& indices, int64_t num_columns,
                      const Execution& execution) {
  const int64_t count = indices.numel();
  const auto numbers = [&](int64_t n) { return at::empty({n}, options_of(execution, at::kInt)); };
  // An extra last column takes the entries that belong to no list.
  const at::Tensor columns = listed(indptr, indices, num_columns);
  const Transposed to{numbers(num_columns + 2), numbers(count), numbers(count)};
  const at::Tensor room = numbers(3 * count), wide = indptr.to(at::kLong);
  launch(execution, at::kFloat, [&](const auto& layers, device::Queue* queue) {
    layers.sparse_columns(
        queue, wide.const_data_ptr<int64_t>(), columns.const_data_ptr<int32_t>(), wide.numel() - 1,
        num_columns + 1, count, room.mutable_data_ptr<int32_t>(),
        {to.indptr.mutable_data_ptr<int32_t>(), to.lists.mutable_data_ptr<int32_t>(),
         to.positions.mutable_data_ptr<int32_t>()});
  });
  return to;
}

Transposed transposed(const sample::BlockView& block, const Execution& execution) {
  return transposed(indptr_of(block, execution),
                    view_on(execution, block.indices, {block.num_edges}), block.num_sources,
                    execution);
}

}  // namespace gnnmg::nn
