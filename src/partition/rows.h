// Finds the row of a node in a part, whose rows are in ascending order of node ids.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"

namespace gnnmg::partition {

// A bitmap of a part's nodes with a count before each 64 of them: N/4 bytes, whatever the number of
// rows; one memory access. For a part of less than a 64th of the nodes, its ids and an index into
// them: 16 bytes a row, three accesses. Immutable. Any thread.
class Rows {
 public:
  // `ids` are the ids of a part's nodes, ascending. Error(kRange) for an id outside [0, num_nodes),
  // kInvalidArgument if they do not ascend.
  Rows(std::span<const int64_t> ids, int64_t num_nodes) : num_nodes_(num_nodes) {
    for (size_t row = 0; row < ids.size(); ++row) {
      const int64_t id = ids[row];
      if (id < 0 || id >= num_nodes)
        base::fail(base::Status::kRange, "row ", row, " is node ", id, ", expected 0 to ",
                   num_nodes - 1);
      if (row > 0 && id <= ids[row - 1])
        base::fail(base::Status::kInvalidArgument, "row ", row, " is node ", id,
                   ", expected more than ", ids[row - 1], ", the node of the row before it");
    }
    if (static_cast<int64_t>(ids.size()) < num_nodes / kFew)
      list(ids);
    else
      mark(ids);
  }

  int64_t num_nodes() const { return num_nodes_; }
  // Calls f(row, id) for each row in turn.
  template <typename F>
  void for_each(F f) const {
    for (size_t row = 0; row < ids_.size(); ++row) f(static_cast<int64_t>(row), ids_[row]);
    for (size_t w = 0; w < words_.size(); ++w) {
      auto row = static_cast<int64_t>(words_[w].before);
      for (uint64_t bits = words_[w].bits; bits != 0; bits &= bits - 1)
        f(row++, static_cast<int64_t>(w) * 64 + std::countr_zero(bits));
    }
  }
  // Returns the row of node `id`, in [0, num_nodes()), or -1 if the part does not have it.
  int64_t row_of(int64_t id) const {
    if (words_.empty()) return listed_row_of(id);
    const Word& word = words_[id / 64];
    const uint64_t bit = uint64_t{1} << id % 64;
    if (!(word.bits & bit)) return -1;
    return static_cast<int64_t>(word.before + std::popcount(word.bits & (bit - 1)));
  }

 private:
  struct Word {
    uint64_t bits = 0;
    uint64_t before = 0;  // number of rows in all earlier words
  };

  void mark(std::span<const int64_t> ids) {
    words_.resize(static_cast<size_t>((num_nodes_ + 63) / 64));
    for (const int64_t id : ids) words_[id / 64].bits |= uint64_t{1} << id % 64;
    for (size_t w = 1; w < words_.size(); ++w)
      words_[w].before = words_[w - 1].before + std::popcount(words_[w - 1].bits);
  }
  void list(std::span<const int64_t> ids) {
    ids_.assign(ids.begin(), ids.end());
    shift_ = std::bit_width(static_cast<uint64_t>(num_nodes_) / (ids.size() + 1));
    starts_.resize((static_cast<uint64_t>(num_nodes_) >> shift_) + 2);
    for (const int64_t id : ids) ++starts_[(id >> shift_) + 1];
    for (size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
  }
  int64_t listed_row_of(int64_t id) const {
    if (ids_.empty()) return -1;
    const auto begin = ids_.begin() + starts_[id >> shift_];
    const auto end = ids_.begin() + starts_[(id >> shift_) + 1];
    const auto found = std::lower_bound(begin, end, id);
    return found == end || *found != id ? -1 : found - ids_.begin();
  }

  static constexpr int64_t kFew = 64;
  int64_t num_nodes_;
  std::vector<Word> words_;  // or, of few rows:
  std::vector<int64_t> ids_;
  std::vector<int64_t> starts_;  // [i]: the first row whose id >> shift_ is i or more
  int shift_ = 0;
};

}  // namespace gnnmg::partition
