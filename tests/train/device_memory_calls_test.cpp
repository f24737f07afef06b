// When trainings on several GPUs of one process take memory and give it back: never while a rank's
// kernel waits for another rank of the process, since CUDA may then hold up both for ever.
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

// Such a call takes a while, in which the others go on: what is wrong before it or behind is seen.
void check(const char* what) {
  fake_nccl::check_memory_call(what);
  if (std::string_view(what) == "a tensor is made") return;
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  fake_nccl::check_memory_call(what);
}

void check_but_tensors(const char* what) {
  if (std::string_view(what) != "a tensor is made") check(what);
}

// With the turns that the plug-in takes for all of them.
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

// A host's, whose fan-outs grow from mini-batch to mini-batch.
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
  // Trains and evaluates, and shows what was called when it must not be.
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

// Passes take what their true sizes need, each its own and none beforehand; with norms over all
// ranks in the middle of an exchange's step.
TEST_P(DeviceMemoryCalls, OfPassesWithoutBounds) {
  for (const bool across : {false, true}) {
    Recipe setup = unpadded();
    setup.sampler.fanouts = {-1, -1};
    setup.model.norm = nn::Norm::kBatch;
    setup.trainer.sync_batch_norm = across;
    expect_in_turns(setup);
  }
}

// The GPUs of both are the same, or not: their calls for memory concern all of the process.
TEST_P(DeviceMemoryCalls, OfTrainersAtTheSameTime) {
  const Gpus gpus(GetParam());
  Host host;
  host.devices = &gpus.table();
  for (const bool apart : {false, true}) {
    if (apart && gpus.count() < 4) continue;
    const auto part = [&](bool second) {
      Recipe setup = gpus.train(unpadded());
      if (apart) setup.trainer.devices = second ? std::vector{2, 3} : std::vector{0, 1};
      // While a fake GPU captures, nobody else can use it, as others could a real one.
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

// Samples and rows come from the host, and every mini-batch is larger than those before it.
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

// Steps that are captured, or kernel after kernel over the same shapes, take nothing, other than
// tensors out of what LibTorch keeps.
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
