// The planted partition: an undirected simple graph whose edges prefer their own class.
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "graph/generate.h"
#include "graph/planted.h"

namespace gnnmg::graph {
namespace {

using base::Key;
using base::Tensor;
using base::ThreadPool;

void check(const PlantedPartitionConfig& config) {
  check_field("num_classes", int64_t{config.num_classes}, 1, 1 << 20);
  // Every node needs another one of its class.
  check_field("num_nodes", config.num_nodes, int64_t{2} * config.num_classes,
              std::numeric_limits<int32_t>::max());
  check_field("mean_degree", config.mean_degree, 0, static_cast<double>(config.num_nodes));
  check_field("intra_probability", config.intra_probability, config.num_classes == 1 ? 1 : 0, 1);
  check_field("num_features", int64_t{config.num_features}, 0, 1 << 20);
  check_field("center_scale", config.center_scale, 0, 1e6);
  check_field("noise", config.noise, 0, 1e6);
  check_field("label_noise", config.label_noise, 0, 1);
}

// The class of node i is i modulo the number of classes, so the m-th node of class c is
// c + m * num_classes.
struct Ends {
  int32_t first, second;
};
Ends draw_edge(const PlantedPartitionConfig& config, Key key, int64_t e) {
  base::Stream stream(key, e);
  const int64_t classes = config.num_classes;
  const auto first = static_cast<int64_t>(stream.below(config.num_nodes));
  const int64_t own = first % classes;
  int64_t second;
  if (stream.uniform() < config.intra_probability) {
    const int64_t size = (config.num_nodes - own + classes - 1) / classes;
    auto member = static_cast<int64_t>(stream.below(size - 1));
    if (member >= first / classes) ++member;  // skips the node itself
    second = own + member * classes;
  } else {
    do {
      second = static_cast<int64_t>(stream.below(config.num_nodes));
    } while (second % classes == own);
  }
  return {static_cast<int32_t>(first), static_cast<int32_t>(second)};
}

Csc draw_topology(const PlantedPartitionConfig& config, ThreadPool& pool) {
  const Key key = generator_key(config.seed, Generator::kPlantedPartition, Part::kEdges);
  const auto pairs = static_cast<int64_t>(
      std::llround(static_cast<double>(config.num_nodes) * config.mean_degree / 2));
  Tensor sources = Tensor::empty(base::DType::kI32, {pairs});
  Tensor targets = Tensor::empty(base::DType::kI32, {pairs});
  int32_t* source = sources.as<int32_t>().data();
  int32_t* target = targets.as<int32_t>().data();
  pool.parallel_for(pairs, kEdgeGrain, [&](int64_t begin, int64_t end) {
    for (int64_t e = begin; e < end; ++e) {
      const Ends ends = draw_edge(config, key, e);
      source[e] = ends.first;
      target[e] = ends.second;
    }
  });
  return csc_from_lists(std::move(sources), std::move(targets), config.num_nodes, config.num_nodes,
                        {.edge_ids = false, .reverses = true, .once = true}, pool);
}

}  // namespace

Tensor class_centres(const PlantedPartitionConfig& config) {
  return make_centres(config.num_classes, config.num_features, config.center_scale,
                      generator_key(config.seed, Generator::kPlantedPartition, Part::kCentres));
}

GraphRef planted_partition(const PlantedPartitionConfig& config, ThreadPool& pool) {
  check(config);
  std::vector<int32_t> classes(config.num_nodes);
  for (int64_t i = 0; i < config.num_nodes; ++i)
    classes[i] = static_cast<int32_t>(i % config.num_classes);
  Columns columns;
  if (config.num_features)
    columns["x"] = make_features(
        config.num_nodes, classes, class_centres(config), config.num_features, config.noise,
        generator_key(config.seed, Generator::kPlantedPartition, Part::kFeatures), pool);
  columns["y"] =
      make_labels(classes, config.num_classes, config.label_noise, true,
                  generator_key(config.seed, Generator::kPlantedPartition, Part::kLabels), pool);
  GraphParts parts;
  parts.num_nodes = {config.num_nodes};
  parts.topology = {draw_topology(config, pool)};
  parts.node_columns = {std::move(columns)};
  return Graph::create(std::move(parts));
}

}  // namespace gnnmg::graph
