// After a few mini-batches nothing below the loader allocates. A separate program, because it
// counts the allocations of the whole process.
#include <gtest/gtest.h>

#include <numeric>

#include "loader/loader.h"
#include "sample/reference.h"
#include "support/alloc_faults.h"

namespace gnnmg {
namespace {

constexpr int64_t kNodes = 3000;

graph::Column features(bool sparse) {
  if (!sparse) return base::Tensor::zeros(base::DType::kF32, {kNodes, 20});
  std::vector<int64_t> indptr(kNodes + 1);
  std::iota(indptr.begin(), indptr.end(), 0);
  return base::CsrMatrix{kNodes, 100, base::Tensor::copy_of<int64_t>(indptr),
                         base::Tensor::zeros(base::DType::kI32, {kNodes}),
                         base::Tensor::zeros(base::DType::kF32, {kNodes})};
}

// Runs the same epoch until one passes without an allocation. Timing determines which thread and
// which pooled mini-batch serve each number, so it takes some epochs until each has grown to the
// largest size; code that allocates for each mini-batch never gets there.
void expect_no_allocation(const std::shared_ptr<const sample::Sampler>& sampler, bool sparse,
                          int32_t num_threads) {
  std::vector<int64_t> ids(2000);
  std::iota(ids.begin(), ids.end(), 0);
  loader::LoaderConfig config;
  config.plan.batch_size = 50;
  config.num_threads = num_threads;
  base::HostQueue host;
  const base::HostQueue::Entry entry(host);
  loader::Loader loader(ids, sampler, feature::make_store(features(sparse)), config, &host);
  int64_t allocations = 1;
  for (int epoch = 0; epoch < 200 && allocations > 0; ++epoch) {
    loader.start_epoch(0);
    while (loader.next({}).value()->number < 5) continue;
    const test::AllocationFaults counter;
    int batches = 0;
    while (loader.next({}).value()) ++batches;
    allocations = counter.count();
    EXPECT_EQ(batches, 34);
  }
  EXPECT_EQ(allocations, 0);
}

TEST(SteadyState, BuiltInSamplersAllocateNothing) {
  const graph::GraphRef graph = test::skewed_graph(kNodes, 20000, 1);
  for (int bits = 0; bits < 4; ++bits) {
    for (const int32_t threads : {0, 1, 2}) {
      sample::NeighborConfig config;
      config.fanouts = {50, 4};
      config.expansion = bits & 1 ? sample::Expansion::kEveryLayer : sample::Expansion::kOnce;
      config.edge_ids = config.transpose = true;
      SCOPED_TRACE(std::to_string(bits) + " " + std::to_string(threads));
      expect_no_allocation(sample::make_neighbor_sampler(graph, config), bits & 2, threads);
    }
  }
}

TEST(SteadyState, WholeGraphsAllocateNothing) {
  // 2000 graphs of one or two nodes, the larger with an edge each way and a loop.
  std::vector<int64_t> starts{0}, sources, targets;
  while (starts.back() < kNodes) {
    const int64_t first = starts.back(), size = starts.size() % 2 == 0 ? 2 : 1;
    starts.push_back(first + size);
    if (size == 1) continue;
    sources.insert(sources.end(), {first, first + 1, first});
    targets.insert(targets.end(), {first + 1, first, first});
  }
  ASSERT_EQ(starts.size(), 2001u);
  base::ThreadPool pool(1);
  graph::GraphParts parts;
  parts.num_nodes = {kNodes};
  parts.topology.push_back(graph::csc_from_coo(base::Tensor::copy_of<int64_t>(sources).view(),
                                               base::Tensor::copy_of<int64_t>(targets).view(),
                                               kNodes, kNodes, pool));
  const graph::GraphRef graph = graph::Graph::create(std::move(parts));
  for (const bool sparse : {false, true})
    for (const int32_t threads : {0, 1, 2}) {
      SCOPED_TRACE(std::to_string(sparse) + " " + std::to_string(threads));
      expect_no_allocation(
          sample::make_graphs_sampler(graph, base::Tensor::copy_of<int64_t>(starts),
                                      {.num_layers = 3, .edge_ids = true, .transpose = true}),
          sparse, threads);
    }
}

TEST(SteadyState, CustomSamplersAllocateNothingOfTheirOwn) {
  const graph::GraphRef graph = test::skewed_graph(kNodes, 20000, 1);
  const std::shared_ptr<const sample::Sampler> sampler = sample::make_custom_sampler(
      graph, 2, true, true, [&](const sample::LayerRequest& request, sample::EdgeSink& sink) {
        sink.add(request.targets, request.targets, request.targets);
      });
  expect_no_allocation(sampler, false, 1);
}

class OutOfMemory : public testing::Test {
 protected:
  OutOfMemory() : ids_(60) { std::iota(ids_.begin(), ids_.end(), 0); }

  std::unique_ptr<loader::Loader> make(int32_t num_threads) const {
    sample::NeighborConfig sampling;
    sampling.fanouts = {3, 40};
    sampling.edge_ids = sampling.transpose = true;
    loader::LoaderConfig config;
    config.plan.batch_size = 20;
    config.num_threads = num_threads;
    return std::make_unique<loader::Loader>(ids_, sample::make_neighbor_sampler(graph_, sampling),
                                            feature::make_store(column_), config, nullptr);
  }
  static std::vector<int64_t> run(loader::Loader& loader) {
    std::vector<int64_t> nodes;
    loader.start_epoch(0);
    while (const loader::BatchRef batch = loader.next({}).value())
      nodes.insert(nodes.end(), batch->sample.node_ids.begin(), batch->sample.node_ids.end());
    return nodes;
  }

  std::vector<int64_t> ids_;
  graph::GraphRef graph_ = test::skewed_graph(300, 200, 1);
  graph::Column column_ = base::Tensor::zeros(base::DType::kF32, {300, 4});
};

// Any failing allocation, on any thread, gives an error and nothing worse.
TEST_F(OutOfMemory, IsAnError) {
  for (const int32_t threads : {0, 1}) {
    for (const bool for_ever : {false, true}) {
      const int64_t faults = test::fail_each_allocation([&] { run(*make(threads)); }, for_ever);
      EXPECT_GT(faults, 20) << threads;
    }
  }
}

TEST_F(OutOfMemory, LeavesALoaderThatWorks) {
  const std::vector<int64_t> expected = run(*make(0));
  for (const int32_t threads : {0, 1}) {
    for (int64_t n = 1;; ++n) {
      const auto loader = make(threads);
      bool struck = false;
      try {
        const test::AllocationFaults faults({n});
        run(*loader);
        struck = faults.struck();
      } catch (const std::exception&) {
        struck = true;
      }
      ASSERT_EQ(run(*loader), expected) << "after allocation " << n;
      if (!struck) break;
    }
  }
}

}  // namespace
}  // namespace gnnmg
