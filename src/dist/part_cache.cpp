#include "dist/part_cache.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <thread>
#include <utility>

#include "data/parts_manifest.h"
#include "dist/part_dataset.h"
#include "feature/hotness.h"

namespace gnnmg::dist {
namespace {

// The limit of the number of rows kept.
int64_t most_rows(int64_t num_nodes, int64_t row_bytes, const CacheConfig& config) {
  const int64_t rows = config.bytes >= 0
                           ? config.bytes / std::max<int64_t>(row_bytes, 1)
                           : static_cast<int64_t>(config.share * static_cast<double>(num_nodes));
  return std::min({rows, num_nodes, int64_t{INT32_MAX}});
}

}  // namespace

CachedRows choose_cached_rows(const data::Parts& parts, const std::vector<int32_t>& own,
                              const std::vector<int32_t>& seeds_of, int64_t row_bytes,
                              const CacheConfig& config, const base::CancelToken& cancel) {
  const auto num_nodes = static_cast<int64_t>(parts.book.size());
  const int64_t most = most_rows(num_nodes, row_bytes, config);
  if (parts.arguments.fanouts.empty() || most == 0) return {};
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

RowChooser::RowChooser(std::shared_ptr<const data::Parts> parts, std::vector<int32_t> own,
                       std::shared_ptr<KeepingStore> store, const CacheConfig& config)
    : parts_(std::move(parts)), own_(std::move(own)), store_(std::move(store)), config_(config) {}

void RowChooser::choose(std::vector<int32_t> seeds_of, base::Log& log,
                        const base::CancelToken& cancel) {
  const auto num_parts = static_cast<size_t>(parts_->arguments.num_parts);
  if (seeds_of.empty()) seeds_of = own_;
  if (seeds_of.empty()) {
    seeds_of.resize(num_parts);
    std::iota(seeds_of.begin(), seeds_of.end(), 0);
  }
  std::unique_lock lock(choosing_, std::defer_lock);
  while (!lock.try_lock()) {
    cancel.check("choosing the rows to keep");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (chosen_for_ == seeds_of) return;
  const base::CancelScope scope(cancel, "choosing the rows to keep");
  const int64_t row_bytes = store_->num_cols() * base::dtype_size(store_->dtype());
  const CachedRows cached = choose_cached_rows(*parts_, own_, seeds_of, row_bytes, config_, cancel);
  chosen_for_.clear();
  store_->keep(cached.nodes, cancel);
  const auto count = std::ssize(cached.nodes);
  const std::string ids = seeds_of.size() == num_parts
                              ? "all training ids"
                              : "the training ids of " + parts_text(seeds_of);
  log.add(
      base::LogLevel::kInfo,
      base::text(parts_->manifest->source().name(), ": keeps ", count, " rows of other parts, ",
                 count * row_bytes, " bytes; of the rows of other parts that mini-batches of ", ids,
                 " read they are expected to be ", std::lround(100 * cached.hit_rate), " %"));
  chosen_for_ = std::move(seeds_of);
}

}  // namespace gnnmg::dist
