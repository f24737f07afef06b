// The same training at any world size: the same mini-batches bit for bit, the same weights up to
// the order of sums.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/weights.h"
#include "train/fixture.h"

namespace gnnmg::test {
namespace {

using train::OptimizerKind;

void expect_equal(Recipe setup, double tolerance, const std::vector<int>& worlds = {2, 4}) {
  setup.trainer.num_ranks = 1;
  const std::vector<double> alone = weights_after(setup);
  for (int world : worlds) {
    setup.trainer.num_ranks = world;
    EXPECT_LE(largest_difference(weights_after(setup), alone), tolerance) << world << " ranks";
  }
}

data::DatasetRef weighted(const data::DatasetRef& dataset) {
  auto made = std::make_shared<data::Dataset>(*dataset);
  made->class_weights = data::make_class_weights(*made, std::vector<double>{0.2, 1, 3, 0.7});
  const base::Tensor of_node = base::Tensor::empty(base::DType::kF64, {made->graph->num_nodes(0)});
  for (int64_t i = 0; i < of_node.rows(); ++i)
    of_node.as<double>()[i] = static_cast<double>(i % 7) / 3;
  made->sample_weights = data::make_sample_weights(*made, of_node.view());
  return made;
}

Recipe in_f64() {
  Recipe setup;
  setup.model.dtype = base::DType::kF64;
  setup.trainer.batches_per_step = 4;
  return setup;
}

TEST(Equality, DoubleWithAdam) {
  Recipe setup = in_f64();
  set_steps(setup, 200);
  expect_equal(setup, 1e-9);
}

TEST(Equality, Labor) {
  Recipe setup = in_f64();
  setup.sampler.fanouts = {4, 3};
  setup.sampler.draw = sample::Draw::kLabor;
  set_steps(setup, 50);
  expect_equal(setup, 1e-9);
}

TEST(Equality, SingleWithSgd) {
  Recipe setup;
  setup.trainer.batches_per_step = 4;
  setup.trainer.optimizer = {.kind = OptimizerKind::kSgd, .learning_rate = 0.05};
  set_steps(setup, 100);
  expect_equal(setup, 1e-5);
}

TEST(Equality, BatchNormAndItsRunningStatistics) {
  Recipe setup = in_f64();
  setup.model.norm = nn::Norm::kBatch;
  // A bias in front of batch norm has no gradient but rounding, which Adam would blow up.
  setup.trainer.optimizer = {.kind = OptimizerKind::kSgd, .learning_rate = 0.1};
  set_steps(setup, 50);
  expect_equal(setup, 1e-9);
}

// Both kinds of weights, with nodes that count nothing and nodes without a label.
TEST(Equality, ClassAndSampleWeights) {
  Recipe setup = in_f64();
  setup.dataset = weighted(make_small({.unlabeled = 20}));
  set_steps(setup, 50);
  expect_equal(setup, 1e-9);
}

// The small data set with three types of edges in place of features.
data::DatasetRef without_features() {
  const data::DatasetRef small = make_small();
  graph::GraphParts parts = small->graph->parts();
  parts.node_columns[0].erase("x");
  const base::Tensor types = base::Tensor::empty(base::DType::kI64, {small->graph->num_edges()});
  for (int64_t e = 0; e < types.rows(); ++e) types.as<int64_t>()[e] = e % 3;
  parts.edge_columns.resize(1);
  parts.edge_columns[0].insert_or_assign("edge_type", types);
  return data::make_dataset(graph::Graph::create(std::move(parts)), "", "y", false, small->splits,
                            4);
}

// R-GCN of the nodes themselves, and learned rows with edges and nodes that drop out.
TEST(Equality, WithoutFeatures) {
  for (const nn::Input input : {nn::Input::kNodes, nn::Input::kEmbedding}) {
    Recipe setup = in_f64();
    setup.dataset = without_features();
    setup.model.input = input;
    if (input == nn::Input::kNodes) {
      setup.model.architecture = nn::Architecture::kRelation;
      setup.model.relations = 3;
      setup.sampler.edge_ids = true;
    } else {
      setup.model.edge_dropout = 0.2;
      setup.model.node_dropout = 0.1;
    }
    set_steps(setup, 60);
    SCOPED_TRACE(static_cast<int>(input));
    expect_equal(setup, 1e-9);
    setup.trainer.num_ranks = 2;
    Host host;
    Trial run(setup, host);
    run.train();
    const nn::Metrics test = *run->evaluate(data::SplitPart::kTest, {});
    EXPECT_EQ(test.count, 150);
    EXPECT_EQ(test.correct,
              train::evaluate_model(run.model(), *setup.dataset,
                                    setup.dataset->split("", 0).part(data::SplitPart::kTest),
                                    nn::Loss::kAuto, host.pool, {})
                  .correct);
  }
}

TEST(Equality, ClippingSchedulesAndWeightDecay) {
  Recipe setup = in_f64();
  setup.trainer.clip_norm = 0.05;
  setup.trainer.optimizer.kind = OptimizerKind::kAdamW;
  setup.trainer.optimizer.weight_decay = 0.01;
  setup.trainer.schedule = {.kind = train::ScheduleKind::kCosine, .warmup_epochs = 2};
  set_steps(setup, 50);
  expect_equal(setup, 1e-9);
}

TEST(Equality, UnlabeledSeedsWeighNothing) {
  Recipe setup = in_f64();
  setup.dataset = make_small({.unlabeled = 40});
  set_steps(setup, 50);
  expect_equal(setup, 1e-9, {3});
}

TEST(Equality, EveryLayerExpansionAndThreeRanks) {
  Recipe setup = in_f64();
  setup.sampler.expansion = sample::Expansion::kEveryLayer;
  setup.trainer.batches_per_step = 3;
  set_steps(setup, 50);
  expect_equal(setup, 1e-9, {3, 2});
}

// Fewer mini-batches than ranks, so that some never have one; a last one of a single seed; one
// larger than the split.
TEST(Equality, UnevenPlans) {
  struct Case {
    int64_t num_train, batch_size;
  };
  for (const Case c : {Case{40, 32}, Case{33, 32}, Case{129, 32}, Case{10, 100}, Case{1, 1}}) {
    Recipe setup = in_f64();
    setup.dataset = make_small({.num_train = c.num_train});
    setup.trainer.batch_size = c.batch_size;
    set_steps(setup, 10);
    SCOPED_TRACE(testing::Message() << c.num_train << " ids by " << c.batch_size);
    expect_equal(setup, 1e-9);
    setup.trainer.num_ranks = 4;
    const auto notes = watch(setup);
    weights_after(setup);
    const auto ids = setup.dataset->split("", 0).part(data::SplitPart::kTrain);
    for (int64_t epoch = 0; epoch < setup.trainer.num_epochs; ++epoch)
      EXPECT_THAT(seeds_of({notes}, epoch),
                  testing::UnorderedElementsAreArray(ids.begin(), ids.end()));
  }
}

// With full neighborhoods and no dropout G mini-batches are one of G times the size.
TEST(Equality, AccumulationIsALargerBatch) {
  Recipe setup = in_f64();
  setup.model.dropout = 0;
  setup.sampler.fanouts = {-1, -1};
  setup.trainer.batch_size = 16;
  set_steps(setup, 40);
  const std::vector<double> small = weights_after(setup);
  setup.trainer.batch_size = 64;
  setup.trainer.batches_per_step = 1;
  set_steps(setup, 40);
  EXPECT_LE(largest_difference(weights_after(setup), small), 1e-9);
}

TEST(Equality, MiniBatchesBitForBit) {
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> expected;
  for (int world : {1, 2, 4}) {
    for (int threads : {0, 1, 4}) {
      Recipe setup;
      setup.trainer.num_ranks = world;
      setup.trainer.batches_per_step = 4;
      setup.trainer.loader_threads = threads;
      setup.trainer.evaluate_every = 0;
      const auto notes = watch(setup);
      weights_after(setup);
      EXPECT_EQ(notes->checksums.size(), 3u * 5u);
      // Every id once an epoch.
      for (uint64_t epoch = 0; epoch < 3; ++epoch) {
        std::vector<int64_t> used;
        for (const auto& [id, seeds] : notes->seeds)
          if (id.first == epoch) used.insert(used.end(), seeds.begin(), seeds.end());
        const auto ids = setup.dataset->split("", 0).part(data::SplitPart::kTrain);
        EXPECT_THAT(used, testing::UnorderedElementsAreArray(ids.begin(), ids.end()));
      }
      if (expected.empty()) expected = notes->checksums;
      EXPECT_EQ(notes->checksums, expected) << world << " ranks, " << threads << " threads";
    }
  }
}

// The peers' habits, for comparison: padded strides use ids twice, slices stay with their rank.
TEST(Equality, PartitionsByRank) {
  const auto count = [](loader::Partition partition, int64_t num_train) {
    Recipe setup;
    setup.dataset = make_small({.num_train = num_train});
    setup.trainer.num_ranks = 2;
    setup.trainer.num_epochs = 1;
    setup.trainer.partition = partition;
    setup.trainer.evaluate_every = 0;
    const auto notes = watch(setup);
    weights_after(setup);
    size_t used = 0;
    for (const auto& [id, seeds] : notes->seeds) used += seeds.size();
    return used;
  };
  EXPECT_EQ(count(loader::Partition::kDistributedSampler, 129), 130u);
  EXPECT_EQ(count(loader::Partition::kContiguous, 129), 129u);
}

// Two ranks with mini-batches of 32 and 1 seeds: the mean of means weighs the single seed as much
// as the other 32 together.
TEST(Equality, MeanOfRanksIsAnotherLoss) {
  Recipe setup = in_f64();
  setup.dataset = make_small({.num_train = 33});
  setup.model.dropout = 0;
  setup.trainer.num_ranks = 2;
  setup.trainer.batches_per_step = 2;
  setup.trainer.optimizer = {.kind = OptimizerKind::kSgd, .learning_rate = 0.1};
  setup.trainer.num_epochs = 1;
  setup.trainer.evaluate_every = 0;
  Host host;
  const std::vector<double> start = Trial(setup, host).weights();
  const std::vector<double> exact = weights_after(setup);
  setup.trainer.loss_average = train::LossAverage::kRanks;
  const std::vector<double> by_rank = weights_after(setup);
  EXPECT_GT(largest_difference(exact, by_rank), 1e-4);

  // The two gradients apart: only the first mini-batch, only the second.
  setup.trainer.loss_average = train::LossAverage::kExact;
  setup.trainer.num_ranks = 1;
  setup.trainer.batches_per_step = 1;
  setup.trainer.drop_last = true;
  const std::vector<double> first = weights_after(setup);
  for (size_t i = 0; i < start.size(); ++i) {
    // exact = (32 a + b) / 33 and by_rank = (a + b) / 2 in steps from the start; so b from exact:
    const double a = first[i] - start[i];
    const double b = 33 * (exact[i] - start[i]) - 32 * a;
    ASSERT_NEAR(by_rank[i] - start[i], (a + b) / 2, 1e-9);
  }
}

}  // namespace
}  // namespace gnnmg::test
