// The table that numbers the nodes of a mini-batch: open addressing, with key and number in one
// slot. Taking the next stamp empties it, so that its pages and its size stay from batch to batch.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/memory.h"

namespace gnnmg::sample {

// Keys of 32 bits. A slot is [key: 32][stamp: 32 - bits][number: bits] for 2^bits slots; a slot
// with an old stamp is free. The table is at most half full, so numbers fit.
class NarrowTable {
 public:
  using Key = uint32_t;

  // Empties the table.
  void begin() {
    if (slots_.size() == 0) resize(kFirstBits);
    if (stamp_ == stamp_mask_) clear();
    ++stamp_;
  }
  // Makes room for numbers up to `count`; `nodes` are the nodes numbered so far, by number.
  void reserve(int64_t count, std::span<const int64_t> nodes) {
    if (2 * count <= slots_.size()) return;
    resize(std::bit_width(static_cast<uint64_t>(2 * count - 1)));
    ++stamp_;
    for (size_t i = 0; i < nodes.size(); ++i)
      put(static_cast<Key>(nodes[i]), static_cast<uint32_t>(i));
  }
  void prefetch(Key key) const { __builtin_prefetch(slots_.data() + home(key), 1); }
  // Returns the number of `key`; a new key gets the number `next`.
  uint32_t put(Key key, uint32_t next) {
    const uint64_t wanted = uint64_t{key} << (32 - bits_) | stamp_;
    uint64_t at = home(key);
    uint64_t slot = slots_[at];
    while ((slot >> bits_ & stamp_mask_) == stamp_ && slot >> bits_ != wanted) {
      at = (at + 1) & number_mask_;
      slot = slots_[at];
    }
    // No branch on whether the key is new, because that is as good as random.
    const uint64_t fresh = wanted << bits_ | next;
    slot = slot >> bits_ == wanted ? slot : fresh;
    slots_[at] = slot;
    return static_cast<uint32_t>(slot & number_mask_);
  }
  // Returns the number of `key`, or -1.
  int64_t find(Key key) const {
    const uint64_t wanted = uint64_t{key} << (32 - bits_) | stamp_;
    for (uint64_t at = home(key);; at = (at + 1) & number_mask_) {
      const uint64_t slot = slots_[at];
      if (slot >> bits_ == wanted) return slot & number_mask_;
      if ((slot >> bits_ & stamp_mask_) != stamp_) return -1;
    }
  }

 private:
  static constexpr int kFirstBits = 12;

  uint64_t home(Key key) const { return (key * 0x9E3779B1u) >> (32 - bits_); }
  void resize(int bits) {
    slots_.resize_discard(int64_t{1} << bits);
    bits_ = bits;
    number_mask_ = (uint64_t{1} << bits) - 1;
    stamp_mask_ = (uint64_t{1} << (32 - bits)) - 1;
    clear();
  }
  void clear() {
    std::memset(slots_.data(), 0, slots_.size() * sizeof(uint64_t));
    stamp_ = 0;
  }

  base::PageVector<uint64_t> slots_;
  int bits_ = 0;
  uint64_t number_mask_ = 0;
  uint64_t stamp_mask_ = 0;
  uint64_t stamp_ = 0;
};

// Keys of 64 bits, for graphs whose ids need them.
class WideTable {
 public:
  using Key = uint64_t;

  void begin() {
    if (slots_.size() == 0) resize(kFirstBits);
    if (stamp_ == UINT32_MAX) clear();
    ++stamp_;
  }
  void reserve(int64_t count, std::span<const int64_t> nodes) {
    if (2 * count <= slots_.size()) return;
    resize(std::bit_width(static_cast<uint64_t>(2 * count - 1)));
    ++stamp_;
    for (size_t i = 0; i < nodes.size(); ++i)
      put(static_cast<Key>(nodes[i]), static_cast<uint32_t>(i));
  }
  void prefetch(Key key) const { __builtin_prefetch(slots_.data() + home(key), 1); }
  uint32_t put(Key key, uint32_t next) {
    uint64_t at = home(key);
    while (slots_[at].stamp == stamp_ && slots_[at].key != key) at = (at + 1) & mask_;
    Slot& slot = slots_[at];
    if (slot.stamp != stamp_) slot = {key, stamp_, next};
    return slot.number;
  }
  int64_t find(Key key) const {
    for (uint64_t at = home(key);; at = (at + 1) & mask_) {
      if (slots_[at].stamp != stamp_) return -1;
      if (slots_[at].key == key) return slots_[at].number;
    }
  }

 private:
  static constexpr int kFirstBits = 12;
  struct Slot {
    uint64_t key;
    uint32_t stamp;
    uint32_t number;
  };

  uint64_t home(Key key) const { return key * 0x9E3779B97F4A7C15u >> (64 - bits_); }
  void resize(int bits) {
    slots_.resize_discard(int64_t{1} << bits);
    bits_ = bits;
    mask_ = (uint64_t{1} << bits) - 1;
    clear();
  }
  void clear() {
    std::memset(static_cast<void*>(slots_.data()), 0, slots_.size() * sizeof(Slot));
    stamp_ = 0;
  }

  base::PageVector<Slot> slots_;
  int bits_ = 0;
  uint64_t mask_ = 0;
  uint32_t stamp_ = 0;
};

}  // namespace gnnmg::sample
