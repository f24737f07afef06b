// The table that numbers nodes on a GPU: open addressing in slots of 64 bits, with the key high and
// the position low, so that inserting an existing key keeps the smaller position, in any order.
#pragma once

#include <cstdint>

#include "cuda/grid/portable.h"

namespace gnnmg::cuda {

inline constexpr uint64_t kFreeSlot = ~uint64_t{0};  // memory filled with 0xFF
inline constexpr int kFreeByte = 0xFF;

// Keys below 2^32 - 1. Holds at least one key fewer than it has slots.
struct IdTable {
  uint64_t* slots;
  uint32_t capacity;

  GNNMG_BOTH static uint64_t entry(uint32_t key, uint32_t position) {
    return uint64_t{key} << 32 | position;
  }
  GNNMG_BOTH static uint32_t position_of(uint64_t slot) { return static_cast<uint32_t>(slot); }
  GNNMG_BOTH uint32_t home(uint32_t key) const {
    return static_cast<uint32_t>(uint64_t{key * 0x9E3779B1u} * capacity >> 32);
  }
  GNNMG_BOTH uint32_t next(uint32_t at) const { return at + 1 == capacity ? 0 : at + 1; }
  // Returns the key's slot. A slot never changes its key, and its position only decreases, so a
  // stale read does no harm.
  GNNMG_BOTH uint32_t insert(uint32_t key, uint32_t position) const {
    const uint64_t mine = entry(key, position);
    for (uint32_t at = home(key);; at = next(at)) {
      uint64_t slot = load_atomically(slots + at);
      if (slot == kFreeSlot) {
        slot = atomic_compare_exchange(slots + at, kFreeSlot, mine);
        if (slot == kFreeSlot) return at;
      }
      if (slot >> 32 == key) {
        if (position < position_of(slot)) atomic_min(slots + at, mine);
        return at;
      }
    }
  }
  // Returns the position of an existing key.
  GNNMG_BOTH uint32_t find(uint32_t key) const {
    uint32_t at = home(key);
    while (slots[at] >> 32 != key) at = next(at);
    return position_of(slots[at]);
  }
};

}  // namespace gnnmg::cuda
