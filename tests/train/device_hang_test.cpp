// GPUs that never come to their end, and drivers that answer no more: the host hears of it within
// the deadline and a device's time to rest, goes on without that GPU, and can free everything;
// what lies on it stays until it comes to its end after all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "base/device_wait.h"
#include "fake_gpu.h"
#include "fake_nccl/fake_nccl.h"
#include "late.h"
#include "nn/model.h"
#include "train/device_capture.h"

namespace gnnmg::test {
namespace {

using base::Status;
using testing::AnyOf;
using testing::HasSubstr;
using train::Capture;

constexpr int64_t kDeadline = 300;
// The deadline, a second in which a device may come to its end, half of one behind which threads
// that are held up by the driver are given up, twice where others wait for these; and what a
// machine with other work takes.
constexpr double kLongest = 0.3 + 2 * 1.5 + 3;

// GPUs that work later than they are told, until they hang. Nobody asks them anything any more when
// the test is over, but which of them were given up is remembered by their table, which stays.
class Hanging {
 public:
  explicit Hanging(int count) : gpus_(count) {
    static auto& all = *new std::vector<std::unique_ptr<fake_gpu::Late>>;
    late_ = all.emplace_back(std::make_unique<fake_gpu::Late>(gpus_.table())).get();
    fake_nccl::put_off_operations(fake_gpu::Late::put);
    host_.devices = &late_->table();
  }
  fake_gpu::Late& late() { return *late_; }
  Host& host() { return host_; }
  Recipe train(Recipe setup) const { return gpus_.train(std::move(setup)); }
  // The GPU goes on after all: what was left behind goes, and nothing else.
  void expect_clean_behind(int device) {
    late_->go_on(device);
    const double until = now() + 20;
    while (base::pending_ends() > 0 && now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(base::pending_ends(), 0);
    gpus_.expect_clean();
  }

 private:
  const Gpus gpus_;
  fake_gpu::Late* late_ = nullptr;
  Host host_;
};

Recipe endless(bool captured) {
  Recipe setup;
  setup.trainer.capture = captured ? Capture::kOn : Capture::kUnpadded;
  setup.trainer.batches_per_step = 4;
  setup.trainer.num_epochs = 1'000'000;
  setup.trainer.evaluate_every = 0;
  setup.trainer.deadline_ms = kDeadline;
  return setup;
}

void train_until(Trial& run, int64_t epoch) {
  run->start();
  while (run->progress().epoch < epoch && run->busy() &&
         run->progress().state == train::TrainerState::kRunning)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void expect_given_up(const Caught& found, int device) {
  EXPECT_EQ(found.status, Status::kDeviceLost) << found.text;
  EXPECT_THAT(found.text,
              HasSubstr(base::text("GPU ", device, " is used no more in this process")));
  EXPECT_THAT(found.text, HasSubstr("end the process, and go on in another one"));
}

// Later calls say so at once, the host has what it had, other GPUs and the CPU go on, and freeing
// waits for nothing.
void expect_goes_on_without(int device, int world, std::optional<Trial>& run, Host& host) {
  double start = now();
  expect_given_up(caught([&] { (*run)->step({}, nullptr); }), device);
  expect_given_up(caught([&] { (*run)->evaluate(data::SplitPart::kTest, {}); }), device);
  if (device == 0) expect_given_up(caught([&] { (*run)->memory_plan(0); }), device);
  for (const double weight : run->weights()) ASSERT_TRUE(std::isfinite(weight));
  run.reset();
  EXPECT_LT(now() - start, 1);
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
}

std::string of_rank(int rank) {
  return base::text("; rank ", rank, ": GPU ", rank, " (fake GPU at 0000:0", rank + 1,
                    ":00.0) has not come to its end within 1 s of it and is used no more in this "
                    "process: end the process, and go on in another one");
}

enum class Way { kDeadline, kCancel, kFree };

class DeviceHang : public testing::TestWithParam<std::tuple<int, bool, bool>> {
 protected:
  const int world = std::get<0>(GetParam());
  const bool captured = std::get<1>(GetParam());
  const bool silent = std::get<2>(GetParam());
};
INSTANTIATE_TEST_SUITE_P(
    Gpus, DeviceHang, testing::Combine(testing::Values(1, 2, 4), testing::Bool(), testing::Bool()),
    [](const auto& info) {
      return base::text(std::get<0>(info.param), std::get<1>(info.param) ? "Captured" : "Eager",
                        std::get<2>(info.param) ? "Silent" : "");
    });

TEST_P(DeviceHang, InTheMiddleOfTraining) {
  for (const Way way : {Way::kDeadline, Way::kCancel, Way::kFree}) {
    // Of a rank alone whose driver does not answer nobody finds out but by a cancel.
    if (way == Way::kDeadline && world == 1 && silent) continue;
    Hanging gpus(world);
    const int device = way == Way::kCancel ? 0 : world - 1;
    std::optional<Trial> run;
    run.emplace(gpus.train(endless(captured)), gpus.host());
    train_until(*run, 2);
    gpus.late().hang(device, 0, silent);
    const double start = now();
    if (way == Way::kFree) {
      run.reset();
      EXPECT_LT(now() - start, kLongest);
      gpus.expect_clean_behind(device);
      continue;
    }
    if (way == Way::kCancel) (*run)->cancel();
    const Caught found = caught([&] { (*run)->wait({}); });
    EXPECT_LT(now() - start, kLongest) << found.text;
    EXPECT_EQ(found.status, way == Way::kCancel ? Status::kCancelled : Status::kTimeout)
        << found.text;
    EXPECT_THAT(found.text, HasSubstr(of_rank(device)));
    EXPECT_EQ(found.text.find('\n'), std::string::npos);
    expect_goes_on_without(device, world, run, gpus.host());
    gpus.expect_clean_behind(device);
    if (HasFailure()) break;
  }
}

// What comes to its end while others wait for that has hung for a while, and is used on.
TEST(DeviceHang, ThatIsOverInTime) {
  for (const bool captured : {false, true}) {
    Hanging gpus(2);
    {
      Trial run(gpus.train(endless(captured)), gpus.host());
      train_until(run, 2);
      gpus.late().hang(1);
      std::thread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(kDeadline + 400));
        gpus.late().go_on(1);
      });
      const Caught found = caught([&] { run->wait({}); });
      later.join();
      EXPECT_EQ(found.status, Status::kTimeout) << found.text;
      EXPECT_THAT(found.text, testing::Not(HasSubstr("used no more")));
      EXPECT_EQ(run->step({}, nullptr), Status::kOk);
    }
    gpus.expect_clean_behind(1);
  }
}

TEST(DeviceHang, InAnEvaluation) {
  for (const int world : {1, 2, 4})
    for (const auto mode : {train::EvaluationMode::kFull, train::EvaluationMode::kSampled}) {
      SCOPED_TRACE(testing::Message() << world << " ranks, " << static_cast<int>(mode));
      Hanging gpus(world);
      Recipe setup = gpus.train(endless(true));
      setup.trainer.evaluation = mode;
      std::optional<Trial> run;
      run.emplace(setup, gpus.host());
      EXPECT_EQ((*run)->step({}, nullptr), Status::kOk);
      (*run)->evaluate(data::SplitPart::kTest, {});
      gpus.late().hang(world - 1);
      const double start = now();
      const Caught found = caught([&] { (*run)->evaluate(data::SplitPart::kTest, {}); });
      EXPECT_LT(now() - start, kLongest) << found.text;
      EXPECT_EQ(found.status, Status::kTimeout) << found.text;
      EXPECT_THAT(found.text, HasSubstr(of_rank(world - 1)));
      expect_goes_on_without(world - 1, world, run, gpus.host());
      gpus.expect_clean_behind(world - 1);
    }
}

// Only what mini-batches are made in: the rank's own queue is through.
TEST(DeviceHang, WhereMiniBatchesAreMade) {
  for (const int world : {1, 2}) {
    Hanging gpus(world);
    std::optional<Trial> run;
    run.emplace(gpus.train(endless(false)), gpus.host());
    train_until(*run, 2);
    gpus.late().hang(world - 1, 1);
    const double start = now();
    const Caught found = caught([&] { (*run)->wait({}); });
    EXPECT_LT(now() - start, kLongest) << found.text;
    EXPECT_EQ(found.status, Status::kTimeout) << found.text;
    EXPECT_THAT(found.text, HasSubstr(of_rank(world - 1)));
    expect_goes_on_without(world - 1, world, run, gpus.host());
    gpus.expect_clean_behind(world - 1);
  }
}

// Before the first step: what a training is made of does not come to its end.
TEST(DeviceHang, FromTheBeginning) {
  for (const bool captured : {false, true}) {
    Hanging gpus(2);
    std::optional<Trial> run;
    gpus.host().meet_timeout_ms = 1000;  // for each other, until all have what they need
    run.emplace(gpus.train(endless(captured)), gpus.host());
    gpus.late().hang(1);
    const double start = now();
    const Caught found = caught([&] { run->train(); });
    EXPECT_LT(now() - start, kLongest) << found.text;
    EXPECT_EQ(found.status, Status::kTimeout) << found.text;
    EXPECT_THAT(found.text, HasSubstr(of_rank(1)));
    expect_goes_on_without(1, 2, run, gpus.host());
    gpus.expect_clean_behind(1);
  }
}

// The program ends with the GPU still at it, at once or behind what was told of it.
TEST(DeviceHang, AndTheProgramEnds) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const bool told : {false, true}) {
    const double start = now();
    EXPECT_EXIT(
        {
          auto& gpus = *new Hanging(2);
          static auto& run = *new Trial(gpus.train(endless(true)), gpus.host());
          train_until(run, 2);
          gpus.late().hang(1);
          if (told) caught([&] { run->wait({}); });
          std::exit(0);
        },
        testing::ExitedWithCode(0), "");
    EXPECT_LT(now() - start, 30);
  }
}

}  // namespace
}  // namespace gnnmg::test
