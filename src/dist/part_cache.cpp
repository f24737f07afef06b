#include "dist/part_cache.h"

#include <algorithm>
#include <numeric>

#include "feature/hotness.h"

namespace gnnmg::dist {
namespace {

// The limit of the number of rows kept.
int64_t most_rows(int64_t num_nodes, int64_t row_bytes, const CacheConfig& config) {
  if (config.bytes >= 0) return std::min(num_nodes, config.bytes / std::max<int64_t>(row_bytes, 1));
  return static_cast<int64_t>(config.share * static_cast<double>(num_nodes));
}

}  // namespace

CachedRows choose_cached_rows(const data::Parts& parts, const std::vector<int32_t>& own,
                              int64_t row_bytes, const CacheConfig& config,
                              const base::CancelToken& cancel) {
  const auto num_nodes = static_cast<int64_t>(parts.book.size());
  const int64_t most = most_rows(num_nodes, row_bytes, config);
  if (parts.arguments.fanouts.empty() || most == 0) return {};
  std::vector<int32_t> seeds_of = own;
  if (seeds_of.empty()) {
    seeds_of.resize(static_cast<size_t>(parts.arguments.num_parts));
    std::iota(seeds_of.begin(), seeds_of.end(), 0);
  }
  std::vector<double> hotness(parts.book.size());
  for (const int32_t part : seeds_of) {
    cancel.check("choosing the rows to keep");
    const std::vector<float> of_part = data::hotness_of(parts, part);
    const auto weight = static_cast<double>(parts.facts.train[part]);
    for (size_t v = 0; v < hotness.size(); ++v) hotness[v] += weight * of_part[v];
  }
  std::vector<bool> here(static_cast<size_t>(parts.arguments.num_parts));
  for (const int32_t part : own) here[part] = true;
  // Rows that are here are colder than any other.
  double all = 0;
  int64_t num_remote = 0;
  for (size_t v = 0; v < hotness.size(); ++v) {
    if (here[parts.book[v]]) {
      hotness[v] = -1;
      continue;
    }
    all += hotness[v];
    ++num_remote;
  }
  CachedRows cached;
  cached.nodes = feature::hottest(hotness, std::min(num_remote, most));
  double kept = 0;
  for (const int64_t node : cached.nodes) kept += hotness[node];
  if (all > 0) cached.hit_rate = kept / all;
  return cached;
}

}  // namespace gnnmg::dist
