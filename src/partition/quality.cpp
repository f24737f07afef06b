#include "partition/quality.h"

#include "partition/refine.h"

namespace gnnmg::partition {

Quality quality_of(const CscRows& rows, std::span<const uint16_t> parts, int32_t num_parts,
                   const Work& work) {
  work.begin("counting the edges that are cut");
  Quality quality;
  quality.loads = loads_of(rows, parts, num_parts);
  quality.cut_edges.resize(num_parts);
  for (int64_t v = 0; v < rows.size(); ++v) {
    if (v % kRowsPerCheck == 0) work.check();
    int64_t cut = 0;
    rows.for_each(v, [&](uint32_t u, int64_t) { cut += parts[u] != parts[v]; });
    quality.cut_edges[parts[v]] += cut;
    quality.total_cut += cut;
  }
  Load total, most;
  for (const Load& load : quality.loads) {
    total += load;
    most = {std::max(most.nodes, load.nodes), std::max(most.edges, load.edges),
            std::max(most.train, load.train)};
  }
  const auto balance = [&](int64_t largest, int64_t sum) {
    return sum == 0 ? 1 : static_cast<double>(largest) * num_parts / static_cast<double>(sum);
  };
  quality.node_balance = balance(most.nodes, total.nodes);
  quality.edge_balance = balance(most.edges, total.edges);
  quality.train_balance = balance(most.train, total.train);
  if (total.edges > 0)
    quality.cut = static_cast<double>(quality.total_cut) / static_cast<double>(total.edges);
  return quality;
}

}  // namespace gnnmg::partition
