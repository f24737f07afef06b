// The lane kernel of draw.h for any vector type. Each including file is compiled for one
// instruction set, so this header includes nothing with inline code that other files could share.
#pragma once

#include <cstdint>

namespace gnnmg::sample {

inline constexpr int kLanes = 16;

// Sixteen rows with draws, one per vector lane: ids split in halves, and the number of neighbors,
// which is above the fan-out unless drawn with replacement.
struct LaneRows {
  alignas(64) uint32_t id_low[kLanes];
  alignas(64) uint32_t id_high[kLanes];
  alignas(64) uint32_t degree[kLanes];
};

// Rounds of Philox2x32 in labor.h, and the number of sources per kernel call.
inline constexpr int kLaborRounds = 7;
inline constexpr uint32_t kLaborFactor = 0xD256D193u;
inline constexpr uint32_t kLaborStep = 0x9E3779B9u;
inline constexpr int kKeepAtOnce = 1024;

// V has kWidth lanes of 32 bits, load, splat, store, + - ^, and static multiply (low and high half
// of the product), equal (a mask), Mask with |=, and select(mask, yes, no);
// load_any from any address, and below(a, b): a bit for each lane where a < b, unsigned.
template <typename V>
void draw_lanes(const uint32_t* key, const LaneRows& rows, int fanout, bool replace,
                uint32_t* picks) {
  for (int lane = 0; lane < kLanes; lane += V::kWidth) {
    const V id_low = V::load(rows.id_low + lane);
    const V id_high = V::load(rows.id_high + lane);
    const V degree = V::load(rows.degree + lane);
    for (int block = 0; 4 * block < fanout; ++block) {
      V c0 = id_low, c1 = id_high, c2 = V::splat(block), c3 = V::splat(0);
      uint32_t k0 = key[0], k1 = key[1];
      for (int round = 0; round < 10; ++round) {
        V low0, high0, low1, high1;
        V::multiply(c0, V::splat(0xD2511F53u), low0, high0);
        V::multiply(c2, V::splat(0xCD9E8D57u), low1, high1);
        c0 = high1 ^ c1 ^ V::splat(k0);
        c1 = low1;
        c2 = high0 ^ c3 ^ V::splat(k1);
        c3 = low0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
      }
      const V words[4] = {c0, c1, c2, c3};
      for (int w = 0; w < 4 && 4 * block + w < fanout; ++w) {
        const int slot = 4 * block + w;
        V pick, unused;
        if (replace) {
          V::multiply(words[w], degree, unused, pick);
        } else {
          const V last = degree - V::splat(fanout - slot);
          V::multiply(words[w], last + V::splat(1), unused, pick);
          typename V::Mask seen{};
          for (int i = 0; i < slot; ++i)
            seen |= V::equal(pick, V::load(picks + int64_t{i} * kLanes + lane));
          pick = V::select(seen, last, pick);
        }
        pick.store(picks + int64_t{slot} * kLanes + lane);
      }
    }
  }
}

// The rule of labor.h for sources of 32 bits.
template <typename V>
int keep_below(const uint32_t* key, const int32_t* sources, int count, uint32_t threshold,
               uint32_t* kept) {
  int num_kept = 0;
  for (int first = 0; first < count; first += V::kWidth) {
    const int lanes = count - first < V::kWidth ? count - first : V::kWidth;
    alignas(64) uint32_t rest[V::kWidth] = {};
    if (lanes < V::kWidth)
      for (int i = 0; i < lanes; ++i) rest[i] = static_cast<uint32_t>(sources[first + i]);
    V c0 = lanes < V::kWidth ? V::load(rest) : V::load_any(sources + first);
    V c1 = V::splat(key[1]);
    uint32_t k = key[0];
    for (int round = 0; round < kLaborRounds; ++round) {
      V low, high;
      V::multiply(c0, V::splat(kLaborFactor), low, high);
      c0 = high ^ V::splat(k) ^ c1;
      c1 = low;
      k += kLaborStep;
    }
    uint32_t mask = V::below(c0, V::splat(threshold)) & (0xFFFFFFFFu >> (32 - lanes));
    for (; mask != 0; mask &= mask - 1)
      kept[num_kept++] = static_cast<uint32_t>(first + __builtin_ctz(mask));
  }
  return num_kept;
}

}  // namespace gnnmg::sample
