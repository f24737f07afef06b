// Failures while training: the error that the caller gets, how soon, the state that is left, and
// that another start goes on from it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "comm/ranks.h"
#include "support/file_faults.h"
#include "support/leftovers.h"
#include "support/temp_dir.h"
#include "train/fixture.h"

namespace gnnmg::test {
namespace {

using base::Deadline;
using base::Status;
using data::SplitPart;
using testing::EndsWith;
using testing::HasSubstr;
using train::EpochReport;
using train::TrainerState;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Outcome outcome_of(const std::function<void()>& body) { return attempt(body); }

Recipe in_f64(int world) {
  Recipe setup;
  setup.model.dtype = base::DType::kF64;
  setup.trainer.num_ranks = world;
  setup.trainer.batches_per_step = 4;
  setup.trainer.num_epochs = 6;
  return setup;
}

TEST(TrainerFault, CancelAndStartAgain) {
  for (int world : {1, 2, 4}) {
    Recipe setup = in_f64(world);
    const std::vector<double> expected = weights_after(setup);
    Trial* running = nullptr;
    std::atomic<int> cancels{0};
    std::atomic<double> at{0};
    watch(setup, [&](const sample::BatchKey& key, const base::CancelToken&) {
      if (key.epoch == 3 && key.batch == 1 && cancels++ == 0) {
        at = now();
        (*running)->cancel();
      }
    });
    Host host;
    Trial run(setup, host);
    running = &run;
    const Outcome outcome = outcome_of([&] { run.train(); });
    EXPECT_EQ(outcome.status, Status::kCancelled);
    EXPECT_EQ(outcome.text, "training was canceled");
    EXPECT_LT(now() - at.load(), 5.0);  // far from the deadline
    EXPECT_EQ(run->progress().state, TrainerState::kFailed);
    EXPECT_FALSE(run->busy());
    EXPECT_LT(run->progress().epoch, 6);
    run.train();
    EXPECT_EQ(run->progress().state, TrainerState::kFinished);
    EXPECT_LE(largest_difference(run.weights(), expected), world == 1 ? 0 : 1e-9) << world;
  }
}

TEST(TrainerFault, CancelFromAnotherThread) {
  Recipe setup;
  setup.trainer.num_epochs = 1'000'000;
  setup.trainer.num_ranks = 2;
  Host host;
  Trial run(setup, host);
  run->start();
  std::atomic<double> at{0};
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    at = now();
    run->cancel();
  });
  const Outcome outcome = outcome_of([&] { run->wait({}); });
  const double seconds = now() - at.load();
  other.join();
  EXPECT_EQ(outcome.status, Status::kCancelled);
  EXPECT_LT(seconds, 5.0);
  // Weights are those of whole steps: finite, and another evaluation works.
  EXPECT_EQ(run->evaluate(SplitPart::kTest, {})->count, 150);
  run->cancel();  // nothing is under way
  EXPECT_EQ(run->evaluate(SplitPart::kTest, {})->count, 150);
}

TEST(TrainerFault, FreeWhileItRuns) {
  Recipe setup;
  setup.trainer.num_epochs = 1'000'000;
  setup.trainer.num_ranks = 3;
  const Leftovers left;
  Host host;
  {
    Trial run(setup, host);
    run->start();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_EQ(left.count(), Leftovers::kNone);
}

// The sampler of one mini-batch fails: the caller gets its words, the other ranks end at once.
TEST(TrainerFault, AFailingSamplerNamesItself) {
  Recipe setup = in_f64(4);
  const std::vector<double> expected = weights_after(setup);
  std::atomic<int> failures{0};
  std::atomic<double> at{0};
  watch(setup, [&](const sample::BatchKey& key, const base::CancelToken&) {
    if (key.epoch == 2 && key.batch == 2 && failures++ == 0) {
      at = now();
      throw base::Error(Status::kCallback, "the host's sampler answered 5");
    }
  });
  Host host;
  Trial run(setup, host);
  const Outcome outcome = outcome_of([&] { run.train(); });
  EXPECT_EQ(outcome.status, Status::kCallback);
  EXPECT_EQ(outcome.text, "the host's sampler answered 5");
  EXPECT_LT(now() - at.load(), 5.0);  // far from the deadline
  EXPECT_EQ(run->progress().state, TrainerState::kFailed);
  run.train();
  EXPECT_LE(largest_difference(run.weights(), expected), 1e-9);
}

TEST(TrainerFault, TheFailedRankIsKnown) {
  Recipe setup = in_f64(4);
  watch(setup, [&](const sample::BatchKey& key, const base::CancelToken&) {
    if (key.batch == 2) throw std::runtime_error("no such node\nand a trace below");
  });
  Host host;
  Trial run(setup, host);
  try {
    run.train();
    ADD_FAILURE() << "trained";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.status(), Status::kInternal);
    EXPECT_STREQ(error.what(), "no such node");
    EXPECT_EQ(error.rank(), 2);
  }
}

