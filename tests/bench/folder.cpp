#include "bench/folder.h"

#include <algorithm>
#include <chrono>
#include <ctime>

#include "base/philox.h"
#include "graph/generate.h"
#include "io/npy.h"

namespace gnnmg::bench {

namespace {
constexpr double kTrainShare = 0.0803;
}

std::vector<int64_t> random_seeds(int64_t num_nodes, int64_t count) {
  std::vector<int64_t> ids(num_nodes);
  base::Stream stream({1, 2}, 0);
  for (int64_t i = 0; i < num_nodes; ++i) {
    const auto other = static_cast<int64_t>(stream.below(i + 1));
    ids[i] = ids[other];
    ids[other] = i;
  }
  ids.resize(std::min(count, num_nodes));
  return ids;
}

void export_folder(const std::string& folder, int64_t num_nodes) {
  base::ThreadPool pool;
  graph::LogNormalConfig config;
  config.num_nodes = num_nodes;
  const graph::GraphRef graph = graph::log_normal(config, pool);
  io::write_npy(folder + "/indptr.npy", graph->csc().indptr.view());
  io::write_npy(folder + "/indices.npy", graph->csc().indices.view());
  for (const char* name : {"x", "y"})
    io::write_npy(folder + "/" + name + ".npy",
                  std::get<base::Tensor>(*graph->node_column(name)).view());
  const std::vector<int64_t> ids =
      random_seeds(num_nodes, static_cast<int64_t>(kTrainShare * static_cast<double>(num_nodes)));
  io::write_npy(folder + "/train.npy", base::Tensor::copy_of<int64_t>(ids).view());
}

Folder read_folder(const std::string& folder, bool with_columns) {
  base::ThreadPool pool;
  const base::Tensor indptr = io::read_npy(folder + "/indptr.npy");
  graph::GraphParts parts;
  parts.num_nodes = {indptr.rows() - 1};
  parts.topology.push_back(graph::csc_from_arrays(indptr, io::read_npy(folder + "/indices.npy"), {},
                                                  indptr.rows() - 1, pool));
  if (with_columns)
    parts.node_columns.push_back(
        {{"x", io::read_npy(folder + "/x.npy")}, {"y", io::read_npy(folder + "/y.npy")}});
  return {graph::Graph::create(std::move(parts)), io::read_npy(folder + "/train.npy")};
}

std::span<const int64_t> Folder::seeds(int64_t number) const {
  const std::span<const int64_t> ids = train_ids();
  return ids.subspan(number * kBatchSize % (ids.size() - kBatchSize), kBatchSize);
}

Times now() {
  timespec cpu;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
  return {
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(),
      static_cast<double>(cpu.tv_sec) + 1e-9 * static_cast<double>(cpu.tv_nsec)};
}

}  // namespace gnnmg::bench
