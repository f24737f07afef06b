// The placement of graph and features, their sharing and lifetime, refusals, and the state after a
// failure.
#include "loader/device_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "device_support.h"
#include "sample/reference.h"

namespace gnnmg {
namespace {

using base::DType;
using base::Status;
using base::Tensor;
using feature::Form;
using loader::DeviceSource;
using loader::DeviceSourceConfig;
using loader::FeaturePlacement;
using loader::GraphPlacement;
using loader::LoaderConfig;
using test::Contents;
using test::DeviceWorld;
using testing::HasSubstr;

class DeviceSources : public testing::Test {
 protected:
  void TearDown() override {
    lazy_gpu::fail_allocation(-1);
    lazy_gpu::refuse_pinning(false);
    lazy_gpu::refuse_peers(false);
    lazy_gpu::lose(false);
    lazy_gpu::set_order(0);
    for (int device = 0; device < lazy_gpu::kNumDevices; ++device)
      lazy_gpu::set_memory(device, int64_t{1} << 30);
    EXPECT_EQ(lazy_gpu::num_live(), 0);
    EXPECT_EQ(lazy_gpu::num_queues(), 0);
    EXPECT_EQ(lazy_gpu::num_marks(), 0);
  }
};

DeviceSourceConfig automatic() {
  return test::on_lazy_gpu(GraphPlacement::kAuto, FeaturePlacement::kAuto);
}

Status status_of(const auto& call, const std::string& part = "") {
  try {
    call();
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(part));
    return error.status();
  }
  ADD_FAILURE() << "nothing thrown";
  return Status::kOk;
}

Contents cpu_epoch(const DeviceWorld& world, const LoaderConfig& config) {
  const std::vector<float> rows = test::rows_in(Form::kAsGiven, DType::kF32, world.x);
  return test::by_cpu(world, config, 0, 0, rows, DeviceWorld::kCols);
}

TEST_F(DeviceSources, TakeTheDeviceWhereThereIsRoomAndTheHostWhereThereIsNot) {
  const DeviceWorld world;
  const auto source = world.open(automatic());
  EXPECT_EQ(source->graph(), GraphPlacement::kDevice);
  EXPECT_EQ(source->features(), FeaturePlacement::kDevice);
  EXPECT_THAT(source->describe(), HasSubstr("graph in memory of GPU 0 (")) << source->describe();
  EXPECT_EQ(lazy_gpu::num_pinned(), 0);
}

TEST_F(DeviceSources, PinTheGraphAndCacheTheRowsThatDoNotFit) {
  const DeviceWorld world;  // rows of 32 bytes: 38400 bytes
  lazy_gpu::set_memory(0, 60000);
  const auto source = world.open(automatic());
  EXPECT_EQ(source->graph(), GraphPlacement::kPinned);
  EXPECT_EQ(source->features(), FeaturePlacement::kCached);
  EXPECT_THAT(source->describe(), HasSubstr("it takes more than 40 % of 60000 free bytes"));
  EXPECT_THAT(source->describe(), HasSubstr("125 of 1200 rows cached on GPU 0"));
  EXPECT_GT(lazy_gpu::num_pinned(), 1);

  lazy_gpu::set_memory(1, 1000);  // too little for a cache's index
  DeviceSourceConfig smaller = automatic();
  smaller.device = 1;
  EXPECT_EQ(world.open(smaller)->features(), FeaturePlacement::kPinned);
}

TEST_F(DeviceSources, StayOnTheHostWhereNothingCanBePinned) {
  const DeviceWorld world;
  lazy_gpu::set_memory(0, 20000);
  lazy_gpu::refuse_pinning(true);
  const auto source = world.open(automatic());
  EXPECT_EQ(source->graph(), GraphPlacement::kHost);
  EXPECT_EQ(source->features(), FeaturePlacement::kHost);
  EXPECT_THAT(source->describe(), HasSubstr("cannot be pinned"));

  EXPECT_EQ(status_of([&] { world.open(test::on_lazy_gpu(GraphPlacement::kPinned)); },
                      "set graph placement to device or host"),
            Status::kUnsupported);
  EXPECT_EQ(
      status_of(
          [&] { world.open(test::on_lazy_gpu(GraphPlacement::kHost, FeaturePlacement::kPinned)); },
          "set feature placement to device or host"),
      Status::kUnsupported);
}

TEST_F(DeviceSources, SayWhatDoesNotFitAndWhatHelps) {
  const DeviceWorld world;
  lazy_gpu::set_memory(0, 20000);
  EXPECT_EQ(status_of([&] { world.open(test::on_lazy_gpu(GraphPlacement::kDevice)); },
                      "set graph placement to pinned or host"),
            Status::kNoMemory);
  const auto features = [&] {
    world.open(test::on_lazy_gpu(GraphPlacement::kHost, FeaturePlacement::kDevice));
  };
  EXPECT_EQ(status_of(features, "the features take 38400 bytes, GPU 0 has 20000"),
            Status::kNoMemory);
  lazy_gpu::set_memory(0, 38400);
  EXPECT_EQ(status_of(features, "set feature placement to pinned, cached or host"),
            Status::kNoMemory);
}

TEST_F(DeviceSources, AreSharedByAllWhoReadTheSame) {
  const DeviceWorld world;
  const auto first = world.open(test::on_lazy_gpu());
  const int64_t live = lazy_gpu::num_live();
  const auto second = world.open(test::on_lazy_gpu());
  // Another sampler over the same graph, with or without edge ids.
  const std::shared_ptr<const sample::Sampler> evaluation =
      sample::make_neighbor_sampler(world.graph, {.fanouts = {-1}, .edge_ids = true});
  const auto third = DeviceSource::open(test::on_lazy_gpu(), evaluation, world.store, world.ids,
                                        test::device_loader_config(), nullptr);
  EXPECT_EQ(lazy_gpu::num_live(), live);
  // Existing device memory serves a source that could not have allocated it.
  lazy_gpu::set_memory(0, 1);
  const auto fourth = world.open(automatic());
  EXPECT_EQ(fourth->graph(), GraphPlacement::kDevice);
  EXPECT_EQ(fourth->features(), FeaturePlacement::kDevice);
  EXPECT_EQ(lazy_gpu::num_live(), live);
  lazy_gpu::set_memory(0, int64_t{1} << 30);

  // Pinned once, for any number of devices.
  const auto pinned =
      world.open(test::on_lazy_gpu(GraphPlacement::kPinned, FeaturePlacement::kPinned));
  const int64_t num_pinned = lazy_gpu::num_pinned();
  DeviceSourceConfig there = test::on_lazy_gpu(GraphPlacement::kPinned, FeaturePlacement::kPinned);
  there.device = 1;
  const auto other = world.open(there);
  EXPECT_EQ(lazy_gpu::num_pinned(), num_pinned);
}

TEST_F(DeviceSources, ServeSeveralLoadersAtOnce) {
  const DeviceWorld world;
  lazy_gpu::set_order(7);
  for (const auto graph : {GraphPlacement::kDevice, GraphPlacement::kPinned}) {
    const auto source = world.open(test::on_lazy_gpu(graph, FeaturePlacement::kCached));
    LoaderConfig evaluation = test::device_loader_config(1);
    evaluation.plan.shuffle = false;
    evaluation.plan.batch_size = 50;
    evaluation.purpose = base::Purpose::kEvaluationSample;
    const LoaderConfig training = test::device_loader_config(2);
    const auto train = world.on_device(training, source);
    const auto evaluate = world.on_device(evaluation, source);
    train->start_epoch(0);
    evaluate->start_epoch(0);
    test::LazyReader reads_training, reads_evaluation;
    int64_t place = 0;
    while (const loader::BatchRef batch = train->next({}).value()) {
      if (const loader::BatchRef other = evaluate->next({}).value())
        reads_evaluation.read(place, *other);
      reads_training.read(place++, *batch);
    }
    EXPECT_TRUE(reads_training.finish() == cpu_epoch(world, training));
    EXPECT_TRUE(reads_evaluation.finish() == cpu_epoch(world, evaluation));
  }
}

TEST_F(DeviceSources, CacheWhatIsHotByAnyMeasure) {
  const DeviceWorld world;
  for (const auto by :
       {loader::CacheBy::kProbability, loader::CacheBy::kDegree, loader::CacheBy::kCounting}) {
    DeviceSourceConfig config =
        test::on_lazy_gpu(GraphPlacement::kDevice, FeaturePlacement::kCached);
    config.cache_by = by;
    const LoaderConfig batches = test::device_loader_config();
    const auto source = world.open(config);
    EXPECT_THAT(source->describe(), HasSubstr("125 of 1200 rows cached"));
    const auto loader = world.on_device(batches, source);
    loader->start_epoch(0);
    EXPECT_TRUE(test::by_device(*loader) == cpu_epoch(world, batches));
  }
}

DeviceSourceConfig split_over_both(int device) {
  DeviceSourceConfig config = test::on_lazy_gpu(GraphPlacement::kDevice, FeaturePlacement::kSplit);
  config.device = device;
  config.devices = {0, 1};
  return config;
}

Contents epoch_of(loader::Loader& loader, int device) {
  loader.start_epoch(0);
  test::LazyReader reader(device);
  int64_t place = 0;
  while (const loader::BatchRef batch = loader.next({}).value()) reader.read(place++, *batch);
  return reader.finish();
}

TEST_F(DeviceSources, SplitACacheOverGpusThatReadEachOther) {
  const DeviceWorld world;
  const LoaderConfig batches = test::device_loader_config();
  for (const uint64_t order : {0, 1, 7}) {
    lazy_gpu::set_order(order);
    // 4000 bytes hold 125 rows on each device.
    std::shared_ptr<DeviceSource> first = world.open(split_over_both(0));
    EXPECT_EQ(first->features(), FeaturePlacement::kSplit);
    EXPECT_THAT(first->describe(), HasSubstr("250 of 1200 rows cached, split over GPUs 0, 1"));
    const int64_t live = lazy_gpu::num_live();
    const auto second = world.open(split_over_both(1));
    EXPECT_EQ(second->features(), FeaturePlacement::kSplit);
    EXPECT_EQ(world.open(split_over_both(0))->features(), FeaturePlacement::kSplit);
    const Contents expected = cpu_epoch(world, batches);
    {
      const auto loader = world.on_device(batches, first);
      EXPECT_TRUE(epoch_of(*loader, 0) == expected);
    }
    // The first one's memory stays while the other reads it.
    first = nullptr;
    EXPECT_LT(lazy_gpu::num_live(), live + 10);
    const auto loader = world.on_device(batches, second);
    EXPECT_TRUE(epoch_of(*loader, 1) == expected);
  }
}

TEST_F(DeviceSources, HoldASplitCacheAsLargeAsTheSmallestRoomAllows) {
  const DeviceWorld world;
  DeviceSourceConfig config = split_over_both(0);
  config.graph = GraphPlacement::kPinned;
  config.cache_bytes = 0;
  lazy_gpu::set_memory(1, 32000);  // 30 % of it hold 300 rows
  EXPECT_THAT(world.open(config)->describe(), HasSubstr("600 of 1200 rows cached"));
}

TEST_F(DeviceSources, SayWhatASplitCacheNeeds) {
  const DeviceWorld world;
  DeviceSourceConfig config = split_over_both(0);
  lazy_gpu::refuse_peers(true);
  EXPECT_EQ(
      status_of([&] { world.open(config); }, "cannot be split: GPU 0 cannot read memory of GPU 1"),
      Status::kUnsupported);
  EXPECT_EQ(status_of([&] { world.open(config); }, "set feature placement to cached"),
            Status::kUnsupported);
  lazy_gpu::refuse_peers(false);
  for (const std::vector<int>& alone : {std::vector<int>{}, {0}, {1, 2}}) {
    config.devices = alone;
    EXPECT_EQ(status_of([&] { world.open(config); }, "set it to cached"), Status::kUnsupported);
  }
}

TEST_F(DeviceSources, GatherInTheTypeThatIsAskedFor) {
  const DeviceWorld world;
  const LoaderConfig batches = test::device_loader_config();
  for (const DType type : {DType::kF16, DType::kBF16}) {
    for (const Form form : {Form::kAsGiven, Form::kInt8}) {
      DeviceSourceConfig config = test::on_lazy_gpu();
      config.form = form;
      config.gather = true;
      config.row_type = type;
      const auto loader = world.on_device(batches, world.open(config));
      loader->start_epoch(0);
      EXPECT_TRUE(test::by_device(*loader) == test::by_cpu(world, batches, 0, 0,
                                                           test::rows_in(form, type, world.x),
                                                           DeviceWorld::kCols));
    }
  }
}

TEST_F(DeviceSources, SampleWholeNeighborhoodsAndWithReplacement) {
  for (const bool replace : {false, true}) {
    const DeviceWorld world(sample::NeighborConfig{
        .fanouts = {replace ? 4 : -1, 0, 3}, .replace = replace, .outgoing = true});
    for (const uint64_t order : {0, 1, 2}) {
      lazy_gpu::set_order(order);
      const LoaderConfig batches = test::device_loader_config();
      const auto loader = world.on_device(batches, world.open(test::on_lazy_gpu()));
      loader->start_epoch(0);
      EXPECT_TRUE(test::by_device(*loader) == cpu_epoch(world, batches));
    }
  }
}

// Sparse rows, which the description mentions.
TEST_F(DeviceSources, CopySparseRows) {
  DeviceWorld world;
  base::CsrMatrix matrix;
  matrix.num_rows = DeviceWorld::kNodes;
  matrix.num_cols = 50;
  std::vector<int64_t> indptr{0};
  std::vector<int32_t> indices;
  std::vector<float> values;
  for (int64_t row = 0; row < matrix.num_rows; ++row) {
    for (int64_t k = 0; k < row % 4; ++k) {
      indices.push_back(static_cast<int32_t>((row * 7 + k) % 50));
      values.push_back(static_cast<float>(row + k));
    }
    indptr.push_back(static_cast<int64_t>(indices.size()));
  }
  matrix.indptr = Tensor::copy_of<int64_t>(indptr);
  matrix.indices = Tensor::copy_of<int32_t>(indices);
  matrix.values = Tensor::copy_of<float>(values);
  world.store = feature::make_store(matrix);
  const LoaderConfig batches = test::device_loader_config();
  LoaderConfig plain = batches;
  plain.num_threads = 0;
  for (const auto graph : {GraphPlacement::kDevice, GraphPlacement::kHost}) {
    for (const uint64_t order : {0, 1, 7}) {
      lazy_gpu::set_order(order);
      const auto source = world.open(test::on_lazy_gpu(graph, FeaturePlacement::kAuto));
      EXPECT_EQ(source->features(), FeaturePlacement::kHost);
      const auto loader = world.on_device(batches, source);
      const auto cpu = world.on_cpu(plain);
      loader->start_epoch(0);
      cpu->start_epoch(0);
      const auto as_text = [](const auto* data, int64_t count) {
        return std::to_string(count) + ":" +
               std::string(reinterpret_cast<const char*>(data), count * sizeof(*data));
      };
      Contents expected = test::by_cpu(world, batches, 0, 0, {}, 0);
      for (auto& [place, bytes] : expected) {
        const loader::BatchRef batch = cpu->next({}).value();
        const feature::SparseRows& rows = batch->sparse_features;
        bytes += as_text(rows.indptr.data(), rows.indptr.size()) +
                 as_text(rows.indices.data(), rows.indices.size()) +
                 as_text(rows.values.data(), rows.values.size());
      }
      EXPECT_TRUE(test::by_device(*loader) == expected);
    }
  }
  EXPECT_EQ(status_of([&] { world.open(test::on_lazy_gpu()); }, "the features are sparse"),
            Status::kUnsupported);
}

TEST_F(DeviceSources, LeaveRowsOfOtherTypesAsTheyAre) {
  DeviceWorld world;
  const LoaderConfig batches = test::device_loader_config();
  for (const DType type : {DType::kF64, DType::kI64}) {
    const Tensor x = Tensor::empty(type, {DeviceWorld::kNodes, 3});
    for (int64_t i = 0; i < DeviceWorld::kNodes * 3; ++i) {
      if (type == DType::kF64)
        x.as<double>()[i] = static_cast<double>(i) / 7;
      else
        x.as<int64_t>()[i] = i * i;
    }
    world.store = feature::make_store(x);
    for (const bool gather : {false, true}) {
      DeviceSourceConfig config = test::on_lazy_gpu();
      config.gather = gather;
      const auto loader = world.on_device(batches, world.open(config));
      loader->start_epoch(0);
      Contents expected = test::by_cpu(world, batches, 0, 0, {}, 0);
      LoaderConfig plain = batches;
      plain.num_threads = 0;
      const auto cpu = world.on_cpu(plain);
      cpu->start_epoch(0);
      for (auto& [place, bytes] : expected) {
        const loader::BatchRef batch = cpu->next({}).value();
        for (int64_t i = 0; i < batch->sample.num_nodes(); ++i)
          bytes += "24:" +
                   std::string(reinterpret_cast<const char*>(batch->features.data()) + i * 24, 24);
      }
      EXPECT_TRUE(test::by_device(*loader) == expected);
    }
    DeviceSourceConfig narrow = test::on_lazy_gpu();
    narrow.form = Form::kInt8;
    EXPECT_EQ(status_of([&] { world.open(narrow); }), Status::kInvalidArgument);
  }
}

TEST_F(DeviceSources, NeedNoFeatures) {
  DeviceWorld world;
  world.store = nullptr;
  const LoaderConfig batches = test::device_loader_config();
  for (const auto graph : {GraphPlacement::kDevice, GraphPlacement::kHost}) {
    lazy_gpu::set_order(1);
    const auto loader = world.on_device(batches, world.open(test::on_lazy_gpu(graph)));
    loader->start_epoch(0);
    EXPECT_TRUE(test::by_device(*loader) == test::by_cpu(world, batches, 0, 0, {}, 0));
  }
}

TEST_F(DeviceSources, SampleOnTheHostWhatADeviceCannot) {
  DeviceWorld world;
  const LoaderConfig batches = test::device_loader_config(2);
  const auto custom = [&](const sample::LayerRequest& request, sample::EdgeSink& sink) {
    sample::sample_neighbors(*world.graph, request.targets, 4, false, request.key, sink);
  };
  const std::vector<std::shared_ptr<const sample::Sampler>> samplers = {
      sample::make_custom_sampler(world.graph, 2, true, true, custom),
      sample::make_graphs_sampler(world.graph,
                                  Tensor::copy_of<int64_t>(std::vector<int64_t>{0, 1200}),
                                  {.num_layers = 2, .edge_ids = true, .transpose = true})};
  for (const auto& sampler : samplers) {
    world.sampler = sampler;
    if (sampler->of_graphs()) world.ids = {0, 0, 0};
    lazy_gpu::set_order(2);
    const auto source = world.open(automatic());
    EXPECT_EQ(source->graph(), GraphPlacement::kHost);
    EXPECT_EQ(source->features(), FeaturePlacement::kDevice);
    EXPECT_THAT(source->describe(), HasSubstr("works on the CPU alone"));
    const auto loader = world.on_device(batches, source);
    loader->start_epoch(0);
    EXPECT_TRUE(test::by_device(*loader) == cpu_epoch(world, batches));
    EXPECT_EQ(status_of([&] { world.open(test::on_lazy_gpu()); }, "works on the CPU alone"),
              Status::kUnsupported);
    EXPECT_EQ(status_of(
                  [&] {
                    world.open(test::on_lazy_gpu(GraphPlacement::kHost, FeaturePlacement::kCached));
                  },
                  "does not say which rows are read most"),
              Status::kUnsupported);
  }
}

TEST_F(DeviceSources, RefuseWhatMakesNoSense) {
  const DeviceWorld world;
  DeviceSourceConfig config = test::on_lazy_gpu();
  config.row_type = DType::kI64;
  EXPECT_EQ(status_of([&] { world.open(config); }, "type of gathered rows is i64"),
            Status::kInvalidArgument);
  config = test::on_lazy_gpu(static_cast<GraphPlacement>(4));
  EXPECT_EQ(status_of([&] { world.open(config); }, "graph placement is 4, expected 0 to 3"),
            Status::kInvalidArgument);
  config = test::on_lazy_gpu();
  config.cache_bytes = -1;
  EXPECT_EQ(status_of([&] { world.open(config); }), Status::kInvalidArgument);
  const DeviceWorld other;
  EXPECT_EQ(
      status_of(
          [&] { other.on_device(test::device_loader_config(), world.open(test::on_lazy_gpu())); },
          "another sampler"),
      Status::kInvalidArgument);
}

// The k-th allocation fails, for every k, once and permanently: Error(kNoMemory) or no error, the
// next call works, and nothing is leaked (TearDown).
TEST_F(DeviceSources, SurviveFailingAllocations) {
#if defined(__SANITIZE_THREAD__)
  const std::vector<int32_t> numbers_of_threads = {1};  // slow, and one thread is useless for it
#else
  const std::vector<int32_t> numbers_of_threads = {0, 1};
#endif
#if defined(__SANITIZE_ADDRESS__)
  constexpr int64_t kStep = 7;  // slow; other builds fail every allocation
#else
  constexpr int64_t kStep = 1;
#endif
  const DeviceWorld world;
  for (const auto graph :
       {GraphPlacement::kDevice, GraphPlacement::kPinned, GraphPlacement::kHost}) {
    for (const auto features :
         {FeaturePlacement::kDevice, FeaturePlacement::kCached, FeaturePlacement::kHost}) {
      for (const bool for_ever : {false, true}) {
        for (const int32_t threads : numbers_of_threads) {
          LoaderConfig batches = test::device_loader_config(threads);
          batches.plan.batch_size = 100;
          const Contents expected = cpu_epoch(world, batches);
          DeviceSourceConfig config = test::on_lazy_gpu(graph, features);
          config.gather = true;
          bool failed = true;
          for (int64_t k = 0; failed; k += kStep) {
            ASSERT_LT(k, 400);
            failed = false;
            std::shared_ptr<DeviceSource> source;
            std::unique_ptr<loader::Loader> loader;
            const int64_t before = lazy_gpu::num_allocations();
            lazy_gpu::fail_allocation(k, for_ever);
            try {
              source = world.open(config);
              loader = world.on_device(batches, source);
              loader->start_epoch(0);
              EXPECT_TRUE(test::by_device(*loader) == expected);
            } catch (const base::Error& error) {
              EXPECT_EQ(error.status(), Status::kNoMemory) << error.what();
            }
            failed = lazy_gpu::num_allocations() - before > k;
            lazy_gpu::fail_allocation(-1);
            if (!source) source = world.open(config);
            if (!loader) loader = world.on_device(batches, source);
            loader->start_epoch(0);
            EXPECT_TRUE(test::by_device(*loader) == expected) << "allocation " << k;
          }
        }
      }
    }
  }
}

TEST_F(DeviceSources, SayThatTheDeviceIsLostEverAfter) {
  const DeviceWorld world;
  for (const auto graph : {GraphPlacement::kDevice, GraphPlacement::kHost}) {
    for (const int32_t threads : {0, 2}) {
      lazy_gpu::lose(false);
      const auto loader =
          world.on_device(test::device_loader_config(threads),
                          world.open(test::on_lazy_gpu(graph, FeaturePlacement::kCached)));
      loader->start_epoch(0);
      loader::BatchRef held = loader->next({}).value();
      lazy_gpu::lose(true);
      const auto to_the_end = [&] {
        while (loader->next({}).value()) {
        }
      };
      EXPECT_EQ(status_of(to_the_end), Status::kDeviceLost);
      EXPECT_EQ(status_of(to_the_end), Status::kDeviceLost);
      loader->start_epoch(1);
      EXPECT_EQ(status_of(to_the_end), Status::kDeviceLost);
      held.reset();
      EXPECT_EQ(status_of([&] { world.open(automatic()); }), Status::kDeviceLost);
      // Loader and source are destroyed while the device is lost.
    }
  }
}

}  // namespace
}  // namespace gnnmg
