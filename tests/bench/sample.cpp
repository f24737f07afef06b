// Sampling with relabeling on the products-shaped graph: M edges/s, nodes and edges per mini-batch,
// for both expansions, with one or more threads that make different mini-batches. Also prints
// whether the sampler is uniform, because a fast wrong one is worthless.
//
//   bench_sample [--nodes=244903] [Google Benchmark's options]
#include <benchmark/benchmark.h>

#include <charconv>
#include <cstring>
#include <numeric>
#include <string>

#include "base/philox.h"
#include "graph/generate.h"
#include "sample/draw.h"
#include "sample/sampler.h"
#include "sample/uniformity.h"

namespace gnnmg::sample {
namespace {

constexpr int64_t kBatchSize = 1024;

int64_t num_nodes = 244903;

const graph::GraphRef& products() {
  static const graph::GraphRef graph = [] {
    base::ThreadPool pool;
    graph::LogNormalConfig config;
    config.num_nodes = num_nodes;
    config.num_features = 0;
    return graph::log_normal(config, pool);
  }();
  return graph;
}

// Arguments: expansion, fan-outs as pairs of decimal digits (151005 is [15, 10, 5]), transpose.
void sample_batches(benchmark::State& state) {
  NeighborConfig config;
  config.expansion = static_cast<Expansion>(state.range(0));
  for (int64_t rest = state.range(1); rest > 0; rest /= 100)
    config.fanouts.insert(config.fanouts.begin(), rest % 100);
  config.transpose = state.range(2) != 0;
  const auto sampler = make_neighbor_sampler(products(), config);
  Workspace workspace;
  Sample sample;
  std::vector<int64_t> seeds(kBatchSize);
  uint64_t batch = static_cast<uint64_t>(state.thread_index()) << 32;
  int64_t edges = 0, nodes = 0;
  const auto next = [&] {
    base::Stream stream({1, 1}, batch);
    for (int64_t& seed : seeds) seed = static_cast<int64_t>(stream.below(num_nodes));
    sampler->sample(seeds, {1, base::Purpose::kSample, 0, batch++}, workspace, sample, {});
  };
  next();
  next();
  for (auto _ : state) {
    next();
    edges += sample.num_edges_drawn();
    nodes += sample.num_nodes();
  }
  const auto batches = static_cast<double>(state.iterations());
  state.counters["edges"] =
      benchmark::Counter(static_cast<double>(edges) / batches, benchmark::Counter::kAvgThreads);
  state.counters["nodes"] =
      benchmark::Counter(static_cast<double>(nodes) / batches, benchmark::Counter::kAvgThreads);
  state.counters["Me/s"] =
      benchmark::Counter(static_cast<double>(edges) * 1e-6, benchmark::Counter::kIsRate);
}
BENCHMARK(sample_batches)
    ->ArgNames({"every_layer", "fanouts", "transpose"})
    ->ArgsProduct({{0, 1}, {151005, 2510}, {0, 1}})
    ->ArgsProduct({{0}, {16, 32, 33, 48, 64, 99}, {0}})  // one hop
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(sample_batches)
    ->ArgNames({"every_layer", "fanouts", "transpose"})
    ->Args({1, 151005, 0})
    ->Args({1, 2510, 0})
    ->Threads(2)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// Random reads of the graph's sources at addresses known in advance: the limit of the memory.
void random_reads(benchmark::State& state) {
  const std::span<const int32_t> sources = products()->csc().indices.as<const int32_t>();
  constexpr size_t kReads = 1 << 20, kAhead = 32;
  std::vector<uint32_t> places(kReads + kAhead);
  base::Stream stream({2, 2}, 2);
  for (uint32_t& place : places) place = static_cast<uint32_t>(stream.below(sources.size()));
  for (auto _ : state) {
    int64_t sum = 0;
    for (size_t i = 0; i < kReads; ++i) {
      __builtin_prefetch(&sources[places[i + kAhead]]);
      sum += sources[places[i]];
    }
    benchmark::DoNotOptimize(sum);
  }
  state.counters["Mreads/s"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * kReads * 1e-6, benchmark::Counter::kIsRate);
}
BENCHMARK(random_reads)->Unit(benchmark::kMillisecond);

// Rows of 20 neighbors, fan-out 5, through the sampler.
std::string uniformity() {
  constexpr int64_t kDegree = 20, kFanout = 5, kTargets = 400;
  graph::Csc csc;
  csc.num_sources = csc.num_targets = kTargets;
  std::vector<int64_t> indptr(kTargets + 1), seeds(kTargets);
  std::vector<int32_t> sources(kTargets * kDegree);
  for (int64_t v = 0; v <= kTargets; ++v) indptr[v] = v * kDegree;
  for (size_t i = 0; i < sources.size(); ++i) sources[i] = static_cast<int32_t>(i % kDegree);
  std::iota(seeds.begin(), seeds.end(), 0);
  csc.indptr = base::Tensor::copy_of<int64_t>(indptr);
  csc.indices = base::Tensor::copy_of<int32_t>(sources);
  graph::GraphParts parts;
  parts.num_nodes = {kTargets};
  parts.topology.push_back(csc);
  NeighborConfig config;
  config.fanouts = {kFanout};
  const auto sampler = make_neighbor_sampler(graph::Graph::create(std::move(parts)), config);
  Workspace workspace;
  Sample sample;
  uint64_t batch = 0;
  int64_t row = kTargets;
  const test::Uniformity found =
      test::measure_uniformity(kDegree, kFanout, 1'000'000, [&](int64_t* picks) {
        if (row == kTargets) {
          sampler->sample(seeds, {7, base::Purpose::kSample, 0, batch++}, workspace, sample, {});
          row = 0;
        }
        for (int64_t i = 0; i < kFanout; ++i)
          picks[i] = sample.node_ids[sample.blocks[0].indices[row * kFanout + i]];
        ++row;
      });
  return base::text(found.passed() ? "passed" : "FAILED", ", deviates ", found.single,
                    " (single), ", found.pair, " (pairs)");
}

}  // namespace
}  // namespace gnnmg::sample

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    constexpr std::string_view kNodes = "--nodes=";
    const std::string_view argument = argv[i];
    if (!argument.starts_with(kNodes)) {
      benchmark::ReportUnrecognizedArguments(argc, argv);
      return 2;
    }
    std::from_chars(argument.begin() + kNodes.size(), argument.end(), gnnmg::sample::num_nodes);
  }
  benchmark::AddCustomContext("uniformity", gnnmg::sample::uniformity());
  benchmark::AddCustomContext("draws", gnnmg::sample::lane_kernels()[0].name);
  benchmark::AddCustomContext("graph",
                              gnnmg::base::text(gnnmg::sample::num_nodes, " nodes, ",
                                                gnnmg::sample::products()->num_edges(), " edges"));
  benchmark::RunSpecifiedBenchmarks();
}
