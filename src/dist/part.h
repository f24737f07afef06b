// A part: the rows that a process has of some of a graph's nodes. Ids are those of the whole graph
// everywhere; nothing is numbered anew.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dist/wire.h"
#include "feature/store.h"
#include "graph/csc.h"
#include "partition/rows.h"
#include "sample/picker.h"

namespace gnnmg::dist {

// The number of a column that every part has beside those it is given, made of its topology: i64
// [rows, 2], the fields of sample::NodeDegree of edge type 0.
inline constexpr int32_t kDegreesColumn = INT32_MAX;
// The numbers of more such columns: for edge column k, kWeightSumsColumn + k has the
// graph::WeightSums of these weights, f64 [rows, 3], if the column has one number per edge.
inline constexpr int32_t kWeightSumsColumn = INT32_MAX - kMaxEdgeColumns;
constexpr bool is_made_of_edges(int32_t column) { return column >= kWeightSumsColumn; }

// Immutable once made. Any thread.
class Part {
 public:
  // `ids` are the part's nodes, ascending. `topology` has a CSC for each edge type whose target t
  // is node ids[t]; its sources and edge ids are the whole graph's, num_sources is num_nodes. A
  // column has a row for each of the ids; columns are in the order that all parts share. So are
  // columns of edges, dense ones, which have a row for each entry of edge type 0.
  // Error(kInvalidArgument) where these do not agree, and the errors of partition::Rows.
  using Columns = std::vector<std::shared_ptr<const feature::FeatureStore>>;
  Part(std::span<const int64_t> ids, int64_t num_nodes, std::vector<graph::Csc> topology,
       Columns columns, Columns edge_columns = {});

  int64_t num_nodes() const;           // number of nodes of the whole graph
  bool wide() const { return wide_; }  // ids of 8 bytes
  // The columns passed to the constructor.
  int32_t num_columns() const { return static_cast<int32_t>(columns_.size()); }
  // Error(kRange) for a number that is none of the part's.
  const graph::Csc& topology(int32_t edge_type) const;
  const feature::FeatureStore& column(int32_t number) const;
  int32_t num_edge_columns() const { return static_cast<int32_t>(edge_columns_.size()); }
  const feature::FeatureStore& edge_column(int32_t number) const;
  // The row of each id. Error(kRange) naming the first that is no node of this part.
  void rows_of(std::span<const int64_t> ids, int64_t* rows) const;

 private:
  std::shared_ptr<const partition::Rows> rows_;
  std::vector<graph::Csc> topology_;
  Columns columns_, edge_columns_;
  std::shared_ptr<const feature::FeatureStore> degrees_;  // null without edge types
  Columns weight_sums_;  // [edge column]; null if that has several numbers per edge
  bool wide_;
};

// Buffers for picking for a list of nodes, kept from call to call.
struct PickScratch {
  sample::Picker picker;
  base::PageVector<int64_t> rows;
};

// Replaces `picks` by the hop's draws for `ids`, which are nodes of the part. Error(kRange) for
// others, kCancelled between two chunks of rows.
void pick(const Part& part, std::span<const int64_t> ids, const Question& question,
          PickScratch& scratch, const base::CancelToken& cancel, Picks& picks);

}  // namespace gnnmg::dist
