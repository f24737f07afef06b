// Passes and whole graphs on fake GPUs without free memory, or lost: the error, no leak, and
// success of the next pass.
#include <gmock/gmock.h>

#include <chrono>
#include <exception>
#include <thread>

#include "base/error.h"
#include "fake_gpu.h"
#include "nn/device_fixture.h"

namespace gnnmg::nn {
namespace {

using base::Status;
using testing::HasSubstr;

class DeviceMemory : public testing::Test {
 protected:
  const graph::GraphRef graph_ = make_graph();
  TestDevices devices_;
};

// Every allocation of a training pass fails once: the pass fails, leaks nothing, and the next one
// works.
TEST_F(DeviceMemory, PassesSurviveADeviceWithoutMemory) {
  ModelConfig config = small_config();
  for (const Architecture architecture : {Architecture::kSage, Architecture::kGatv2}) {
    config.architecture = architecture;
    config.num_layers = 2;
    config.dropout = 0.3;
    const auto model = make_model(config)->clone_on(&devices_[0]);
    const Batch batch = sample_batch(graph_, {3, 3}, {4, 0, 59, 17, 33});
    const DeviceBatch there(args_of(batch, true, true), devices_[0]);
    const PassResult expected = training_pass(*model, there.args());
    const int64_t live = fake_gpu::num_live(0);
    int failed = 0;
    for (int64_t after = 0; after < 1000; ++after) {
      fake_gpu::fail_allocation(0, after);
      bool threw = false;
      try {
        training_pass(*model, there.args());
      } catch (const std::exception&) {
        threw = true;
      }
      fake_gpu::fail_allocation(0, -1);
      if (!threw) break;
      ++failed;
      // LibTorch's thread may free its memory after backward() has returned.
      for (int ms = 0; ms < 5000 && fake_gpu::num_live(0) != live; ++ms)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      EXPECT_EQ(fake_gpu::num_live(0), live) << "after allocation " << after;
    }
    EXPECT_GT(failed, 20);
    EXPECT_LT(failed, 1000);
    const PassResult again = training_pass(*model, there.args());
    EXPECT_TRUE(again.logits.equal(expected.logits));
    EXPECT_TRUE(again.gradients.equal(expected.gradients));
    fake_gpu::lose(0);
    EXPECT_ANY_THROW(training_pass(*model, there.args()));
    fake_gpu::find_again(0);
    EXPECT_TRUE(training_pass(*model, there.args()).gradients.equal(expected.gradients));
  }
}

TEST_F(DeviceMemory, AGraphThatDoesNotFitIsNamed) {
  ModelConfig config = small_config();
  config.architecture = Architecture::kGine;
  config.edge_dim = kEdgeColumns;
  const auto model = make_model(config)->clone_on(&devices_[1]);
  int64_t failed = 0;
  for (int64_t after = 0;; ++after) {
    fake_gpu::fail_allocation(1, after);
    std::string text;
    const Status status = status_of(
        [&] {
          try {
            infer(*model, *graph_, "x", 17);
          } catch (const c10::OutOfMemoryError& error) {  // a failure in LibTorch's own tensors
            base::fail(Status::kNoMemory, error.what_without_backtrace());
          }
        },
        &text);
    fake_gpu::fail_allocation(1, -1);
    if (status == Status::kOk) break;
    EXPECT_EQ(status, Status::kNoMemory);
    if (after == 0) {
      EXPECT_THAT(text, AllOf(HasSubstr("no memory on GPU 1 for the features of all edges"),
                              HasSubstr("run this part on the CPU")));
    }
    ++failed;
  }
  EXPECT_GT(failed, 10);
}

}  // namespace
}  // namespace gnnmg::nn
