// The partition book: the part of each node.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/tensor.h"

namespace gnnmg::partition {

inline constexpr int32_t kMaxParts = 65535;

// A table with one or two bytes per node, or, if parts are ranges of ids, only their ends.
// Immutable; copies share. Any thread.
class Book {
 public:
  // `table` is u8 [N], or [N] of 16-bit words, which have the type bf16 here and in .npy files (see
  // io/npy.h). Error(kInvalidArgument) for another type or shape or a number of parts outside 1 to
  // kMaxParts; kRange names a node that belongs to no part.
  static Book from_table(base::Tensor table, int32_t num_parts);
  // Makes a table of the smallest type that fits the number of parts.
  static Book from_parts(std::span<const uint16_t> parts, int32_t num_parts);
  // Part p has the nodes starts[p] to starts[p + 1] - 1. Error(kInvalidArgument) unless the first
  // start is 0 and the starts ascend.
  static Book from_ranges(std::vector<int64_t> starts);

  int32_t num_parts() const { return num_parts_; }
  int64_t num_nodes() const { return num_nodes_; }
  // `id` in [0, num_nodes()).
  int32_t part_of(int64_t id) const {
    if (narrow_) return narrow_[id];
    if (wide_) return wide_[id];
    return part_in_ranges(id);
  }
  // Writes the part of each id. Error(kRange) names the first id that is not a node.
  void parts_of(std::span<const int64_t> ids, std::span<uint16_t> parts) const;
  // Undefined if parts are ranges.
  const base::Tensor& table() const { return table_; }
  // num_parts() + 1 entries; empty if there is a table.
  std::span<const int64_t> ranges() const { return starts_; }

 private:
  Book() = default;
  int32_t part_in_ranges(int64_t id) const;

  int32_t num_parts_ = 1;
  int64_t num_nodes_ = 0;
  base::Tensor table_;
  const uint8_t* narrow_ = nullptr;  // the table's entries if they are one byte wide
  const uint16_t* wide_ = nullptr;
  std::vector<int64_t> starts_;
};

}  // namespace gnnmg::partition
