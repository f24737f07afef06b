// Combines the mini-batches of the parts of a graph into one epoch, and assigns them to ranks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "partition/book.h"

namespace gnnmg::loader {

// Returns the ids of each part, in the order given. Error(kRange) for an id that is not in the
// book.
std::vector<std::vector<int64_t>> ids_by_part(std::span<const int64_t> ids,
                                              const partition::Book& book);

// Returns the part of each mini-batch of an epoch in which part p has counts[p] of them. Number j
// of part p is placed at (2j + 1) / (2 counts[p]) of the epoch; ties go to the lower part. So any
// section of the epoch has all parts in proportion.
std::vector<uint16_t> spread_evenly(std::span<const int64_t> counts);

// Returns the process that has a part, of so many. `process_of_part` may be empty: of P processes,
// process p has the parts p, p + P, ...
inline int32_t process_near(int32_t part, int32_t processes,
                            std::span<const int32_t> process_of_part) {
  return (process_of_part.empty() ? part : process_of_part[part]) % processes;
}

// Returns the rank of each mini-batch of a step, given its part. Rank r takes as many mini-batches
// as there are numbers among r, r + W, ...: first those of the parts of its process, then the
// remaining ones. `process_of_rank` may be empty: each rank is a process. `process_of_part` is that
// of process_near().
std::vector<int32_t> ranks_of_batches(std::span<const uint16_t> parts, int32_t world_size,
                                      std::span<const int32_t> process_of_rank,
                                      std::span<const int32_t> process_of_part = {});

}  // namespace gnnmg::loader
