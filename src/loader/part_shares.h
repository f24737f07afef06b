// How the mini-batches of the parts of a graph make one epoch, and which rank takes which.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "partition/book.h"

namespace gnnmg::loader {

// The ids of each part, in the order given. Error(kRange) for one that the book does not have.
std::vector<std::vector<int64_t>> ids_by_part(std::span<const int64_t> ids,
                                              const partition::Book& book);

// A part for each mini-batch of an epoch, of which part p has counts[p]: its j-th stands at the
// share (2j + 1) / (2 counts[p]) of the epoch, and of those that stand at the same place that of
// the lower part comes first. So any stretch of the epoch has of each part in proportion.
std::vector<uint16_t> spread_evenly(std::span<const int64_t> counts);

// A rank for each mini-batch of a step, given its part. Rank r takes as many as of r, r + W, ...
// there are; first those of its process's parts, of P processes p's being p, p + P, ..., then what
// is left. `process_of_rank` may be empty: each rank is a process.
std::vector<int32_t> ranks_of_batches(std::span<const uint16_t> parts, int32_t world_size,
                                      std::span<const int32_t> process_of_rank);

}  // namespace gnnmg::loader
