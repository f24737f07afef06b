// Training on whole graphs: the same at any world size, exact evaluation, and graphs too large.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "data/graphs.h"
#include "data/split.h"
#include "nn/model/model.h"
#include "support/data.h"
#include "support/temp_dir.h"
#include "train/checkpoint/folder.h"
#include "train/small_graphs.h"

namespace gnnmg::test {
namespace {

using data::SplitPart;
using train::OptimizerKind;

void expect_equal(Recipe setup, double tolerance, const std::vector<int>& worlds = {2, 4}) {
  setup.trainer.num_ranks = 1;
  const std::vector<double> alone = weights_after(setup);
  for (int world : worlds) {
    setup.trainer.num_ranks = world;
    EXPECT_LE(difference(weights_after(setup), alone), tolerance) << world << " ranks";
  }
}

// 800 graphs of IMDB-BINARY; the last mini-batch of an epoch is a short one.
data::DatasetRef imdb() {
  base::ThreadPool pool(1);
  base::Log log;
  auto dataset = std::make_shared<data::Dataset>(
      *data::open_dataset(data_path("imdb-binary"), {}, {pool, log, {}}));
  dataset->splits = {data::random_split(*dataset, 0.81, 0.09, 1, false)};
  return dataset;
}

TEST(TrainGraphs, ImdbDoubleWithAdam) {
  GNNMG_NEEDS_DATA("imdb-binary");
  Recipe setup = gin(imdb());
  setup.trainer.batch_size = 32;
  set_steps(setup, 200);
  expect_equal(setup, 1e-9);
}

TEST(TrainGraphs, ImdbSingleWithSgd) {
  GNNMG_NEEDS_DATA("imdb-binary");
  Recipe setup = gin(imdb());
  setup.model.dtype = base::DType::kF32;
  setup.model.readout = nn::Readout::kMean;
  setup.trainer.batch_size = 32;
  setup.trainer.optimizer = {.kind = OptimizerKind::kSgd, .learning_rate = 0.01};
  set_steps(setup, 100);
  expect_equal(setup, 1e-5);
}

// Statistics of each mini-batch, and over the whole step.
TEST(TrainGraphs, ImdbBatchNorm) {
  GNNMG_NEEDS_DATA("imdb-binary");
  for (const bool sync : {false, true}) {
    Recipe setup = gin(imdb());
    setup.model.norm = nn::Norm::kBatch;
    setup.trainer.sync_batch_norm = sync;
    setup.trainer.batch_size = 32;
    setup.trainer.optimizer = {.kind = OptimizerKind::kSgd, .learning_rate = 0.01};
    set_steps(setup, 21);
    SCOPED_TRACE(sync);
    expect_equal(setup, 1e-9);
  }
}

// The last mini-batch is a short one; and fewer graphs than ranks.
TEST(TrainGraphs, ImdbStrictIsBitEqual) {
  GNNMG_NEEDS_DATA("imdb-binary");
  for (const int64_t num_train : {100, 3}) {
    Recipe setup = gin(imdb());
    auto fewer = std::make_shared<data::Dataset>(*setup.dataset);
    base::Tensor& train = fewer->splits[0].ids[0];
    train = base::Tensor::copy_of(train.as<const int64_t>().first(num_train));
    setup.dataset = fewer;
    setup.model.dtype = base::DType::kF32;
    setup.model.norm = nn::Norm::kBatch;
    setup.trainer.deterministic = true;
    setup.trainer.batch_size = num_train == 3 ? 1 : 32;
    set_steps(setup, 8);
    SCOPED_TRACE(num_train);
    expect_equal(setup, 0);
  }
}

// Readouts that weigh, ask and sort the nodes of a graph.
class TrainReadout : public testing::TestWithParam<nn::Readout> {
 protected:
  static Recipe recipe() {
    Recipe setup = gin(rings_and_stars(100));
    setup.model.readout = GetParam();
    setup.model.jumping = nn::Jumping::kLast;
    if (GetParam() == nn::Readout::kSet2Set) setup.model.readout_steps = 2;
    if (GetParam() == nn::Readout::kSort) setup.model.sort_rows = 4;
    return setup;
  }
};

TEST_P(TrainReadout, DoubleWithAdam) {
  Recipe setup = recipe();
  set_steps(setup, 60);
  expect_equal(setup, 1e-9);
}

TEST_P(TrainReadout, SingleWithSgd) {
  Recipe setup = recipe();
  setup.model.dtype = base::DType::kF32;
  setup.trainer.optimizer = {.kind = OptimizerKind::kSgd, .learning_rate = 0.01};
  set_steps(setup, 40);
  expect_equal(setup, 1e-5);
}

TEST_P(TrainReadout, StrictModeIsBitEqual) {
  Recipe setup = recipe();
  setup.model.dtype = base::DType::kF32;
  setup.model.norm = nn::Norm::kBatch;
  setup.trainer.deterministic = true;
  set_steps(setup, 20);
  expect_equal(setup, 0);
}

INSTANTIATE_TEST_SUITE_P(Learned, TrainReadout,
                         testing::Values(nn::Readout::kAttention, nn::Readout::kSet2Set,
                                         nn::Readout::kSort));

// Steps of epochs are as many as the plan says, which is another number each time, and the weights
// the same on any number of ranks.
TEST(TrainGraphs, MiniBatchesByNodes) {
  Recipe setup = gin(rings_and_stars(101));
  setup.trainer.batch_size = 9;
  setup.trainer.batch_nodes = 50;
  setup.trainer.batches_per_step = 3;
  setup.trainer.num_epochs = 12;
  setup.trainer.evaluate_every = 0;
  expect_equal(setup, 1e-9);

  const auto ids = setup.dataset->split("", 0).part(SplitPart::kTrain);
  const loader::PlanConfig plan{.batch_size = 9,
                                .batches_per_step = 3,
                                .seed = setup.trainer.seed,
                                .batch_nodes = 50,
                                .graph_ptr = setup.dataset->graph_ptr};
  std::vector<int64_t> expected, found;
  for (uint64_t epoch = 0; epoch < 12; ++epoch)
    expected.push_back(loader::EpochPlan(ids, plan, epoch).num_steps());
  EXPECT_NE(*std::ranges::min_element(expected), *std::ranges::max_element(expected));
  setup.trainer.num_ranks = 2;
  Host host;
  Trial run(setup, host);
  run->set_epoch_function([&](const train::EpochReport& report) {
    found.push_back(report.steps);
    return 0;
  });
  run.train();
  EXPECT_EQ(found, expected);

  // So whether a checkpoint's position is one of the plan's depends on its epoch.
  const int64_t shortest = std::ranges::min_element(expected) - expected.begin();
  const int64_t longest = std::ranges::max_element(expected) - expected.begin();
  const TempDir folder;
  run->save(folder.file("end"));
  train::CheckpointFiles files = train::read_checkpoint(folder.file("end"));
  const auto put = [&](const std::string& member, int64_t value) {
    const size_t at = files.state.find(base::text("\"", member, "\": "));
    ASSERT_NE(at, std::string::npos) << files.state;
    files.state.replace(at, files.state.find(',', at) - at,
                        base::text("\"", member, "\": ", value));
  };
  put("step", expected[longest]);
  for (const int64_t epoch : {longest, shortest}) {
    put("epoch", epoch);
    const std::string path = folder.file(base::text("epoch ", epoch));
    train::write_checkpoint(path, files);
    Trial again(setup, host);
    std::string text;
    try {
      again->load(path);
    } catch (const base::Error& error) {
      EXPECT_EQ(error.status(), base::Status::kRange);
      text = error.what();
    }
    EXPECT_EQ(text, epoch == longest
                        ? ""
                        : base::text(path, ": position: step is ", expected[longest],
                                     ", but epoch ", epoch, " has ", expected[shortest], " steps"));
  }
}

// With batch norm over the step, its mini-batches are one.
TEST(TrainGraphs, StepsAreLargerMiniBatches) {
  Recipe setup = gin(rings_and_stars(128));
  setup.model.norm = nn::Norm::kBatch;
  setup.model.dropout = 0;
  setup.trainer.sync_batch_norm = true;
  setup.trainer.optimizer = {.kind = OptimizerKind::kSgd, .learning_rate = 0.01};
  set_steps(setup, 20);
  setup.trainer.num_ranks = 2;
  const std::vector<double> steps = weights_after(setup);
  setup.trainer.num_ranks = 1;
  setup.trainer.batch_size = 64;
  setup.trainer.batches_per_step = 1;
  EXPECT_LE(largest_difference(weights_after(setup), steps), 1e-9);
}

// Fewer graphs than ranks, a last mini-batch of a single graph, one larger than the split.
TEST(TrainGraphs, UnevenPlans) {
  struct Case {
    int64_t num_train, batch_size;
  };
  for (const Case c : {Case{3, 1}, Case{1, 1}, Case{2, 4}, Case{33, 16}, Case{10, 100}}) {
    Recipe setup = gin(rings_and_stars(c.num_train));
    setup.trainer.batch_size = c.batch_size;
    set_steps(setup, 10);
    SCOPED_TRACE(testing::Message() << c.num_train << " graphs by " << c.batch_size);
    expect_equal(setup, 1e-9);
  }
}

TEST(TrainGraphs, EvaluationIsExactOnAnyNumberOfRanks) {
  const data::DatasetRef dataset = rings_and_stars(100);
  const auto test = dataset->split("", 0).part(SplitPart::kTest);
  for (const int world : {1, 2, 4}) {
    for (const int64_t chunk : {int64_t{3}, int64_t{1} << 40}) {
      Recipe setup = gin(dataset);
      setup.trainer.num_ranks = world;
      setup.trainer.num_epochs = 4;
      setup.trainer.eval_batch_size = chunk;
      Host host;
      Trial run(setup, host);
      run.train();
      const nn::Metrics metrics = *run->evaluate(SplitPart::kTest, {});
      EXPECT_EQ(metrics.count, static_cast<int64_t>(test.size()));
      const nn::Metrics alone =
          train::evaluate_model(run.model(), *dataset, test, nn::Loss::kAuto, host.pool, {});
      EXPECT_EQ(metrics.correct, alone.correct);
      EXPECT_NEAR(metrics.loss, alone.loss, 1e-12);
      EXPECT_NEAR(metrics.roc_auc, alone.roc_auc, 1e-12);
      // The model's answer for each graph alone.
      int64_t correct = 0;
      for (const int64_t id : test)
        correct +=
            train::evaluate_model(run.model(), *dataset, {&id, 1}, nn::Loss::kAuto, host.pool, {})
                .correct;
      EXPECT_EQ(correct, metrics.correct);
    }
  }
}

TEST(TrainGraphs, LearnsRingsFromStars) {
  Recipe setup = gin(rings_and_stars(100));
  setup.model.norm = nn::Norm::kBatch;
  setup.trainer.num_ranks = 2;
  setup.trainer.batches_per_step = 0;
  setup.trainer.num_epochs = 20;
  setup.trainer.keep_best = true;
  Host host;
  Trial run(setup, host);
  run.train();
  EXPECT_GT(run->evaluate(SplitPart::kTest, {})->accuracy, 0.95);
}

TEST(TrainGraphs, StrictModeIsBitEqual) {
  Recipe setup = gin(rings_and_stars(101));
  setup.model.norm = nn::Norm::kBatch;
  setup.trainer.deterministic = true;
  set_steps(setup, 20);
  expect_equal(setup, 0);
}

void expect_refused(const Recipe& setup, base::Status status, const char* text) {
  Host host;
  try {
    Trial run(setup, host);
    FAIL() << "expected a failure that says " << text;
  } catch (const base::Error& error) {
    EXPECT_EQ(error.status(), status);
    EXPECT_THAT(error.what(), testing::HasSubstr(text));
  }
}

TEST(TrainGraphs, WhatDoesNotFitIsRefused) {
  Recipe setup = gin(rings_and_stars(100));
  setup.model.readout = nn::Readout::kNone;
  setup.model.jumping = nn::Jumping::kNone;
  expect_refused(setup, base::Status::kInvalidArgument, "needs a readout");
  setup = gin(rings_and_stars(100));
  setup.wrap_sampler = [&](const std::shared_ptr<const sample::Sampler>&) {
    return sample::make_neighbor_sampler(setup.dataset->graph,
                                         {.fanouts = {-1, -1, -1}, .transpose = true});
  };
  expect_refused(setup, base::Status::kInvalidArgument, "the seeds of the sampler are nodes");
  setup = Recipe();
  setup.trainer.batch_nodes = 10;
  expect_refused(setup, base::Status::kInvalidArgument, "is not one of graphs");
  setup.trainer.drop_last = true;
  expect_refused(setup, base::Status::kInvalidArgument, "batch_nodes 10: expected 0 with");
  setup = Recipe();
  setup.model.readout = nn::Readout::kSum;
  expect_refused(setup, base::Status::kInvalidArgument, "its labels are of nodes");
}

}  // namespace
}  // namespace gnnmg::test
