#include "dist/saved_parts.h"

#include "support/quick_files.h"

namespace gnnmg::test {
data::DatasetRef dataset_of(graph::GraphRef graph, std::string label) {
  const bool features = graph->node_columns().contains("x");
  return data::make_dataset(std::move(graph), features ? "x" : "", std::move(label), false, {});
}

void save_parts(const data::Dataset& dataset, std::span<const uint16_t> part_of, int32_t num_parts,
                const std::string& folder, bool edge_ids) {
  const QuickFiles quick;
  data::PartsArguments arguments;
  arguments.num_parts = num_parts;
  arguments.method = "given";
  arguments.edge_ids = edge_ids;
  data::PartsSteps steps;
  steps.assign = [&] { return std::vector<uint16_t>(part_of.begin(), part_of.end()); };
  steps.describe = [&](std::span<const uint16_t> parts) {
    const std::vector<int64_t> zeros(num_parts);
    data::PartFacts facts{zeros, zeros, zeros, zeros};
    for (size_t v = 0; v < parts.size(); ++v) {
      ++facts.rows[parts[v]];
      facts.edges[parts[v]] += dataset.graph->csc().in_degree(static_cast<int64_t>(v));
    }
    return facts;
  };
  data::save_parts(dataset, nullptr, folder, arguments, steps, {});
}

}  // namespace gnnmg::test
