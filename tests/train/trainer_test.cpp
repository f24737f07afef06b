// The trainer as its caller sees it: learning, reports, evaluation, best weights, stop and start,
// single steps, early stopping, records, and settings that contradict each other.
#include "train/trainer.h"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>
#include <thread>

#include "data/weights.h"
#include "nn/model/model.h"
#include "support/temp_dir.h"
#include "train/eval/metric.h"
#include "train/fixture.h"

namespace gnnmg::test {
namespace {

using base::Deadline;
using base::Status;
using data::SplitPart;
using testing::HasSubstr;
using train::EpochReport;
using train::Metric;
using train::TrainerState;

std::vector<EpochReport> reports_of(Trial& run) {
  std::vector<EpochReport> reports;
  run->set_epoch_function([&](const EpochReport& report) {
    reports.push_back(report);
    return 0;
  });
  run.train();
  return reports;
}

std::string refusal(const Recipe& setup, Status expected) {
  Host host;
  try {
    Trial run(setup, host);
  } catch (const base::Error& error) {
    EXPECT_EQ(error.status(), expected) << error.what();
    return error.what();
  }
  return "accepted";
}

TEST(Trainer, LearnsPlantedClasses) {
  Recipe setup;
  setup.dataset =
      make_small({.num_nodes = 3000, .num_train = 1000, .num_validation = 500, .num_test = 1500});
  setup.sampler.fanouts = {10, 10};
  setup.trainer.num_epochs = 12;
  setup.trainer.num_ranks = 2;
  setup.trainer.keep_best = true;
  Host host;
  Trial run(setup, host);
  const std::vector<EpochReport> reports = reports_of(run);
  ASSERT_EQ(reports.size(), 12u);
  EXPECT_LT(reports.back().train_loss, 0.6 * reports.front().train_loss);
  // Without label noise, ten edges a node of which eight stay in the class name nearly every class.
  const nn::Metrics test = *run->evaluate(SplitPart::kTest, {});
  EXPECT_EQ(test.count, 1500);
  EXPECT_GT(test.accuracy, 0.93);
  EXPECT_EQ(test.accuracy, static_cast<double>(test.correct) / 1500);
}

// Competitions withhold labels: no epoch is better than another, so the last weights stay, and
// nothing ends early.
TEST(Trainer, AValidationPartWithoutLabelsDecidesNothing) {
  for (const Metric metric :
       {Metric::kAccuracy, Metric::kF1Macro, Metric::kF1Micro, Metric::kLoss}) {
    SCOPED_TRACE(train::metric_name(metric));
    Recipe setup;
    setup.dataset = make_small({.withheld = true});
    setup.trainer.num_ranks = 2;
    setup.trainer.best_by = metric;
    const std::vector<double> last = weights_after(setup);
    setup.trainer.keep_best = true;
    Host host;
    Trial run(setup, host);
    for (const EpochReport& report : reports_of(run)) {
      EXPECT_TRUE(report.evaluated);
      EXPECT_FALSE(report.best);
      EXPECT_EQ(report.validation.count, 0);
      EXPECT_TRUE(std::isnan(report.validation.accuracy));
    }
    EXPECT_EQ(run.weights(), last);
    EXPECT_EQ(run->progress().best_epoch, -1);
    EXPECT_TRUE(std::isnan(run->evaluate(SplitPart::kValidation, {})->accuracy));
    EXPECT_GT(run->evaluate(SplitPart::kTest, {})->accuracy, 0);
    const auto warning = host.log.next();
    ASSERT_TRUE(warning);
    EXPECT_THAT(warning->text, HasSubstr("its 100 validation nodes have no label that counts"));
    setup.trainer.early_stop_patience = 2;
    EXPECT_THAT(refusal(setup, Status::kInvalidArgument),
                HasSubstr("its 100 validation nodes have no label"));
    setup.trainer.early_stop_patience = 0;
    setup.trainer.schedule.kind = train::ScheduleKind::kPlateau;
    EXPECT_THAT(refusal(setup, Status::kInvalidArgument),
                HasSubstr("schedule plateau: split main"));
  }
}

// An area needs both classes: an undefined area is refused as a decision, and gives a warning where
// it only leaves the last weights.
TEST(Trainer, AValidationPartOfOneClassDecidesNothingByTheAreaUnderTheCurve) {
  for (const Metric metric : {Metric::kRocAuc, Metric::kAveragePrecision}) {
    SCOPED_TRACE(train::metric_name(metric));
    Recipe setup;
    setup.dataset = make_small({.num_classes = 2, .validation_class = 1});
    setup.trainer.best_by = metric;
    const std::vector<double> last = weights_after(setup);
    setup.trainer.keep_best = true;
    Host host;
    Trial run(setup, host);
    for (const EpochReport& report : reports_of(run)) {
      EXPECT_TRUE(report.evaluated);
      EXPECT_FALSE(report.best);
      EXPECT_TRUE(std::isnan(report.validation.roc_auc));
      EXPECT_GE(report.validation.accuracy, 0);
    }
    EXPECT_EQ(run.weights(), last);
    const auto warning = host.log.next();
    ASSERT_TRUE(warning);
    EXPECT_THAT(warning->text, HasSubstr("nodes have labels of one class alone, which leaves"));
    EXPECT_THAT(warning->text, HasSubstr("no epoch is the best, and the last weights stay"));
    setup.trainer.early_stop_patience = 2;
    EXPECT_THAT(refusal(setup, Status::kInvalidArgument),
                HasSubstr(base::text("best_by ", train::metric_name(metric), " undefined")));
    setup.trainer.early_stop_patience = 0;
    setup.trainer.schedule.kind = train::ScheduleKind::kPlateau;
    EXPECT_THAT(refusal(setup, Status::kInvalidArgument), HasSubstr("schedule plateau: split"));
    setup.trainer.best_by = Metric::kF1Macro;
    EXPECT_EQ(weights_after(setup).size(), last.size()) << "which one class defines";
  }
}

TEST(Trainer, Reports) {
  Recipe setup;
  setup.trainer.num_ranks = 2;
  setup.trainer.evaluate_every = 2;
  Host host;
  Trial run(setup, host);
  EXPECT_EQ(run->progress().state, TrainerState::kIdle);
  const std::vector<EpochReport> reports = reports_of(run);
  ASSERT_EQ(reports.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    const EpochReport& r = reports[i];
    EXPECT_EQ(r.epoch, static_cast<int64_t>(i));
    EXPECT_EQ(r.num_epochs, 3);
    EXPECT_EQ(r.steps, 3);  // five mini-batches by twos
    EXPECT_GT(r.train_loss, 0);
    EXPECT_GT(r.train_accuracy, 0.1);
    EXPECT_LE(r.train_accuracy, 1);
    EXPECT_EQ(r.learning_rate, 0.01);
    EXPECT_GT(r.seconds, 0);
    EXPECT_NEAR(r.seeds_per_second, 129 / r.seconds, 1e-6 * r.seeds_per_second);
    EXPECT_GT(r.compute_seconds, 0);
    EXPECT_GT(r.reduce_seconds, 0);
    EXPECT_GE(r.peer_wait_seconds, 0);
    EXPECT_LE(r.peer_wait_seconds, r.reduce_seconds);
    EXPECT_GT(r.sample_seconds, 0);
    EXPECT_LE(r.wait_seconds + r.compute_seconds + r.reduce_seconds + r.optimizer_seconds,
              r.seconds * 1.01);
    EXPECT_GT(r.mean_busy_seconds, 0);
    EXPECT_GE(r.most_busy_seconds, r.mean_busy_seconds);
    EXPECT_LE(r.most_busy_seconds, 2 * r.mean_busy_seconds);
  }
  EXPECT_FALSE(reports[0].evaluated);
  EXPECT_TRUE(reports[1].evaluated);
  EXPECT_TRUE(reports[2].evaluated);  // the last epoch always is
  EXPECT_EQ(reports[1].validation.count, 100);
  EXPECT_TRUE(reports[1].best);

  const train::Progress progress = run->progress();
  EXPECT_EQ(progress.state, TrainerState::kFinished);
  EXPECT_EQ(progress.epoch, 3);
  EXPECT_EQ(progress.num_epochs, 3);
  EXPECT_EQ(progress.num_steps, 3);
  EXPECT_TRUE(progress.has_validation);
  EXPECT_EQ(progress.validation, reports[2].validation.accuracy);
  EXPECT_EQ(progress.best_validation,
            std::max(reports[1].validation.accuracy, reports[2].validation.accuracy));
  EXPECT_NEAR(progress.loss, reports[2].train_loss, 1e-12);
  EXPECT_GT(progress.elapsed_seconds, 0);
  EXPECT_EQ(progress.seconds, reports[2].seconds);
  EXPECT_EQ(progress.compute_seconds, reports[2].compute_seconds);
  EXPECT_EQ(progress.reduce_seconds, reports[2].reduce_seconds);
  EXPECT_EQ(progress.peer_wait_seconds, reports[2].peer_wait_seconds);
  EXPECT_FALSE(run->busy());
  // Nothing is left to do.
  run.train();
  EXPECT_EQ(run->step({}, nullptr), Status::kEnd);
}

TEST(Trainer, TheSlowestRankIsNamed) {
  Recipe setup;
  setup.trainer.num_ranks = 2;
  setup.trainer.evaluate_every = 0;
  watch(setup, [](const sample::BatchKey& key, const base::CancelToken&) {
    if (key.batch % 2 == 1) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  });
  for (const bool strict : {false, true}) {
    setup.trainer.deterministic = strict;
    Host host;
    Trial run(setup, host);
    int named = 0;
    for (const EpochReport& report : reports_of(run)) {
      EXPECT_LE(report.peer_wait_seconds, report.reduce_seconds);
      // This rank's thread waits for mini-batches, the other rank's in the all-reduce.
      named += report.slowest_rank == 1 &&
               report.most_busy_seconds > report.mean_busy_seconds + 0.05 &&
               report.peer_wait_seconds > 0.05 && report.ranks[1].idle_seconds > 0.05 &&
               report.ranks[0].idle_seconds < report.ranks[1].idle_seconds / 2;
      for (const train::RankTimes& r : report.ranks)
        EXPECT_NEAR(r.compute_seconds + r.reduce_seconds + r.optimizer_seconds + r.idle_seconds,
                    r.seconds, 1e-9);
    }
    EXPECT_GT(named, 0);  // another one is the slowest of an epoch when it is held off the CPU
  }
}

TEST(Trainer, EvaluationDoesNotDependOnTheWorldSize) {
  for (const train::EvaluationMode mode :
       {train::EvaluationMode::kFull, train::EvaluationMode::kSampled}) {
    std::optional<nn::Metrics> expected;
    for (int world : {1, 2, 3, 4}) {
      Recipe setup;
      setup.model.dtype = base::DType::kF64;
      setup.trainer.num_ranks = world;
      setup.trainer.evaluation = mode;
      setup.trainer.eval_batch_size = 17;
      setup.trainer.top_k = 2;
      Host host;
      Trial run(setup, host);
      const nn::Metrics found = *run->evaluate(SplitPart::kTest, {}, true);
      EXPECT_EQ(found.count, 150);
      EXPECT_EQ(std::accumulate(found.confusion.begin(), found.confusion.end(), int64_t{0}), 150);
      EXPECT_GT(found.top_k_accuracy, found.accuracy);
      if (!expected) expected = found;
      EXPECT_EQ(found.confusion, expected->confusion);
      EXPECT_EQ(found.top_k_accuracy, expected->top_k_accuracy);
      EXPECT_EQ(found.correct, expected->correct);
      EXPECT_EQ(found.loss, expected->loss);
      EXPECT_EQ(found.f1_macro, expected->f1_macro);
    }
  }
}

TEST(Trainer, EvaluatesAsOneThreadAloneDoes) {
  Recipe setup;
  setup.trainer.num_ranks = 2;
  Host host;
  Trial run(setup, host);
  run.train();
  const nn::Metrics ranks = *run->evaluate(SplitPart::kValidation, {});
  const auto ids = setup.dataset->split("", 0).part(SplitPart::kValidation);
  const nn::Metrics alone =
      train::evaluate_model(run.model(), *setup.dataset, ids, nn::Loss::kAuto, host.pool, {});
  EXPECT_EQ(ranks.correct, alone.correct);
  EXPECT_NEAR(ranks.loss, alone.loss, 1e-6);
  EXPECT_EQ(run->progress().state, TrainerState::kFinished);
}

// An evaluation takes all nodes at once where it is asked for more than there are.
TEST(Trainer, EvaluatesInChunksOfAnySize) {
  for (const auto mode : {train::EvaluationMode::kFull, train::EvaluationMode::kSampled}) {
    for (const int64_t size : {int64_t{7}, int64_t{600}, int64_t{1} << 62, INT64_MAX}) {
      Recipe setup;
      setup.trainer.num_ranks = 2;
      setup.trainer.num_epochs = 1;
      setup.trainer.evaluation = mode;
      setup.trainer.eval_batch_size = size;
      Host host;
      Trial run(setup, host);
      run.train();
      EXPECT_EQ(run->evaluate(SplitPart::kTest, {})->count, 150) << size;
      EXPECT_EQ(run->embed({})->rows(), 600) << size;
    }
  }
}

TEST(Trainer, KeepsTheBestWeights) {
  Recipe setup;
  setup.trainer.num_epochs = 15;
  setup.trainer.num_ranks = 2;
  setup.trainer.optimizer.learning_rate = 0.3;  // jumps about
  setup.trainer.keep_best = true;
  Host host;
  Trial run(setup, host);
  const std::vector<EpochReport> reports = reports_of(run);
  double best = 0;
  int64_t best_epoch = -1;
  for (const EpochReport& r : reports) {
    EXPECT_EQ(r.best, r.validation.accuracy > best);
    if (r.best) best_epoch = r.epoch;
    best = std::max(best, r.validation.accuracy);
  }
  EXPECT_LT(best_epoch, 14) << "the test shows nothing when the last epoch is the best";
  EXPECT_EQ(run->progress().best_validation, best);
  EXPECT_EQ(run->progress().best_epoch, best_epoch);
  // All ranks hold them, the first one in the caller's model.
  EXPECT_EQ(run->evaluate(SplitPart::kValidation, {})->accuracy, best);
  const auto ids = setup.dataset->split("", 0).part(SplitPart::kValidation);
  EXPECT_EQ(train::evaluate_model(run.model(), *setup.dataset, ids, nn::Loss::kAuto, host.pool, {})
                .accuracy,
            best);
}

TEST(Trainer, BestByLossIsTheLowest) {
  Recipe setup;
  setup.trainer.num_epochs = 8;
  setup.trainer.best_by = Metric::kLoss;
  Host host;
  Trial run(setup, host);
  double lowest = INFINITY;
  for (const EpochReport& r : reports_of(run)) {
    EXPECT_EQ(r.best, r.validation.loss < lowest);
    lowest = std::min(lowest, r.validation.loss);
  }
  EXPECT_EQ(run->progress().best_validation, lowest);
}

TEST(Trainer, StopsEarly) {
  Recipe setup;
  setup.trainer.num_epochs = 50;
  setup.trainer.num_ranks = 2;
  setup.trainer.optimizer.learning_rate = 0;  // nothing ever gets better than the first time
  setup.trainer.early_stop_patience = 3;
  Host host;
  Trial run(setup, host);
  EXPECT_EQ(reports_of(run).size(), 4u);
  EXPECT_EQ(run->progress().state, TrainerState::kFinished);
  EXPECT_EQ(run->step({}, nullptr), Status::kEnd);
}

TEST(Trainer, PlateauLowersTheRate) {
  Recipe setup;
  setup.trainer.num_epochs = 6;
  setup.trainer.optimizer.learning_rate = 1e-12;
  setup.trainer.schedule = {.kind = train::ScheduleKind::kPlateau, .factor = 0.5, .patience = 2};
  Host host;
  Trial run(setup, host);
  std::vector<double> rates;
  for (const EpochReport& r : reports_of(run)) rates.push_back(r.learning_rate * 1e12);
  EXPECT_THAT(
      rates, testing::Pointwise(testing::DoubleEq(), std::vector<double>{1, 1, 1, 0.5, 0.5, 0.25}));
}

TEST(Trainer, SingleStepsAreTheSameTraining) {
  for (int world : {1, 2}) {
    Recipe setup;
    setup.trainer.num_ranks = world;
    setup.trainer.batches_per_step = 2;
    const std::vector<double> expected = weights_after(setup);
    Host host;
    Trial run(setup, host);
    int64_t steps = 0;
    double loss = 0;
    while (run->step({}, &loss) == Status::kOk) {
      EXPECT_GT(loss, 0);
      ++steps;
    }
    EXPECT_EQ(steps, 9);
    EXPECT_EQ(run->progress().state, TrainerState::kFinished);
    EXPECT_EQ(run->step({}, &loss), Status::kEnd);
    EXPECT_LE(largest_difference(run.weights(), expected), world == 1 ? 0 : 1e-6);
  }
}

// A node of weight zero is trained as one without a label; only quotients of weights matter; and
// the loss of an evaluation is weighted as that of training is.
TEST(Trainer, WeightsOfSamples) {
  const auto weigh = [](const data::DatasetRef& dataset, double most) {
    auto made = std::make_shared<data::Dataset>(*dataset);
    const base::Tensor of_node =
        base::Tensor::zeros(base::DType::kF64, {made->graph->num_nodes(0)});
    const auto labels = std::get<base::Tensor>(*made->graph->node_column("y")).as<const int64_t>();
    for (size_t i = 0; i < labels.size(); ++i)
      of_node.as<double>()[i] = i % 2 == 0 && labels[i] >= 0 ? most : 0;
    made->sample_weights = data::make_sample_weights(*made, of_node.view());
    return made;
  };
  const auto without_label = [](const data::DatasetRef& dataset) {
    graph::GraphParts parts = dataset->graph->parts();
    const auto from = std::get<base::Tensor>(parts.node_columns[0].at("y")).as<const int64_t>();
    const base::Tensor labels = base::Tensor::copy_of(from);
    for (size_t i = 1; i < from.size(); i += 2) labels.as<int64_t>()[i] = -1;
    parts.node_columns[0].insert_or_assign("y", labels);
    return data::make_dataset(graph::Graph::create(std::move(parts)), "x", "y", false,
                              dataset->splits, dataset->num_classes);
  };
  const auto run = [](const data::DatasetRef& dataset, double* loss) {
    Recipe setup;
    setup.dataset = dataset;
    setup.model.dtype = base::DType::kF64;
    setup.trainer.batches_per_step = 2;
    Host host;
    Trial run(setup, host);
    run.train();
    *loss = run->evaluate(data::SplitPart::kTest, {})->loss;
    return run.weights();
  };
  const data::DatasetRef plain = make_small();
  double all, half, third, fewer;
  const std::vector<double> unweighted = run(plain, &all);
  const std::vector<double> expected = run(without_label(plain), &fewer);
  EXPECT_LE(largest_difference(run(weigh(plain, 1), &half), expected), 1e-9);
  EXPECT_LE(largest_difference(run(weigh(plain, 3), &third), expected), 1e-9);
  EXPECT_GT(largest_difference(unweighted, expected), 1e-3);
  EXPECT_NEAR(half, fewer, 1e-9);
  EXPECT_NEAR(third, fewer, 1e-9);
}

// The weights are the host's between two calls: every rank goes on from the host's changes.
TEST(Trainer, AllRanksFollowTheWeightsOfTheHost) {
  const auto after = [](int world) {
    Recipe setup;
    setup.trainer.num_ranks = world;
    setup.trainer.batches_per_step = 4;
    setup.model.dtype = base::DType::kF64;
    setup.model.norm = nn::Norm::kBatch;
    setup.trainer.optimizer = {.kind = train::OptimizerKind::kSgd, .learning_rate = 0.1};
    Host host;
    Trial run(setup, host);
    EXPECT_EQ(run->step({}, nullptr), Status::kOk);
    nn::ModelConfig other = run.model().config();
    other.seed += 1;
    run.model().load_state(nn::make_model(other)->state());
    EXPECT_EQ(run->step({}, nullptr), Status::kOk);
    run.model().flat_parameters().detach().mul_(0.5);
    const double loss = run->evaluate(data::SplitPart::kTest, {})->loss;
    EXPECT_EQ(run->step({}, nullptr), Status::kOk);
    std::vector<double> all = run.weights();
    all.push_back(loss);
    return all;
  };
  const std::vector<double> alone = after(1);
  for (int world : {2, 4}) EXPECT_LE(largest_difference(after(world), alone), 1e-9) << world;
}

TEST(Trainer, WaitsInSlices) {
  Recipe setup;
  setup.trainer.num_ranks = 2;
  setup.trainer.evaluation = train::EvaluationMode::kSampled;  // slow enough to be watched
  // No mini-batch is made before.
  std::atomic<bool> go{false};
  watch(setup, [&](const sample::BatchKey&, const base::CancelToken&) {
    while (!go) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  Host host;
  Trial run(setup, host);
  run->start();
  EXPECT_FALSE(run->wait(Deadline::after_ms(1)));
  EXPECT_TRUE(run->busy());
  for (int slice = 0; slice < 3; ++slice) EXPECT_FALSE(run->wait(Deadline::after_ms(5)));
  go = true;
  while (!run->wait(Deadline::after_ms(5))) {
  }
  EXPECT_FALSE(run->busy());

  go = false;
  Trial stepped(setup, host);
  int pending = 0;
  double loss = 0;
  Status status;
  while ((status = stepped->step(Deadline::after_ms(1), &loss)) == Status::kPending)
    go = ++pending >= 3;
  EXPECT_EQ(status, Status::kOk);
  EXPECT_GE(pending, 3);
  go = false;
  pending = 0;
  while (!stepped->evaluate(SplitPart::kTest, Deadline::after_ms(0))) go = ++pending >= 3;
  EXPECT_GE(pending, 3);
}

TEST(Trainer, OneWorkAtATime) {
  Recipe setup;
  setup.trainer.num_epochs = 1000;
  Host host;
  Trial run(setup, host);
  run->start();
  const auto status = [](const std::function<void()>& body) {
    try {
      body();
    } catch (const base::Error& error) {
      EXPECT_STREQ(error.what(), "training is under way");
      return error.status();
    }
    return Status::kOk;
  };
  EXPECT_EQ(status([&] { run->start(); }), Status::kBusy);
  EXPECT_EQ(status([&] { run->step({}, nullptr); }), Status::kBusy);
  EXPECT_EQ(status([&] { run->evaluate(SplitPart::kTest, {}); }), Status::kBusy);
  EXPECT_EQ(status([&] { run->set_epoch_function({}); }), Status::kBusy);
  run->stop();
  EXPECT_TRUE(run->wait({}));
}

TEST(Trainer, StopAndStartIsOneTraining) {
  for (int world : {1, 4}) {
    Recipe setup;
    setup.model.dtype = base::DType::kF64;
    setup.trainer.num_ranks = world;
    setup.trainer.batches_per_step = 4;
    setup.trainer.num_epochs = 6;
    const std::vector<double> expected = weights_after(setup);

    // Stops three times, whenever the loader is at a certain mini-batch, most in mid-epoch.
    Trial* running = nullptr;
    std::atomic<int> stops{0};
    watch(setup, [&](const sample::BatchKey& key, const base::CancelToken&) {
      if (key.purpose != base::Purpose::kSample || key.batch != 2) return;
      if (key.epoch != 1 && key.epoch != 3 && key.epoch != 4) return;
      ++stops;
      (*running)->stop();
    });
    Host host;
    Trial run(setup, host);
    running = &run;
    int starts = 0;
    while (run->progress().state != TrainerState::kFinished && starts < 10) {
      run.train();
      ++starts;
    }
    EXPECT_GE(stops, 3);
    EXPECT_GT(starts, 1);
    EXPECT_EQ(run->progress().epoch, 6);
    EXPECT_LE(largest_difference(run.weights(), expected), world == 1 ? 0 : 1e-9);
  }
}

TEST(Trainer, Regression) {
  Recipe setup;
  setup.dataset = make_small({.num_train = 300, .regression = true});
  setup.model.dropout = 0;
  setup.trainer.num_epochs = 40;
  setup.trainer.num_ranks = 2;
  Host host;
  Trial run(setup, host);
  const std::vector<EpochReport> reports = reports_of(run);
  const nn::Metrics test = *run->evaluate(SplitPart::kTest, {});
  EXPECT_EQ(test.count, 150);
  EXPECT_LT(test.rmse, 0.6);  // the targets' own deviation is 1.1 and more
  EXPECT_NEAR(test.rmse * test.rmse, test.loss, 1e-4);
  EXPECT_LT(reports.back().train_loss, 0.5 * reports.front().train_loss);
  EXPECT_EQ(run->progress().best_validation, [&] {
    double lowest = INFINITY;
    for (const EpochReport& r : reports) lowest = std::min(lowest, r.validation.loss);
    return lowest;
  }());
}

TEST(Trainer, Records) {
  const TempDir folder;
  Recipe setup;
  setup.trainer.log_jsonl = folder.file("log.jsonl");
  setup.trainer.log_tensorboard = folder.file("events");
  Host host;
  Trial run(setup, host);
  const std::vector<EpochReport> reports = reports_of(run);
  std::istringstream lines(slurp(folder.file("log.jsonl")));
  size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const auto json = nlohmann::json::parse(line);
    ASSERT_LT(count, reports.size());
    EXPECT_EQ(json["epoch"], reports[count].epoch);
    EXPECT_EQ(json["train_loss"], reports[count].train_loss);
    EXPECT_EQ(json["validation"]["accuracy"], reports[count].validation.accuracy);
  }
  EXPECT_EQ(count, 3u);
  EXPECT_THAT(folder.list(), testing::Contains(HasSubstr("events.out.tfevents.")));

  setup.trainer.log_jsonl = folder.file("no/such/folder.jsonl");
  Trial bad(setup, host);
  EXPECT_THROW(bad->start(), base::Error);
  bad->set_records("", "");
  bad.train();
}

TEST(Trainer, RefusesWhatDoesNotFit) {
  {
    Recipe setup;
    setup.sampler.fanouts = {5};
    EXPECT_EQ(refusal(setup, Status::kInvalidArgument),
              "the model has 2 layers, but the sampler draws 1 hops");
  }
  {
    Recipe setup;
    setup.trainer.best_by = Metric::kRocAuc;
    EXPECT_EQ(refusal(setup, Status::kInvalidArgument),
              "best_by roc_auc: needs a task of two classes");
  }
  {
    Recipe setup;
    setup.trainer.loss = nn::Loss::kBinaryCrossEntropy;
    EXPECT_THAT(refusal(setup, Status::kInvalidArgument), HasSubstr("loss binary cross-entropy"));
  }
  {
    Recipe setup;
    setup.dataset = make_small({.num_train = 20, .unlabeled = 20});
    EXPECT_EQ(refusal(setup, Status::kInvalidArgument),
              "split main 0: none of its 20 training nodes has a label");
  }
  {
    Recipe setup;
    auto other = std::make_shared<data::Dataset>(*setup.dataset);
    other->sample_weights = base::Tensor::zeros(base::DType::kF64, {other->graph->num_nodes(0)});
    const auto test = other->splits[0].part(SplitPart::kTest);
    other->sample_weights.as<double>()[test[0]] = 1;
    setup.dataset = other;
    EXPECT_THAT(refusal(setup, Status::kInvalidArgument),
                HasSubstr("has a label that counts by the weights"));
  }
  {
    Recipe setup;
    setup.dataset = make_small({.num_train = 0});
    EXPECT_EQ(refusal(setup, Status::kInvalidArgument), "split main 0: its training part is empty");
  }
  {
    Recipe setup;
    setup.trainer.split = "nowhere";
    EXPECT_THAT(refusal(setup, Status::kNotFound), HasSubstr("nowhere"));
  }
  {
    Recipe setup;
    setup.trainer.drop_last = true;
    setup.trainer.batch_size = 1000;
    EXPECT_THAT(refusal(setup, Status::kInvalidArgument), HasSubstr("leaves no mini-batch"));
  }
  {
    Recipe setup;
    setup.dataset = make_small({.num_validation = 0});
    setup.trainer.early_stop_patience = 2;
    EXPECT_THAT(refusal(setup, Status::kInvalidArgument), HasSubstr("has no validation part"));
  }
  {
    Recipe setup;
    auto other = std::make_shared<data::Dataset>(*setup.dataset);
    other->task = data::Task::kNone;
    setup.dataset = other;
    EXPECT_THAT(refusal(setup, Status::kNotFound), HasSubstr("no labels"));
  }
  {
    Host host;
    Recipe setup;
    Trial run(setup, host);
    auto other = std::make_shared<data::Dataset>(*make_small({.num_features = 9}));
    nn::ModelConfig narrow = setup.model;
    narrow.input_dim = 8;
    narrow.output_dim = 4;
    try {
      train::Trainer::create(nn::make_model(narrow), other,
                             sample::make_neighbor_sampler(other->graph, setup.sampler),
                             setup.trainer, host.environment());
      ADD_FAILURE() << "accepted features of another width";
    } catch (const base::Error& error) {
      EXPECT_STREQ(error.what(), "the model reads 8 features a node, but the data set has 9");
    }
  }
}

TEST(Trainer, NothingToDo) {
  Recipe setup;
  setup.trainer.num_epochs = 0;
  Host host;
  Trial run(setup, host);
  const std::vector<double> start = run.weights();
  run.train();
  EXPECT_EQ(run->progress().state, TrainerState::kFinished);
  EXPECT_EQ(run.weights(), start);
  EXPECT_EQ(run->step({}, nullptr), Status::kEnd);
  EXPECT_EQ(run->evaluate(SplitPart::kTest, {})->count, 150);
}

TEST(Trainer, LeavesTheHostsThreadCountAlone) {
  const auto count = [] {
    int threads = 0;
    std::thread([&] { threads = at::get_num_threads(); }).join();
    return threads;
  };
  const int before = count(), own = at::get_num_threads();
  Recipe setup;
  setup.trainer.num_ranks = 2;
  setup.trainer.torch_threads = 3;
  weights_after(setup);
  EXPECT_EQ(count(), before);
  EXPECT_EQ(at::get_num_threads(), own);
}

}  // namespace
}  // namespace gnnmg::test
