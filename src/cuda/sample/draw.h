// The draws of sample/draw.h by a tile of lanes: lane i makes draw i from its own counter, and
// duplicates are resolved as if the draws were sequential. The work depends on the fan-out and not
// on the degree.
#pragma once

#include <cstdint>

#include "cuda/grid/portable.h"
#include "cuda/sample/table.h"
#include "sample/draw_lanes.h"

namespace gnnmg::cuda {

// The draws of one row: words of counter (node, slot) of the hop's key.
struct RowDraws {
  uint32_t key[2];
  uint32_t node;
  uint32_t degree;
  uint32_t fanout;

  GNNMG_BOTH uint32_t word(uint32_t slot) const {
    uint32_t c0 = node, c1 = 0, c2 = slot / 4, c3 = 0, k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; ++round) {
      const uint64_t p0 = uint64_t{0xD2511F53u} * c0;
      const uint64_t p1 = uint64_t{0xCD9E8D57u} * c2;
      c0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0;
      c1 = static_cast<uint32_t>(p1);
      c2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
      c3 = static_cast<uint32_t>(p0);
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    const uint32_t low = slot % 2 ? c1 : c0, high = slot % 2 ? c3 : c2;
    return slot % 4 < 2 ? low : high;
  }
  GNNMG_BOTH static uint32_t bounded(uint32_t bits, uint32_t bound) {
    return static_cast<uint32_t>(uint64_t{bits} * bound >> 32);
  }
  // With replacement.
  GNNMG_BOTH uint32_t pick(uint32_t slot) const { return bounded(word(slot), degree); }
  // Floyd's algorithm: the candidate of a slot, and the replacement if the candidate is among the
  // picks before.
  GNNMG_BOTH uint32_t other(uint32_t slot) const { return degree - fanout + slot; }
  GNNMG_BOTH uint32_t candidate(uint32_t slot) const {
    return bounded(word(slot), other(slot) + 1);
  }
};

// The rule of sample/labor.h for one row.
struct LaborRow {
  uint32_t key[2];
  uint32_t threshold;

  GNNMG_BOTH LaborRow(const uint32_t* hop_key, uint32_t fanout, uint32_t degree)
      : key{hop_key[0], hop_key[1]},
        threshold(static_cast<uint32_t>((uint64_t{fanout} << 32) / degree)) {}
  GNNMG_BOTH bool keeps(int32_t source) const {
    uint32_t c0 = static_cast<uint32_t>(source), c1 = key[1], k = key[0];
    for (int round = 0; round < sample::kLaborRounds; ++round) {
      const uint64_t product = uint64_t{sample::kLaborFactor} * c0;
      c0 = static_cast<uint32_t>(product >> 32) ^ k ^ c1;
      c1 = static_cast<uint32_t>(product);
      k += sample::kLaborStep;
    }
    return c0 < threshold;
  }
};

// Calls put(slot, place) for the positions of the sources that a row of LABOR keeps, in order.
template <typename Tile, typename Put>
GNNMG_BOTH void kept_picks(const Tile& tile, const LaborRow& row, const int32_t* sources,
                           uint32_t degree, const Put& put) {
  int64_t kept = 0;
  for (uint32_t first = 0; first < degree; first += Tile::kLanes) {
    const uint32_t keeps = tile.vote([&](int lane) {
      const uint64_t place = uint64_t{first} + static_cast<uint32_t>(lane);
      return place < degree && row.keeps(sources[place]);
    });
    tile.each([&](int lane) {
      if (keeps >> lane & 1)
        put(kept + count_bits(keeps & ((1u << lane) - 1)), first + static_cast<uint32_t>(lane));
    });
    kept += count_bits(keeps);
    if (degree - first <= Tile::kLanes) break;  // `first` would overflow its type
  }
}

// Floyd's picks, fanout <= lanes and < degree; lanes from `fanout` on return no useful value.
//
// The picks before slot i, as a set, are the candidates before it and other(q) of each slot q < i
// that met a pick. So slot i meets one if an earlier slot has its candidate, or if its candidate is
// other(q) of such a q: a chain that descends from slot to slot, followed for all slots at once
// until no more are found.
template <typename Tile>
GNNMG_BOTH typename Tile::template Lanes<uint32_t> distinct_picks(const Tile& tile,
                                                                  const RowDraws& row) {
  const auto candidates = tile.template make<uint32_t>(
      [&](int lane) { return lane < static_cast<int>(row.fanout) ? row.candidate(lane) : 0; });
  auto repeated = tile.template make<bool>([](int) { return false; });
  for (int slot = 0; slot + 1 < static_cast<int>(row.fanout); ++slot) {
    const uint32_t earlier = tile.broadcast(candidates, slot);
    tile.each([&](int lane) {
      if (lane > slot && candidates[lane] == earlier) repeated[lane] = true;
    });
  }
  uint32_t met = tile.vote([&](int lane) { return repeated[lane]; });
  for (uint32_t before = 0; before != met;) {
    before = met;
    met |= tile.vote([&](int lane) {
      const uint32_t first = row.degree - row.fanout;
      if (candidates[lane] < first) return false;
      const uint32_t slot = candidates[lane] - first;
      return slot < static_cast<uint32_t>(lane) && (before >> slot & 1) != 0;
    });
  }
  return tile.template make<uint32_t>(
      [&](int lane) { return met >> lane & 1 ? row.other(lane) : candidates[lane]; });
}

// Floyd's picks for any fan-out below the degree: calls put(slot, pick) for every slot. `seen` is
// scratch of the row, initially empty: the first slot that drew each number. Chains are followed
// slot by slot; they are short, because a candidate is other(q) of an earlier slot only by chance.
template <typename Tile, typename Put>
GNNMG_BOTH void many_distinct_picks(const Tile& tile, const RowDraws& row, const IdTable& seen,
                                    const Put& put) {
  tile.each_of(0, row.fanout, [&](int64_t i) {
    const uint32_t slot = static_cast<uint32_t>(i);
    seen.insert(row.candidate(slot), slot);
  });
  tile.sync();
  tile.each_of(0, row.fanout, [&](int64_t i) {
    const uint32_t first = row.degree - row.fanout;
    const uint32_t drawn = row.candidate(static_cast<uint32_t>(i));
    uint32_t slot = static_cast<uint32_t>(i), candidate = drawn;
    bool met = seen.find(candidate) != slot;
    while (!met && candidate >= first && candidate - first < slot) {
      slot = candidate - first;
      candidate = row.candidate(slot);
      met = seen.find(candidate) != slot;
    }
    put(i, met ? row.other(static_cast<uint32_t>(i)) : drawn);
  });
}

}  // namespace gnnmg::cuda
