// The sampling of the plug-in's table.
#pragma once

#include "sample/device.h"

namespace gnnmg::cuda {

const sample::DeviceSampling& cuda_sampling();

}  // namespace gnnmg::cuda
