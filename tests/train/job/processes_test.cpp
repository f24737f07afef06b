// One training on several processes: the same weights as in one, agreement before the first step,
// and calls that all processes make together. Where nothing is killed, the processes are threads of
// this one, which nothing above the control connections can tell, but for the first tests. On the
// CPU and, as another program, on fake GPUs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "nn/model/model.h"
#include "support/temp_dir.h"
#include "train/job/on_devices.h"
#include "train/job/team.h"

namespace gnnmg::test {
namespace {

using base::Status;
using data::SplitPart;
using testing::AllOf;
using testing::HasSubstr;

// Layouts of four ranks and of two, against one rank.
void expect_equal(const std::vector<std::string>& words, double tolerance) {
  const std::vector<double> alone = weights_of(words, 1);
  std::vector<std::vector<int>> layouts{{2, 2}, {1, 3}};
  if (!slow()) layouts = {{1, 1}, {2, 2}, {1, 1, 1, 1}, {1, 3}};
  for (const std::vector<int>& ranks : layouts) {
    const auto weights = weights_of_processes(words, ranks);
    for (size_t p = 0; p < weights.size(); ++p) {
      EXPECT_LE(largest_difference(weights[p], alone), tolerance)
          << ranks.size() << " processes, process " << p;
      EXPECT_EQ(weights[p], weights[0]);
    }
  }
}

TEST(Processes, DoubleWithAdamEqualsOneRank) {
  expect_equal({"f64=1", slow() ? "steps=50" : "steps=200"}, 1e-9);
}

TEST(Processes, SingleWithSgdEqualsOneRank) {
  expect_equal({"sgd=1", slow() ? "steps=25" : "steps=100"}, 1e-5);
}

TEST(Processes, StrictModeEqualsOneRankToTheBit) {
  expect_equal({"strict=1", "epochs=12", "norm=1", "keep_best=1"}, 0);
}

TEST(Processes, AveragesEqualOneRanksToTheBit) {
  expect_equal({"strict=1", "epochs=4", "norm=1", "averaged=ema"}, 0);
  expect_equal({"strict=1", "epochs=4", "norm=1", "averaged=swa", "keep_best=1"}, 0);
}

// On all ranks at the epoch at which one rank on the CPU does, with the weights of its best.
TEST(Processes, AllStopEarlyWithTheBestWeights) {
  const std::vector<std::string> words{"f64=1",     "noise=40",   "lr=0.03",
                                       "epochs=40", "patience=3", "keep_best=1"};
  Recipe alone = recipe_of(Options(words));
  Host cpu;
  Trial run(alone, cpu);
  run.train();
  const train::Progress end = run->progress();
  EXPECT_GT(end.best_epoch, 0);
  EXPECT_EQ(end.epoch, end.best_epoch + 4);
  ASSERT_LT(end.epoch, 40);
  const std::vector<double> expected = run.weights();
  for (const std::vector<int>& ranks : {std::vector{1, 1}, std::vector{1, 3}}) {
    std::string trained;
    for (const std::vector<double>& found : weights_of_processes(words, ranks, &trained))
      EXPECT_LE(largest_difference(found, expected), 1e-9) << ranks[1] << " in the second";
    EXPECT_EQ(trained, base::text("trained ", end.epoch, " epochs, best ", end.best_epoch));
  }
}

// Runs a trainer in each of `count` processes, and returns the error that each threw.
using TrainerBody = std::function<void(int process, Trial& run, Host& host)>;
std::vector<Outcome> run_trainers(int count, const std::function<Recipe(int process)>& recipe,
                                  const TrainerBody& body) {
  return run_job(count, [&](const std::shared_ptr<comm::Processes>& processes) {
    Host host;
    host.processes = processes;
    processes->set_excuse([&queue = host.queue] { return queue.has_calls(); });
    {
      Recipe setup = recipe(processes->process());
      place(processes->process(), setup, host);
      Trial run(setup, host);
      body(processes->process(), run, host);
    }
    processes->shutdown(within_ms(60'000));
  });
}

void expect_good(const std::vector<Outcome>& outcomes) {
  for (size_t p = 0; p < outcomes.size(); ++p)
    EXPECT_EQ(outcomes[p].status, Status::kOk) << "process " << p << ": " << outcomes[p].text;
  EXPECT_EQ(num_on_devices(), 0);
}

TEST(Processes, AnAverageThatHasBegunGoesOn) {
  const Options words({"f64=1", "norm=1", "epochs=4", "averaged=ema"});
  const TempDir folder;
  const std::string path = folder.file("begun");
  Host host;
  Trial alone(recipe_of(words), host);
  for (int step = 0; step < 3; ++step) ASSERT_EQ(alone->step({}, nullptr), Status::kOk);
  alone->save(path);
  alone.train();
  std::vector<std::vector<double>> weights(2);
  expect_good(run_trainers(
      2, [&](int) { return recipe_of(words); },
      [&](int process, Trial& run, Host&) {
        run->load(path);
        run.train();
        weights[process] = run.weights();
      }));
  for (const std::vector<double>& found : weights)
    EXPECT_LE(largest_difference(found, alone.weights()), 1e-9);
}

// Batch norm's running statistics, schedules and the best weights come along.
TEST(Processes, AllThatIsKeptIsEqualEverywhere) {
  const auto recipe = [](int ranks) {
    Recipe setup = recipe_of(Options({"f64=1", "norm=1", "sgd=1", "epochs=6", "keep_best=1"}));
    setup.trainer.schedule.kind = train::ScheduleKind::kCosine;
    setup.trainer.num_ranks = ranks;
    return setup;
  };
  Host alone;
  Trial expected(recipe(1), alone);
  expected.train();
  const nn::Metrics test = *expected->evaluate(SplitPart::kTest, {}, true);
  for (const auto mode : {train::EvaluationMode::kFull, train::EvaluationMode::kSampled}) {
    std::vector<std::vector<double>> weights(2);
    std::vector<std::vector<train::EpochReport>> reports(2);
    expect_good(run_trainers(
        2,
        [&](int) {
          Recipe setup = recipe(2);
          setup.trainer.evaluation = mode;
          return setup;
        },
        [&](int p, Trial& run, Host&) {
          run->set_epoch_function([&, p](const train::EpochReport& report) {
            reports[p].push_back(report);
            return 0;
          });
          run.train();
          weights[p] = run.weights();
          // The second process does not ask for the confusion matrix, and gets it too.
          const nn::Metrics found = *run->evaluate(SplitPart::kTest, {}, p == 0);
          EXPECT_EQ(found.count, 150);
          EXPECT_EQ(found.confusion.size(), test.confusion.size());
          if (mode == train::EvaluationMode::kFull) {
            EXPECT_EQ(found.confusion, test.confusion);
            EXPECT_EQ(found.top_k_accuracy, test.top_k_accuracy);
            EXPECT_EQ(found.correct, test.correct);
            EXPECT_NEAR(found.loss, test.loss, 1e-9);
          }
          const train::Progress progress = run->progress();
          EXPECT_EQ(progress.state, train::TrainerState::kFinished);
          EXPECT_EQ(progress.epoch, 6);
          EXPECT_TRUE(progress.has_validation);
        }));
    EXPECT_EQ(weights[0], weights[1]);
    if (mode == train::EvaluationMode::kFull) {
      EXPECT_LE(largest_difference(weights[0], expected.weights()), 1e-9);
    }
    ASSERT_EQ(reports[0].size(), 6u);
    ASSERT_EQ(reports[1].size(), 6u);
    for (size_t e = 0; e < 6; ++e) {
      EXPECT_EQ(reports[0][e].train_loss, reports[1][e].train_loss);
      EXPECT_EQ(reports[0][e].validation.correct, reports[1][e].validation.correct);
      EXPECT_EQ(reports[0][e].validation.loss, reports[1][e].validation.loss);
      EXPECT_EQ(reports[0][e].best, reports[1][e].best);
    }
  }
}

// Initial weights are rank 0's, whatever the others have been given.
TEST(Processes, WeightsComeFromTheFirst) {
  std::vector<std::vector<double>> weights(3);
  expect_good(run_trainers(
      3, [](int) { return recipe_of(Options({"f64=1", "steps=5"})); },
      [&](int p, Trial& run, Host&) {
        if (p > 0) run.model().flat_parameters().detach().fill_(0.25 * p);
        run.train();
        weights[p] = run.weights();
      }));
  const std::vector<double> alone = weights_of({"f64=1", "steps=5"}, 1);
  for (const auto& found : weights) EXPECT_LE(largest_difference(found, alone), 1e-9);
}

// And so they are between two calls, also when another process's were changed.
TEST(Processes, WeightsOfTheHostReachAll) {
  const auto recipe = [](int ranks) {
    Recipe setup = recipe_of(Options({"f64=1", "norm=1", "sgd=1", "epochs=2"}));
    setup.trainer.num_ranks = ranks;
    setup.trainer.batches_per_step = 3;
    return setup;
  };
  const auto train = [](Trial& run, double factor) {
    EXPECT_EQ(run->step({}, nullptr), Status::kOk);
    run.model().flat_parameters().detach().mul_(factor);
    EXPECT_EQ(run->step({}, nullptr), Status::kOk);
    EXPECT_EQ(run->step({}, nullptr), Status::kOk);
    return run.weights();
  };
  Host alone;
  Trial one(recipe(1), alone);
  const std::vector<double> expected = train(one, 0.5);
  std::vector<std::vector<double>> weights(2);
  expect_good(run_trainers(
      2, [&](int p) { return recipe(1 + p); },
      [&](int p, Trial& run, Host&) { weights[p] = train(run, 0.5 + p); }));
  for (const auto& found : weights) EXPECT_LE(largest_difference(found, expected), 1e-9);
}

// Fewer mini-batches than ranks, a last one of a single seed, one larger than the split: every id
// is used exactly once an epoch, by one process.
TEST(Processes, UnevenPlansUseEveryIdOnce) {
  struct Case {
    int64_t train, batch;
  };
  for (const Case c : {Case{40, 32}, Case{33, 32}, Case{129, 32}, Case{10, 100}, Case{1, 1}}) {
    SCOPED_TRACE(testing::Message() << c.train << " ids by " << c.batch);
    const std::vector<std::string> words{"f64=1", "steps=6", base::text("train=", c.train),
                                         base::text("batch=", c.batch)};
    const std::vector<double> alone = weights_of(words, 1);
    std::vector<std::shared_ptr<WatchedSampler::Notes>> notes(2);
    std::vector<std::vector<double>> weights(2);
    int64_t epochs = 0;
    std::mutex mutex;
    expect_good(run_trainers(
        2,
        [&](int p) {
          Recipe setup = recipe_of(Options(words));
          setup.trainer.num_ranks = 1 + p;
          std::lock_guard lock(mutex);
          epochs = setup.trainer.num_epochs;
          notes[p] = watch(setup);
          return setup;
        },
        [&](int p, Trial& run, Host&) {
          run.train();
          weights[p] = run.weights();
        }));
    const auto dataset = recipe_of(Options(words)).dataset;
    const auto ids = dataset->split("", 0).part(SplitPart::kTrain);
    for (int64_t epoch = 0; epoch < epochs; ++epoch)
      EXPECT_THAT(seeds_of(notes, epoch),
                  testing::UnorderedElementsAreArray(ids.begin(), ids.end()));
    for (const auto& found : weights) EXPECT_LE(largest_difference(found, alone), 1e-9);
  }
}

// Real processes of which one never has a mini-batch, in any epoch: it takes part in all else.
TEST(Processes, OneWithoutAMiniBatchOfItsOwn) {
  const std::vector<std::string> words{"f64=1", "steps=5", "train=20", "batch=32"};
  const std::vector<double> alone = weights_of(words, 1);
  for (const auto& found : weights_of_processes(words, {1, 1}))
    EXPECT_LE(largest_difference(found, alone), 1e-9);
}

// Row 7: a setting that differs on one process is refused on all, with both values.
TEST(Processes, WhatDiffersIsNamedEverywhere) {
  struct Case {
    const char* word;
    const char* text;
  };
  for (const Case c :
       {Case{"train=128", "trainer: data set training ids differs: process 1 on"},
        Case{"hidden=17", "model hidden_dim differs: process 1 on"},
        Case{"model_seed=4", "model seed differs: process 1 on"},
        Case{"seed=12", "seed differs: process 1 on"},
        Case{"fanout=4", "sampler differs: process 1 on"},
        Case{"batch=31", "batch_size differs: process 1 on"},
        Case{"lr=0.0100001", "learning_rate differs: process 1 on"},
        Case{"sgd=1", "has sgd, process 0 on"}, Case{"average=ranks", "has ranks, process 0 on"},
        Case{"norm=1", "has batch, process 0 on"}}) {
    SCOPED_TRACE(c.word);
    std::vector<std::string> texts(3);
    expect_good(run_trainers(
        3,
        [&](int p) {
          return recipe_of(p == 1 ? Options({"steps=4", c.word}) : Options({"steps=4"}));
        },
        [&](int p, Trial& run, Host&) {
          const Outcome outcome = attempt([&] { run.train(); });
          EXPECT_EQ(outcome.status, Status::kMismatch) << outcome.text;
          texts[p] = outcome.text;
        }));  // the job goes on: the shutdown succeeds
    for (const std::string& text : texts) {
      EXPECT_THAT(text, AllOf(HasSubstr(c.text), HasSubstr("process 0 on")));
      EXPECT_EQ(text, texts[0]);
    }
  }
}

TEST(Processes, AnotherPartOfTheSplitIsRefused) {
  expect_good(run_trainers(
      2, [](int) { return recipe_of(Options({"steps=4", "ranks=2"})); },
      [](int p, Trial& run, Host&) {
        run.train();
        const Outcome outcome =
            attempt([&] { run->evaluate(p == 0 ? SplitPart::kTest : SplitPart::kValidation, {}); });
        EXPECT_EQ(outcome.status, Status::kMismatch) << outcome.text;
        EXPECT_THAT(outcome.text, HasSubstr("rank 2 is asked for the validation part, rank 0 for "
                                            "the test part"));
        EXPECT_EQ(run->evaluate(SplitPart::kTest, {})->count, 150);
      }));
}

// Nobody waits for a process that finds nothing to evaluate: where that is so on all, each says it,
// and where its data are others, the error says that.
TEST(Processes, AnEmptyPartIsFoundByAll) {
  const auto recipe = [](bool empty) {
    Recipe setup = recipe_of(Options({"epochs=1", "ranks=2"}));
    if (empty) setup.dataset = make_small({.num_test = 0});
    return setup;
  };
  for (const bool everywhere : {true, false}) {
    SCOPED_TRACE(everywhere);
    expect_good(run_trainers(
        2, [&](int p) { return recipe(everywhere || p == 1); },
        [&](int, Trial& run, Host&) {
          for (int round = 0; round < 3; ++round) {
            const Outcome outcome = attempt([&] { run->evaluate(SplitPart::kTest, {}); });
            EXPECT_LT(outcome.seconds, 20.0);
            if (everywhere) {
              EXPECT_EQ(outcome.status, Status::kInvalidArgument) << outcome.text;
              EXPECT_EQ(outcome.text, "split main 0: its test part is empty");
              if (round == 1) run.train();
            } else {
              EXPECT_EQ(outcome.status, Status::kMismatch) << outcome.text;
              EXPECT_THAT(outcome.text, HasSubstr("data set test ids differs: process 1 on"));
            }
          }
        }));
  }
}

// A stop on one process ends all after the same step; the next start goes on from there.
TEST(Processes, AStopIsAgreedOn) {
  const std::vector<double> alone = weights_of({"f64=1", "epochs=8"}, 1);
  std::vector<int64_t> stopped(2);
  std::vector<std::vector<double>> weights(2);
  expect_good(run_trainers(
      2, [](int) { return recipe_of(Options({"f64=1", "epochs=8"})); },
      [&](int p, Trial& run, Host&) {
        if (p == 1)
          run->set_epoch_function([&](const train::EpochReport& report) {
            if (report.epoch == 2) run->stop();
            return 0;
          });
        run.train();
        const train::Progress progress = run->progress();
        stopped[p] = progress.epoch * 1000 + progress.step;
        EXPECT_EQ(progress.state, train::TrainerState::kIdle);
        run.train();
        EXPECT_EQ(run->progress().state, train::TrainerState::kFinished);
        weights[p] = run.weights();
      }));
  EXPECT_EQ(stopped[0], stopped[1]);
  EXPECT_GE(stopped[0], 3000);
  EXPECT_LT(stopped[0], 8000);
  for (const auto& found : weights) EXPECT_LE(largest_difference(found, alone), 1e-9);
}

// A cancel on one process ends all at once; the next start of all goes on where the first is.
TEST(Processes, ACancelEndsAll) {
  const std::vector<double> alone = weights_of({"f64=1", "epochs=8"}, 1);
  std::vector<std::vector<double>> weights(3);
  std::array<std::atomic<double>, 3> ended{};
  std::atomic<double> cancelled{0};
  const auto now = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
  expect_good(run_trainers(
      3, [](int) { return recipe_of(Options({"f64=1", "epochs=8"})); },
      [&](int p, Trial& run, Host&) {
        if (p == 1)
          run->set_epoch_function([&](const train::EpochReport& report) {
            if (report.epoch == 2) {
              cancelled = now();
              run->cancel();
            }
            return 0;
          });
        const Outcome outcome = attempt([&] { run.train(); });
        ended[p] = now();
        EXPECT_EQ(outcome.status, p == 1 ? Status::kCancelled : Status::kAborted);
        EXPECT_THAT(outcome.text, HasSubstr("training was canceled"));
        if (p != 1) {
          EXPECT_THAT(outcome.text, HasSubstr("process 1 on host "));
        }
        run->set_epoch_function({});
        run.train();
        EXPECT_EQ(run->progress().state, train::TrainerState::kFinished);
        weights[p] = run.weights();
      }));
  for (const auto& at : ended) EXPECT_LT(at - cancelled, 2.0);
  for (const auto& found : weights) EXPECT_LE(largest_difference(found, alone), 1e-9);
}

// A process that stops waiting for the others at the start gives up that start and nothing else:
// they meet at the next one.
TEST(Processes, GivingUpAStartIsNotTheEnd) {
  const std::vector<double> alone = weights_of({"f64=1", "epochs=2"}, 1);
  // A process that is held off the CPU for a while is not taken for silent.
  const auto hardly_beat = [](comm::JoinConfig& config) { config.heartbeat_ms = 2000; };
  for (const int late : {0, 1})
    for (const bool cancels : {false, true}) {
      SCOPED_TRACE(base::text("late ", late, ", cancels ", cancels));
      std::vector<std::vector<double>> weights(3);
      std::atomic<int> given_up{0};
      expect_good(run_job(
          3,
          [&](const std::shared_ptr<comm::Processes>& processes) {
            const int p = processes->process();
            Host host;
            host.processes = processes;
            if (!cancels && p != late) host.meet_timeout_ms = 1500;
            {
              Recipe setup = recipe_of(Options({"f64=1", "epochs=2"}));
              place(p, setup, host);
              Trial run(setup, host);
              if (p == late) {
                while (given_up < 2 && !processes->spent())
                  std::this_thread::sleep_for(std::chrono::milliseconds(1));
              } else {
                run->start();
                if (cancels && p == 2) {  // once the other one has arrived
                  EXPECT_FALSE(run->wait(base::Deadline::after_ms(1500)));
                  run->cancel();
                }
                const Outcome outcome = attempt([&] { run->wait({}); });
                ++given_up;
                EXPECT_EQ(outcome.status, !cancels ? Status::kTimeout
                                          : p == 2 ? Status::kCancelled
                                                   : Status::kAborted)
                    << outcome.text;
                EXPECT_LT(outcome.seconds, 10.0);
                if (!cancels || p != 2) {
                  EXPECT_THAT(outcome.text, HasSubstr(cancels ? "trainer: process 2 on host "
                                                              : base::text("missing: process ",
                                                                           late, " on host ")));
                }
              }
              Outcome outcome;
              do outcome = attempt([&] { run.train(); });
              while (outcome.status == Status::kTimeout);  // those whose time is short come again
              EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
              EXPECT_EQ(run->progress().state, train::TrainerState::kFinished);
              weights[p] = run.weights();
            }
            processes->shutdown(within_ms(60'000));
          },
          hardly_beat));
      for (const auto& found : weights) EXPECT_LE(largest_difference(found, alone), 1e-9);
    }
}

// The others are told why one process cannot start, and the next start is as good as any.
TEST(Processes, AnObstacleIsToldToAll) {
  expect_good(run_trainers(
      3, [](int) { return recipe_of(Options({"epochs=2"})); },
      [](int p, Trial& run, Host&) {
        for (const bool met : {false, true}) {
          if (met) run->evaluate(SplitPart::kTest, {});
          if (p == 0) run->set_records("/no/such/folder/log.jsonl", "");
          const Outcome outcome = attempt([&] { run.train(); });
          EXPECT_EQ(outcome.status, p == 0 ? Status::kIo : Status::kAborted) << outcome.text;
          EXPECT_THAT(outcome.text, HasSubstr("/no/such/folder/log.jsonl"));
          if (p != 0) {
            EXPECT_THAT(outcome.text, HasSubstr("process 0 on host "));
          }
          EXPECT_LT(outcome.seconds, 10.0);
          run->set_records("", "");
        }
        run.train();
        EXPECT_EQ(run->progress().state, train::TrainerState::kFinished);
      }));
}

// Row 5: the cause where it happened, its words everywhere else.
TEST(Processes, AFailureIsToldToAll) {
  expect_good(run_trainers(
      2,
      [](int p) {
        Recipe setup = recipe_of(Options({"f64=1", "epochs=8", "ranks=2"}));
        if (p == 1)
          watch(setup, [](const sample::BatchKey& key, const base::CancelToken&) {
            if (key.epoch == 1 && key.batch == 3)
              throw base::Error(Status::kCallback, "the host's sampler answered 5");
          });
        return setup;
      },
      [](int p, Trial& run, Host&) {
        const Outcome outcome = attempt([&] { run.train(); });
        EXPECT_EQ(outcome.status, p == 1 ? Status::kCallback : Status::kAborted) << outcome.text;
        EXPECT_THAT(outcome.text, HasSubstr("the host's sampler answered 5"));
      }));
}

TEST(Processes, DivergingTrainingEndsEverywhere) {
  expect_good(run_trainers(
      2,
      [](int) {
        Recipe setup = recipe_of(Options({"epochs=8", "ranks=2"}));
        setup.dataset = make_small({.nan_features = 0});
        setup.sampler.fanouts = {-1, -1};
        setup.trainer.batch_size = 129;
        setup.trainer.evaluate_every = 0;
        return setup;
      },
      [](int, Trial& run, Host&) {
        const Outcome outcome = attempt([&] { run.train(); });
        EXPECT_EQ(outcome.status, Status::kDiverged) << outcome.text;
        for (double weight : run.weights()) ASSERT_TRUE(std::isfinite(weight));
      }));
}

}  // namespace
}  // namespace gnnmg::test
