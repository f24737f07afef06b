// Hotness compared with real draws of the sampler, on graphs with known answers and on random ones.
#include "feature/hotness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "graph/generate.h"
#include "sample/sampler.h"

namespace gnnmg {
namespace {

using base::Tensor;
using feature::SamplingLaw;

graph::GraphRef graph_of(int64_t num_nodes, std::vector<int64_t> sources,
                         std::vector<int64_t> targets) {
  base::ThreadPool pool(1);
  const Tensor from = Tensor::copy_of<int64_t>(sources), to = Tensor::copy_of<int64_t>(targets);
  graph::GraphParts parts;
  parts.num_nodes = {num_nodes};
  parts.topology = {graph::csc_from_coo(from.view(), to.view(), num_nodes, num_nodes, pool)};
  return graph::Graph::create(std::move(parts));
}

std::vector<int64_t> every(int64_t step, int64_t bound) {
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < bound; i += step) ids.push_back(i);
  return ids;
}

// Mini-batches of the built-in sampler over newly drawn seeds.
feature::NodesOfBatch batches(const graph::GraphRef& graph, const std::vector<int64_t>& seeds,
                              const SamplingLaw& law) {
  sample::NeighborConfig config;
  config.fanouts = law.fanouts;
  config.replace = law.replace;
  config.expansion = law.every_layer ? sample::Expansion::kEveryLayer : sample::Expansion::kOnce;
  const std::shared_ptr<sample::Sampler> sampler = sample::make_neighbor_sampler(graph, config);
  return [=](int64_t batch, base::PageVector<int64_t>& nodes) {
    std::vector<int64_t> order = seeds;
    base::Stream stream({7, 7}, static_cast<uint64_t>(batch));
    const auto size = static_cast<size_t>(law.batch_size);
    for (size_t i = 0; i < std::min(size, order.size()); ++i)
      std::swap(order[i], order[i + stream.below(order.size() - i)]);
    order.resize(std::min(size, order.size()));
    sample::Workspace workspace;
    sample::Sample out;
    sample::BatchKey key;
    key.batch = static_cast<uint64_t>(batch);
    sampler->sample(order, key, workspace, out, base::CancelToken());
    nodes.resize_discard(out.num_nodes());
    std::copy(out.node_ids.begin(), out.node_ids.end(), nodes.begin());
  };
}

double total(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const double mean_a = total(a) / a.size(), mean_b = total(b) / b.size();
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return ab / std::sqrt(aa * bb);
}

TEST(Hotness, OfAPathIsKnownExactly) {
  // 3 -> 2 -> 1 -> 0, and 4 -> 0: one of node 0's two edges is drawn.
  const auto graph = graph_of(6, {1, 4, 2, 3}, {0, 0, 1, 2});
  base::ThreadPool pool(2);
  const SamplingLaw law{.batch_size = 1, .fanouts = {1, 1, 1}};
  const std::vector<int64_t> seeds = {0, 5};
  EXPECT_EQ(feature::hotness_by_formula(graph->csc(), seeds, law, pool),
            (std::vector<double>{0.5, 0.25, 0.25, 0.25, 0.25, 0.5}));
  // Three layers draw again: the edge is found with probability 1/2, 3/4 and 7/8.
  SamplingLaw again = law;
  again.every_layer = true;
  EXPECT_EQ(feature::hotness_by_formula(graph->csc(), seeds, again, pool),
            (std::vector<double>{0.5, 0.4375, 0.375, 0.25, 0.4375, 0.5}));
  // Two draws with replacement find each of two edges with probability 3/4.
  const SamplingLaw replace{.batch_size = 1, .fanouts = {2}, .replace = true};
  const auto replaced = feature::hotness_by_formula(graph->csc(), seeds, replace, pool);
  EXPECT_NEAR(replaced[1], 0.375, 1e-15);
  EXPECT_EQ(replaced[2], 0);
  EXPECT_EQ(
      feature::hotness_by_formula(graph->csc(), seeds, {.batch_size = 7, .fanouts = {-1, 0}}, pool),
      (std::vector<double>{1, 1, 0, 0, 1, 1}));
  EXPECT_EQ(feature::hotness_by_formula(graph->csc(), seeds, {.batch_size = 1}, pool),
            (std::vector<double>{0.5, 0, 0, 0, 0, 0.5}));
  EXPECT_EQ(total(feature::hotness_by_formula(graph->csc(), {}, law, pool)), 0);
  EXPECT_EQ(feature::hotness_by_degree(graph->csc(), pool),
            (std::vector<double>{0, 1, 1, 1, 1, 0}));
}

struct Measured {
  double rows, expected, correlation;
};

Measured measure(const graph::GraphRef& graph, const SamplingLaw& law, int64_t num_batches) {
  base::ThreadPool pool(2);
  const std::vector<int64_t> seeds = every(10, graph->num_nodes());
  const auto formula = feature::hotness_by_formula(graph->csc(), seeds, law, pool);
  const auto counted = feature::hotness_by_counting(graph->num_nodes(), num_batches,
                                                    batches(graph, seeds, law), pool);
  return {total(counted), total(formula), correlation(counted, formula)};
}

TEST(Hotness, OfTheFormulaIsWhatSamplingCounts) {
  base::ThreadPool pool(2);
  graph::LogNormalConfig directed;
  directed.num_nodes = 5000;
  directed.num_features = 0;
  directed.num_classes = 0;
  directed.mean_degree = 20;
  const auto products = graph::log_normal(directed, pool);
  graph::PlantedPartitionConfig undirected;
  undirected.num_nodes = 5000;
  undirected.num_features = 1;
  const auto planted = graph::planted_partition(undirected, pool);
  struct Case {
    graph::GraphRef graph;
    SamplingLaw law;
    double tolerance;
  };
  const Case cases[] = {
      {products, {.batch_size = 16, .fanouts = {10, 5}}, 0.02},
      {products, {.batch_size = 16, .fanouts = {10, 5}, .every_layer = true}, 0.02},
      {products, {.batch_size = 8, .fanouts = {5, 5, 5}, .every_layer = true}, 0.03},
      {products, {.batch_size = 16, .fanouts = {10, 5}, .replace = true}, 0.02},
      {products, {.batch_size = 4, .fanouts = {-1, 3}}, 0.06},  // whole neighborhoods are dependent
      {planted, {.batch_size = 16, .fanouts = {10, 5}}, 0.05},
      {planted, {.batch_size = 16, .fanouts = {10, 5}, .every_layer = true}, 0.05},
  };
  for (const Case& c : cases) {
    const Measured m = measure(c.graph, c.law, 400);
    EXPECT_NEAR(m.expected / m.rows, 1, c.tolerance) << m.expected << " of " << m.rows;
    EXPECT_GT(m.correlation, 0.97) << m.expected << " of " << m.rows;
    std::printf("rows counted %.1f, by the formula %.1f, correlation %.4f\n", m.rows, m.expected,
                m.correlation);
  }
}

// Returns the share of rows that a cache of the hottest tenth would have held.
double hit_rate(const std::vector<double>& hotness, const std::vector<double>& counted) {
  double hits = 0;
  for (const int64_t node : feature::hottest(hotness, static_cast<int64_t>(hotness.size()) / 10))
    hits += counted[node];
  return hits / total(counted);
}

TEST(Hotness, HitRatesOrderAsTheyShould) {
  base::ThreadPool pool(2);
  graph::LogNormalConfig config;
  config.num_nodes = 20000;
  config.num_features = 0;
  config.num_classes = 0;
  const auto graph = graph::log_normal(config, pool);
  // Seeds in one corner of the graph, for which the number of edges alone is a poor predictor.
  std::vector<int64_t> seeds(100);
  std::iota(seeds.begin(), seeds.end(), int64_t{0});
  const SamplingLaw law{.batch_size = 10, .fanouts = {10, 5}};
  const auto of = batches(graph, seeds, law);
  // Counts other mini-batches than those of the prediction.
  const auto counted = feature::hotness_by_counting(
      config.num_nodes, 200,
      [&](int64_t batch, base::PageVector<int64_t>& nodes) { of(batch + 1000, nodes); }, pool);
  const double best = hit_rate(counted, counted);
  const double formula =
      hit_rate(feature::hotness_by_formula(graph->csc(), seeds, law, pool), counted);
  const double before =
      hit_rate(feature::hotness_by_counting(config.num_nodes, 50, of, pool), counted);
  const double degree = hit_rate(feature::hotness_by_degree(graph->csc(), pool), counted);
  const double none = hit_rate(std::vector<double>(config.num_nodes), counted);
  std::printf("hit rates: best %.3f, formula %.3f, 50 counted %.3f, degree %.3f, first ids %.3f\n",
              best, formula, before, degree, none);
  EXPECT_GT(best, formula);
  EXPECT_GT(formula, before);
  EXPECT_GT(before, degree);
  EXPECT_GT(degree, none);
}

TEST(Hotness, DoesNotDependOnThreads) {
  base::ThreadPool one(1), three(3);
  graph::LogNormalConfig config;
  config.num_nodes = 20000;
  config.num_features = 0;
  config.num_classes = 0;
  const auto graph = graph::log_normal(config, one);
  const std::vector<int64_t> seeds = every(3, config.num_nodes);
  for (const bool every_layer : {false, true}) {
    const SamplingLaw law{.batch_size = 100, .fanouts = {5, 5}, .every_layer = every_layer};
    EXPECT_EQ(feature::hotness_by_formula(graph->csc(), seeds, law, one),
              feature::hotness_by_formula(graph->csc(), seeds, law, three));
    const auto of = batches(graph, seeds, law);
    EXPECT_EQ(feature::hotness_by_counting(config.num_nodes, 20, of, one),
              feature::hotness_by_counting(config.num_nodes, 20, of, three));
  }
  EXPECT_EQ(feature::hotness_by_degree(graph->csc(), one),
            feature::hotness_by_degree(graph->csc(), three));
}

TEST(Hotness, HottestFirstThenTheLowerId) {
  const std::vector<double> hotness = {1, 5, 1, 7, 5, 0};
  using Ids = std::vector<int64_t>;
  EXPECT_EQ(feature::hottest(hotness, 3), (Ids{3, 1, 4}));
  EXPECT_EQ(feature::hottest(hotness, 4), (Ids{3, 1, 4, 0}));
  EXPECT_EQ(feature::hottest(hotness, 100), (Ids{3, 1, 4, 0, 2, 5}));
  EXPECT_EQ(feature::hottest(hotness, 0), Ids());
  EXPECT_EQ(feature::hottest({}, 3), Ids());
}

template <typename F>
void expect_error(base::Status status, const char* text, const F& f) {
  try {
    f();
    ADD_FAILURE() << "nothing thrown";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.status(), status);
    EXPECT_THAT(error.what(), testing::HasSubstr(text));
  }
}

