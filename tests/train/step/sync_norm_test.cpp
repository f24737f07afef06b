// Batch norm over the whole step: the same on any number of ranks, and the same as one mini-batch
// of the step's size where neighborhoods do not overlap.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "data/split.h"
#include "train/fixture.h"

namespace gnnmg::test {
namespace {

using train::OptimizerKind;

Recipe normed() {
  Recipe setup;
  setup.model.norm = nn::Norm::kBatch;
  setup.model.dtype = base::DType::kF64;
  // A bias in front of batch norm has no gradient but rounding, which Adam would blow up.
  setup.model.bias = false;
  setup.trainer.sync_batch_norm = true;
  setup.trainer.batches_per_step = 4;
  setup.trainer.evaluate_every = 0;
  return setup;
}

void expect_equal(Recipe setup, double tolerance, const std::vector<int>& worlds = {2, 4}) {
  setup.trainer.num_ranks = 1;
  const std::vector<double> alone = weights_after(setup);
  for (int world : worlds) {
    setup.trainer.num_ranks = world;
    EXPECT_LE(largest_difference(weights_after(setup), alone), tolerance) << world << " ranks";
  }
}

TEST(SyncBatchNorm, DoubleWithAdam) {
  Recipe setup = normed();
  setup.trainer.num_epochs = 40;  // two steps each, the second of one mini-batch of one seed
  expect_equal(setup, 1e-9);
}

TEST(SyncBatchNorm, SingleWithSgd) {
  Recipe setup = normed();
  setup.model.dtype = base::DType::kF32;
  setup.trainer.optimizer = {.kind = OptimizerKind::kSgd, .learning_rate = 0.05};
  setup.trainer.num_epochs = 20;
  expect_equal(setup, 1e-5);
}

TEST(SyncBatchNorm, EveryPlaceOfANorm) {
  for (const nn::Skip skip : {nn::Skip::kNone, nn::Skip::kLinear, nn::Skip::kResidual})
    for (const bool act_first : {false, true}) {
      if (act_first && skip == nn::Skip::kResidual)
        continue;  // residual blocks begin with the norm
      Recipe setup = normed();
      setup.dataset = make_small({.num_train = 140});
      setup.model.skip = skip;
      setup.model.act_first = act_first;
      setup.model.num_layers = 3;
      setup.sampler.fanouts = {4, 4, 4};
      setup.trainer.optimizer = {.kind = OptimizerKind::kSgd, .learning_rate = 0.1};
      setup.trainer.num_epochs = 10;
      SCOPED_TRACE(testing::Message() << static_cast<int>(skip) << " " << act_first);
      expect_equal(setup, 1e-9, {3});
    }
}

// Fewer mini-batches than ranks, a last one of a single seed, more mini-batches than ranks.
TEST(SyncBatchNorm, UnevenPlans) {
  struct Case {
    int64_t num_train, batch_size, per_step;
  };
  for (const Case c : {Case{40, 32, 4}, Case{33, 32, 2}, Case{10, 100, 4}, Case{129, 16, 7}}) {
    Recipe setup = normed();
    setup.dataset = make_small({.num_train = c.num_train});
    setup.trainer.batch_size = c.batch_size;
    setup.trainer.batches_per_step = c.per_step;
    setup.trainer.num_epochs = 8;
    SCOPED_TRACE(testing::Message() << c.num_train << " ids by " << c.batch_size);
    expect_equal(setup, 1e-9, {2, 3, 4});
  }
}

// Components of 40 nodes: a mini-batch is one of them, so no two mini-batches share a node.
data::DatasetRef make_components(int64_t count) {
  constexpr int64_t kNodes = 40, kClasses = 3, kFeatures = 6;
  const int64_t nodes = count * kNodes;
  std::vector<int64_t> sources, targets;
  for (int64_t v = 0; v < nodes; ++v)
    for (const int64_t step : std::vector<int64_t>{1, 3, 7 + v % 5}) {
      sources.push_back(v / kNodes * kNodes + (v + step) % kNodes);
      targets.push_back(v);
    }
  base::ThreadPool pool(1);
  const int64_t edges = static_cast<int64_t>(sources.size());
  graph::GraphParts parts;
  parts.num_nodes = {nodes};
  parts.topology.push_back(graph::csc_from_coo({sources.data(), base::DType::kI64, {edges}},
                                               {targets.data(), base::DType::kI64, {edges}}, nodes,
                                               nodes, pool));
  parts.node_columns.resize(1);
  base::Tensor x = base::Tensor::empty(base::DType::kF32, {nodes, kFeatures});
  base::Tensor y = base::Tensor::empty(base::DType::kI64, {nodes});
  for (int64_t v = 0; v < nodes; ++v) {
    y.as<int64_t>()[v] = v % kClasses;
    for (int64_t c = 0; c < kFeatures; ++c)
      x.as<float>()[v * kFeatures + c] =
          static_cast<float>(std::sin(0.7 * static_cast<double>(v * (c + 1)))) +
          static_cast<float>(v % kClasses == c) + 0.1f * static_cast<float>(v / kNodes);
  }
  parts.node_columns[0].insert_or_assign("x", x);
  parts.node_columns[0].insert_or_assign("y", y);
  std::vector<int64_t> ids(nodes);
  for (int64_t v = 0; v < nodes; ++v) ids[v] = v;
  return data::make_dataset(
      graph::Graph::create(std::move(parts)), "x", "y", false,
      {data::split_from_ids(ids, {}, {}, nodes, "main", 0, "the test's split")}, kClasses);
}

TEST(SyncBatchNorm, IsOneLargeMiniBatch) {
  Recipe setup = normed();
  setup.dataset = make_components(8);
  setup.model.dropout = 0;
  setup.sampler.fanouts = {-1, -1};
  setup.trainer.shuffle = false;
  setup.trainer.num_epochs = 50;  // two steps each
  setup.trainer.batch_size = 40;
  setup.trainer.num_ranks = 2;
  const std::vector<double> together = weights_after(setup);
  Recipe large = setup;
  large.trainer.batch_size = 160;
  large.trainer.batches_per_step = 1;
  large.trainer.num_ranks = 1;
  large.trainer.sync_batch_norm = false;  // the same by LibTorch's batch norm
  EXPECT_LE(largest_difference(weights_after(large), together), 1e-9);
  // Statistics of each mini-batch are others, and so are running statistics of four a step.
  setup.trainer.sync_batch_norm = false;
  EXPECT_GT(largest_difference(weights_after(setup), together), 1e-3);
}

TEST(SyncBatchNorm, TheMeanOfRanks) {
  Recipe setup = normed();
  setup.dataset = make_components(2);
  setup.model.dropout = 0;
  setup.trainer.shuffle = false;
  setup.trainer.batch_size = 40;
  setup.trainer.batches_per_step = 2;
  setup.trainer.num_ranks = 2;
  setup.trainer.num_epochs = 20;
  const std::vector<double> exact = weights_after(setup);
  // The mean of means is the mean, since all have the same number of seeds.
  setup.trainer.loss_average = train::LossAverage::kRanks;
  EXPECT_LE(largest_difference(weights_after(setup), exact), 1e-9);
}

// A loss that is infinite on one rank alone: the others wait for its share in their gradients.
TEST(SyncBatchNorm, ABadStepOfOneRankIsOneOfAll) {
  Recipe setup = normed();
  setup.dataset = make_small({.regression = true, .huge_target = true});
  setup.model.dtype = base::DType::kF32;
  setup.trainer.optimizer = {.kind = OptimizerKind::kSgd, .learning_rate = 0.05};
  setup.trainer.num_epochs = 3;
  expect_equal(setup, 1e-5);
  for (const double weight : weights_after(setup)) ASSERT_TRUE(std::isfinite(weight));
}

TEST(SyncBatchNorm, StrictModeIsRefused) {
  Recipe setup = normed();
  setup.trainer.deterministic = true;
  Host host;
  try {
    Trial run(setup, host);
    ADD_FAILURE() << "was accepted";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.status(), base::Status::kInvalidArgument);
    EXPECT_THAT(error.what(), testing::HasSubstr("sync_batch_norm"));
  }
}

TEST(SyncBatchNorm, IsNothingToAModelWithoutBatchNorm) {
  Recipe setup = normed();
  setup.model.norm = nn::Norm::kLayer;
  setup.trainer.num_ranks = 2;
  const std::vector<double> with = weights_after(setup);
  setup.trainer.sync_batch_norm = false;
  EXPECT_EQ(weights_after(setup), with);
}

}  // namespace
}  // namespace gnnmg::test
