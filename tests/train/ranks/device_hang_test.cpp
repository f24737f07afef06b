// GPUs that never finish, and drivers that do not answer: the host learns of it within the deadline
// and the drain limit, continues without that GPU, and can free everything; memory on the GPU stays
// until the GPU finishes after all.
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <tuple>

#include "train/ranks/device_hang.h"

namespace gnnmg::test {
namespace {

using base::Status;
using testing::HasSubstr;

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
    // For a single rank with a silent driver, only a cancel notices it.
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
      gpus.unblock_and_expect_clean(device);
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
    gpus.unblock_and_expect_clean(device);
    if (HasFailure()) break;
  }
}

// A GPU that finishes while others wait for it has hung for a while, and stays in use.
TEST(DeviceHang, ThatIsOverInTime) {
  for (const bool captured : {false, true}) {
    Hanging gpus(2);
    {
      Trial run(gpus.train(endless(captured)), gpus.host());
      train_until(run, 2);
      gpus.late().hang(1);
      std::thread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(kDeadline + 250));
        gpus.late().go_on(1);
      });
      const Caught found = caught([&] { run->wait({}); });
      later.join();
      EXPECT_EQ(found.status, Status::kTimeout) << found.text;
      EXPECT_THAT(found.text, testing::Not(HasSubstr("used no more")));
      EXPECT_EQ(run->step({}, nullptr), Status::kOk);
    }
    gpus.unblock_and_expect_clean(1);
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
      gpus.unblock_and_expect_clean(world - 1);
    }
}

// Only the queues that make mini-batches hang; the rank's own queue is done.
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
    gpus.unblock_and_expect_clean(world - 1);
  }
}

// Before the first step: preparing the training does not finish.
TEST(DeviceHang, FromTheBeginning) {
  for (const bool captured : {false, true}) {
    Hanging gpus(2);
    std::optional<Trial> run;
    gpus.host().meet_timeout_ms = 1000;  // until all ranks are ready
    run.emplace(gpus.train(endless(captured)), gpus.host());
    gpus.late().hang(1);
    const double start = now();
    const Caught found = caught([&] { run->train(); });
    EXPECT_LT(now() - start, kLongest) << found.text;
    EXPECT_EQ(found.status, Status::kTimeout) << found.text;
    EXPECT_THAT(found.text, HasSubstr(of_rank(1)));
    expect_goes_on_without(1, 2, run, gpus.host());
    gpus.unblock_and_expect_clean(1);
  }
}

// The program ends while the GPU hangs, at once or after its report.
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
