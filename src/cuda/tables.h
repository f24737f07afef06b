// The rooms' tables, each instantiated for GPUs in a .cu file of its room.
#pragma once

#include "device/table.h"
#include "feature/device.h"
#include "nn/kernels/device.h"
#include "sample/device.h"
#include "train/device_updates.h"

namespace gnnmg::cuda {

const sample::DeviceSampling& cuda_sampling();
const feature::DeviceFeatures& cuda_features();
const nn::kernels::DeviceLayers<float>& cuda_layers_f32();
const nn::kernels::DeviceLayers<double>& cuda_layers_f64();
const train::DeviceUpdates<float>& cuda_updates_f32();
const train::DeviceUpdates<double>& cuda_updates_f64();

}  // namespace gnnmg::cuda
