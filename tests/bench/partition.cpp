// Cuts, balances, time and memory of the partitioner on generated graphs and data sets:
//   bench_partition rmat SCALE EDGES | lognormal NODES COMMUNITIES HOMOPHILY | PATH
//                   [--parts P] [--method cluster|metis|range|hash] [--seeds S] [--passes N]
// Prints one line per seed, and their mean. The memory is the process's peak minus its size after
// the graph was made.
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "data/dataset.h"
#include "graph/generate.h"
#include "partition/assign.h"
#include "partition/quality.h"

namespace {

using namespace gnnmg;

struct Graph {
  graph::GraphRef graph;
  std::vector<int64_t> train;
};

// Returns a value of /proc/self/status in bytes.
int64_t memory(std::string_view name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name)) return std::atoll(line.c_str() + name.size() + 1) * 1024;
  return 0;
}

// Resets the peak.
void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

// Returns every tenth node, because ids without labels have no split.
std::vector<int64_t> some_ids(int64_t num_nodes) {
  std::vector<int64_t> ids;
  for (int64_t v = 0; v < num_nodes; v += 10) ids.push_back(v);
  return ids;
}

Graph make(int argc, char** argv, base::ThreadPool& pool) {
  const std::string_view kind = argv[1];
  if (kind == "rmat" && argc >= 4) {
    graph::RmatConfig config;
    config.scale = std::atoi(argv[2]);
    config.num_edges = std::atoll(argv[3]);
    const graph::GraphRef made = graph::rmat(config, pool);
    return {made, some_ids(made->num_nodes())};
  }
  if (kind == "lognormal" && argc >= 5) {
    graph::LogNormalConfig config;
    config.num_nodes = std::atoll(argv[2]);
    config.num_classes = std::atoi(argv[3]);
    config.homophily = std::atof(argv[4]);
    config.num_features = 0;
    if (config.num_classes > 100) config.zipf = 0;
    const graph::GraphRef made = graph::log_normal(config, pool);
    return {made, some_ids(made->num_nodes())};
  }
  base::Log log;
  const data::DatasetRef set = data::open_dataset(argv[1], {}, {pool, log, base::CancelToken()});
  if (set->splits.empty()) return {set->graph, some_ids(set->graph->num_nodes())};
  const auto train = set->splits[0].part(data::SplitPart::kTrain);
  return {set->graph, {train.begin(), train.end()}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs(
        "usage: bench_partition rmat SCALE EDGES | lognormal NODES COMMUNITIES HOMOPHILY | "
        "PATH [--parts P] [--method NAME] [--seeds S] [--passes N]\n",
        stderr);
    return 2;
  }
  partition::Config config;
  config.num_parts = 4;
  int seeds = 1;
  for (int i = 2; i + 1 < argc; ++i) {
    const std::string_view name = argv[i], value = argv[i + 1];
    if (name == "--parts") config.num_parts = std::atoi(argv[i + 1]);
    if (name == "--seeds") seeds = std::atoi(argv[i + 1]);
    if (name == "--passes") config.passes = std::atoi(argv[i + 1]);
    if (name == "--method")
      config.method = value == "metis"   ? partition::Method::kMetis
                      : value == "range" ? partition::Method::kRange
                      : value == "hash"  ? partition::Method::kHash
                                         : partition::Method::kCluster;
  }
  try {
    base::ThreadPool pool;
    const Graph made = make(argc, argv, pool);
    const graph::Csc& csc = made.graph->csc();
    std::printf("%lld nodes, %lld edges, %zu training ids\n",
                static_cast<long long>(csc.num_targets), static_cast<long long>(csc.num_edges()),
                made.train.size());
    double sum = 0;
    for (int seed = 0; seed < seeds; ++seed) {
      config.seed = static_cast<uint64_t>(seed);
      partition::Work work;
      if (seeds == 1)
        work.report = [start = cpu_seconds()](const std::string& step) {
          std::printf("%8.2f s  %s\n", cpu_seconds() - start, step.c_str());
        };
      forget_peak();
      const int64_t before = memory("VmRSS");
      const double start = cpu_seconds();
      const std::vector<uint16_t> parts = partition::assign_parts(csc, made.train, config, work);
      const double took = cpu_seconds() - start;
      const int64_t peak = memory("VmHWM") - before;
      const partition::Quality quality =
          partition::quality_of(partition::CscRows(csc, made.train), parts, config.num_parts, {});
      std::printf(
          "seed %d: cut %.2f %%, largest part / mean: nodes %.3f, edges %.3f, training ids %.3f; "
          "%.2f s of CPU, %.3f GB more memory\n",
          seed, 100 * quality.cut, quality.node_balance, quality.edge_balance,
          quality.train_balance, took, static_cast<double>(peak) * 1e-9);
      sum += quality.cut;
    }
    std::printf("mean cut %.2f %%\n", 100 * sum / seeds);
  } catch (const base::Error& error) {
    std::fprintf(stderr, "bench_partition: %s\n", error.what());
    return 1;
  }
  return 0;
}
