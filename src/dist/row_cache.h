// Rows of some nodes in one table. Another choice of nodes can replace the first in the same memory
// while threads read.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/cancel.h"
#include "base/memory.h"
#include "partition/rows.h"

namespace gnnmg::dist {

class RowCache {
 public:
  // The rows at one time. They stay as they are while a thread has a reference.
  class Choice {
   public:
    // `nodes` ascend; the row of nodes[i] is row slots[i] of the table.
    Choice(std::span<const int64_t> nodes, std::vector<int32_t> slots, int64_t num_nodes,
           const uint8_t* table);
    ~Choice();
    int64_t size() const { return static_cast<int64_t>(slots_.size()); }
    // The row of a node in the table; -1 if it is not there.
    int64_t slot_of(int64_t node) const {
      const int64_t row = rows_.row_of(node);
      return row < 0 ? -1 : slots_[row];
    }
    const uint8_t* table() const { return table_; }

   private:
    friend class RowCache;
    const partition::Rows rows_;
    const std::vector<int32_t> slots_;
    const uint8_t* const table_;
    std::promise<void> unread_;  // kept once nobody reads it any more
  };

  RowCache(int64_t num_nodes, int64_t row_bytes) : num_nodes_(num_nodes), row_bytes_(row_bytes) {}

  // Null before the first replace(). Any thread.
  std::shared_ptr<const Choice> read() const;

  // Writes the row of nodes[i] to row slots[i] of the table.
  using Fetch = std::function<void(std::span<const int64_t> nodes, std::span<const int32_t> slots,
                                   uint8_t* table)>;
  // Replaces the rows by those of `nodes`, which ascend. Rows that are here already stay where they
  // are; `fetch` gets the others, after the rows that leave were read for the last time. The table
  // takes its memory in the first call and no more later. If an exception passes through, some rows
  // are left out. Error(kInvalidArgument) for nodes that do not ascend, and for more nodes than in
  // the first call; kCancelled. One thread at a time.
  void replace(std::span<const int64_t> nodes, const Fetch& fetch, const base::CancelToken& cancel);

 private:
  void publish(std::span<const int64_t> nodes, std::vector<int32_t> slots);
  void wait_for_readers(const base::CancelToken& cancel);

  const int64_t num_nodes_, row_bytes_;
  base::PageVector<uint8_t> table_;
  int64_t capacity_ = 0;  // rows of the table
  mutable std::mutex mutex_;
  std::shared_ptr<Choice> now_;  // guarded by mutex_; only replace() changes it
  std::future<void> now_unread_;
  std::vector<std::future<void>> leaving_;  // earlier choices that may have readers
};

}  // namespace gnnmg::dist
