#include "dist/part_fixture.h"

#include <algorithm>
#include <utility>

#include "base/thread_pool.h"
#include "dist/part_folder.h"
#include "feature/hotness.h"
#include "support/quick_files.h"

namespace gnnmg::test {
namespace {

constexpr int64_t kBatchSize = 32;

data::PartFacts facts_of(const data::Dataset& dataset, std::span<const uint16_t> part_of,
                         int32_t num_parts) {
  const std::vector<int64_t> zeros(num_parts);
  data::PartFacts facts{zeros, zeros, zeros, zeros};
  const graph::Csc& csc = dataset.graph->csc();
  const int64_t* starts = static_cast<const int64_t*>(csc.indptr.data());
  for (size_t v = 0; v < part_of.size(); ++v) {
    ++facts.rows[part_of[v]];
    facts.edges[part_of[v]] += csc.in_degree(static_cast<int64_t>(v));
    for (int64_t e = starts[v]; e < starts[v + 1]; ++e)
      facts.cut_edges[part_of[v]] += part_of[csc.source(e)] != part_of[v];
  }
  for (const int64_t id : dataset.splits[0].part(data::SplitPart::kTrain))
    ++facts.train[part_of[id]];
  return facts;
}

}  // namespace

void save_in_parts(const data::Dataset& dataset, std::span<const uint16_t> part_of,
                   int32_t num_parts, const std::string& folder,
                   const std::vector<int64_t>& fanouts) {
  const QuickFiles quick;
  data::PartsArguments arguments;
  arguments.num_parts = num_parts;
  arguments.method = "given";
  arguments.fanouts = fanouts;
  arguments.batch_size = fanouts.empty() ? 0 : kBatchSize;
  data::PartsSteps steps;
  steps.assign = [&] { return std::vector<uint16_t>(part_of.begin(), part_of.end()); };
  steps.describe = [&](std::span<const uint16_t> parts) {
    return facts_of(dataset, parts, num_parts);
  };
  steps.hotness = [&](int32_t part, std::span<const uint16_t> parts) {
    std::vector<int64_t> seeds;
    for (const int64_t id : dataset.splits[0].part(data::SplitPart::kTrain))
      if (parts[id] == part) seeds.push_back(id);
    const std::vector<double> hotness = feature::hotness_by_rows(
        dataset.graph->csc(), seeds, {.batch_size = kBatchSize, .fanouts = fanouts}, [] {});
    return std::vector<float>(hotness.begin(), hotness.end());
  };
  data::save_parts(dataset, &dataset.splits[0], folder, arguments, steps, {});
}

data::DatasetRef open_in_parts(const std::string& folder, const OpenInParts& config,
                               base::Log* log) {
  base::Log own_log;
  base::ThreadPool pool(1);
  const data::ReadContext context{pool, log ? *log : own_log, {}};
  dist::PartDatasetConfig opening;
  opening.own = [&](int32_t) { return config.own; };
  opening.cache = config.cache;
  opening.asking = config.asking;
  const dist::PartFolder parts(folder, {});
  opening.read_part = [&](int32_t part) { return parts.read(part); };
  opening.open_channel = [&](const std::vector<int32_t>& others, uint64_t stamp) {
    auto channel = dist::make_part_channel(opening.read_part, others, stamp);
    return config.between ? config.between(std::move(channel)) : std::move(channel);
  };
  return dist::open_part_dataset(data::parts::folder_source(folder), opening, context);
}

}  // namespace gnnmg::test
