// Runs kernels on an execution's device: in ranges of rows on the CPU's threads, or for all rows at
// once in the queue of a device. Most layers need not distinguish them.
#pragma once

#include "nn/ops/tensors.h"
#include "nn/torch/parallel.h"

namespace gnnmg::nn {

// Calls f(layers, queue) with the kernels of the execution's device, which must not be the CPU, for
// elements of `type`, and their queue.
template <typename F>
void launch(const Execution& execution, at::ScalarType type, const F& f) {
  const Device& device = *execution.device;
  visit_type(type, [&]<typename T>() { f(device.layers<T>(), device.queue); });
}

// Runs a kernel that exists in both tables with these arguments over all rows; on the CPU in ranges
// of `grain` rows.
template <typename T, typename OnCpu, typename OnDevice, typename... Arguments>
void over_rows(const Execution& execution, int64_t rows, int64_t grain,
               OnCpu kernels::Table<T>::*on_cpu, OnDevice kernels::DeviceLayers<T>::*on_device,
               const Arguments&... arguments) {
  if (const Device* device = execution.device)
    return (device->layers<T>().*on_device)(device->queue, arguments..., rows);
  for_ranges(execution.pool, rows, grain, [&](int64_t begin, int64_t end) {
    (kernels::table<T>().*on_cpu)(arguments..., begin, end);
  });
}

// y = finish(y + bias) on a device, without autograd; the bias may be undefined.
inline void finish_in_place(const at::Tensor& y, const at::Tensor& bias, const Finish& finish,
                            const Execution& execution) {
  if (!bias.defined() && !finish.any()) return;
  launch(execution, y.scalar_type(),
         [&]<typename T>(const kernels::DeviceLayers<T>& layers, device::Queue* queue) {
           const T* shift = bias.defined() ? bias.const_data_ptr<T>() : nullptr;
           layers.finish(queue, const_matrix<T>(y), y.size(1), shift, finish.relu, finish.dropout,
                         matrix<T>(y), y.size(0));
         });
}

// Returns scratch for a device's column sums of a matrix.
template <typename T>
at::Tensor parts_of_sums(const Execution& execution, int64_t rows, int64_t width) {
  return scratch_tensor(execution, {width * kernels::num_parts(rows)},
                        c10::CppTypeToScalarType<T>::value);
}

}  // namespace gnnmg::nn
