// LABOR, layer-neighbor sampling: the definition that every device reproduces. This is LABOR-0, the
// form with uniform probabilities, of Balin and Çatalyürek, "Layer-Neighbor Sampling: Defusing
// Neighborhood Explosion in GNNs", NeurIPS 2023.
//
// A source u has one number r(u) for all rows of a hop, so rows tend to keep the same sources, and
// a mini-batch with the same number of edges has fewer distinct nodes. A row with d neighbors and
// fan-out k keeps, in CSC order,
//
//   d <= k or k = -1   all neighbors
//   else               those with r(u) < floor(k * 2^32 / d)
//
// A neighbor is kept with probability k / d, less than 2^-32 off, so the mean number is k; a row
// may keep any number from 0 to d. r(u) is the first word of Philox2x32 with 7 rounds (Salmon et
// al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011). Its counter is (low half of u, high
// half of u ^ second word of the hop's key); its key is the first word of the hop's key.
#pragma once

#include <cstdint>

#include "base/philox.h"
#include "sample/draw_lanes.h"

namespace gnnmg::sample {

// r(u).
constexpr uint32_t labor_number(const base::Key& key, uint64_t u) noexcept {
  uint32_t c0 = static_cast<uint32_t>(u), c1 = static_cast<uint32_t>(u >> 32) ^ key[1];
  uint32_t k = key[0];
  for (int round = 0; round < kLaborRounds; ++round) {
    const uint64_t product = uint64_t{kLaborFactor} * c0;
    c0 = static_cast<uint32_t>(product >> 32) ^ k ^ c1;
    c1 = static_cast<uint32_t>(product);
    k += kLaborStep;
  }
  return c0;
}

// Upper bound (exclusive) of r(u) for kept sources, for 0 <= fanout < degree < 2^32.
constexpr uint32_t labor_threshold(int64_t fanout, int64_t degree) noexcept {
  return static_cast<uint32_t>((static_cast<uint64_t>(fanout) << 32) /
                               static_cast<uint64_t>(degree));
}

}  // namespace gnnmg::sample
