// Conversions between LibTorch's tensors and the kernels' pointers.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>

#include <span>

#include "nn/ops/functions.h"

namespace gnnmg::nn {

template <typename T>
kernels::Matrix<T> matrix(const at::Tensor& t) {
  return {t.mutable_data_ptr<T>(), t.stride(0)};
}
template <typename T>
kernels::Matrix<const T> const_matrix(const at::Tensor& t) {
  return {t.const_data_ptr<T>(), t.stride(0)};
}

// Returns the matrix itself if each row is contiguous, at any stride; else a copy.
inline at::Tensor with_dense_rows(const at::Tensor& t) {
  return t.stride(1) == 1 || t.size(1) <= 1 ? t : t.contiguous();
}

// Returns the rows of a matrix in the form that edges read.
template <typename T>
kernels::Rows<T> rows_of(const at::Tensor& t) {
  return {t.const_data_ptr<T>(), t.stride(0), nullptr};
}

// Returns the options of new tensors of an execution, on its model's device.
inline at::TensorOptions options_of(const Execution& execution, at::ScalarType type) {
  const at::TensorOptions options(type);
  return execution.device ? options.device(execution.device->torch()) : options;
}

// Returns a tensor over an array with another owner, on the execution's device or on the CPU.
template <typename T>
at::Tensor view_on(const Execution& execution, const T* data, at::IntArrayRef sizes) {
  const at::TensorOptions options = options_of(execution, c10::CppTypeToScalarType<T>::value);
  return at::for_blob(const_cast<T*>(data), sizes)
      .options(options)
      .target_device(options.device())
      .make_tensor();
}

// Returns a tensor that shares the memory of the ids.
inline at::Tensor as_tensor(std::span<const int64_t> ids) {
  return at::from_blob(const_cast<int64_t*>(ids.data()), {static_cast<int64_t>(ids.size())},
                       at::TensorOptions(at::kLong));
}
inline at::Tensor as_tensor(const Execution& execution, std::span<const int64_t> ids) {
  return view_on(execution, ids.data(), {static_cast<int64_t>(ids.size())});
}

// Calls f.template operator()<float>() or <double>().
template <typename F>
decltype(auto) visit_type(at::ScalarType type, F&& f) {
  TORCH_CHECK(type == at::kFloat || type == at::kDouble, "expected f32 or f64, found ", type);
  return type == at::kFloat ? f.template operator()<float>() : f.template operator()<double>();
}

// Adds the other parts [parts, ...] to the first, in order. On the CPU.
template <typename T>
void add_up(const at::Tensor& parts) {
  const int64_t count = parts.size(0), size = count ? parts.numel() / count : 0;
  T* sum = parts.mutable_data_ptr<T>();
  for (int64_t part = 1; part < count; ++part)
    for (int64_t i = 0; i < size; ++i) sum[i] += sum[part * size + i];
}

inline kernels::Lists lists_by_target(const sample::BlockView& block) {
  return {block.indptr, block.indices};
}
// Error(kInvalidArgument) if the block has none.
kernels::Lists lists_by_source(const sample::BlockView& block);

// Returns [num_targets]: the factor of a target's gradient for each source; undefined for sums.
at::Tensor source_scale(const sample::BlockView& block, Reduce reduce, at::ScalarType type,
                        const Execution& execution);

}  // namespace gnnmg::nn
