// Mini-batches of a device, for every placement of graph and features: identical to the CPU's, id
// for id and row for row, whenever the device does its work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "device_support.h"
#include "support/sanitized.h"

namespace gnnmg {
namespace {

using base::DType;
using base::Status;
using feature::Form;
using loader::DeviceSourceConfig;
using loader::FeaturePlacement;
using loader::GraphPlacement;
using loader::LoaderConfig;
using test::Contents;
using test::DeviceWorld;

// Orders of the device's work; fewer under sanitizers, which are slow.
std::vector<uint64_t> orders() {
#if defined(__SANITIZE_THREAD__)
  return {12345};
#elif defined(__SANITIZE_ADDRESS__)
  return {1, 12345};
#else
  return {0, 1, 2, 7, 12345};
#endif
}

void expect_same(const Contents& found, const Contents& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [place, bytes] : expected)
    EXPECT_TRUE(found.at(place) == bytes) << "mini-batch " << place;
}

class EveryPlace : public testing::TestWithParam<std::tuple<GraphPlacement, FeaturePlacement>> {
 protected:
  DeviceSourceConfig config() const {
    return test::on_lazy_gpu(std::get<0>(GetParam()), std::get<1>(GetParam()));
  }
  void TearDown() override {
    lazy_gpu::set_order(0);
    EXPECT_EQ(lazy_gpu::num_live(), 0);
    EXPECT_EQ(lazy_gpu::num_queues(), 0);
    EXPECT_EQ(lazy_gpu::num_marks(), 0);
  }
};

TEST_P(EveryPlace, GivesTheMiniBatchesOfTheCpuInEveryForm) {
  for (const bool every_layer : {false, true}) {
    sample::NeighborConfig law{.fanouts = {5, 3}, .edge_ids = true, .transpose = true};
    if (every_layer) law.expansion = sample::Expansion::kEveryLayer;
    const DeviceWorld world(law);
    const LoaderConfig batches = test::device_loader_config();
    for (const Form form : {Form::kAsGiven, Form::kF16, Form::kBF16, Form::kInt8}) {
      // Rows of the host's loader are in the given form.
      const bool host = config().features == FeaturePlacement::kHost;
      const std::vector<float> rows =
          test::rows_in(host ? Form::kAsGiven : form, DType::kF32, world.x);
      const Contents expected = test::by_cpu(world, batches, 2, 0, rows, DeviceWorld::kCols);
      for (const bool gather : {false, true}) {
        for (const uint64_t order : orders()) {
          if (order == 0 && form != Form::kAsGiven) continue;
          lazy_gpu::set_order(order);
          DeviceSourceConfig asked = config();
          asked.form = form;
          asked.gather = gather;
          const auto source = world.open(asked);
          EXPECT_EQ(source->graph(), asked.graph);
          EXPECT_EQ(source->features(), asked.features);
          const auto loader = world.on_device(batches, source);
          loader->start_epoch(2);
          SCOPED_TRACE(testing::Message() << source->describe() << ", form " << int(form)
                                          << ", order " << order << ", gather " << gather);
          expect_same(test::by_device(*loader), expected);
        }
      }
    }
  }
}

TEST_P(EveryPlace, WaitsForReadersThatItIsNotNamed) {
  const DeviceWorld world;
  const std::vector<float> rows(world.x.as<float>().begin(), world.x.as<float>().end());
  const LoaderConfig batches = test::device_loader_config();
  const Contents expected = test::by_cpu(world, batches, 0, 0, rows, DeviceWorld::kCols);
  for (const uint64_t order : orders()) {
    lazy_gpu::set_order(order);
    const auto loader = world.on_device(batches, world.open(config()));
    loader->start_epoch(0);
    SCOPED_TRACE(testing::Message() << "order " << order);
    expect_same(test::by_device(*loader, test::Reads::kPassing), expected);
  }
}

TEST_P(EveryPlace, GivesEachRankItsMiniBatchesWithAnyNumberOfThreads) {
  const DeviceWorld world;
  const std::vector<float> rows(world.x.as<float>().begin(), world.x.as<float>().end());
  lazy_gpu::set_order(7);
  const auto source = world.open(config());
  for (const int32_t world_size : {1, 3}) {
    if (test::kSanitized && world_size == 1) continue;
    for (int32_t rank = 0; rank < world_size; ++rank) {
      for (const int32_t threads : {0, 1, 3}) {
        for (const int32_t prefetch : {0, 1, 5}) {
          LoaderConfig batches = test::device_loader_config(threads);
          batches.plan.world_size = world_size;
          batches.plan.rank = rank;
          batches.plan.batches_per_step = 4;  // a rank of three has two, or an empty one at the end
          batches.prefetch = prefetch;
          const auto loader = world.on_device(batches, source);
          loader->start_epoch(1);
          SCOPED_TRACE(testing::Message() << "rank " << rank << " of " << world_size << ", threads "
                                          << threads << ", prefetch " << prefetch);
          expect_same(test::by_device(*loader),
                      test::by_cpu(world, batches, 1, 0, rows, DeviceWorld::kCols));
        }
      }
    }
  }
}

TEST_P(EveryPlace, StartsAnywhereWhateverIsInFlight) {
  const DeviceWorld world;
  const std::vector<float> rows(world.x.as<float>().begin(), world.x.as<float>().end());
  for (const uint64_t order : orders()) {
    lazy_gpu::set_order(order);
    for (const int32_t threads : {0, 2}) {
      const LoaderConfig batches = test::device_loader_config(threads);
      const auto loader = world.on_device(batches, world.open(config()));
      loader->start_epoch(0);
      for (int i = 0; i < 4; ++i) ASSERT_NE(loader->next({}).value(), nullptr);
      loader->start_epoch(0, 3);
      ASSERT_NE(loader->next({}).value(), nullptr);
      loader->start_epoch(5, 2);
      expect_same(test::by_device(*loader),
                  test::by_cpu(world, batches, 5, 2, rows, DeviceWorld::kCols));
      loader->start_epoch(5, 25);  // the last step
      EXPECT_EQ(loader->next({}).value(), nullptr);
    }
  }
}

// After its first epochs a loader requests no memory, queues or events from the device.
TEST_P(EveryPlace, AllocatesNothingInTheLongRun) {
  const DeviceWorld world;
  const auto loader = world.on_device(test::device_loader_config(0), world.open(config()));
  int64_t allocations = 0, queues = 0, marks = 0;
  for (int epoch = 0; epoch < 4; ++epoch) {
    allocations = lazy_gpu::num_allocations();
    queues = lazy_gpu::num_queues();
    marks = lazy_gpu::num_marks();
    loader->start_epoch(0);
    test::by_device(*loader);
  }
  EXPECT_EQ(lazy_gpu::num_allocations(), allocations);
  EXPECT_EQ(lazy_gpu::num_queues(), queues);
  EXPECT_EQ(lazy_gpu::num_marks(), marks);
}

TEST_P(EveryPlace, BatchesAreHeldAndOutliveTheirLoader) {
  const DeviceWorld world;
  const std::vector<float> rows(world.x.as<float>().begin(), world.x.as<float>().end());
  const LoaderConfig batches = test::device_loader_config();
  lazy_gpu::set_order(2);
  test::LazyReader reader;
  std::vector<loader::BatchRef> held;
  {
    const auto loader = world.on_device(batches, world.open(config()));
    loader->start_epoch(0);
    while (loader::BatchRef batch = loader->next({}).value()) held.push_back(std::move(batch));
  }
  for (size_t i = 0; i < held.size(); ++i) reader.read(static_cast<int64_t>(i), *held[i]);
  held.clear();
  expect_same(reader.finish(), test::by_cpu(world, batches, 0, 0, rows, DeviceWorld::kCols));
}

TEST_P(EveryPlace, CanBeCancelled) {
  const DeviceWorld world;
  const std::vector<float> rows(world.x.as<float>().begin(), world.x.as<float>().end());
  const LoaderConfig batches = test::device_loader_config(2);
  const auto loader = world.on_device(batches, world.open(config()));
  loader->start_epoch(0);
  ASSERT_NE(loader->next({}).value(), nullptr);
  loader->cancel();
  for (int i = 0; i < 2; ++i) {
    try {
      loader->next({});
      ADD_FAILURE() << "nothing thrown";
    } catch (const base::Error& error) {
      EXPECT_EQ(error.status(), Status::kCancelled);
    }
  }
  loader->start_epoch(3);
  expect_same(test::by_device(*loader),
              test::by_cpu(world, batches, 3, 0, rows, DeviceWorld::kCols));
}

std::string name_of(
    const testing::TestParamInfo<std::tuple<GraphPlacement, FeaturePlacement>>& info) {
  const char* const graphs[] = {"", "Device", "Pinned", "Host"};
  const char* const features[] = {"", "Device", "Pinned", "Cached", "Host"};
  return std::string("Graph") + graphs[static_cast<int>(std::get<0>(info.param))] + "Features" +
         features[static_cast<int>(std::get<1>(info.param))];
}

INSTANTIATE_TEST_SUITE_P(
    Places, EveryPlace,
    testing::Combine(testing::Values(GraphPlacement::kDevice, GraphPlacement::kPinned,
                                     GraphPlacement::kHost),
                     testing::Values(FeaturePlacement::kDevice, FeaturePlacement::kPinned,
                                     FeaturePlacement::kCached, FeaturePlacement::kHost)),
    name_of);

}  // namespace
}  // namespace gnnmg
