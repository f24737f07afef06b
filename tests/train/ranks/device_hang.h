// Fixtures for tests of GPUs that never finish.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/background.h"
#include "device/wait.h"
#include "fake_gpu.h"
#include "fake_nccl/fake_nccl.h"
#include "late.h"
#include "nn/model/model.h"
#include "train/step/captured/device_capture.h"

namespace gnnmg::test {

inline constexpr int64_t kDeadline = 300;
// The deadline; the drain time of a device (1 s); half of it until threads blocked in the driver
// are abandoned; both twice if others wait for these; and 3 s for a loaded machine.
inline constexpr double kLongest = 0.3 + 2 * 1.5 + 3;

// Ways to end a training on a hung GPU.
enum class Way { kDeadline, kCancel, kFree };

// Fake GPUs with delayed work, until they hang. Their table stays after the test, because it
// remembers which GPUs were given up.
class Hanging {
 public:
  explicit Hanging(int count, fake_gpu::Launches launches = fake_gpu::Launches::kAtOnce)
      : gpus_(count) {
    static auto& all = *new std::vector<std::unique_ptr<fake_gpu::Late>>;
    late_ = all.emplace_back(std::make_unique<fake_gpu::Late>(gpus_.table(), launches)).get();
    fake_nccl::put_off_operations(fake_gpu::Late::put);
    host_.devices = &late_->table();
  }
  fake_gpu::Late& late() { return *late_; }
  Host& host() { return host_; }
  Recipe train(Recipe setup) const { return gpus_.train(std::move(setup)); }
  // Unblocks the GPU and expects that abandoned work, and nothing else, is freed.
  void unblock_and_expect_clean(int device) {
    late_->go_on(device);
    const double until = now() + 20;
    while (base::num_left() > 0 && now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(base::num_left(), 0);
    gpus_.expect_clean();
  }

 private:
  const Gpus gpus_;
  fake_gpu::Late* late_ = nullptr;
  Host host_;
};

inline Recipe endless(train::Capture capture) {
  Recipe setup;
  setup.trainer.capture = capture;
  setup.trainer.batches_per_step = 4;
  setup.trainer.num_epochs = 1'000'000;
  setup.trainer.evaluate_every = 0;
  setup.trainer.deadline_ms = kDeadline;
  return setup;
}
inline Recipe endless(bool captured) {
  return endless(captured ? train::Capture::kOn : train::Capture::kUnpadded);
}

// A rank that gets no CPU time until the short deadline ends the training; then it is started
// again.
inline void train_until(Trial& run, int64_t epoch) {
  for (int round = 0; round < 10 && run->progress().epoch < epoch; ++round) {
    if (round > 0) caught([&] { run->wait({}); });
    run->start();
    while (run->progress().epoch < epoch && run->busy() &&
           run->progress().state == train::TrainerState::kRunning)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

inline void expect_given_up(const Caught& found, int device) {
  EXPECT_EQ(found.status, base::Status::kDeviceLost) << found.text;
  EXPECT_THAT(found.text,
              testing::HasSubstr(base::text("GPU ", device, " is used no more in this process")));
  EXPECT_THAT(found.text, testing::HasSubstr("end the process, and go on in another one"));
}

// Later calls fail at once, the host keeps its state, other GPUs and the CPU work, and freeing does
// not wait.
inline void expect_goes_on_without(int device, int world, std::optional<Trial>& run, Host& host) {
  double start = now();
  expect_given_up(caught([&] { (*run)->step({}, nullptr); }), device);
  expect_given_up(caught([&] { (*run)->evaluate(data::SplitPart::kTest, {}); }), device);
  if (device == 0) expect_given_up(caught([&] { (*run)->memory_plan(0); }), device);
  for (const double weight : run->weights()) ASSERT_TRUE(std::isfinite(weight));
  run.reset();
  EXPECT_LT(now() - start, 2);  // each wait would take a second
  start = now();
  Recipe other;
  other.trainer.num_epochs = 1;
  if (world > 1) {
    other.trainer.devices = {device == 0 ? 1 : 0};
    Trial on_other(other, host);
    on_other.train();
  }
  other.trainer.devices = {};
  Trial on_cpu(other, host);
  on_cpu.train();
  EXPECT_LT(now() - start, 10);  // no call waits
}

inline std::string of_rank(int rank) {
  return base::text("; rank ", rank, ": GPU ", rank, " (fake GPU at 0000:0", rank + 1,
                    ":00.0) has not come to its end within 1 s of it and is used no more in this "
                    "process: end the process, and go on in another one");
}

}  // namespace gnnmg::test
