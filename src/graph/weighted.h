// Draws items with probability proportional to integer weights in constant time: alias tables
// (Walker 1977, built as in Vose 1991), in integers throughout, so that equal weights give equal
// draws on every machine.
#pragma once

#include <cstdint>
#include <span>

namespace gnnmg::graph {

// One slot of a table of n: the slot itself is drawn when the 32-bit coin is below `threshold`,
// else `alias`.
struct AliasSlot {
  uint32_t threshold = 0;
  int32_t alias = 0;
};

// Fills `table` for `weights` (0 or more, not all 0; n times the largest below 2^63; fewer than
// 2^31). Serial; different tables may be made concurrently.
void make_alias_table(std::span<const int64_t> weights, std::span<AliasSlot> table);

// Maps `bits` to a number in [0, bound), uniform up to bound / 2^64.
inline int64_t scaled(uint64_t bits, uint64_t bound) noexcept {
  return static_cast<int64_t>(static_cast<unsigned __int128>(bits) * bound >> 64);
}

// Draws with two numbers: a slot that is uniform over the table, and a coin of 32 random bits.
inline int32_t chosen(AliasSlot at, int32_t slot, uint32_t coin) noexcept {
  return coin < at.threshold ? slot : at.alias;
}

}  // namespace gnnmg::graph
