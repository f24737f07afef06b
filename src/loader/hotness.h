// Hotness by counting: samples the first mini-batches of a training before it begins, and counts
// the rows that they would read. In the loader's room because it draws the same samples as the
// loader.
#pragma once

#include <span>
#include <vector>

#include "feature/hotness.h"
#include "loader/loader.h"

namespace gnnmg::loader {

// Returns the mean number of times that the first `num_batches` mini-batches of all ranks read each
// node, from epoch 0 on, with the draws of a loader of this config. `sampler` is used by several
// threads at once and does not call back into the host. Error(kInvalidArgument) for fewer than 1
// mini-batches or a plan without any, kRange as for the sampler, kCancelled.
std::vector<double> hotness_by_sampling(std::span<const int64_t> ids,
                                        const sample::Sampler& sampler, const LoaderConfig& config,
                                        int64_t num_batches, base::ThreadPool& pool,
                                        const base::CancelToken& cancel);

}  // namespace gnnmg::loader
