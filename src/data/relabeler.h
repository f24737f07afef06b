// Numbers of any size to numbers from 0, for ids and categories in text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/memory.h"
#include "data/numbers.h"

namespace gnnmg::data {

// Numbers ids of any size in order of appearance: a table of slots that hold positions in the list
// of ids, at most half full.
class Relabeler {
 public:
  int64_t number(int64_t id) {
    if (2 * (ids_.size() + 1) > slots_.size()) grow();
    int64_t slot = slot_of(id);
    while (slots_[slot] >= 0) {
      if (ids_[slots_[slot]] == id) return slots_[slot];
      slot = (slot + 1) & (slots_.size() - 1);
    }
    if (ids_.size() >= std::numeric_limits<int32_t>::max())
      base::fail(base::Status::kRange, "more than ", std::numeric_limits<int32_t>::max(),
                 " different ids");
    slots_[slot] = static_cast<int32_t>(ids_.size());
    ids_.push_back(id);
    return slots_[slot];
  }
  int64_t count() const { return ids_.size(); }
  int64_t id(int64_t number) const { return ids_[number]; }
  // The ids in the order of their numbers. Empties the table.
  base::Tensor take() {
    base::Tensor ids = base::Tensor::empty(base::DType::kI64, {count()});
    ids_.drain_into(ids.as<int64_t>());
    slots_ = {};
    return ids;
  }

 private:
  int64_t slot_of(int64_t id) const {
    uint64_t hash = static_cast<uint64_t>(id) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 32;
    return static_cast<int64_t>(hash & static_cast<uint64_t>(slots_.size() - 1));
  }
  void grow() {
    const int64_t size = std::max<int64_t>(64, slots_.size() * 2);
    slots_ = {};  // the ids know all that was in it
    slots_.resize_discard(size);
    std::fill(slots_.begin(), slots_.end(), -1);
    for (int64_t i = 0; i < ids_.size(); ++i) {
      int64_t slot = slot_of(ids_[i]);
      while (slots_[slot] >= 0) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = static_cast<int32_t>(i);
    }
  }
  base::PageVector<int32_t> slots_;
  Pieces<int64_t> ids_;
};

}  // namespace gnnmg::data
