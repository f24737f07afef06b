// The rows of all nodes on several ranks: those of one rank, whatever does not divide evenly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/file.h"
#include "base/memory.h"
#include "nn/model/model.h"
#include "support/temp_dir.h"
#include "train/eval/evaluation.h"
#include "train/fixture.h"

namespace gnnmg::test {
namespace {

using base::Deadline;
using base::Status;

std::string bytes_of(const base::Tensor& rows) {
  return {static_cast<const char*>(rows.data()), static_cast<size_t>(rows.view().num_bytes())};
}

Recipe recipe(int64_t num_nodes, int ranks) {
  Recipe setup;
  setup.dataset =
      make_small({.num_nodes = num_nodes, .num_train = 3, .num_validation = 1, .num_test = 1});
  setup.trainer.num_ranks = ranks;
  setup.trainer.deterministic = true;
  setup.trainer.batches_per_step = 4;
  setup.trainer.num_epochs = 1;
  return setup;
}

// The result of one call, after checking that the file of the other call has the same bytes.
std::string embedded(const Recipe& setup) {
  Host host;
  Trial run(setup, host);
  run.train();
  const std::optional<base::Tensor> rows = run->embed({});
  EXPECT_EQ(rows->shape(), (base::Shape{setup.dataset->graph->num_nodes(), 4}));
  const TempDir folder;
  EXPECT_TRUE(run->embed_to_file(folder.file("rows.npy"), {}));
  const std::string file = slurp(folder.file("rows.npy")), expected = bytes_of(*rows);
  EXPECT_EQ(file.size() % 64, expected.size() % 64);
  EXPECT_TRUE(file.ends_with(expected));
  EXPECT_EQ(folder.list(), std::vector<std::string>{"rows.npy"});
  return expected;
}

TEST(Embed, EqualBitsOnAnyNumberOfRanks) {
  // Chunks of 64: of the last numbers of nodes some ranks get none, or one of a single row.
  for (const int64_t nodes : {600, 193, 65, 64, 12}) {
    const std::string expected = embedded(recipe(nodes, 1));
    for (const int ranks : {2, 3, 4})
      EXPECT_TRUE(embedded(recipe(nodes, ranks)) == expected)
          << nodes << " nodes, " << ranks << " ranks";
  }
}

TEST(Embed, FewerNodesThanRanks) {
  Recipe setup = recipe(8, 1);
  setup.trainer.eval_batch_size = 1;
  const std::string expected = embedded(setup);
  setup.trainer.num_ranks = 11;
  EXPECT_TRUE(embedded(setup) == expected);
}

TEST(Embed, ModelsOfSeveralStagesALayer) {
  for (const bool sparse : {false, true}) {
    Recipe setup = recipe(600, 1);
    setup.dataset = make_small({.num_features = 40, .center_scale = 2, .sparse = sparse});
    setup.model.norm = nn::Norm::kLayerGraph;
    setup.model.skip = nn::Skip::kLinear;
    setup.model.project = true;
    const std::string expected = embedded(setup);
    setup.trainer.num_ranks = 3;
    EXPECT_TRUE(embedded(setup) == expected);
  }
}

// More nodes than one chunk of the default size, on one thread as a single model computes them.
TEST(Embed, AsTheModelAlone) {
  Recipe setup = recipe(9000, 4);
  setup.trainer.eval_batch_size = train::TrainerConfig().eval_batch_size;
  Host host;
  Trial run(setup, host);
  run.train();
  const std::string expected =
      bytes_of(train::embed_model(run.model(), *setup.dataset, base::CancelToken()));
  EXPECT_TRUE(bytes_of(*run->embed({})) == expected);
  EXPECT_TRUE(bytes_of(*run->embed({})) == expected);  // and once more by the same ranks
}

TEST(Embed, InSlicesAndCancelled) {
  Host host;
  Trial run(recipe(30000, 2), host);
  std::optional<base::Tensor> rows;
  // On a loaded machine it may be done at once, and is made again.
  for (int round = 0; round < 20 && !run->busy(); ++round) rows = run->embed(Deadline::after_ms(0));
  EXPECT_EQ(rows, std::nullopt);
  EXPECT_TRUE(run->busy());
  try {
    run->embed_to_file("elsewhere.npy", {});
    ADD_FAILURE() << "two at once";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.status(), Status::kBusy);
  }
  while (!(rows = run->embed(Deadline::after_ms(1))));
  EXPECT_EQ(rows->rows(), 30000);

