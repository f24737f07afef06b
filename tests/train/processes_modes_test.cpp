// Strict mode, synchronised batch norm and the rows of all nodes on several processes, which are
// threads of this one here: the same as on one rank.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "comm/jobs.h"
#include "support/temp_dir.h"
#include "train/fixture.h"

namespace gnnmg::test {
namespace {

using Body = std::function<void(int process, Trial& run)>;

// Trains in processes that bring so many ranks each.
void on_processes(Recipe setup, const std::vector<int>& ranks, const Body& body) {
  const std::vector<Outcome> outcomes =
      run_job(static_cast<int>(ranks.size()), [&](const std::shared_ptr<comm::Processes>& all) {
        Host host;
        host.processes = all;
        {
          Recipe own = setup;
          own.trainer.num_ranks = ranks[all->process()];
          Trial run(own, host);
          run.train();
          body(all->process(), run);
        }
        all->shutdown(within_ms(60'000));
      });
  for (size_t p = 0; p < outcomes.size(); ++p)
    EXPECT_EQ(outcomes[p].status, base::Status::kOk) << "process " << p << ": " << outcomes[p].text;
}

Recipe recipe() {
  Recipe setup;
  setup.trainer.batches_per_step = 4;
  return setup;
}

TEST(ProcessModes, StrictModeHasTheBitsOfOneRank) {
  Recipe setup = recipe();
  setup.trainer.deterministic = true;
  setup.model.norm = nn::Norm::kBatch;
  Host host;
  Trial alone(setup, host);
  alone.train();
  const std::vector<double> expected = alone.weights();
  const double loss = alone->evaluate(data::SplitPart::kTest, {})->loss;
  for (const std::vector<int>& ranks : {std::vector{1, 1}, std::vector{2, 2}, std::vector{1, 3}})
    on_processes(setup, ranks, [&](int p, Trial& run) {
      EXPECT_TRUE(run.weights() == expected) << ranks.size() << " processes, process " << p;
      EXPECT_EQ(run->evaluate(data::SplitPart::kTest, {})->loss, loss);
    });
  // By an all-reduce they are others.
  setup.trainer.deterministic = false;
  on_processes(setup, {2, 2}, [&](int, Trial& run) { EXPECT_FALSE(run.weights() == expected); });
}

TEST(ProcessModes, SynchronisedBatchNormEqualsOneRank) {
  Recipe setup = recipe();
  setup.model.norm = nn::Norm::kBatch;
  setup.model.dtype = base::DType::kF64;
  setup.trainer.sync_batch_norm = true;
  setup.trainer.optimizer = {.kind = train::OptimizerKind::kSgd, .learning_rate = 0.05};
  setup.trainer.num_epochs = 6;
  const std::vector<double> expected = weights_after(setup);
  for (const std::vector<int>& ranks : {std::vector{1, 1}, std::vector{2, 3}})
    on_processes(setup, ranks, [&](int, Trial& run) {
      EXPECT_LE(largest_difference(run.weights(), expected), 1e-9);
    });
}

TEST(ProcessModes, EveryProcessHasTheRowsOfAllNodesAndTheFirstWritesThem) {
  Recipe setup = recipe();
  setup.trainer.deterministic = true;
  Host host;
  Trial alone(setup, host);
  alone.train();
  const auto bytes_of = [](const base::Tensor& rows) {
    return std::string(static_cast<const char*>(rows.data()),
                       static_cast<size_t>(rows.view().num_bytes()));
  };
  const std::string expected = bytes_of(*alone->embed({}));
  const TempDir folder;
  on_processes(setup, {2, 1, 2}, [&](int p, Trial& run) {
    EXPECT_TRUE(bytes_of(*run->embed({})) == expected) << "process " << p;
    EXPECT_TRUE(run->embed_to_file(folder.file("rows.npy"), {}));
    EXPECT_TRUE(slurp(folder.file("rows.npy")).ends_with(expected));
  });
  EXPECT_EQ(folder.list(), std::vector<std::string>{"rows.npy"});
}

}  // namespace
}  // namespace gnnmg::test
