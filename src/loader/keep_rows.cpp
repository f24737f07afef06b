#include "loader/keep_rows.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "dist/part_dataset.h"
#include "loader/part_shares.h"

namespace gnnmg::loader {
namespace {

// Parts of the seeds; empty: the parts that are here.
std::vector<int32_t> parts_of_seeds(const PlanConfig& plan, int32_t num_parts) {
  std::vector<int32_t> parts(static_cast<size_t>(num_parts));
  std::iota(parts.begin(), parts.end(), 0);
  if (plan.partition != Partition::kParts) return parts;
  if (plan.process_of_rank.empty()) return {};
  const int32_t processes = 1 + std::ranges::max(plan.process_of_rank);
  const int32_t process = plan.process_of_rank[plan.rank];
  std::vector<int32_t> near;
  for (const int32_t part : parts)
    if (process_near(part, processes, plan.process_of_part) == process) near.push_back(part);
  return near.empty() ? parts : near;
}

}  // namespace

std::function<void(const base::CancelToken&)> keep_rows(const data::DatasetRef& dataset,
                                                        const PlanConfig& plan, base::Log& log) {
  const auto here = dist::parts_here(*dataset);
  if (!here) return {};
  return [dataset, parts = parts_of_seeds(plan, here->parts->num_parts()),
          &log](const base::CancelToken& cancel) {
    dist::keep_rows_for(*dataset, parts, log, cancel);
  };
}

}  // namespace gnnmg::loader
