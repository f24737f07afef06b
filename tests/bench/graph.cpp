// Making graphs: generators, and CSC topology from edge lists. Items are directed edges.
#include <benchmark/benchmark.h>

#include "base/philox.h"
#include "graph/generate.h"
#include "graph/transform.h"

namespace gnnmg::graph {
namespace {

// Arguments: thousands of nodes, threads.
void log_normal_edges(benchmark::State& state) {
  base::ThreadPool pool(static_cast<int>(state.range(1)));
  LogNormalConfig config;
  config.num_nodes = state.range(0) * 1000;
  config.num_features = 0;
  int64_t edges = 0;
  for (auto _ : state) edges += log_normal(config, pool)->num_edges();
  state.SetItemsProcessed(edges);
}

void log_normal_with_features(benchmark::State& state) {
  base::ThreadPool pool(static_cast<int>(state.range(1)));
  LogNormalConfig config;
  config.num_nodes = state.range(0) * 1000;
  int64_t edges = 0;
  for (auto _ : state) edges += log_normal(config, pool)->num_edges();
  state.SetItemsProcessed(edges);
}

// Degrees as in a real graph, with edges in an order unrelated to the topology.
void csc_from_shuffled_coo(benchmark::State& state) {
  base::ThreadPool pool(static_cast<int>(state.range(1)));
  LogNormalConfig config;
  config.num_nodes = state.range(0) * 1000;
  config.num_features = 0;
  const GraphRef graph = log_normal(config, pool);
  const auto [sources, targets] = coo_of(graph->csc(), pool);
  const int64_t num_edges = graph->num_edges();
  const base::Tensor from = base::Tensor::empty(base::DType::kI64, {num_edges});
  const base::Tensor to = base::Tensor::empty(base::DType::kI64, {num_edges});
  base::Stream stream({1, 2}, 3);
  for (int64_t e = 0; e < num_edges; ++e) {  // Fisher-Yates shuffle, inside-out
    const auto other = static_cast<int64_t>(stream.below(e + 1));
    from.as<int64_t>()[e] = from.as<int64_t>()[other];
    to.as<int64_t>()[e] = to.as<int64_t>()[other];
    from.as<int64_t>()[other] = sources.as<int64_t>()[e];
    to.as<int64_t>()[other] = targets.as<int64_t>()[e];
  }
  for (auto _ : state)
    benchmark::DoNotOptimize(
        csc_from_coo(from.view(), to.view(), config.num_nodes, config.num_nodes, pool));
  state.SetItemsProcessed(state.iterations() * num_edges);
}

void undirected(benchmark::State& state) {
  base::ThreadPool pool(static_cast<int>(state.range(1)));
  LogNormalConfig config;
  config.num_nodes = state.range(0) * 1000;
  config.num_features = 0;
  const GraphRef graph = log_normal(config, pool);
  for (auto _ : state) benchmark::DoNotOptimize(to_undirected(*graph, pool));
  state.SetItemsProcessed(state.iterations() * graph->num_edges());
}

void sizes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"knodes", "threads"})->Unit(benchmark::kMillisecond)->UseRealTime();
  for (int64_t threads : {1, 2}) bench->Args({245, threads});
}
BENCHMARK(log_normal_edges)->Apply(sizes);
BENCHMARK(log_normal_with_features)->Apply(sizes);
BENCHMARK(csc_from_shuffled_coo)->Apply(sizes)->Args({2449, 2});
BENCHMARK(undirected)->Apply(sizes);

}  // namespace
}  // namespace gnnmg::graph

BENCHMARK_MAIN();
