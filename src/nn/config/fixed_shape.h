// Determines the models whose training pass has one shape for all mini-batches up to that size.
// Their blocks may be padded (sample::DeviceBatches::pad), since no used row depends on one beyond
// the counts, and the host reads nothing from the device during the pass, so that the pass can be
// captured and replayed (device::Table::capture).
#pragma once

#include <string>

#include "nn/config/config.h"

namespace gnnmg::nn {

// Empty if the training pass of such a model over dense features is one of them; else the reason,
// as in "batch norm takes statistics over all rows".
std::string why_not_of_one_shape(const ModelConfig& config);

}  // namespace gnnmg::nn
