// Trainings on several GPUs of one process allocate and free memory only while no rank's kernel
// waits for another rank of the process: CUDA could block both forever.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "fake_gpu.h"
#include "fake_nccl/fake_nccl.h"
#include "train/device_fixture.h"
#include "train/small_graphs.h"

namespace gnnmg::test {
namespace {

// Such a call takes a while and lets other threads run: violations before and after it are
// detected.
void check(const char* what) {
  fake_nccl::check_memory_call(what);
  if (std::string_view(what) == "a tensor is made") return;
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  fake_nccl::check_memory_call(what);
}

void check_but_tensors(const char* what) {
  if (std::string_view(what) != "a tensor is made") check(what);
}

// Includes the plug-in's launch order for all of them.
void check_in_turn(const char* what) {
  fake_nccl::begin_growth();
  check(what);
  fake_nccl::end_growth();
}

class Watched {
 public:
  explicit Watched(bool tensors) : Watched(tensors ? check : check_but_tensors) {}
  explicit Watched(void (*watch)(const char* what)) { fake_gpu::watch_memory(watch); }
  ~Watched() { fake_gpu::watch_memory(nullptr); }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
};

// A host sampler whose fan-outs grow from mini-batch to mini-batch.
class GrowingSampler final : public sample::Sampler {
 public:
  explicit GrowingSampler(const graph::GraphRef& graph) {
    for (int64_t fanout = 1; fanout <= 8; ++fanout) {
      sample::NeighborConfig config;
      config.fanouts = {fanout, fanout};
      config.transpose = true;
      inner_.push_back(sample::make_neighbor_sampler(graph, config));
    }
  }
  int num_layers() const override { return 2; }
  int64_t num_nodes() const override { return inner_[0]->num_nodes(); }
  std::string describe() const override { return "one that grows"; }
  void sample(std::span<const int64_t> seeds, const sample::BatchKey& key,
              sample::Workspace& workspace, sample::Sample& out,
              const base::CancelToken& cancel) const override {
    const size_t number = 3 * key.epoch + key.batch;
    inner_[std::min(number, inner_.size() - 1)]->sample(seeds, key, workspace, out, cancel);
  }

 private:
  std::vector<std::unique_ptr<sample::Sampler>> inner_;
};

class DeviceMemoryCalls : public testing::TestWithParam<int> {
 protected:
  // Trains and evaluates, and lists forbidden calls.
  void expect_in_turns(const Recipe& setup, bool tensors = true) const {
    const Gpus gpus(GetParam());
    Host host;
    host.devices = &gpus.table();
    {
      Trial run(gpus.train(setup), host);
      const Watched watched(tensors);
      run.train();
      run->evaluate(data::SplitPart::kTest, {});
    }
    EXPECT_GT(fake_nccl::calls(0), 20);
    gpus.expect_clean();
  }
};

Recipe unpadded() {
  Recipe setup;
  setup.trainer.capture = train::Capture::kUnpadded;
  setup.trainer.batches_per_step = 8;
  setup.trainer.num_epochs = 3;
  setup.trainer.evaluate_every = 1;
  setup.trainer.loader_threads = 2;
  setup.trainer.prefetch = 4;
  return setup;
}

TEST_P(DeviceMemoryCalls, OfSampledEvaluations) {
  Recipe setup = unpadded();
  setup.trainer.evaluation = train::EvaluationMode::kSampled;
  setup.trainer.eval_batch_size = 16;
  expect_in_turns(setup);
}

TEST_P(DeviceMemoryCalls, OfHopsThatAreMeasured) {
  Recipe setup = unpadded();
  setup.sampler.fanouts = {5, -1};
  expect_in_turns(setup);
}

// Each pass allocates for its true sizes; with norms over all ranks in the middle of a step's
// exchange.
TEST_P(DeviceMemoryCalls, OfPassesWithoutBounds) {
  for (const bool across : {false, true}) {
    Recipe setup = unpadded();
    setup.sampler.fanouts = {-1, -1};
    setup.model.norm = nn::Norm::kBatch;
    setup.trainer.sync_batch_norm = across;
    expect_in_turns(setup);
  }
}

// Both trainings use the same GPUs or different ones: memory calls concern the whole process.
TEST_P(DeviceMemoryCalls, OfTrainersAtTheSameTime) {
  const Gpus gpus(GetParam());
  Host host;
  host.devices = &gpus.table();
  for (const bool apart : {false, true}) {
    if (apart && gpus.count() < 4) continue;
    const auto part = [&](bool second) {
      Recipe setup = gpus.train(unpadded());
      if (apart) setup.trainer.devices = second ? std::vector{2, 3} : std::vector{0, 1};
      // A fake GPU that captures cannot be used by others, unlike a real one.
      setup.trainer.capture = !second ? train::Capture::kUnpadded
                              : apart ? train::Capture::kAuto
                                      : train::Capture::kOff;
      return setup;
    };
    const Watched watched(check_in_turn);
    const auto trained = [&](bool second) {
      const Caught found = caught([&] { Trial(part(second), host).train(); });
      EXPECT_EQ(found.status, base::Status::kOk) << found.text;
    };
    std::thread other([&] {
      for (int i = 0; i < 2; ++i) trained(true);
    });
    trained(false);
    other.join();
  }
  gpus.expect_clean();
}

// Samples and rows come from the host, and every mini-batch is larger than all before.
TEST_P(DeviceMemoryCalls, OfMiniBatchesThatGrow) {
  Recipe setup = unpadded();
  setup.trainer.placement.graph = loader::GraphPlacement::kHost;
  setup.trainer.placement.features = loader::FeaturePlacement::kHost;
  setup.trainer.evaluation = train::EvaluationMode::kSampled;
  setup.wrap_sampler = [&](std::shared_ptr<const sample::Sampler>) {
    return std::make_shared<GrowingSampler>(setup.dataset->graph);
  };
  expect_in_turns(setup);
}

TEST_P(DeviceMemoryCalls, OfGraphs) {
  Recipe setup = gin(rings_and_stars(120));
  setup.trainer.num_epochs = 3;
  setup.trainer.evaluate_every = 1;
  expect_in_turns(setup);
}

// Steps with captured shapes allocate nothing but tensors from LibTorch's cache.
TEST_P(DeviceMemoryCalls, OfCapturedSteps) {
  for (const train::Capture capture : {train::Capture::kOn, train::Capture::kOff}) {
    Recipe setup = unpadded();
    setup.trainer.capture = capture;
    setup.trainer.evaluation = train::EvaluationMode::kSampled;
    setup.trainer.eval_batch_size = 16;
    expect_in_turns(setup, false);
  }
}

INSTANTIATE_TEST_SUITE_P(Gpus, DeviceMemoryCalls, testing::Values(2, 4));

}  // namespace
}  // namespace gnnmg::test
