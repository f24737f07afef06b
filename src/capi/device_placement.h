// Places of graph and features for GPUs, as the configs of trainers and loaders have them.
#pragma once

#include "gnnmg.h"
#include "loader/device_source.h"

namespace gnnmg::capi {

struct PlacementFields {
  int32_t graph, features, form, hotness, gather_multiprocessors;
  size_t cache_bytes;
};
// Checked; errors name the field of `config`.
loader::DeviceSourceConfig device_placement(const PlacementFields& in);

template <typename Config>
loader::DeviceSourceConfig device_placement(const Config& config) {
  return device_placement(PlacementFields{config.graph_placement, config.feature_placement,
                                          config.feature_form, config.hotness,
                                          config.gather_multiprocessors, config.cache_bytes});
}

}  // namespace gnnmg::capi
