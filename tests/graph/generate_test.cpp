// Generated graphs: the same for every number of threads, and shaped as configured.
#include "graph/generate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "graph/ceiling.h"
#include "graph/support.h"
#include "graph/weighted.h"
#include "support/sanitized.h"

namespace gnnmg::graph {
namespace {

using base::DType;
using base::Status;
using base::Tensor;
using base::ThreadPool;

bool same_graph(const Graph& a, const Graph& b) {
  if (!same_bytes(a.csc(), b.csc()) || a.node_columns().size() != b.node_columns().size())
    return false;
  for (const auto& [name, column] : a.node_columns()) {
    const Column* other = b.node_column(name);
    if (!other || !same_bytes(std::get<Tensor>(column), std::get<Tensor>(*other))) return false;
  }
  return true;
}

// Checks that 1, 2 and 5 threads give the same graph, and another seed another graph; returns the
// graph.
template <typename Config>
GraphRef check_pure(Config config, GraphRef (*make)(const Config&, ThreadPool&)) {
  ThreadPool one(1);
  const GraphRef expected = make(config, one);
  for (int threads : {2, 5}) {
    ThreadPool pool(threads);
    EXPECT_TRUE(same_graph(*make(config, pool), *expected)) << threads << " threads";
  }
  ++config.seed;
  EXPECT_FALSE(same_bytes(make(config, one)->csc().indices, expected->csc().indices));
  return expected;
}

std::vector<double> means(const Tensor& matrix, const std::vector<int64_t>& groups,
                          int64_t num_groups) {
  const int64_t width = matrix.shape()[1];
  std::vector<double> sums(num_groups * width), counts(num_groups);
  for (size_t i = 0; i < groups.size(); ++i) {
    ++counts[groups[i]];
    for (int64_t f = 0; f < width; ++f)
      sums[groups[i] * width + f] += matrix.as<float>()[i * width + f];
  }
  for (int64_t k = 0; k < num_groups * width; ++k) sums[k] /= counts[k / width];
  return sums;
}

TEST(AliasTable, GivesEachSlotExactlyItsWeight) {
  // A slot's own share plus the shares that other slots pass to it, in units of 2^-32 of a slot.
  const auto shares = [](const std::vector<int64_t>& weights) {
    std::vector<AliasSlot> table(weights.size());
    make_alias_table(weights, table);
    std::vector<double> out(weights.size());
    for (size_t i = 0; i < table.size(); ++i) {
      out[i] += table[i].threshold * 0x1p-32;
      out[table[i].alias] += 1 - table[i].threshold * 0x1p-32;
    }
    return out;
  };
  for (const std::vector<int64_t>& weights : {std::vector<int64_t>{7},
                                              {1, 1},
                                              {0, 5},
                                              {1, 2, 3, 4},
                                              {1000000, 1, 1, 0, 3},
                                              {5, 5, 5, 5, 5, 5, 5}}) {
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    const std::vector<double> got = shares(weights);
    for (size_t i = 0; i < weights.size(); ++i)
      EXPECT_NEAR(got[i] / weights.size(), weights[i] / total, 1e-9) << i;
  }
  std::vector<AliasSlot> none;
  make_alias_table({}, none);
  EXPECT_EQ(chosen({10, 3}, 5, 9), 5);
  EXPECT_EQ(chosen({10, 3}, 5, 10), 3);
  EXPECT_EQ(scaled(0, 7), 0);
  EXPECT_EQ(scaled(~uint64_t{0}, 7), 6);
}

TEST(PlantedPartition, IsASimpleUndirectedGraphOfItsSizes) {
  PlantedPartitionConfig config;
  config.num_nodes = 3001;
  config.num_classes = 7;
  const GraphRef graph = check_pure(config, planted_partition);
  EXPECT_NEAR(graph->num_edges(), 3001 * 16, 3001 * 16 * 0.02);
  std::set<std::pair<int64_t, int64_t>> edges;
  int64_t same = 0;
  const Csc& csc = graph->csc();
  EXPECT_FALSE(csc.edge_ids.defined());
  for (int64_t t = 0; t < csc.num_targets; ++t)
    for (int64_t e = csc.indptr.as<int64_t>()[t]; e < csc.indptr.as<int64_t>()[t + 1]; ++e) {
      EXPECT_NE(csc.source(e), t);
      EXPECT_TRUE(edges.emplace(csc.source(e), t).second);
      same += csc.source(e) % 7 == t % 7;
    }
  for (const auto& [from, to] : edges) EXPECT_TRUE(edges.contains({to, from}));
  EXPECT_NEAR(static_cast<double>(same) / graph->num_edges(), config.intra_probability, 0.02);
}

TEST(PlantedPartition, FeaturesAndLabelsFollowTheClasses) {
  PlantedPartitionConfig config;
  config.num_nodes = 20000;
  config.num_features = 6;
  config.noise = 0.5;
  config.center_scale = 2;
  ThreadPool pool(2);
  const GraphRef graph = planted_partition(config, pool);
  const auto& x = std::get<Tensor>(*graph->node_column("x"));
  const auto labels = values_of<int64_t>(std::get<Tensor>(*graph->node_column("y")));
  ASSERT_EQ(x.shape(), (base::Shape{20000, 6}));
  std::vector<int64_t> classes(20000);
  int64_t replaced = 0;
  for (int64_t i = 0; i < 20000; ++i) {
    classes[i] = i % 10;
    replaced += labels[i] != classes[i];
    ASSERT_TRUE(labels[i] >= 0 && labels[i] < 10);
  }
  EXPECT_NEAR(replaced / 20000.0, config.label_noise, 0.01);
  const std::vector<double> got = means(x, classes, 10);
  const Tensor centres = class_centres(config);
  double variance = 0, scale = 0;
  for (int64_t k = 0; k < 60; ++k) {
    EXPECT_NEAR(got[k], centres.as<float>()[k], 5 * 0.5 / std::sqrt(2000.0));
    scale += centres.as<float>()[k] * centres.as<float>()[k] / 60;
  }
  EXPECT_NEAR(std::sqrt(scale), 2, 0.6);
  for (int64_t i = 0; i < 20000; ++i)
    for (int64_t f = 0; f < 6; ++f) {
      const double d = x.as<float>()[i * 6 + f] - centres.as<float>()[classes[i] * 6 + f];
      variance += d * d / 120000;
    }
  EXPECT_NEAR(std::sqrt(variance), 0.5, 0.01);
}

TEST(PlantedPartition, EdgeCasesOfTheConfig) {
  ThreadPool pool(1);
  PlantedPartitionConfig config;
  config.num_nodes = 2;
  config.num_classes = 1;
  config.intra_probability = 1;
  config.mean_degree = 2;
  config.num_features = 0;
  config.label_noise = 1;
  const GraphRef pair = planted_partition(config, pool);
  EXPECT_EQ(adjacency_of(pair->csc()), (Adjacency{{{1, 0}}, {{0, 1}}}));
  EXPECT_EQ(pair->node_column("x"), nullptr);
  EXPECT_EQ(values_of<int64_t>(std::get<Tensor>(*pair->node_column("y"))),
            (std::vector<int64_t>{0, 0}));
  config.mean_degree = 0;
  EXPECT_EQ(planted_partition(config, pool)->num_edges(), 0);

  const auto text = [&](auto change) {
    PlantedPartitionConfig bad;
    change(bad);
    const auto [status, what] = error_of([&] { planted_partition(bad, pool); });
    EXPECT_EQ(status, Status::kInvalidArgument);
    return what;
  };
  EXPECT_EQ(text([](auto& c) { c.num_nodes = 19; }), "num_nodes is 19, expected 20 to 2147483647");
  text([](auto& c) { c.num_nodes = -1; });
  text([](auto& c) { c.num_classes = 0; });
  text([](auto& c) { c.num_classes = 1; });  // breaks edges between classes too
  text([](auto& c) { c.mean_degree = std::nan(""); });
  text([](auto& c) { c.mean_degree = -1; });
  text([](auto& c) { c.intra_probability = 1.5; });
  text([](auto& c) { c.num_features = -1; });
  text([](auto& c) { c.center_scale = std::numeric_limits<double>::infinity(); });
  text([](auto& c) { c.noise = -1; });
  text([](auto& c) { c.label_noise = 2; });
}

TEST(PlantedPartition, ReachesTheCeilingThatTheHeaderStates) {
  ThreadPool pool;
  const PlantedPartitionConfig config;
  const GraphRef graph = planted_partition(config, pool);
  EXPECT_NEAR(graph->num_edges(), 800000, 2000);
  const int most = test::kSanitized ? 1 : 5;  // hops
  const std::vector<double> reached = ceiling(config, *graph, most, pool);
  for (int hops = 0; hops <= std::min(most, 2); ++hops)
    EXPECT_NEAR(reached[hops], kPlantedPartitionCeiling[hops], 1e-3);
  if (most == 5) {
    EXPECT_NEAR(reached[5], kPlantedPartitionCeiling[3], 1e-3);
  }
}

LogNormalConfig small_products() {
  LogNormalConfig config = products_shaped(0.01);
  config.num_features = 8;
  return config;
}

TEST(LogNormal, DegreesSourcesAndCommunitiesFollowTheConfig) {
  const LogNormalConfig config = small_products();
  ASSERT_EQ(config.num_nodes, 24490);
  const GraphRef graph = check_pure(config, log_normal);
  const Csc& csc = graph->csc();
  std::vector<int64_t> degrees;
  std::vector<double> drawn(csc.num_targets);
  for (int64_t t = 0; t < csc.num_targets; ++t) degrees.push_back(csc.in_degree(t));
  for (int64_t e = 0; e < csc.num_edges(); ++e) ++drawn[csc.source(e)];
  std::vector<int64_t> sorted = degrees;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted[sorted.size() / 2], 18);
  EXPECT_GE(sorted.front(), 1);
  EXPECT_LE(sorted.back(), config.num_nodes / 20);
  double log_mean = 0, log_square = 0;
  for (int64_t d : degrees) log_mean += std::log(d) / degrees.size();
  for (int64_t d : degrees) log_square += std::pow(std::log(d) - log_mean, 2) / degrees.size();
  EXPECT_NEAR(log_mean, std::log(50.5) - 1.45 * 1.45 / 2, 0.03);
  EXPECT_NEAR(std::sqrt(log_square), 1.45, 0.05);
  // A source is drawn in proportion to its own degree: chi-square over nodes of large degree.
  double chi = 0;
  int64_t tested = 0;
  for (int64_t i = 0; i < csc.num_sources; ++i) {
    if (degrees[i] < 20) continue;
    chi += std::pow(drawn[i] - degrees[i], 2) / degrees[i];
    ++tested;
  }
  // Communities draw from themselves and so, except for chance, from as many edges as they receive.
  EXPECT_NEAR(chi / tested, 1, 0.1);
}

TEST(LogNormal, HomophilyLabelsAndZipfSizes) {
  LogNormalConfig config = small_products();
  config.label_noise = 0;
  ThreadPool pool(2);
  const GraphRef graph = log_normal(config, pool);
  const auto labels = values_of<int64_t>(std::get<Tensor>(*graph->node_column("y")));
  std::vector<double> sizes(47), shares(47);
  for (int64_t c : labels) ++sizes[c];
  double norm = 0;
  for (int c = 0; c < 47; ++c) norm += std::pow(c + 1, -0.8);
  for (int c = 0; c < 47; ++c) {
    const double expected = labels.size() * std::pow(c + 1, -0.8) / norm;
    EXPECT_NEAR(sizes[c], expected, 5 * std::sqrt(expected)) << c;
  }
  const Csc& csc = graph->csc();
  for (int64_t t = 0; t < csc.num_targets; ++t) shares[labels[t]] += csc.in_degree(t);
  double same = 0, by_chance = 0;
  for (int64_t t = 0; t < csc.num_targets; ++t)
    for (int64_t e = csc.indptr.as<int64_t>()[t]; e < csc.indptr.as<int64_t>()[t + 1]; ++e)
      same += labels[csc.source(e)] == labels[t];
  for (double share : shares) by_chance += std::pow(share / csc.num_edges(), 2);
  EXPECT_NEAR(same / csc.num_edges(), 0.5 + 0.5 * by_chance, 0.005);

  config.label_noise = 0.05;
  const auto noisy =
      values_of<int64_t>(std::get<Tensor>(*log_normal(config, pool)->node_column("y")));
  double replaced = 0;
  for (size_t i = 0; i < labels.size(); ++i) replaced += noisy[i] != labels[i];
  EXPECT_NEAR(replaced / labels.size(), 0.05 * 46 / 47, 0.006);
  const std::vector<double> got = means(std::get<Tensor>(*graph->node_column("x")), labels, 47);
  const Tensor centres = class_centres(config);
  for (int64_t k = 0; k < 47 * 8; ++k)
    EXPECT_NEAR(got[k], centres.as<float>()[k], 5 / std::sqrt(sizes[k / 8])) << k;
}

TEST(LogNormal, ShapesAndEdgeCasesOfTheConfig) {
  EXPECT_EQ(products_shaped().num_nodes, 2449029);
  EXPECT_EQ(products_shaped(0.1).num_nodes, 244903);
  EXPECT_EQ(reddit_shaped().num_nodes, 232965);
  EXPECT_EQ(reddit_shaped().num_features, 602);
  EXPECT_EQ(error_of([] { products_shaped(-1); }).first, Status::kInvalidArgument);
  ThreadPool pool(1);
  LogNormalConfig config;
  config.num_nodes = 0;
  EXPECT_EQ(log_normal(config, pool)->num_edges(), 0);
  config.num_nodes = 30;  // all degrees are 1
  config.num_features = config.num_classes = 0;
  const GraphRef plain = log_normal(config, pool);
  EXPECT_EQ(plain->num_edges(), 30);
  EXPECT_TRUE(plain->node_columns().empty());
  config.num_features = 5;
  EXPECT_EQ(std::get<Tensor>(*log_normal(config, pool)->node_column("x")).shape(),
            (base::Shape{30, 5}));
  const auto status = [&](auto change) {
    LogNormalConfig bad;
    bad.num_nodes = 10;
    change(bad);
    return error_of([&] { log_normal(bad, pool); }).first;
  };
  EXPECT_EQ(status([](auto&) {}), Status::kOk);
  EXPECT_EQ(status([](auto& c) { c.num_nodes = int64_t{1} << 31; }), Status::kInvalidArgument);
  EXPECT_EQ(status([](auto& c) { c.mean_degree = 0; }), Status::kInvalidArgument);
  EXPECT_EQ(status([](auto& c) { c.sigma = -1; }), Status::kInvalidArgument);
  EXPECT_EQ(status([](auto& c) { c.num_features = -1; }), Status::kInvalidArgument);
  EXPECT_EQ(status([](auto& c) { c.num_classes = -1; }), Status::kInvalidArgument);
  EXPECT_EQ(status([](auto& c) { c.zipf = std::nan(""); }), Status::kInvalidArgument);
  EXPECT_EQ(status([](auto& c) { c.homophily = 1.01; }), Status::kInvalidArgument);
  EXPECT_EQ(status([](auto& c) { c.center_scale = -1; }), Status::kInvalidArgument);
  EXPECT_EQ(status([](auto& c) { c.label_noise = -0.1; }), Status::kInvalidArgument);
}

TEST(Rmat, QuadrantsComeOutAsAsked) {
  RmatConfig config;
  config.scale = 10;
  config.num_edges = 200000;
  const GraphRef graph = check_pure(config, rmat);
  EXPECT_EQ(graph->num_nodes(), 1024);
  EXPECT_EQ(graph->num_edges(), 200000);
  EXPECT_FALSE(graph->csc().edge_ids.defined());
  ThreadPool pool(1);
  const auto [sources, targets] = coo_of(graph->csc(), pool);
  for (int bit : {9, 4, 0}) {
    double quadrant[4] = {};
    for (int64_t e = 0; e < 200000; ++e)
      ++quadrant[(sources.as<int64_t>()[e] >> bit & 1) * 2 + (targets.as<int64_t>()[e] >> bit & 1)];
    EXPECT_NEAR(quadrant[0] / 200000, 0.57, 0.006) << bit;
    EXPECT_NEAR(quadrant[1] / 200000, 0.19, 0.006) << bit;
    EXPECT_NEAR(quadrant[2] / 200000, 0.19, 0.006) << bit;
    EXPECT_NEAR(quadrant[3] / 200000, 0.05, 0.006) << bit;
  }
  config.a = 1;
  config.b = config.c = 0;
  EXPECT_EQ(rmat(config, pool)->csc().in_degree(0), 200000);
  config.c = 0.5;
  EXPECT_EQ(error_of([&] { rmat(config, pool); }).first, Status::kInvalidArgument);
  config = {};
  config.scale = 31;
  EXPECT_EQ(error_of([&] { rmat(config, pool); }).first, Status::kInvalidArgument);
  config.scale = 0;
  config.num_edges = 3;
  EXPECT_EQ(rmat(config, pool)->csc().in_degree(0), 3);
  config.num_edges = -1;
  EXPECT_EQ(error_of([&] { rmat(config, pool); }).second,
            "num_edges is -1, expected 0 to 1099511627776");
}

TEST(ErdosRenyi, BothEndsAreUniform) {
  ErdosRenyiConfig config;
  config.num_nodes = 100;
  config.num_edges = 200000;
  const GraphRef graph = check_pure(config, erdos_renyi);
  double chi_in = 0, chi_out = 0;
  std::vector<double> out(100);
  for (int64_t e = 0; e < 200000; ++e) ++out[graph->csc().source(e)];
  for (int64_t i = 0; i < 100; ++i) {
    chi_in += std::pow(graph->csc().in_degree(i) - 2000.0, 2) / 2000;
    chi_out += std::pow(out[i] - 2000.0, 2) / 2000;
  }
  EXPECT_LT(chi_in, 160);  // 99 degrees of freedom: 1 - 1e-4 of all seeds pass
  EXPECT_LT(chi_out, 160);
  ThreadPool pool(1);
  config.num_nodes = 0;
  EXPECT_EQ(error_of([&] { erdos_renyi(config, pool); }).first, Status::kInvalidArgument);
  config.num_edges = 0;
  EXPECT_EQ(erdos_renyi(config, pool)->num_nodes(), 0);
}

}  // namespace
}  // namespace gnnmg::graph
