#include "bench/gpu/world.h"

#include <algorithm>

#include "base/error.h"
#include "bench/folder.h"
#include "graph/generate.h"
#include "io/npy.h"

namespace gnnmg::bench {
namespace {

graph::GraphRef make_graph(int64_t num_nodes) {
  base::ThreadPool pool;
  graph::LogNormalConfig config;
  config.num_nodes = num_nodes;
  return graph::log_normal(config, pool);
}

base::Tensor copy_of(const int32_t* values, int64_t count) {
  return base::Tensor::copy_of(std::span(values, static_cast<size_t>(count)));
}

}  // namespace

World::World(const Size& wanted)
    : size(wanted),
      graph(make_graph(wanted.num_nodes)),
      train(random_seeds(wanted.num_nodes, wanted.num_nodes * 803 / 10000)) {}

sample::NeighborConfig World::law(bool transpose) const {
  sample::NeighborConfig config;
  config.fanouts = size.fanouts;
  config.expansion = sample::Expansion::kEveryLayer;
  config.transpose = transpose;
  return config;
}

int64_t World::num_batches() const {
  return (static_cast<int64_t>(train.size()) + size.batch_size - 1) / size.batch_size;
}

std::span<const int64_t> World::seeds(int64_t batch) const {
  const std::span<const int64_t> all(train);
  const auto first = static_cast<size_t>(batch % num_batches() * size.batch_size);
  return all.subspan(first, std::min<size_t>(size.batch_size, all.size() - first));
}

sample::Sample World::sample(int64_t batch) const {
  sample::Workspace workspace;
  sample::Sample sample;
  sample::make_neighbor_sampler(graph, law(true))
      ->sample(seeds(batch), key(batch), workspace, sample, {});
  return sample;
}

void World::export_blocks(const std::string& folder, int64_t count) const {
  for (int64_t batch = 0; batch < count; ++batch) {
    const sample::Sample made = sample(batch);
    const std::string start = base::text(folder, "/epoch_", batch);
    io::write_npy(start + "_nodes.npy",
                  base::Tensor::copy_of(std::span<const int64_t>(made.node_ids.span())).view());
    for (size_t layer = 0; layer < made.blocks.size(); ++layer) {
      const sample::BlockView& block = made.blocks[layer];
      const std::string name = base::text(start, "_", layer);
      io::write_npy(name + "_indptr.npy", copy_of(block.indptr, block.num_targets + 1).view());
      io::write_npy(name + "_indices.npy", copy_of(block.indices, block.num_edges).view());
    }
  }
}

}  // namespace gnnmg::bench
