// The rooms' tables, each instantiated for GPUs in a .cu file of its room.
#pragma once

#include "base/device.h"

namespace gnnmg::cuda {

const sample::DeviceSampling& cuda_sampling();
const feature::DeviceFeatures& cuda_features();
const nn::kernels::DeviceLayers<float>& cuda_layers_f32();
const nn::kernels::DeviceLayers<double>& cuda_layers_f64();

}  // namespace gnnmg::cuda
