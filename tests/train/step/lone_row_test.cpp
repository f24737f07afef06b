// Mini-batches that leave a batch norm one row, which has no variance: training goes on by the
// running statistics, alike on any number of ranks, and says so once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/data.h"
#include "train/fixture.h"

namespace gnnmg::test {
namespace {

// 257 training nodes, of which 9 have no edge, in mini-batches of 64: the last one of each epoch
// has one seed.
Recipe lone_seed(uint64_t seed) {
  base::ThreadPool pool(1);
  base::Log log;
  Recipe setup;
  setup.dataset = data::open_dataset(source_path("data/lone_seed"), {}, {pool, log, {}});
  setup.model.norm = nn::Norm::kBatch;
  setup.model.dtype = base::DType::kF64;
  setup.model.bias = false;  // ahead of a batch norm its gradient is rounding alone
  setup.trainer.batch_size = 64;
  setup.trainer.num_epochs = 60;
  setup.trainer.evaluate_every = 0;
  setup.trainer.seed = seed;
  return setup;
}

std::vector<std::string> warnings_of(base::Log& log) {
  std::vector<std::string> texts;
  while (const std::optional<base::LogRecord> record = log.next())
    if (record->level == base::LogLevel::kWarning) texts.push_back(record->text);
  return texts;
}

TEST(LoneRow, FourSeedsAreTrainedToTheEnd) {
  // The first epoch whose last mini-batch is a node without edges, counted from 0; -1: none.
  const std::map<uint64_t, int> first{{1, -1}, {2, 13}, {3, 51}, {4, 18}};
  for (const auto& [seed, epoch] : first) {
    SCOPED_TRACE(seed);
    Host host;
    Trial run(lone_seed(seed), host);
    run.train();
    EXPECT_EQ(run->progress().epoch, 60);
    for (const double weight : run.weights()) ASSERT_TRUE(std::isfinite(weight));
    const std::vector<std::string> warnings = warnings_of(host.log);
    if (epoch < 0) {
      EXPECT_THAT(warnings, testing::IsEmpty());
    } else {
      EXPECT_THAT(warnings, testing::ElementsAre(testing::AllOf(
                                testing::HasSubstr(base::text("of epoch ", epoch, ":")),
                                testing::HasSubstr("one row"))));
    }
  }
}

TEST(LoneRow, IsTheSameOnAnyNumberOfRanks) {
  for (const bool joint : {false, true}) {
    Recipe setup = lone_seed(2);
    setup.trainer.num_epochs = 16;
    setup.trainer.batches_per_step = 3;
    setup.trainer.sync_batch_norm = joint;
    const std::vector<double> alone = weights_after(setup);
    for (const int world : {2, 3}) {
      setup.trainer.num_ranks = world;
      EXPECT_LE(largest_difference(weights_after(setup), alone), 1e-9) << world << " ranks";
    }
  }
  Recipe strict = lone_seed(2);
  strict.trainer.num_epochs = 16;
  strict.trainer.batches_per_step = 3;
  strict.trainer.deterministic = true;
  const std::vector<double> alone = weights_after(strict);
  strict.trainer.num_ranks = 2;
  EXPECT_EQ(weights_after(strict), alone);
}

// A resumed training meets the same mini-batch, and goes on as one that was never stopped.
TEST(LoneRow, IsTheSameAfterAStop) {
  Recipe setup = lone_seed(2);
  setup.trainer.num_epochs = 15;
  Host host;
  Trial run(setup, host);
  double loss = 0;
  while (run->step({}, &loss) == base::Status::kOk) {
  }
  EXPECT_EQ(run.weights(), weights_after(setup));
  EXPECT_THAT(warnings_of(host.log), testing::SizeIs(1));
}

// Steps of one row on all ranks together move no running statistics.
TEST(LoneRow, OfAWholeStepLeavesTheRunningStatistics) {
  Recipe setup;
  setup.dataset = make_small({.num_train = 1});
  setup.model.norm = nn::Norm::kBatch;
  setup.model.num_layers = 1;
  setup.model.skip = nn::Skip::kLinear;
  setup.sampler.fanouts = {5};
  setup.trainer.evaluate_every = 0;
  for (const bool joint : {false, true})
    for (const int world : {1, 2}) {
      SCOPED_TRACE(base::text("joint ", joint, ", ", world, " ranks"));
      setup.trainer.sync_batch_norm = joint;
      setup.trainer.num_ranks = world;
      Host host;
      Trial run(setup, host);
      const std::vector<double> before = run.weights();
      run.train();
      const std::vector<double> after = run.weights();
      ASSERT_EQ(after.size(), before.size());
      // The last values: mean and variance of 16 columns, and a counter.
      const auto buffers = [](const std::vector<double>& all) {
        return std::vector<double>(all.end() - 33, all.end());
      };
      EXPECT_EQ(buffers(after), buffers(before));
      EXPECT_NE(after, before);
      EXPECT_THAT(warnings_of(host.log),
                  testing::ElementsAre(testing::HasSubstr("batch norm got one row")));
    }
}

}  // namespace
}  // namespace gnnmg::test