  const TempDir folder;
  const std::string file = folder.file("rows.npy");
  Status status = Status::kOk;
  for (int round = 0; round < 20 && status == Status::kOk; ++round) {  // this one too
    std::filesystem::remove(file);
    if (run->embed_to_file(file, Deadline::after_ms(0))) continue;
    run->cancel();
    try {
      run->embed_to_file(file, {});
    } catch (const base::Error& error) {
      status = error.status();
    }
  }
  EXPECT_EQ(status, Status::kCancelled);
  EXPECT_TRUE(folder.list().empty());
  EXPECT_EQ(run->embed({})->rows(), 30000);  // new ranks compute this one
}

TEST(Embed, AFileThatCannotBeIsAnErrorAndTrainingGoesOn) {
  const Recipe setup = recipe(600, 2);
  const std::vector<double> expected = weights_after(setup);
  const TempDir folder;
  Host host;
  Trial run(setup, host);
  try {
    run->embed_to_file(folder.file("missing/rows.npy"), {});
    ADD_FAILURE() << "was written";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.status(), Status::kNotFound);
    EXPECT_THAT(error.what(), testing::HasSubstr("missing/rows.npy"));
  }
  run.train();
  EXPECT_EQ(run.weights(), expected);
}

// Nobody takes a disk for a lost rank, however long one write and one sync of it take.
TEST(Embed, OnASlowDisk) {
  static std::atomic<int> writes, syncs;
  writes = syncs = 0;
  static constexpr std::chrono::milliseconds kPause(5000);
  static const base::FileTable slow = [] {
    base::FileTable table = base::system_files();
    table.write = [](int fd, const void* bytes, size_t size) {
      if (++writes == 3) std::this_thread::sleep_for(kPause);  // the header is the first
      return base::system_files().write(fd, bytes, size);
    };
    table.fsync = [](int fd) {
      if (++syncs == 1) std::this_thread::sleep_for(kPause);
      return base::system_files().fsync(fd);
    };
    return table;
  }();
  Recipe setup = recipe(600, 2);
  setup.trainer.deadline_ms = 3000;
  const TempDir folder;
  Host host;
  Trial run(setup, host);
  const base::FileTable* before = base::set_file_table(&slow);
  bool done = false;
  try {
    done = run->embed_to_file(folder.file("rows.npy"), {});
  } catch (const base::Error& error) {
    ADD_FAILURE() << error.what();
  }
  base::set_file_table(before);
  EXPECT_TRUE(done);
  EXPECT_EQ(syncs, 2);
  EXPECT_TRUE(slurp(folder.file("rows.npy")).ends_with(bytes_of(*run->embed({}))));
}

TEST(Embed, MemoryOfAStageServesLaterOnes) {
  train::StageRows rows;
  const auto get = [&](int stage, int64_t cols, bool is_result) {
    const at::Tensor all = rows.get(stage, 10, cols, base::DType::kF32, is_result);
    EXPECT_EQ(all.sizes(), (std::vector<int64_t>{10, cols}));
    EXPECT_EQ(rows.get(stage, 10, cols, base::DType::kF32, is_result).data_ptr(), all.data_ptr());
    rows.release(stage);
    return all;
  };
  at::Tensor first = get(0, 8, false);
  const void* const memory = first.data_ptr();
  const at::Tensor second = get(1, 8, false);
  EXPECT_NE(second.data_ptr(), memory);
  first = second;
  first = get(2, 6, false);  // the memory of stage 0
  EXPECT_EQ(first.data_ptr(), memory);
  EXPECT_NE(get(3, 8, false).data_ptr(), memory);
  first = second;
  EXPECT_NE(get(4, 6, true).data_ptr(), memory);  // results leave
}

// Rows of 20000 nodes and 8 columns between the layers, and 4 of the result, count, whichever call
// needs them first.
TEST(Embed, WithinTheMemoryLimit) {
  const Recipe setup = recipe(20000, 2);
  Host host;
  const auto budget = std::make_shared<base::MemoryBudget>(600'000);
  const base::BudgetScope scope(budget);
  Trial run(setup, host);
  try {
    run->embed({});
    ADD_FAILURE() << "fitted";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.status(), Status::kNoMemory);
  }
}

}  // namespace
}  // namespace gnnmg::test
