// Finds the row of a node in a part, whose rows are in ascending order of node ids.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"

namespace gnnmg::partition {

// A bitmap of a part's nodes with a count before each 64 of them: N/8 + N/8 bytes, whatever the
// number of rows. Immutable. Any thread.
class Rows {
 public:
  // `ids` are the ids of a part's nodes, ascending. Error(kRange) for an id outside [0, num_nodes),
  // kInvalidArgument if they do not ascend.
  Rows(std::span<const int64_t> ids, int64_t num_nodes)
      : num_nodes_(num_nodes), words_((num_nodes + 63) / 64) {
    for (size_t row = 0; row < ids.size(); ++row) {
      const int64_t id = ids[row];
      if (id < 0 || id >= num_nodes)
        base::fail(base::Status::kRange, "row ", row, " is node ", id, ", expected 0 to ",
                   num_nodes - 1);
      if (row > 0 && id <= ids[row - 1])
        base::fail(base::Status::kInvalidArgument, "row ", row, " is node ", id,
                   ", expected more than ", ids[row - 1], ", the node of the row before it");
      words_[id / 64].bits |= uint64_t{1} << id % 64;
    }
    for (size_t w = 1; w < words_.size(); ++w)
      words_[w].before = words_[w - 1].before + std::popcount(words_[w - 1].bits);
  }

  int64_t num_nodes() const { return num_nodes_; }
  // Calls f(row, id) for each row in turn.
  template <typename F>
  void for_each(F f) const {
    for (size_t w = 0; w < words_.size(); ++w) {
      auto row = static_cast<int64_t>(words_[w].before);
      for (uint64_t bits = words_[w].bits; bits != 0; bits &= bits - 1)
        f(row++, static_cast<int64_t>(w) * 64 + std::countr_zero(bits));
    }
  }
  // Returns the row of node `id`, in [0, num_nodes()), or -1 if the part does not have it.
  int64_t row_of(int64_t id) const {
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
  int64_t num_nodes_;
  std::vector<Word> words_;
};

}  // namespace gnnmg::partition
