// The memory of an exact evaluation over parts, as the process's peak. A program of its own, so
// that no other test has raised the peak.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>

#include "dist/part_fixture.h"
#include "dist/parts_of.h"
#include "support/data.h"
#include "support/temp_dir.h"
#include "train/fixture.h"

namespace gnnmg::test {
namespace {

constexpr int64_t kNodes = 50'000, kWidth = 256;
constexpr int64_t kStage = kNodes * kWidth * 4;  // bytes of the rows of a stage
constexpr int64_t kMiB = int64_t{1} << 20;

int64_t bytes_of(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name + ":")) return 1024 * std::atoll(line.c_str() + name.size() + 1);
  return -1;
}

// The growth of resident memory, at its peak, while `body` runs.
int64_t peak_of(const std::function<void()>& body) {
  std::ofstream("/proc/self/clear_refs") << 5;  // the peak is the present value
  const int64_t before = bytes_of("VmRSS");
  body();
  return bytes_of("VmHWM") - before;
}

TEST(PartMemory, AnExactEvaluationHoldsNoStage) {
  GNNMG_NEEDS(std::ofstream("/proc/self/clear_refs").is_open(), "a peak that can be reset");
  const TempDir folder;
  const data::DatasetRef whole = make_small({.num_nodes = kNodes, .num_features = 4});
  save_in_parts(*whole, hashed_parts(kNodes, 2, 3), 2, folder.file("parts"));
  Recipe setup;
  setup.dataset = open_in_parts(folder.file("parts"), {.own = {0}});
  setup.model.hidden_dim = kWidth;
  setup.model.num_layers = 4;
  setup.sampler.fanouts = {5, 5, 5, 5};
  setup.trainer.evaluation = train::EvaluationMode::kFull;
  setup.trainer.eval_batch_size = 128;

  const auto measure = [&](const train::RowStorage& storage, int ranks, double& loss) {
    setup.trainer.num_ranks = ranks;
    Host host;
    host.rows = storage;
    Trial run(setup, host);
    const int64_t peak = peak_of([&] { loss = run->evaluate(data::SplitPart::kTest, {})->loss; });
    RecordProperty("MiB_" + std::to_string(ranks) + "_" + std::to_string(storage.bytes),
                   std::to_string(peak / kMiB));
    return peak;
  };
  double first = 0, loss = 0;
  // A piece reads some 1 400 rows, of 1.4 MiB; allocators of threads keep a multiple of it.
  constexpr int64_t kBound = 8 * kMiB, kPieces = 24 * kMiB;
  for (const int ranks : {1, 2}) {
    measure({kBound, folder.path()}, ranks, first);  // memory that stays afterwards
    EXPECT_LE(measure({kBound, folder.path()}, ranks, loss), kBound + ranks * kPieces) << ranks;
    EXPECT_EQ(loss, first);
  }
  // Without the bound two stages are in memory at a time, the rows of the first two layers.
  EXPECT_GE(measure({4 * kStage, folder.path()}, 1, loss), 2 * kStage);
  EXPECT_EQ(loss, first);
}

}  // namespace
}  // namespace gnnmg::test
