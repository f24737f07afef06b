// Hotness by counting: the first mini-batches of a training are sampled before it begins, and what
// they would read is counted. Beside the loader because it draws what the loader will draw.
#pragma once

#include <span>
#include <vector>

#include "feature/hotness.h"
#include "loader/loader.h"

namespace gnnmg::loader {

// How many rows of each node the first `num_batches` mini-batches of all ranks read in the mean,
// from epoch 0 on, drawn as a loader of this config draws them. `sampler` is used by several
// threads at once and does not call back into the host. Error(kInvalidArgument) for fewer than 1
// mini-batches or a plan that has none, kRange as the sampler's, kCancelled.
std::vector<double> hotness_by_sampling(std::span<const int64_t> ids,
                                        const sample::Sampler& sampler, const LoaderConfig& config,
                                        int64_t num_batches, base::ThreadPool& pool,
                                        const base::CancelToken& cancel);

}  // namespace gnnmg::loader
