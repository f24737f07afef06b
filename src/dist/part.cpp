#include "dist/part.h"

#include <utility>

#include "base/error.h"
#include "dist/node_columns.h"
#include "sample/workspace.h"

namespace gnnmg::dist {

using base::fail;
using base::Status;

Part::Part(std::span<const int64_t> ids, int64_t num_nodes, std::vector<graph::Csc> topology,
           Columns columns, Columns edge_columns)
    : rows_(std::make_shared<const partition::Rows>(ids, num_nodes)),
      topology_(std::move(topology)),
      columns_(std::move(columns)),
      edge_columns_(std::move(edge_columns)),
      wide_(num_nodes > INT32_MAX) {
  const auto num_rows = static_cast<int64_t>(ids.size());
  for (size_t type = 0; type < topology_.size(); ++type) {
    const graph::Csc& csc = topology_[type];
    if (csc.num_targets != num_rows || csc.num_sources != num_nodes || csc.wide() != wide_)
      fail(Status::kInvalidArgument, "edge type ", type, " of a part joins ", csc.num_sources,
           " sources to ", csc.num_targets, " rows, expected ", num_nodes, " and ", num_rows);
  }
  for (size_t number = 0; number < columns_.size(); ++number) {
    if (columns_[number]->num_rows() != num_rows)
      fail(Status::kInvalidArgument, "column ", number, " of a part has ",
           columns_[number]->num_rows(), " rows, expected ", num_rows);
  }
  const int64_t num_edges = topology_.empty() ? 0 : topology_[0].num_edges();
  for (size_t number = 0; number < edge_columns_.size(); ++number) {
    const feature::FeatureStore& column = *edge_columns_[number];
    if (column.num_rows() != num_edges || column.sparse())
      fail(Status::kInvalidArgument, "column ", number, " of the edges of a part has ",
           column.num_rows(), column.sparse() ? " sparse" : "", " rows, expected ", num_edges,
           " dense ones");
    weight_sums_.push_back(!topology_.empty() && column.num_cols() == 1
                               ? make_weight_store(topology_[0], rows_, edge_columns_[number])
                               : nullptr);
  }
  if (!topology_.empty()) degrees_ = make_degree_store(topology_[0], rows_);
}

int64_t Part::num_nodes() const { return rows_->num_nodes(); }

const graph::Csc& Part::topology(int32_t edge_type) const {
  if (edge_type < 0 || static_cast<size_t>(edge_type) >= topology_.size())
    fail(Status::kRange, "edge type ", edge_type, " of a part, expected 0 to ",
         static_cast<int64_t>(topology_.size()) - 1);
  return topology_[edge_type];
}

const feature::FeatureStore& Part::column(int32_t number) const {
  if (number == kDegreesColumn && degrees_) return *degrees_;
  const int64_t weights = int64_t{number} - kWeightSumsColumn;
  if (weights >= 0 && weights < num_edge_columns() && weight_sums_[weights])
    return *weight_sums_[weights];
  if (number < 0 || number >= num_columns())
    fail(Status::kRange, "column ", number, " of a part, expected 0 to ", num_columns() - 1);
  return *columns_[number];
}

const feature::FeatureStore& Part::edge_column(int32_t number) const {
  if (number < 0 || number >= num_edge_columns())
    fail(Status::kRange, "column ", number, " of the edges of a part, expected 0 to ",
         num_edge_columns() - 1);
  return *edge_columns_[number];
}

void Part::rows_of(std::span<const int64_t> ids, int64_t* rows) const {
  for (size_t i = 0; i < ids.size(); ++i) {
    rows[i] = ids[i] < 0 || ids[i] >= num_nodes() ? -1 : rows_->row_of(ids[i]);
    if (rows[i] < 0)
      fail(Status::kRange, "node ", ids[i], ", at ", i, " of a question, is none of this part's");
  }
}

namespace {

// The columns of edges that a question asks for.
std::vector<const feature::FeatureStore*> asked_columns(const Part& part,
                                                        const Question& question) {
  std::vector<const feature::FeatureStore*> columns;
  for (int32_t number = 0; number < kMaxEdgeColumns; ++number)
    if (question.edge_columns >> number & 1) columns.push_back(&part.edge_column(number));
  if (!columns.empty() && question.edge_type != 0)
    fail(Status::kRange, "rows of edges of type ", question.edge_type, ", expected type 0");
  return columns;
}

}  // namespace

void pick(const Part& part, std::span<const int64_t> ids, const Question& question,
          PickScratch& scratch, const base::CancelToken& cancel, Picks& picks) {
  const graph::Csc& csc = part.topology(question.edge_type);
  // Without ids an edge's id is its place in the whole, which one part alone cannot know.
  if (question.edge_ids && !csc.edge_ids.defined() && csc.num_targets != part.num_nodes())
    fail(Status::kUnsupported,
         "edge ids were asked of a part that has none; save the parts with edge ids");
  const auto num_rows = static_cast<int64_t>(ids.size());
  scratch.rows.resize_discard(num_rows);
  part.rows_of(ids, scratch.rows.data());
  const std::vector<const feature::FeatureStore*> columns = asked_columns(part, question);
  picks.clear();
  picks.edge_rows.resize(columns.size());
  picks.counts.resize_discard(num_rows);
  const std::span<const int64_t> rows = scratch.rows.span();
  for (int64_t row = 0; row < num_rows;) {
    cancel.check("sampling");
    sample::Picker& picker = scratch.picker;
    const int64_t taken = picker.pick(csc, rows.subspan(row), ids.subspan(row), question.draw);
    const int64_t* ends = picker.ends();
    for (int64_t r = 0; r < taken; ++r) picks.counts[row + r] = ends[r] - (r > 0 ? ends[r - 1] : 0);

    const std::span<const int64_t> places(picker.places(), picker.num_picks());
    const int64_t before = picks.sources.size();
    sample::check_block_edges(before + picker.num_picks());
    picks.sources.resize_keep(before + picker.num_picks());
    graph::visit_indices(csc, [&](auto sources) {
      int64_t* out = picks.sources.data() + before;
      for (const int64_t place : places) *out++ = sources[place];
    });
    if (question.edge_ids) {
      picks.edge_ids.resize_keep(before + picker.num_picks());
      sample::read_edge_ids(csc, places, picks.edge_ids.data() + before);
    }
    for (size_t i = 0; i < columns.size(); ++i) {
      const int64_t bytes = columns[i]->num_cols() * base::dtype_size(columns[i]->dtype());
      picks.edge_rows[i].resize_keep((before + picker.num_picks()) * bytes);
      columns[i]->gather(places, picks.edge_rows[i].data() + before * bytes, nullptr);
    }
    row += taken;
  }
}

}  // namespace gnnmg::dist
