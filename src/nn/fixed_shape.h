// Which models a pass of one shape serves for every mini-batch that it holds: their blocks may be
// filled up (sample::DeviceBatches::pad), since no row that is looked at depends on one beyond the
// counts, and the host reads nothing meanwhile that is the device's, so that the pass can be kept
// and repeated (base::DeviceTable::capture).
#pragma once

#include <string>

#include "nn/config.h"

namespace gnnmg::nn {

// Empty where the training pass of such a model is one of them, over dense features; else why it is
// not, as in "batch norm takes statistics over all rows".
std::string why_not_of_one_shape(const ModelConfig& config);

}  // namespace gnnmg::nn
