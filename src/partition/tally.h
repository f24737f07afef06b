// Sums weights by label for the neighbors of one row.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace gnnmg::partition {

// An open-addressing table. Emptying it costs as much as it holds, so the cost of a row depends
// only on its own degree. Labels are listed in order of first appearance.
class Tally {
 public:
  struct Entry {
    uint32_t label;
    uint32_t slot;
    int64_t weight;
  };

  Tally() : slots_(64, kFree) {}

  void clear() {
    for (const Entry& entry : entries_) slots_[entry.slot] = kFree;
    entries_.clear();
  }
  void add(uint32_t label, int64_t weight) {
    uint32_t slot = place(label);
    while (slots_[slot] != kFree) {
      Entry& entry = entries_[slots_[slot]];
      if (entry.label == label) {
        entry.weight += weight;
        return;
      }
      slot = (slot + 1) & mask();
    }
    slots_[slot] = static_cast<uint32_t>(entries_.size());
    entries_.push_back({label, slot, weight});
    if (entries_.size() * 2 > slots_.size()) grow();
  }
  std::span<const Entry> entries() const { return entries_; }

 private:
  static constexpr uint32_t kFree = ~uint32_t{0};
  uint32_t mask() const { return static_cast<uint32_t>(slots_.size() - 1); }
  uint32_t place(uint32_t label) const {
    return (label * 0x9E3779B1u) >> (32 - std::countr_zero(slots_.size()));
  }
  void grow() {
    slots_.assign(slots_.size() * 2, kFree);
    for (uint32_t i = 0; i < entries_.size(); ++i) {
      uint32_t slot = place(entries_[i].label);
      while (slots_[slot] != kFree) slot = (slot + 1) & mask();
      slots_[slot] = i;
      entries_[i].slot = slot;
    }
  }

  std::vector<uint32_t> slots_;  // positions in entries_
  std::vector<Entry> entries_;
};

}  // namespace gnnmg::partition