TEST(TrainerFault, CallbackThatRefuses) {
  Recipe setup = in_f64(2);
  Host host;
  Trial run(setup, host);
  int calls = 0;
  std::thread::id seen;
  run->set_epoch_function([&](const EpochReport& report) {
    ++calls;
    seen = std::this_thread::get_id();
    return report.epoch == 1 ? 7 : 0;
  });
  const Outcome outcome = outcome_of([&] { run.train(); });
  EXPECT_EQ(outcome.status, Status::kCallback);
  EXPECT_EQ(outcome.text, "the epoch callback answered 7 after epoch 1");
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(seen, std::this_thread::get_id());
  run.train();  // epoch 1 is over; training goes on from its end
  EXPECT_EQ(calls, 6);
  EXPECT_LE(largest_difference(run.weights(), weights_after(in_f64(2))), 1e-9);
}

TEST(TrainerFault, CallbackThatThrows) {
  Recipe setup;
  Host host;
  Trial run(setup, host);
  run->set_epoch_function(
      [](const EpochReport&) -> int32_t { throw base::Error(Status::kCallback, "thrown"); });
  EXPECT_EQ(outcome_of([&] { run.train(); }).text, "thrown");
}

// A callback may take longer than ranks wait for each other: that is no failure.
TEST(TrainerFault, ASlowCallbackIsWaitedFor) {
  Recipe setup;
  setup.trainer.num_ranks = 2;
  setup.trainer.num_epochs = 2;
  setup.trainer.deadline_ms = 1500;
  Host host;
  Trial run(setup, host);
  run->set_epoch_function([](const EpochReport& report) {
    if (report.epoch == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2000));
    return 0;
  });
  const Outcome outcome = outcome_of([&] { run.train(); });
  EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
}

TEST(TrainerFault, ALateRankIsNamed) {
  Recipe setup = in_f64(3);
  setup.trainer.deadline_ms = 1000;
  setup.trainer.loader_threads = 1;
  watch(setup, [&](const sample::BatchKey& key, const base::CancelToken& cancel) {
    if (key.epoch == 1 && key.batch == 1)
      for (int i = 0; i < 500 && !cancel.cancelled(); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
  });
  Host host;
  Trial run(setup, host);
  try {
    run.train();
    ADD_FAILURE() << "trained";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.status(), Status::kTimeout);
    EXPECT_THAT(error.what(), HasSubstr("2 of 3 ranks came within"));
    EXPECT_THAT(error.what(), HasSubstr("missing: 1"));
    EXPECT_EQ(error.rank(), 1);
  }
}

TEST(TrainerFault, NotANumberEndsAfterThreeSteps) {
  for (int world : {1, 2}) {
    Recipe setup = in_f64(world);
    setup.dataset = make_small({.nan_features = 0});  // the first training node
    setup.trainer.batch_size = 200;                   // every mini-batch has the node
    setup.trainer.num_epochs = 10;
    Host host;
    Trial run(setup, host);
    const std::vector<double> start = run.weights();
    int epochs = 0;
    run->set_epoch_function([&](const EpochReport&) {
      ++epochs;
      return 0;
    });
    const Outcome outcome = outcome_of([&] { run.train(); });
    EXPECT_EQ(outcome.status, Status::kDiverged);
    EXPECT_EQ(
        outcome.text,
        "the loss or its gradient was not finite in 3 steps in a row, the last of them step 0 "
        "of epoch 2; the model holds the weights of the last good step; "
        "features x, row 0, column 0: expected a finite value, found NaN or infinity");
    EXPECT_EQ(epochs, 2);
    EXPECT_EQ(run.weights(), start);
  }
}

