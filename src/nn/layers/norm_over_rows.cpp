#include "nn/layers/norm_over_rows.h"

#include <ATen/ops/cat.h>

#include <algorithm>
#include <array>

#include "nn/ops/readout.h"

namespace gnnmg::nn {
namespace {

// Adds rows to a sum [1, width] in their order. Undefined: no rows yet.
at::Tensor add_rows(const at::Tensor& sum, const at::Tensor& rows, const Execution& execution) {
  const at::Tensor all = sum.defined() ? at::cat({sum, rows}) : rows;
  const std::array<int64_t, 2> graph = {0, all.size(0)};
  // The sum may be in memory that serves the next pass too.
  return readout(all, graph, Readout::kSum, Ties::kSplit, execution).clone();
}

}  // namespace

at::Tensor NormsOverRows::apply(const NormLayer& norm, const at::Tensor& rows,
                                const Execution& execution) {
  auto known = std::ranges::find(norms_, &norm, &Known::norm);
  if (known == norms_.end()) {
    norms_.push_back({&norm, {}});
    known = std::prev(norms_.end());
  }
  RowStatistics& statistics = known->statistics;
  if (statistics.pass == norm.row_passes()) return norm.by_statistics(rows, statistics);
  // A norm gets the rows of the norm before it, once these are normalized.
  const bool before_known = known == norms_.begin() || std::prev(known)->statistics.pass ==
                                                           std::prev(known)->norm->row_passes();
  if (before_known && rows.size(0) > 0) {
    statistics.sum = add_rows(statistics.sum, norm.summands(rows, statistics), execution);
    statistics.rows += rows.size(0);
  }
  return rows;
}

void NormsOverRows::end_pass() {
  for (Known& known : norms_) {
    if (known.statistics.pass == known.norm->row_passes()) continue;
    known.norm->end_row_pass(known.statistics);
    return;
  }
}

bool NormsOverRows::finished() const {
  return std::ranges::all_of(
      norms_, [](const Known& known) { return known.statistics.pass == known.norm->row_passes(); });
}

}  // namespace gnnmg::nn
