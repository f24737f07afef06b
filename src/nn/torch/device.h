// The device of a replica of a model, if that is not the CPU.
#pragma once

#include <c10/core/Device.h>

#include <type_traits>

#include "device/table.h"
#include "nn/kernels/device.h"

namespace gnnmg::nn {

// Tensors of such a replica are on torch(). The library's kernels and LibTorch's work of the
// replica's thread go into `queue` (device::Table::use()), as does the backward pass, which
// LibTorch runs on its own thread.
struct Device {
  const device::Table* table = nullptr;
  int index = 0;
  device::Queue* queue = nullptr;

  at::Device torch() const {
    return {static_cast<at::DeviceType>(table->torch_device_type),
            static_cast<at::DeviceIndex>(index)};
  }
  template <typename T>
  const kernels::DeviceLayers<T>& layers() const {
    if constexpr (std::is_same_v<T, float>)
      return *table->of<nn::kernels::DeviceLayers<float>>();
    else
      return *table->of<nn::kernels::DeviceLayers<double>>();
  }
};

}  // namespace gnnmg::nn