TEST(TrainerFault, DivergingKeepsTheWeightsOfTheLastGoodStep) {
  Recipe setup;
  setup.trainer.num_ranks = 2;
  setup.trainer.optimizer = {.kind = train::OptimizerKind::kSgd, .learning_rate = 1e25};
  Host host;
  Trial run(setup, host);
  const std::vector<double> start = run.weights();
  const Outcome outcome = outcome_of([&] { run.train(); });
  EXPECT_EQ(outcome.status, Status::kDiverged);
  EXPECT_THAT(outcome.text, EndsWith("the last good step")) << "all features are finite";
  // The first step's loss was the last finite one.
  EXPECT_EQ(run.weights(), start);
  EXPECT_TRUE(std::isfinite(run->evaluate(SplitPart::kTest, {})->loss));
}

// One bad step between good ones changes nothing and ends nothing.
TEST(TrainerFault, ASingleBadStepIsSkipped) {
  Recipe setup = in_f64(2);
  setup.sampler.fanouts = {0, 0};  // only mini-batches with the seed itself see its features
  setup.dataset = make_small({.num_train = 256, .nan_features = 0});
  setup.trainer.num_epochs = 3;
  setup.trainer.evaluate_every = 0;
  Host host;
  Trial run(setup, host);
  double loss = 0;
  int bad = 0, good = 0;
  std::vector<double> before = run.weights();
  while (run->step({}, &loss) == Status::kOk) {
    const std::vector<double> after = run.weights();
    (std::isnan(loss) ? bad : good) += 1;
    EXPECT_EQ(std::isnan(loss), after == before);
    before = after;
  }
  EXPECT_EQ(bad, 3);  // once an epoch
  EXPECT_EQ(good, 3);
  for (double weight : before) EXPECT_TRUE(std::isfinite(weight));
}

TEST(TrainerFault, AFullDiskIsAnError) {
  const TempDir folder;
  Recipe setup;
  setup.trainer.log_jsonl = folder.file("log.jsonl");
  Host host;
  Trial run(setup, host);
  const FileFaults faults(
      {.call = FileCall::kWrite, .fail_at = 2, .for_ever = true, .error = ENOSPC});
  const Outcome outcome = outcome_of([&] { run.train(); });
  EXPECT_EQ(outcome.status, Status::kIo);
  EXPECT_THAT(outcome.text, HasSubstr("log.jsonl"));
}

TEST(TrainerFault, NothingStaysBehind) {
  Recipe setup = in_f64(3);
  weights_after(setup);  // threads and files that stay for good exist after one training
  const Leftovers left;
  for (int round = 0; round < 5; ++round) {
    Recipe failing = setup;
    watch(failing, [round](const sample::BatchKey& key, const base::CancelToken&) {
      if (static_cast<int>(key.batch) == round) throw base::Error(Status::kCallback, "no");
    });
    testing::internal::CaptureStderr();
    EXPECT_EQ(outcome_of([&] { weights_after(failing); }).status, Status::kCallback);
    weights_after(setup);
    EXPECT_EQ(less_refused_peers(testing::internal::GetCapturedStderr()), "");
  }
  EXPECT_EQ(left.count(), Leftovers::kNone);
}

// A host that ends with ranks at work gets its own exit code, and nothing is printed.
TEST(TrainerFaultDeathTest, ExitInTheMiddle) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (int after_ms : {1, 50, 150}) {
    EXPECT_EXIT(
        {
          // Kept for good, as by a host that frees nothing.
          static Host* host = new Host;
          Recipe recipe = in_f64(3);
          recipe.trainer.num_epochs = 1'000'000;
          static Trial* run = new Trial(recipe, *host);
          (*run)->start();
          std::this_thread::sleep_for(std::chrono::milliseconds(after_ms));
          std::exit(7);
        },
        testing::ExitedWithCode(7), "^$");
  }
}

}  // namespace
}  // namespace gnnmg::test
