// Copies of an exact evaluation between GPUs and host: only data that one side lacks, and nothing
// again for each piece of the graph.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "fake_gpu.h"
#include "nn/model/model.h"
#include "nn/model/pass_memory.h"
#include "train/device_fixture.h"

namespace gnnmg::test {
namespace {

constexpr int64_t kNodes = 20'000, kTest = 1500, kHidden = 64, kClasses = 4, kFeatures = 32;

Recipe recipe() {
  Recipe setup;
  setup.dataset = make_small({.num_nodes = kNodes, .num_features = kFeatures, .num_test = kTest});
  setup.model.hidden_dim = kHidden;
  setup.trainer.num_epochs = 1;
  setup.trainer.eval_batch_size = 128;  // would be 157 chunks
  return setup;
}

struct Moved {
  fake_gpu::Copies all;  // total of all GPUs
  nn::Metrics metrics;
};

Moved operator-(const Moved& a, const Moved& b) {
  return {
      {a.all.to_device - b.all.to_device, a.all.to_host - b.all.to_host,
       a.all.bytes_to_device - b.all.bytes_to_device, a.all.bytes_to_host - b.all.bytes_to_host},
      a.metrics};
}

// Copies during the evaluation of a trained trainer.
Moved evaluate(const Recipe& setup, int world) {
  const Gpus gpus(world);
  Host host;
  host.devices = &gpus.table();
  Moved moved;
  {
    Trial run(gpus.train(setup), host);
    run.train();
    const auto now = [&] {
      Moved all;
      for (int device = 0; device < world; ++device) {
        const fake_gpu::Copies own = fake_gpu::copies(device);
        all.all.to_device += own.to_device;
        all.all.to_host += own.to_host;
        all.all.bytes_to_device += own.bytes_to_device;
        all.all.bytes_to_host += own.bytes_to_host;
      }
      return all;
    };
    const Moved before = now();
    const nn::Metrics metrics = *run->evaluate(data::SplitPart::kTest, {});
    moved = now() - before;
    moved.metrics = metrics;
    if (std::getenv("GNNMG_PRINT_COPIES"))
      std::printf("%d GPUs: %ld copies, %ld bytes to them; %ld, %ld bytes from them\n", world,
                  static_cast<long>(moved.all.to_device),
                  static_cast<long>(moved.all.bytes_to_device),
                  static_cast<long>(moved.all.to_host), static_cast<long>(moved.all.bytes_to_host));
  }
  gpus.expect_clean();
  return moved;
}

// Bytes besides rows of nodes: the metrics of the ranks, and the weights that the host gets after
// each command.
constexpr int64_t kSlack = 100'000;

// A single rank copies edges to the GPU, layer by layer, and the results of the part back; features
// are on the GPU. Each of several ranks also copies its rows to the host and those of others from
// it: rows of the hidden layer, and the input of the second layer's edges, as wide as the result.
// The host assembles the result.
TEST(DeviceEvaluation, CopiesWhatOnlyOneSideHas) {
  const Recipe setup = recipe();
  const graph::Csc& csc = setup.dataset->graph->csc();
  const int64_t edges = 4 * csc.num_edges() + 4 * (kNodes + nn::kPieces);  // bytes per layer
  const int64_t hidden = 4 * kNodes * kHidden, result = 4 * kNodes * kClasses;
  for (const int64_t world : {1, 2, 4}) {
    SCOPED_TRACE(world);
    const Moved moved = evaluate(setup, static_cast<int>(world));
    EXPECT_EQ(moved.metrics.count, kTest);
    const bool alone = world == 1;
    EXPECT_LE(moved.all.bytes_to_device, 2 * edges + (alone ? 8 * kTest : 0) +
                                             (world - 1) * (hidden + result) + world * kSlack);
    EXPECT_LE(moved.all.bytes_to_host,
              (alone ? 4 * kTest * kClasses : hidden + 2 * result) + world * kSlack);
    // For each piece the edges and their offsets, for two layers, and rows.
    EXPECT_LE(moved.all.to_device, (4 + 2 * (world - 1)) * nn::kPieces + 25 * world);
    EXPECT_LE(moved.all.to_host, (alone ? 0 : 3) * nn::kPieces + 25 * world);
  }
}

std::vector<float> embedded(const Recipe& setup, int world) {
  const Gpus gpus(world);
  Host host;
  host.devices = &gpus.table();
  Trial run(gpus.train(setup), host);
  const base::Tensor rows = *run->embed({});
  const auto values = rows.as<const float>();
  return {values.begin(), values.end()};
}

// The pieces do not depend on the number of GPUs.
TEST(DeviceEvaluation, ResultsHaveTheSameBitsOnAnyNumberOfGpus) {
  const std::vector<float> expected = embedded(recipe(), 1);
  EXPECT_EQ(expected.size(), static_cast<size_t>(kNodes * kClasses));
  for (const int world : {2, 4}) EXPECT_EQ(embedded(recipe(), world), expected) << world;
}

// Features in every placement and form.
TEST(DeviceEvaluation, ReadsFeaturesAsTheyAreGiven) {
  const std::vector<float> expected = embedded(recipe(), 1);
  for (const auto placement : {loader::FeaturePlacement::kDevice, loader::FeaturePlacement::kPinned,
                               loader::FeaturePlacement::kCached, loader::FeaturePlacement::kHost})
    for (const auto form : {feature::Form::kAsGiven, feature::Form::kBF16, feature::Form::kInt8}) {
      Recipe setup = recipe();
      setup.trainer.placement.features = placement;
      setup.trainer.placement.cache_bytes = 40'000;
      setup.trainer.placement.form = form;
      EXPECT_EQ(embedded(setup, 1), expected)
          << static_cast<int>(placement) << ", " << static_cast<int>(form);
    }
}

// Rows that do not fill a cache line are padded on the GPU.
TEST(DeviceEvaluation, ReadsFeaturesOfAnyWidth) {
  for (const int32_t width : {1, 7, 33}) {
    Recipe setup = recipe();
    setup.dataset = make_small({.num_features = width});
    setup.trainer.placement.features = loader::FeaturePlacement::kHost;
    const std::vector<float> expected = embedded(setup, 1);
    setup.trainer.placement.features = loader::FeaturePlacement::kDevice;
    EXPECT_EQ(embedded(setup, 1), expected) << width;
    EXPECT_EQ(embedded(setup, 2), expected) << width;
  }
}

nn::ModelConfig config_of(nn::Architecture architecture) {
  nn::ModelConfig config = recipe().model;
  config.input_dim = kFeatures;
  config.output_dim = kClasses;
  config.architecture = architecture;
  return config;
}

TEST(DeviceEvaluation, PiecesAreOfAsManyNodesOrOfAsMuchMemory) {
  const nn::ModelConfig config = config_of(nn::Architecture::kGatv2);
  std::vector<int64_t> few(1001), many(1'000'001);
  for (size_t n = 0; n < few.size(); ++n) few[n] = static_cast<int64_t>(10 * n);
  EXPECT_THAT(nn::inference_pieces(config, few, 400), testing::ElementsAre(0, 400, 800, 1000));
  EXPECT_THAT(nn::inference_pieces(config, few, 4096), testing::ElementsAre(0, 1000));
  EXPECT_THAT(nn::inference_pieces(config, {few.data(), 1}, 4096), testing::ElementsAre(0));
  // One node in a thousand has a million edges, the others have one.
  for (size_t n = 1; n < many.size(); ++n) many[n] = many[n - 1] + (n % 1000 == 0 ? 1'000'000 : 1);
  const std::vector<int64_t> pieces = nn::inference_pieces(config, many, 4096);
  ASSERT_EQ(pieces.front(), 0);
  ASSERT_EQ(pieces.back(), 1'000'000);
  for (size_t p = 1; p < pieces.size(); ++p) {
    const int64_t nodes = pieces[p] - pieces[p - 1], edges = many[pieces[p]] - many[pieces[p - 1]];
    ASSERT_GT(nodes, 0);
    EXPECT_LE(nodes, 1'000'000 / nn::kPieces + 1);
    const auto bytes = [&](int64_t t, int64_t e) {
      return nn::inference_bytes(config, {.num_nodes = 0, .num_edges = 0, .chunk = {t, t, e}});
    };
    if (nodes > 1) {
      EXPECT_LE(bytes(nodes, edges) - bytes(0, 0), nn::kPieceBytes);
    }
  }
  EXPECT_GT(pieces.size(), size_t{4 * nn::kPieces});
}

}  // namespace
}  // namespace gnnmg::test
