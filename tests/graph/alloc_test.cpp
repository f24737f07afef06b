// Memory of this room: the amount it takes, and its behavior if there is none.
#include <gtest/gtest.h>

#include "graph/generate.h"
#include "graph/support.h"
#include "graph/transform.h"
#include "support/alloc_faults.h"

namespace gnnmg::graph {
namespace {

using base::Tensor;
using base::ThreadPool;

TEST(Memory, BuildingTakesLittleMoreThanTheResult) {
  constexpr int64_t kNodes = 50000, kEdges = 1000000;
  const EdgeList edges = random_edges(kNodes, kNodes, kEdges, 1);
  const Tensor sources = tensor_of(edges.sources), targets = tensor_of(edges.targets);
  ThreadPool pool(1);
  test::AllocationFaults count;
  const Csc csc = csc_from_coo(sources.view(), targets.view(), kNodes, kNodes, pool);
  const int64_t result = 8 * kNodes + 4 * kEdges + 4 * kEdges;
  EXPECT_GE(count.held_bytes(), result);
  // One number of four bytes per edge, the scratch of a bucket, and the rounding of large memory.
  EXPECT_LE(count.peak_bytes(), result + 5 * kEdges + (16 << 20));
}

TEST(Memory, RunningOutLeavesNothingBehind) {
  ThreadPool pool(1);
  const EdgeList edges = random_edges(50, 50, 900, 2);
  const Tensor sources = tensor_of(edges.sources), targets = tensor_of(edges.targets);
  const auto body = [&] {
    GraphParts parts;
    parts.num_nodes = {50};
    parts.topology = {csc_from_coo(sources.view(), targets.view(), 50, 50, pool)};
    parts.node_columns = {{{"x", Tensor::zeros(base::DType::kF32, {50, 3})}}};
    parts.edge_columns = {{{"w", Tensor::zeros(base::DType::kF32, {900})}}};
    const GraphRef graph = Graph::create(std::move(parts));
    const GraphRef both = to_undirected(*add_remaining_self_loops(*graph, pool), pool);
    normalize_rows(*remove_self_loops(*both, pool), "x", pool);
    remove_edges(*both);
  };
  EXPECT_GT(test::fail_each_allocation(body), 50);
  EXPECT_GT(test::fail_each_allocation(body, true), 50);
}

TEST(Memory, GeneratorsRunOutCleanly) {
  ThreadPool pool(1);
  const auto body = [&] {
    PlantedPartitionConfig planted;
    planted.num_nodes = 60;
    planted_partition(planted, pool);
    LogNormalConfig products;
    products.num_nodes = 100;
    log_normal(products, pool);
    RmatConfig recursive;
    recursive.scale = 5;
    recursive.num_edges = 100;
    rmat(recursive, pool);
    ErdosRenyiConfig uniform;
    uniform.num_nodes = uniform.num_edges = 30;
    erdos_renyi(uniform, pool);
  };
  EXPECT_GT(test::fail_each_allocation(body), 50);
}

}  // namespace
}  // namespace gnnmg::graph
