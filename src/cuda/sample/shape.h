// Checks of a sampler's configuration, and the shapes of sample/device_shape.h.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "sample/device_shape.h"

namespace gnnmg::cuda {

using sample::HopShape;
using sample::padded;
using sample::SampleShape;
using sample::shape_of;
using sample::StoreShape;

// Checks the config as make_neighbor_sampler() does, and the limits.
inline void check_config(const sample::NeighborConfig& config, int64_t max_seeds,
                         int64_t max_batches) {
  using base::fail;
  using base::Status;
  const int64_t hops = static_cast<int64_t>(config.fanouts.size());
  if (hops < 1 || hops > sample::kMaxHops)
    fail(Status::kInvalidArgument, hops, " fan-outs, expected 1 to ", sample::kMaxHops);
  for (int64_t h = 0; h < hops; ++h) {
    if (config.fanouts[h] < -1 || config.fanouts[h] > INT32_MAX)
      fail(Status::kInvalidArgument, "fan-out ", h, " is ", config.fanouts[h],
           ", expected -1 (all), 0 or up to ", INT32_MAX);
  }
  sample::check_draw(config);
  if (max_seeds < 1 || max_batches < 1)
    fail(Status::kInvalidArgument, "room for ", max_batches, " mini-batches of ", max_seeds,
         " seeds, expected 1 and more of both");
  if (sample::padded(max_seeds) > INT32_MAX / max_batches)
    fail(Status::kRange, max_batches, " mini-batches of ", max_seeds,
         " seeds are 2147483648 and more; sample fewer mini-batches a call");
}

}  // namespace gnnmg::cuda
