// Strict mode, synchronized batch norm and the rows of all nodes on several processes, which are
// threads of this one here: the same as on one rank. On the CPU and, as another program, on fake
// GPUs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/file.h"
#include "comm/jobs.h"
#include "support/temp_dir.h"
#include "train/job/on_devices.h"

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
          place(all->process(), own, host);
          Trial run(own, host);
          run.train();
          body(all->process(), run);
        }
        all->shutdown(within_ms(60'000));
      });
  for (size_t p = 0; p < outcomes.size(); ++p)
    EXPECT_EQ(outcomes[p].status, base::Status::kOk) << "process " << p << ": " << outcomes[p].text;
  EXPECT_EQ(num_on_devices(), 0);
}

// Trains in this process alone, by one rank.
void alone(Recipe setup, const std::function<void(Trial& run)>& body) {
  Host host;
  place(0, setup, host);
  Trial run(setup, host);
  run.train();
  body(run);
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
  std::vector<double> expected;
  double loss = 0;
  alone(setup, [&](Trial& run) {
    expected = run.weights();
    loss = run->evaluate(data::SplitPart::kTest, {})->loss;
  });
  for (const std::vector<int>& ranks : {std::vector{1, 1}, std::vector{2, 2}, std::vector{1, 3}})
    on_processes(setup, ranks, [&](int p, Trial& run) {
      EXPECT_TRUE(run.weights() == expected) << ranks.size() << " processes, process " << p;
      EXPECT_EQ(run->evaluate(data::SplitPart::kTest, {})->loss, loss);
    });
  // An all-reduce gives other bits: each rank adds up its own mini-batches first.
  setup.trainer.deterministic = false;
  on_processes(setup, {1, 1}, [&](int, Trial& run) { EXPECT_FALSE(run.weights() == expected); });
}

TEST(ProcessModes, SynchronisedBatchNormEqualsOneRank) {
  Recipe setup = recipe();
  setup.model.norm = nn::Norm::kBatch;
  setup.model.dtype = base::DType::kF64;
  setup.trainer.sync_batch_norm = true;
  setup.trainer.optimizer = {.kind = train::OptimizerKind::kSgd, .learning_rate = 0.05};
  setup.trainer.num_epochs = 6;
  std::vector<double> expected;
  alone(setup, [&](Trial& run) { expected = run.weights(); });
  for (const std::vector<int>& ranks : {std::vector{1, 1}, std::vector{2, 3}})
    on_processes(setup, ranks, [&](int, Trial& run) {
      EXPECT_LE(largest_difference(run.weights(), expected), 1e-9);
    });
}

TEST(ProcessModes, EveryProcessHasTheRowsOfAllNodesAndTheFirstWritesThem) {
  Recipe setup = recipe();
  setup.trainer.deterministic = true;
  const auto bytes_of = [](const base::Tensor& rows) {
    return std::string(static_cast<const char*>(rows.data()),
                       static_cast<size_t>(rows.view().num_bytes()));
  };
  std::string expected;
  alone(setup, [&](Trial& run) { expected = bytes_of(*run->embed({})); });
  const TempDir folder;
  on_processes(setup, {2, 1, 2}, [&](int p, Trial& run) {
    EXPECT_TRUE(bytes_of(*run->embed({})) == expected) << "process " << p;
    EXPECT_TRUE(run->embed_to_file(folder.file("rows.npy"), {}));
    EXPECT_TRUE(slurp(folder.file("rows.npy")).ends_with(expected));
  });
  EXPECT_EQ(folder.list(), std::vector<std::string>{"rows.npy"});
}

// A disk that takes longer than processes wait for each other is no process that is lost.
TEST(ProcessModes, ASaveOnASlowDisk) {
  static std::atomic<int> syncs;
  syncs = 0;
  static const base::FileTable slow = [] {
    base::FileTable table = base::system_files();
    table.fsync = [](int fd) {
      if (++syncs == 1) std::this_thread::sleep_for(std::chrono::milliseconds(7000));
      return base::system_files().fsync(fd);
    };
    return table;
  }();
  const TempDir folder;
  const base::FileTable* before = base::set_file_table(&slow);
  const std::vector<Outcome> outcomes =
      run_job(2, [&](const std::shared_ptr<comm::Processes>& all) {
        Host host;
        host.processes = all;
        host.meet_timeout_ms = 4000;
        {
          Recipe own = recipe();
          place(all->process(), own, host);
          Trial run(own, host);
          run->save(folder.file("it"));
          EXPECT_TRUE(base::exists(folder.file("it"))) << "process " << all->process();
          const Outcome again = attempt([&] { run->save(folder.file("it")); });
          EXPECT_EQ(again.status, base::Status::kInvalidArgument) << again.text;
          EXPECT_THAT(again.text, testing::HasSubstr("it: exists already"));
          EXPECT_EQ(run->load(folder.file("it")), folder.file("it"));
        }
        all->shutdown(within_ms(60'000));
      });
  base::set_file_table(before);
  for (const Outcome& outcome : outcomes)
    EXPECT_EQ(outcome.status, base::Status::kOk) << outcome.text;
}

}  // namespace
}  // namespace gnnmg::test