TEST(Hotness, NamesWhatIsWrong) {
  const auto graph = graph_of(3, {0, 1}, {1, 2});
  base::ThreadPool pool(2);
  const graph::Csc& csc = graph->csc();
  const std::vector<int64_t> seeds = {0, 3};
  const SamplingLaw law{.batch_size = 1, .fanouts = {2}};
  expect_error(base::Status::kRange, "seed 1 is node 3, expected 0 to 2",
               [&] { feature::hotness_by_formula(csc, seeds, law, pool); });
  expect_error(base::Status::kInvalidArgument, "batch size is 0, expected 1 or more",
               [&] { feature::hotness_by_formula(csc, {}, {.batch_size = 0}, pool); });
  expect_error(base::Status::kInvalidArgument, "fan-out of hop 1 is -2, expected -1 or more",
               [&] { feature::hotness_by_formula(csc, {}, {.fanouts = {1, -2}}, pool); });
  expect_error(base::Status::kInvalidArgument, "number of mini-batches to count is 0",
               [&] { feature::hotness_by_counting(3, 0, {}, pool); });
  expect_error(base::Status::kRange, "mini-batch 0 holds node 3, expected 0 to 2", [&] {
    feature::hotness_by_counting(
        3, 1,
        [](int64_t, base::PageVector<int64_t>& nodes) {
          nodes.resize_discard(1);
          nodes[0] = 3;
        },
        pool);
  });
}

TEST(HotnessByRows, IsThatByFormula) {
  base::ThreadPool pool(2);
  graph::RmatConfig rmat;
  rmat.scale = 10;
  rmat.num_edges = 20000;
  const graph::GraphRef made = graph::rmat(rmat, pool);
  for (const bool every_layer : {false, true})
    for (const bool replace : {false, true}) {
      const SamplingLaw law{20, {3, -1, 2}, every_layer, replace};
      const auto seeds = every(7, made->num_nodes());
      int looks = 0;
      const auto expected = feature::hotness_by_formula(made->csc(), seeds, law, pool);
      const auto found = feature::hotness_by_rows(made->csc(), seeds, law, [&] { ++looks; });
      ASSERT_EQ(found.size(), expected.size());
      for (size_t v = 0; v < found.size(); ++v) EXPECT_NEAR(found[v], expected[v], 1e-12) << v;
      EXPECT_EQ(looks, 3);
    }
  EXPECT_EQ(feature::hotness_by_rows(made->csc(), {}, {}, [] {}),
            std::vector<double>(made->num_nodes()));
}

}  // namespace
}  // namespace gnnmg
