// Cuts compared with METIS on the whole graph: real data sets and generated graphs, as means over
// five seeds.
#include "partition/metis.h"

#include <gtest/gtest.h>

#include "data/dataset.h"
#include "graph/generate.h"
#include "partition/assign.h"
#include "partition/graphs.h"
#include "partition/quality.h"
#include "partition/refine.h"
#include "support/data.h"

namespace gnnmg {
namespace {

using partition_test::each_of;

constexpr int32_t kParts = 4;
constexpr int kSeeds = 5;

double cut_of(const partition::CscRows& rows, const std::vector<uint16_t>& parts) {
  return partition::quality_of(rows, parts, kParts, {}).cut;
}

// Returns the mean cut by clusters divided by that of METIS.
double against_metis(const graph::Csc& csc, std::span<const int64_t> train) {
  const partition::CscRows rows(csc, train);
  partition::Config config;
  config.num_parts = kParts;
  double ours = 0, metis = 0;
  for (config.seed = 0; config.seed < kSeeds; ++config.seed) {
    ours += cut_of(rows, partition::assign_parts(csc, train, config, {}));
    metis +=
        cut_of(rows, partition::partition_by_metis(rows, kParts, config.slack, config.seed, {}));
  }
  std::printf("mean cut %.4f, METIS %.4f\n", ours / kSeeds, metis / kSeeds);
  return ours / metis;
}

double of_data_set(const std::string& name) {
  base::ThreadPool pool(2);
  base::Log log;
  const data::DatasetRef set =
      data::open_dataset(test::data_path(name), {}, {pool, log, base::CancelToken()});
  return against_metis(set->graph->csc(), each_of(0, set->graph->num_nodes(), 10));
}

double of_communities(int32_t communities, double inside) {
  base::ThreadPool pool(2);
  graph::LogNormalConfig config;
  config.num_nodes = 16000;
  config.mean_degree = 30;
  config.num_features = 0;
  config.num_classes = communities;
  config.homophily = inside;
  const graph::GraphRef made = graph::log_normal(config, pool);
  return against_metis(made->csc(), each_of(0, made->num_nodes(), 10));
}

TEST(AgainstMetis, CoauthorPhysics) {
  GNNMG_NEEDS_DATA("coauthor-physics");
  GNNMG_NEEDS(partition::why_no_metis().empty(), "METIS");
  EXPECT_LE(of_data_set("coauthor-physics"), 1.05);
}

TEST(AgainstMetis, AmazonPhoto) {
  GNNMG_NEEDS_DATA("amazon-photo");
  GNNMG_NEEDS(partition::why_no_metis().empty(), "METIS");
  EXPECT_LE(of_data_set("amazon-photo"), 1.05);
}

TEST(AgainstMetis, CommunitiesWithHalfOfTheEdgesAnywhere) {
  GNNMG_NEEDS(partition::why_no_metis().empty(), "METIS");
  EXPECT_LE(of_communities(47, 0.5), 1.08);
}

TEST(AgainstMetis, ManyCommunities) {
  GNNMG_NEEDS(partition::why_no_metis().empty(), "METIS");
  EXPECT_LE(of_communities(200, 0.9), 1.08);
}

TEST(Metis, KeepsTheBoundsByMovesAfterIt) {
  GNNMG_NEEDS(partition::why_no_metis().empty(), "METIS");
  base::ThreadPool pool(2);
  graph::RmatConfig rmat;
  rmat.scale = 12;
  rmat.num_edges = 50000;
  const graph::GraphRef made = graph::rmat(rmat, pool);
  const auto train = each_of(0, 500);
  partition::Config config;
  config.num_parts = 6;
  config.method = partition::Method::kMetis;
  const auto parts = partition::assign_parts(made->csc(), train, config, {});
  const partition::CscRows rows(made->csc(), train);
  const partition::Load bound =
      bound_of(total_of(rows), largest_of(rows), config.slack, config.num_parts);
  for (const partition::Load& load : loads_of(rows, parts, config.num_parts))
    EXPECT_TRUE(load.within(bound));
}

TEST(Metis, RefusesTooFewNodes) {
  GNNMG_NEEDS(partition::why_no_metis().empty(), "METIS");
  const graph::Csc csc = partition_test::csc_of(100, {});
  try {
    partition::partition_by_metis(partition::CscRows(csc, {}), 7, {}, 0, {});
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.status(), base::Status::kInvalidArgument) << error.what();
  }
}

}  // namespace
}  // namespace gnnmg
