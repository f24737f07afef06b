// All parts of a graph as one process sees them: its own, and those that it asks others about.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/memory.h"
#include "dist/channel.h"
#include "dist/part.h"
#include "graph/elsewhere.h"
#include "partition/book.h"

namespace gnnmg::dist {

// The content that every part's column of this number has.
struct ColumnFacts {
  std::string name;
  base::DType dtype = base::DType::kF32;
  int64_t num_cols = 0;
  bool sparse = false;
  int64_t row_bytes() const { return num_cols * base::dtype_size(dtype); }
};

struct PartsConfig {
  int64_t deadline_ms = 10'000;           // limit for one request
  int64_t piece_bytes = 1 << 20;          // rows in one answer; at least one row
  int32_t max_in_flight = 8;              // pieces under way to each part
  std::shared_ptr<const void> keep = {};  // lives as long as the parts
};

// Rows and edges that the process has asked others for, since it began.
struct Traffic {
  std::atomic<int64_t> questions{0}, asked_bytes{0}, answered_bytes{0};
  std::atomic<int64_t> remote_rows{0}, cached_rows{0}, own_rows{0};  // rows of columns, not degrees
};

// Immutable but for its traffic. Any thread.
class Parts {
 public:
  // `own[p]` is part p, or null where `channel` has to be asked; it may be null where none has to.
  // Error(kInvalidArgument) where the book, the parts and the columns do not agree, kUnsupported
  // for more than kMaxEdgeColumns columns of edges.
  Parts(partition::Book book, std::vector<std::shared_ptr<const Part>> own,
        std::vector<ColumnFacts> columns, std::unique_ptr<Channel> channel, uint64_t stamp,
        const PartsConfig& config = {}, std::vector<graph::EdgeColumn> edge_columns = {});

  const partition::Book& book() const { return book_; }
  int64_t num_nodes() const { return book_.num_nodes(); }
  int32_t num_parts() const { return book_.num_parts(); }
  bool wide() const { return num_nodes() > INT32_MAX; }
  const Part* own(int32_t part) const { return own_[part].get(); }
  // Includes columns made of edges. Error(kRange) for a number that is no column's.
  const ColumnFacts& column(int32_t number) const;
  const std::vector<graph::EdgeColumn>& edge_columns() const { return edge_columns_; }
  // Returns the number of the column with the sums of these weights. Error(kNotFound) if there is
  // no edge column of this name with one number per edge.
  int32_t weight_sums_column(std::string_view weights) const;
  const PartsConfig& config() const { return config_; }
  Traffic& traffic() const { return traffic_; }

  // A question of this process: numbered, stamped, with ids of this graph's width.
  Question question(Op op) const;
  // Sends it; `message` must outlast the call.
  std::unique_ptr<Call> ask(int32_t part, const Question& question, std::span<const int64_t> ids,
                            Message& message) const;
  // Waits for the answer and hands it to `read`. Errors name the part.
  template <typename Read>
  void answer(int32_t part, Call& call, const base::CancelToken& cancel, Read read) const {
    try {
      const auto message = call.wait(base::Deadline::after_ms(config_.deadline_ms), cancel);
      traffic_.answered_bytes.fetch_add(static_cast<int64_t>(message.size()),
                                        std::memory_order_relaxed);
      read(message);
    } catch (const base::Error& error) {
      throw base::Error(error.status(), base::text("part ", part, ": ", error.what()), error.rank(),
                        error.system_error());
    }
  }

 private:
  void check_own(int32_t part) const;

  partition::Book book_;
  std::vector<std::shared_ptr<const Part>> own_;
  std::vector<ColumnFacts> columns_;
  std::vector<graph::EdgeColumn> edge_columns_;
  std::unique_ptr<Channel> channel_;
  uint64_t stamp_;
  PartsConfig config_;
  mutable std::atomic<uint64_t> next_request_{1};
  mutable Traffic traffic_;
};

inline void push(base::PageVector<int64_t>& list, int64_t value) {
  list.resize_keep(list.size() + 1);
  list[list.size() - 1] = value;
}

// Ids by part: for each part those of its nodes, in order, and where they stood.
struct ByPart {
  std::vector<base::PageVector<int64_t>> ids, places;
  base::PageVector<uint16_t> part;  // part of each id

  // `with_places`: fills `places`. Error(kRange) naming the first id that is no node.
  void split(const partition::Book& book, std::span<const int64_t> all, bool with_places);
};

}  // namespace gnnmg::dist
