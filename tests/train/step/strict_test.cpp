// Strict mode: the same training on any number of ranks and threads ends with the same bits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "support/temp_dir.h"
#include "train/fixture.h"

namespace gnnmg::test {
namespace {

using train::OptimizerKind;

// Wide enough that LibTorch splits its sums among threads and our loops have several ranges.
Recipe strict() {
  Recipe setup;
  setup.dataset = make_small({.num_nodes = 3000, .num_features = 48, .num_train = 1000});
  setup.model.hidden_dim = 96;
  setup.sampler.fanouts = {10, 10};
  setup.trainer.batch_size = 150;  // six of them and one of 100: the last step has three
  setup.trainer.batches_per_step = 4;
  setup.trainer.num_epochs = 2;
  setup.trainer.eval_batch_size = 256;
  setup.trainer.deterministic = true;
  return setup;
}

struct Shape {
  int ranks, torch_threads, loader_threads;
};
constexpr Shape kShapes[] = {{1, 1, 0}, {1, 2, 2}, {2, 1, 1}, {2, 2, 1}, {4, 1, 2}, {4, 2, 0}};

using Bits = std::vector<uint64_t>;

Bits bits_of(const std::vector<double>& values) {
  Bits bits;
  for (double value : values) bits.push_back(std::bit_cast<uint64_t>(value));
  return bits;
}

// Weights and buffers, then every figure measured on the way.
Bits bits_after(Recipe setup, const Shape& shape) {
  setup.trainer.num_ranks = shape.ranks;
  setup.trainer.torch_threads = shape.torch_threads;
  setup.trainer.loader_threads = shape.loader_threads;
  Host host;
  Trial run(setup, host);
  std::vector<double> measured;
  run->set_epoch_function([&](const train::EpochReport& report) {
    measured.insert(measured.end(), {report.train_loss, report.train_accuracy,
                                     report.validation.loss, report.validation.accuracy});
    return 0;
  });
  run.train();
  std::vector<double> all = run.weights();
  all.insert(all.end(), measured.begin(), measured.end());
  const std::optional<nn::Metrics> test = run->evaluate(data::SplitPart::kTest, {});
  all.insert(all.end(), {test->loss, test->f1_macro});
  return bits_of(all);
}

void expect_equal_bits(const Recipe& setup) {
  const Bits expected = bits_after(setup, kShapes[0]);
  for (size_t i = 1; i < std::size(kShapes); ++i) {
    const Shape& s = kShapes[i];
    EXPECT_TRUE(bits_after(setup, s) == expected)
        << s.ranks << " ranks, " << s.torch_threads << " threads, " << s.loader_threads
        << " loader threads";
  }
}

TEST(Strict, MeanWithAdam) { expect_equal_bits(strict()); }

TEST(Strict, MaxWithAdamW) {
  Recipe setup = strict();
  setup.model.aggregation = nn::Aggregation::kMax;
  setup.trainer.optimizer.kind = OptimizerKind::kAdamW;
  setup.trainer.optimizer.weight_decay = 0.01;
  expect_equal_bits(setup);
}

TEST(Strict, SumWithMomentumAndClipping) {
  Recipe setup = strict();
  setup.model.aggregation = nn::Aggregation::kSum;
  setup.trainer.optimizer = {.kind = OptimizerKind::kSgd, .learning_rate = 0.01, .momentum = 0.9};
  setup.trainer.clip_norm = 0.1;
  expect_equal_bits(setup);
}

TEST(Strict, BatchNormAndItsRunningStatistics) {
  Recipe setup = strict();
  setup.model.norm = nn::Norm::kBatch;
  expect_equal_bits(setup);
}

TEST(Strict, LayerNormWithLinearSkips) {
  Recipe setup = strict();
  setup.model.norm = nn::Norm::kLayer;
  setup.model.skip = nn::Skip::kLinear;
  setup.model.activation = nn::Activation::kGelu;
  expect_equal_bits(setup);
}

TEST(Strict, ResidualBlocksInDoublePrecision) {
  Recipe setup = strict();
  setup.model.dtype = base::DType::kF64;
  setup.model.norm = nn::Norm::kBatch;
  setup.model.skip = nn::Skip::kResidual;
  setup.model.activation = nn::Activation::kPrelu;
  expect_equal_bits(setup);
}

TEST(Strict, NormOverTheGraphOfProjectedAndNormalisedRows) {
  Recipe setup = strict();
  setup.model.norm = nn::Norm::kLayerGraph;
  setup.model.project = true;
  setup.model.normalize = true;
  setup.model.input_dropout = 0.2;
  expect_equal_bits(setup);
}

TEST(Strict, SparseFeaturesAndSampledEvaluation) {
  Recipe setup = strict();
  setup.dataset = make_small({.num_nodes = 3000,
                              .num_features = 200,
                              .center_scale = 2,
                              .num_train = 1000,
                              .sparse = true});
  setup.trainer.evaluation = train::EvaluationMode::kSampled;
  setup.sampler.expansion = sample::Expansion::kEveryLayer;
  expect_equal_bits(setup);
}

TEST(Strict, RegressionWithUnlabeledSeedsAndAScheduleByValidation) {
  Recipe setup = strict();
  setup.dataset = make_small({.num_nodes = 3000, .num_train = 301, .regression = true});
  setup.trainer.batch_size = 100;  // the last of a single seed
  setup.trainer.num_epochs = 4;
  setup.trainer.keep_best = true;
  setup.trainer.schedule = {.kind = train::ScheduleKind::kPlateau, .patience = 1};
  expect_equal_bits(setup);
  setup.dataset = make_small({.num_nodes = 3000, .num_train = 301, .unlabeled = 120});
  expect_equal_bits(setup);
}

// Without it the same trainings differ, so equal bits above mean something: by the number of ranks.
// LibTorch's threads make no difference, since no operator here is large enough for two.
TEST(Strict, TheAllReduceIsAnotherSum) {
  Recipe setup = strict();
  setup.model.norm = nn::Norm::kLayer;
  setup.trainer.deterministic = false;
  const Bits alone = bits_after(setup, {1, 1, 0});
  EXPECT_TRUE(bits_after(setup, {1, 1, 2}) == alone);
  EXPECT_FALSE(bits_after(setup, {2, 1, 0}) == alone);
  EXPECT_FALSE(bits_after(setup, {4, 1, 0}) == alone);
  EXPECT_TRUE(bits_after(setup, {1, 2, 0}) == alone);
  // Strict and not, one rank on one thread adds in the same order.
  setup.trainer.deterministic = true;
  EXPECT_TRUE(bits_after(setup, {1, 1, 0}) == alone);
}

TEST(Strict, ResumedOnAnotherNumberOfRanks) {
  Recipe setup = strict();
  setup.model.norm = nn::Norm::kBatch;
  const Bits expected = bits_of(weights_after(setup));
  const TempDir folder;
  Host host;
  {
    Recipe two = setup;
    two.trainer.num_ranks = 2;
    Trial run(two, host);
    EXPECT_EQ(run->step({}, nullptr), base::Status::kOk);  // the first of two per epoch
    run->save(folder.file("one"));
    EXPECT_EQ(run->step({}, nullptr), base::Status::kOk);
    EXPECT_EQ(run->step({}, nullptr), base::Status::kOk);
    run->save(folder.file("three"));
  }
  for (const int world : {1, 4}) {
    for (const char* name : {"one", "three"}) {
      Recipe other = setup;
      other.trainer.num_ranks = world;
      other.trainer.batches_per_step = 0;  // the checkpoint's
      Trial run(other, host);
      run->load(folder.file(name));
      run.train();
      EXPECT_TRUE(bits_of(run.weights()) == expected) << world << " ranks from " << name;
    }
  }
}

// More mini-batches than ranks in a step, fewer than ranks, and a number that does not divide.
TEST(Strict, UnevenPlans) {
  for (const int64_t per_step : {1, 3, 7}) {
    Recipe setup = strict();
    setup.dataset = make_small({.num_train = 130});
    setup.trainer.batch_size = 32;
    setup.trainer.batches_per_step = per_step;
    SCOPED_TRACE(per_step);
    const Bits expected = bits_after(setup, {1, 1, 0});
    for (const int ranks : {2, 3, 4})
      EXPECT_TRUE(bits_after(setup, {ranks, 1, 1}) == expected) << ranks;
  }
}

TEST(Strict, TheMeanOfRanksCannotBeIndependentOfThem) {
  Recipe setup = strict();
  setup.trainer.loss_average = train::LossAverage::kRanks;
  Host host;
  try {
    Trial run(setup, host);
    ADD_FAILURE() << "was accepted";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.status(), base::Status::kInvalidArgument);
    EXPECT_THAT(error.what(), testing::HasSubstr("deterministic"));
  }
}

}  // namespace
}  // namespace gnnmg::test
