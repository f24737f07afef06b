// G(n, m): every edge draws its two ends uniformly.
#include <limits>
#include <utility>

#include "graph/generate.h"
#include "graph/planted.h"

namespace gnnmg::graph {
GraphRef erdos_renyi(const ErdosRenyiConfig& config, base::ThreadPool& pool) {
  check_field("num_edges", config.num_edges, 0, int64_t{1} << 40);
  check_field("num_nodes", config.num_nodes, config.num_edges ? 1 : 0,
              std::numeric_limits<int32_t>::max());
  const base::Key key = generator_key(config.seed, Generator::kErdosRenyi, Part::kEdges);
  auto sources = base::Tensor::empty(base::DType::kI32, {config.num_edges});
  auto targets = base::Tensor::empty(base::DType::kI32, {config.num_edges});
  int32_t* source = sources.as<int32_t>().data();
  int32_t* target = targets.as<int32_t>().data();
  pool.parallel_for(config.num_edges, kEdgeGrain, [&](int64_t begin, int64_t end) {
    for (int64_t e = begin; e < end; ++e) {
      base::Stream stream(key, e);
      source[e] = static_cast<int32_t>(stream.below(config.num_nodes));
      target[e] = static_cast<int32_t>(stream.below(config.num_nodes));
    }
  });
  GraphParts parts;
  parts.num_nodes = {config.num_nodes};
  // Edges have no other order that ids could refer to.
  parts.topology = {csc_from_lists(std::move(sources), std::move(targets), config.num_nodes,
                                   config.num_nodes, {.edge_ids = false}, pool)};
  return Graph::create(std::move(parts));
}

}  // namespace gnnmg::graph
