// Training that is interrupted and goes on from a checkpoint: with the same bits, on another number
// of ranks, and not at all where it would be another training.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

#include "base/file.h"
#include "comm/ranks.h"
#include "nn/model/model.h"
#include "support/file_faults.h"
#include "support/temp_dir.h"
#include "train/fixture.h"

namespace gnnmg::test {
namespace {

using base::Deadline;
using base::Status;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using train::CheckpointConfig;
using train::TrainerState;

// Everything that has a state of its own: batch norm, dropout, momentum or moments, a plateau.
Recipe eventful(train::OptimizerKind optimizer, int world) {
  Recipe setup;
  setup.model.norm = nn::Norm::kBatch;
  setup.model.dropout = 0.3;
  setup.trainer.num_ranks = world;
  setup.trainer.num_epochs = 5;
  setup.trainer.optimizer.kind = optimizer;
  setup.trainer.optimizer.momentum = 0.9;
  setup.trainer.schedule = {.kind = train::ScheduleKind::kPlateau, .patience = 1};
  return setup;
}

// Ends a training by a cancel when a mini-batch is sampled, as a kill would.
Outcome train_until(Recipe setup, const CheckpointConfig& checkpoints, uint64_t epoch,
                    uint64_t batch) {
  Trial* running = nullptr;
  watch(setup, [&](const sample::BatchKey& key, const base::CancelToken&) {
    if (key.epoch == epoch && key.batch == batch) (*running)->cancel();
  });
  Host host;
  Trial run(setup, host);
  running = &run;
  run->set_checkpoints(checkpoints);
  return attempt([&] { run.train(); });
}

TEST(Checkpoint, GoesOnInTheMiddleOfAnEpochWithTheSameBits) {
  using train::OptimizerKind;
  for (const OptimizerKind kind :
       {OptimizerKind::kAdam, OptimizerKind::kAdamW, OptimizerKind::kSgd})
    for (const int world : {1, 2}) {
      const Recipe setup = eventful(kind, world);
      const std::vector<double> expected = weights_after(setup);
      for (uint64_t point = 0; point < 7; ++point) {
        const TempDir folder;
        const CheckpointConfig config{.folder = folder.file("run"), .every_steps = 1};
        const Outcome outcome = train_until(setup, config, point % 5, 4 * point % 5);
        if (!base::exists(config.folder)) continue;  // cancelled before the first step
        EXPECT_EQ(outcome.status, Status::kCancelled);
        Host host;
        Trial again(setup, host);
        const std::string path = again->load(config.folder);
        EXPECT_THAT(path, HasSubstr("-step-"));
        again.train();
        EXPECT_EQ(again->progress().state, TrainerState::kFinished);
        EXPECT_EQ(again.weights(), expected) << world << " ranks, from " << path;
      }
    }
}

TEST(Checkpoint, OnAnotherNumberOfRanks) {
  Recipe setup = eventful(train::OptimizerKind::kAdam, 2);
  setup.model.dtype = base::DType::kF64;
  const std::vector<double> expected = weights_after(setup);
  const TempDir folder;
  const CheckpointConfig config{.folder = folder.file("run"), .every_steps = 1};
  ASSERT_EQ(train_until(setup, config, 2, 2).status, Status::kCancelled);
  for (const int world : {1, 3, 4}) {
    setup.trainer.num_ranks = world;
    setup.trainer.batches_per_step = 0;  // the checkpoint's two
    Host host;
    Trial run(setup, host);
    run->load(config.folder);
    run.train();
    EXPECT_LE(largest_difference(run.weights(), expected), 1e-9) << world;
  }
}

TEST(Checkpoint, SavedByHandBetweenSteps) {
  const Recipe setup = eventful(train::OptimizerKind::kAdam, 2);
  const std::vector<double> expected = weights_after(setup);
  const TempDir folder;
  Host host;
  {
    Trial run(setup, host);
    run->save(folder.file("before"));  // a first step, moments and best weights are to come
    for (int i = 0; i < 4; ++i) EXPECT_EQ(run->step({}, nullptr), Status::kOk);
    run->save(folder.file("after four"));
    const Outcome there = attempt([&] { run->save(folder.file("before")); });
    EXPECT_EQ(there.status, Status::kInvalidArgument);
    run.train();
    EXPECT_EQ(run.weights(), expected);
    run->save(folder.file("end"));
  }
  for (const char* name : {"before", "after four"}) {
    Trial run(setup, host);
    EXPECT_EQ(run->load(folder.file(name)), folder.file(name));
    run.train();
    EXPECT_EQ(run.weights(), expected) << name;
  }
  Trial done(setup, host);
  done->load(folder.file("end"));
  EXPECT_EQ(done->progress().state, TrainerState::kFinished);
  EXPECT_EQ(done.weights(), expected);  // the best, not the last
  EXPECT_EQ(done->step({}, nullptr), Status::kEnd);

  // A loaded trainer may load again, and one that has trained may go back.
  done->load(folder.file("after four"));
  done.train();
  EXPECT_EQ(done.weights(), expected);
  done->load(folder.file("before"));
  done.train();
  EXPECT_EQ(done.weights(), expected);
}

TEST(Checkpoint, MoreEpochsThanItHad) {
  Recipe setup;
  setup.trainer.keep_best = false;
  setup.trainer.num_epochs = 6;
  const std::vector<double> expected = weights_after(setup);
  setup.trainer.num_epochs = 3;
  const TempDir folder;
  Host host;
  {
    Trial run(setup, host);
    run->set_checkpoints(CheckpointConfig{.folder = folder.file("run")});
    run.train();
  }
  setup.trainer.num_epochs = 6;
  Trial run(setup, host);
  run->load(folder.file("run"));
  EXPECT_EQ(run->progress().epoch, 3);
  run.train();
  EXPECT_EQ(run.weights(), expected);
}

// However often one is due and however slow the disk is.
TEST(Checkpoint, TheBestIsAmongThem) {
  Recipe setup;
  setup.trainer.num_epochs = 12;
  setup.trainer.keep_best = true;
  setup.trainer.optimizer.learning_rate = 1;  // goes up and down
  for (const auto& [steps, seconds] : {std::pair(0, 0.0), std::pair(1, 0.0), std::pair(0, 1e-3)}) {
    const TempDir folder;
    const CheckpointConfig config{
        .folder = folder.file("run"), .every_steps = steps, .every_seconds = seconds, .keep = 2};
    Host host;
    Trial run(setup, host);
    run->set_checkpoints(config);
    run.train();
    const int64_t best_epoch = run->progress().best_epoch;
    EXPECT_LT(best_epoch, setup.trainer.num_epochs - 1);
    const std::vector<std::string> names = base::list_directory(config.folder);
    EXPECT_GE(names.size(), 4u);
    EXPECT_LE(names.size(), 5u);  // two, the best if it is another, `best` and `latest`
    const std::string best = slurp(folder.file("run/best"));
    Recipe longer = setup;
    longer.trainer.keep_best = false;
    longer.trainer.num_epochs = best_epoch + 1;
    Trial from_best(longer, host);
    from_best->load(folder.file("run/" + best.substr(0, best.size() - 1)));
    EXPECT_EQ(from_best->progress().epoch, best_epoch + 1);
    EXPECT_EQ(from_best.weights(), run.weights());
  }
}

// The last one gives way to the best, which waits for a disk that takes longer than ranks wait for
// each other: no rank is late for that.
TEST(Checkpoint, TheLastWaitsForTheBestOnASlowDisk) {
  static std::atomic<int> syncs;
  syncs = 0;
  static const base::FileTable slow = [] {
    base::FileTable table = base::system_files();
    table.fsync = [](int fd) {
      if (++syncs == 1) std::this_thread::sleep_for(std::chrono::milliseconds(8000));
      return base::system_files().fsync(fd);
    };
    return table;
  }();
  Recipe setup;
  setup.trainer.num_ranks = 2;
  setup.trainer.batches_per_step = 1;
  setup.trainer.num_epochs = 12;
  setup.trainer.keep_best = true;
  setup.trainer.optimizer.learning_rate = 1;  // goes up and down
  setup.trainer.deadline_ms = 2000;
  const TempDir folder;
  Host host;
  Trial run(setup, host);
  run->set_checkpoints(CheckpointConfig{.folder = folder.file("run")});
  const base::FileTable* before = base::set_file_table(&slow);
  const Outcome outcome = attempt([&] { run.train(); });
  base::set_file_table(before);
  EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
  const int64_t best_epoch = run->progress().best_epoch;
  EXPECT_GT(best_epoch, 0);  // the best did wait
  EXPECT_LT(best_epoch, setup.trainer.num_epochs - 1);
  const std::vector<std::string> names = base::list_directory(folder.file("run"));
  EXPECT_EQ(names.size(), 5u);  // the first, the best, the last, `best` and `latest`
}

// The data set with a weight of 0 on each edge.
data::DatasetRef with_edge_weights(const data::Dataset& dataset) {
  graph::GraphParts parts = dataset.graph->parts();
  graph::Columns columns;
  columns.emplace("weight", base::Tensor::zeros(base::DType::kF32, {dataset.graph->num_edges()}));
  parts.edge_columns = {std::move(columns)};
  auto changed = std::make_shared<data::Dataset>(dataset);
  changed->graph = graph::Graph::create(std::move(parts));
  return changed;
}

TEST(Checkpoint, AnotherTrainingIsRefusedWithAListAndChangesNothing) {
  const TempDir folder;
  Recipe setup = eventful(train::OptimizerKind::kAdam, 2);
  Host host;
  {
    Trial run(setup, host);
    for (int i = 0; i < 4; ++i) run->step({}, nullptr);
    run->save(folder.file("it"));
  }
  const auto refused = [&](const std::function<void(Recipe&)>& change, Status status,
                           const auto& text) {
    Recipe other = setup;
    change(other);
    Trial run(other, host);
    const std::vector<double> before = run.weights();
    const Outcome outcome = attempt([&] { run->load(folder.file("it")); });
    EXPECT_EQ(outcome.status, status);
    EXPECT_THAT(outcome.text, text);
    EXPECT_EQ(run.weights(), before);
    EXPECT_EQ(run->progress().step, 0);
    EXPECT_EQ(run->step({}, nullptr), Status::kOk);  // and trains as if nothing had been
  };
  refused([](Recipe& r) { r.trainer.seed = 7; }, Status::kMismatch, HasSubstr("seed is 7, was 11"));
  refused(
      [](Recipe& r) {
        r.trainer.batch_size = 16;
        r.trainer.shuffle = false;
      },
      Status::kMismatch,
      AllOf(HasSubstr("batch size is 16, was 32"), HasSubstr("shuffle is no, was yes")));
  refused([](Recipe& r) { r.trainer.batches_per_step = 5; }, Status::kMismatch,
          HasSubstr("batches a step is 5, was 2"));
  refused([](Recipe& r) { r.trainer.optimizer.kind = train::OptimizerKind::kSgd; },
          Status::kMismatch, HasSubstr("optimizer is sgd with momentum, was adam"));
  refused([](Recipe& r) { r.dataset = make_small({.num_nodes = 610}); }, Status::kMismatch,
          AllOf(HasSubstr("nodes is 610, was 600"), HasSubstr("topology is")));
  refused([](Recipe& r) { r.dataset = make_small({.center_scale = 0.6}); }, Status::kMismatch,
          HasSubstr("feature values is"));
  refused([](Recipe& r) { r.dataset = with_edge_weights(*r.dataset); }, Status::kMismatch,
          HasSubstr("edge tensors is weight, f32, was none"));
  refused([](Recipe& r) { r.dataset = make_small({.num_train = 128}); }, Status::kMismatch,
          HasSubstr("training ids is"));
  // The sampler and the model's settings, also those that no tensor's shape depends on.
  const auto setting = [&](const std::function<void(Recipe&)>& change, const std::string& text) {
    refused(change, Status::kMismatch, EndsWith("was saved by another training: " + text));
  };
  setting([](Recipe& r) { r.model.hidden_dim += 1; }, "model hidden_dim is 17, was 16");
  setting([](Recipe& r) { r.model.norm = nn::Norm::kNone; }, "model norm is none, was batch");
  setting([](Recipe& r) { r.model.dropout = 0.25; }, "model dropout is 0.25, was 0.3");
  setting([](Recipe& r) { r.model.aggregation = nn::Aggregation::kMax; },
          "model aggregation is max, was mean");
  setting([](Recipe& r) { r.model.activation = nn::Activation::kTanh; },
          "model activation is tanh, was relu");
  setting([](Recipe& r) { r.model.normalize = true; }, "model normalize is yes, was no");
  setting([](Recipe& r) { r.sampler.fanouts = {5, 4}; },
          "sampler is neighbors 5 4, expanded once, was neighbors 5 5, expanded once");
  setting([](Recipe& r) { r.sampler.expansion = sample::Expansion::kEveryLayer; },
          "sampler is neighbors 5 5, expanded in every layer, was neighbors 5 5, expanded once");
  setting([](Recipe& r) { r.sampler.replace = true; },
          "sampler is neighbors 5 5, expanded once, with replacement, was neighbors 5 5, "
          "expanded once");
  setting([](Recipe& r) { r.sampler.draw = sample::Draw::kLabor; },
          "sampler is neighbors 5 5, expanded once, LABOR, was neighbors 5 5, expanded once");
  // The metric that decides the best weights, once some exist.
  setting([](Recipe& r) { r.trainer.best_by = train::Metric::kLoss; },
          "best_by is loss, was accuracy");
  refused([](Recipe& r) { r.trainer.keep_best = true; }, Status::kMismatch,
          HasSubstr("keep_best is yes, was no, so it has no weights of its best validation, of "
                    "epoch 0"));
}

// Initial weights are of no account any more, and before a validation nothing is the best.
TEST(Checkpoint, WhatMayBeAnother) {
  const TempDir folder;
  const Recipe setup = eventful(train::OptimizerKind::kAdam, 1);
  Host host;
  {
    Trial run(setup, host);
    EXPECT_EQ(run->step({}, nullptr), Status::kOk);
    run->save(folder.file("it"));
  }
  Recipe other = setup;
  other.model.seed = 99;
  other.model.init = nn::Init::kGlorot;
  other.trainer.keep_best = true;
  other.trainer.best_by = train::Metric::kLoss;
  other.trainer.optimizer.learning_rate = 0.02;
  other.trainer.clip_norm = 1;
  other.trainer.num_epochs = 6;
  other.trainer.evaluation = train::EvaluationMode::kSampled;
  Trial run(other, host);
  run->load(folder.file("it"));
  EXPECT_EQ(run->progress().step, 1);
  run.train();
  EXPECT_EQ(run->progress().state, TrainerState::kFinished);
  EXPECT_FALSE(host.log.next());
}

// A checkpoint after `change`, with the sums of its new content.
std::string altered(const std::string& path, const TempDir& folder,
                    const std::function<void(std::string& state)>& change) {
  static int number = 0;
  train::CheckpointFiles files = train::read_checkpoint(path);
  change(files.state);
  const std::string made = folder.file(base::text("altered-", ++number));
  train::write_checkpoint(made, files);
  return made;
}

void put(std::string& state, const std::string& from, const std::string& to) {
  const size_t at = state.find(from);
  ASSERT_NE(at, std::string::npos) << from << " in " << state;
  state.replace(at, from.size(), to);
}

// Checkpoints of a library that did not write its settings down are taken, and the log says so.
TEST(Checkpoint, OlderOnesSayLess) {
  const TempDir folder;
  const Recipe setup = eventful(train::OptimizerKind::kAdam, 2);
  const std::vector<double> expected = weights_after(setup);
  Host host;
  {
    Trial run(setup, host);
    for (int i = 0; i < 4; ++i) run->step({}, nullptr);
    run->save(folder.file("it"));
  }
  const auto expect_taken = [&](const std::string& path, const std::string& text) {
    Trial run(setup, host);
    run->load(path);
    const auto record = host.log.next();
    ASSERT_TRUE(record);
    EXPECT_EQ(record->level, base::LogLevel::kWarning);
    EXPECT_EQ(record->text, path + ": does not say with which " + text +
                                " it was trained, and is taken for one of this training");
    EXPECT_FALSE(host.log.next());
    run.train();
    EXPECT_EQ(run.weights(), expected);
  };
  expect_taken(altered(folder.file("it"), folder,
                       [](std::string& state) {
                         const size_t begin = state.find("\"settings\"");
                         ASSERT_NE(begin, std::string::npos);
                         const size_t end = state.find("\"position\"");
                         state.erase(begin, end - begin);
                       }),
               "sampler and settings of the model");
  const std::string less = altered(folder.file("it"), folder, [](std::string& state) {
    const size_t begin = state.find("\"model beta\"");
    ASSERT_NE(begin, std::string::npos);
    state.erase(begin, state.find("\"model", begin + 1) - begin);
  });
  expect_taken(less, "model beta");
  // A setting that this library does not know cannot be compared.
  const std::string more = altered(folder.file("it"), folder, [](std::string& state) {
    put(state, "\"model beta\"", "\"model gamma\": \"2\", \"model beta\"");
  });
  Trial run(setup, host);
  const Outcome outcome = attempt([&] { run->load(more); });
  EXPECT_EQ(outcome.status, Status::kMismatch);
  EXPECT_THAT(outcome.text, EndsWith(": model gamma is not given, was 2"));
}

// Version 0.1 wrote the plan as "partition", and the sampler in another spelling.
TEST(Checkpoint, OneOfVersion01) {
  const TempDir folder;
  const Recipe setup = eventful(train::OptimizerKind::kAdam, 2);
  const std::vector<double> expected = weights_after(setup);
  Host host;
  {
    Trial run(setup, host);
    for (int i = 0; i < 4; ++i) run->step({}, nullptr);
    run->save(folder.file("it"));
  }
  const auto with_partition = [&](const std::string& partition) {
    return altered(folder.file("it"), folder, [&](std::string& state) {
      put(state, "\"plan\": \"global\"", "\"partition\": \"" + partition + "\"");
      put(state, "\"sampler\": \"neighbors ", "\"sampler\": \"neighbours ");
    });
  };
  Trial run(setup, host);
  run->load(with_partition("global"));
  run.train();
  EXPECT_EQ(run.weights(), expected);
  Trial other(setup, host);
  const Outcome outcome = attempt([&] { other->load(with_partition("contiguous")); });
  EXPECT_EQ(outcome.status, Status::kMismatch);
  EXPECT_THAT(outcome.text, EndsWith(": plan is global, was contiguous"));
}

// Right sums do not make a position one of the plan's.
TEST(Checkpoint, APositionThatIsNone) {
  const TempDir folder;
  const Recipe setup = eventful(train::OptimizerKind::kAdam, 2);
  Host host;
  {
    Trial run(setup, host);
    for (int i = 0; i < 4; ++i) run->step({}, nullptr);
    run->save(folder.file("it"));
  }
  const auto refused = [&](const std::string& from, const std::string& to,
                           const std::string& text) {
    const std::string path = altered(folder.file("it"), folder, [&](std::string& state) {
      put(state, from, to);
      if (to.starts_with("\"step\"")) put(state, "\"total_steps\": 4", "\"total_steps\": 99999");
    });
    Trial run(setup, host);
    EXPECT_EQ(run->step({}, nullptr), Status::kOk);
    const std::vector<double> before = run.weights();
    const Outcome outcome = attempt([&] { run->load(path); });
    EXPECT_EQ(outcome.status, Status::kRange);
    EXPECT_EQ(outcome.text, path + ": position: " + text);
    EXPECT_EQ(run.weights(), before);
    EXPECT_EQ(run->progress().step, 1);
    EXPECT_EQ(run->step({}, nullptr), Status::kOk);
  };
  // Five mini-batches an epoch.
  refused("\"step\": 1", "\"step\": 1000", "step is 1000, but epoch 1 has 3 steps");
  refused("\"step\": 1", "\"step\": 4", "step is 4, but epoch 1 has 3 steps");
  refused("\"seeds\": ", "\"seeds\": -", "seeds is -64");
  // Epochs that the steps so far do not come to, and numbers that no training comes to.
  refused("\"epoch\": 1", "\"epoch\": 1000",
          "total_steps is 4, but epoch 1000 begins after 1000 times 3 steps");
  refused("\"epoch\": 1", "\"epoch\": 9223372036854775807", "epoch is 9223372036854775807");
  refused("\"total_steps\": 4", "\"total_steps\": 9223372036854775807",
          "total_steps is 9223372036854775807");
  refused("\"total_steps\": 4", "\"total_steps\": 5",
          "total_steps is 5, but epoch 1 begins after 1 times 3 steps");
  refused("\"bad_steps\": 0", "\"bad_steps\": -1", "bad_steps is -1");
  refused("\"schedule_waited\": 0", "\"schedule_waited\": -1", "schedule_waited is -1");
  refused("\"schedule_factor\": 1.0", "\"schedule_factor\": 1e300", "schedule_factor is 1e+300");
  refused("\"schedule_factor\": 1.0", "\"schedule_factor\": -0.5", "schedule_factor is -0.5");
  refused("\"schedule_factor\": 1.0", "\"schedule_factor\": null", "schedule_factor is nan");
  refused("\"sum_weight\": ", "\"sum_weight\": -", "sum_weight is -64");
  refused("\"peer_wait_seconds\": ", "\"peer_wait_seconds\": null, \"was\": ",
          "peer_wait_seconds is nan");
  // The last step is done, and the end of the epoch is to come.
  const std::string end = altered(folder.file("it"), folder, [](std::string& state) {
    put(state, "\"step\": 1", "\"step\": 3");
    put(state, "\"total_steps\": 4", "\"total_steps\": 6");
  });
  Trial run(setup, host);
  run->load(end);
  EXPECT_EQ(run->step({}, nullptr), Status::kOk);
  EXPECT_EQ(run->progress().epoch, 2);
}

// A member of another type is no older library's silence.
TEST(Checkpoint, MembersOfAnotherType) {
  const TempDir folder;
  const Recipe setup = eventful(train::OptimizerKind::kAdam, 1);
  Host host;
  {
    Trial run(setup, host);
    EXPECT_EQ(run->step({}, nullptr), Status::kOk);
    run->save(folder.file("it"));
  }
  const auto refused = [&](const std::string& from, const std::string& to,
                           const std::string& text) {
    const std::string path =
        altered(folder.file("it"), folder, [&](std::string& state) { put(state, from, to); });
    Trial run(setup, host);
    const Outcome outcome = attempt([&] { run->load(path); });
    EXPECT_EQ(outcome.status, Status::kFormat);
    EXPECT_EQ(outcome.text, path + ": " + text);
    EXPECT_FALSE(host.log.next());
  };
  refused("\"sampler\": \"", "\"sampler\": 3, \"was\": \"",
          "settings: sampler: expected a text, found an integer");
  refused("\"model dropout\": \"", "\"model dropout\": null, \"was\": \"",
          "settings: model dropout: expected a text, found null");
  refused("\"model norm\": \"", "\"model norm\": [], \"was\": \"",
          "settings: model norm: expected a text, found a list");
  refused("\"seed\": \"", "\"seed\": 11, \"was\": \"",
          "plan: seed: expected a text, found an integer");
  refused("\"nodes\": \"", "\"nodes\": {}, \"was\": \"",
          "data: nodes: expected a text, found an object");
  refused("\"settings\": {", "\"settings\": 0, \"was\": {", "settings: expected an object");
  refused("\"training\": \"", "\"training\": true, \"was\": \"",
          "training: expected a text of 1 to 64 bytes");
  refused("\"epoch\": 0", "\"epoch\": 0.5", "position: epoch: expected an integer");
}

// All that lies in a folder, with its contents.
std::string contents(const std::string& folder) {
  std::string all;
  for (const std::string& name : base::list_directory(folder)) {
    const std::string path = base::join_path(folder, name);
    all += name + "\n" + (base::is_directory(path) ? contents(path) : slurp(path)) + "\n";
  }
  return all;
}

// The folder is that of the training which began it: another one, be it of the same settings, is
// refused before its first step, and one that goes on from a checkpoint of the folder is none.
TEST(Checkpoint, AFolderBelongsToOneTraining) {
  const TempDir folder;
  const std::string path = folder.file("run");
  Recipe setup = eventful(train::OptimizerKind::kAdam, 2);
  const CheckpointConfig each{.folder = path, .every_steps = 1, .keep = 1};
  Host host;
  {
    Trial run(setup, host);
    run->set_checkpoints(each);
    for (int i = 0; i < 4; ++i) run->step({}, nullptr);
    run->set_checkpoints(each);  // once more is no other training
    run->step({}, nullptr);
  }
  const std::string before = contents(path);
  {
    Trial second(setup, host);
    second->set_checkpoints(each);
    for (const auto& begin : std::vector<std::function<void()>>{
             [&] { second.train(); }, [&] { second->step({}, nullptr); }}) {
      const Outcome outcome = attempt(begin);
      EXPECT_EQ(outcome.status, Status::kMismatch);
      EXPECT_THAT(outcome.text,
                  AllOf(HasSubstr(path + ": holds checkpoints of another training, the newest "),
                        HasSubstr("load it first"), HasSubstr("a folder of its own")));
      EXPECT_EQ(contents(path), before);
    }
    EXPECT_TRUE(second->evaluate(data::SplitPart::kTest, {}));  // an evaluation writes nothing
    // With another folder, or without checkpoints, it trains.
    second->set_checkpoints(CheckpointConfig{.folder = folder.file("other")});
    EXPECT_EQ(second->step({}, nullptr), Status::kOk);
    second->set_checkpoints(std::nullopt);
    EXPECT_EQ(second->step({}, nullptr), Status::kOk);
  }
  EXPECT_EQ(contents(path), before);
  // Loaded before or after the folder is named, from that folder or from files saved elsewhere.
  for (const bool first_load : {true, false}) {
    Trial again(setup, host);
    if (first_load) again->load(path);
    again->set_checkpoints(each);
    if (!first_load) again->load(path);
    EXPECT_EQ(again->step({}, nullptr), Status::kOk);
    again->save(folder.file(first_load ? "saved" : "saved later"));
  }
  Trial moved(setup, host);
  moved->load(folder.file("saved"));
  moved->set_checkpoints(each);
  EXPECT_EQ(moved->step({}, nullptr), Status::kOk);
}

// Checkpoints that do not say of which training they are, of a library that wrote no such thing.
TEST(Checkpoint, AFolderOfAnOlderLibrary) {
  const TempDir folder;
  const std::string path = folder.file("run");
  const Recipe setup = eventful(train::OptimizerKind::kAdam, 1);
  const CheckpointConfig each{.folder = path, .every_steps = 1};
  Host host;
  {
    Trial run(setup, host);
    EXPECT_EQ(run->step({}, nullptr), Status::kOk);
    run->save(folder.file("it"));
  }
  base::make_directory(path);
  const std::string made = altered(folder.file("it"), folder, [](std::string& state) {
    const size_t begin = state.find("\"training\"");
    ASSERT_NE(begin, std::string::npos);
    state.erase(begin, state.find("\"ranks\"") - begin);
  });
  ASSERT_EQ(std::rename(made.c_str(), (path + "/000003-step-1").c_str()), 0);
  Trial other(setup, host);
  other->set_checkpoints(each);
  EXPECT_EQ(attempt([&] { other.train(); }).status, Status::kMismatch);
  for (int time = 0; time < 2; ++time) {
    Trial again(setup, host);
    again->set_checkpoints(each);
    again->load(path);
    EXPECT_EQ(again->step({}, nullptr), Status::kOk);
  }
  EXPECT_EQ(attempt([&] { other.train(); }).status, Status::kMismatch);
}

TEST(Checkpoint, AFullDiskIsAnErrorAndTrainingGoesOn) {
  for (const int world : {1, 2}) {
    Recipe setup = eventful(train::OptimizerKind::kAdam, world);
    setup.trainer.num_epochs = 20;  // long enough for the writer to report its error
    const std::vector<double> expected = weights_after(setup);
    const TempDir folder;
    Host host;
    Trial run(setup, host);
    run->set_checkpoints(CheckpointConfig{.folder = folder.file("run"), .every_steps = 1});
    EXPECT_EQ(run->step({}, nullptr), Status::kOk);
    {
      const FileFaults faults(
          {.call = FileCall::kWrite, .fail_at = 1, .for_ever = true, .error = ENOSPC});
      attempt([&] { run->step({}, nullptr); });
      while (!faults.struck()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      const Outcome outcome = attempt([&] { run.train(); });
      EXPECT_EQ(outcome.status, Status::kIo);
      EXPECT_THAT(outcome.text, AllOf(HasSubstr(folder.path()), HasSubstr("No space left")));
    }
    EXPECT_EQ(run->progress().state, TrainerState::kFailed);
    run.train();
    EXPECT_EQ(run.weights(), expected) << world;
    for (const std::string& name : base::list_directory(folder.file("run")))
      EXPECT_NE(name[0], '.') << name;
    Trial again(setup, host);
    again->load(folder.file("run"));
    EXPECT_EQ(again.weights(), expected);
  }
}

TEST(Checkpoint, AFailedWriteIsAnErrorOfTheNextStep) {
  Recipe setup;
  setup.trainer.num_ranks = 2;
  setup.trainer.num_epochs = 100;
  const TempDir folder;
  Host host;
  Trial run(setup, host);
  run->set_checkpoints(CheckpointConfig{.folder = folder.file("run"), .every_steps = 2});
  const FileFaults faults({.call = FileCall::kSync, .fail_at = 1, .error = EIO});
  EXPECT_EQ(run->step({}, nullptr), Status::kOk);
  EXPECT_EQ(run->step({}, nullptr), Status::kOk);
  while (!faults.struck()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  Status status = Status::kOk;  // until the writer has told
  for (int step = 0; step < 50 && status == Status::kOk; ++step) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    status = attempt([&] { run->step({}, nullptr); }).status;
  }
  EXPECT_EQ(status, Status::kIo);
  EXPECT_EQ(run->step({}, nullptr), Status::kOk);
}

TEST(Checkpoint, WeightsThatAreNotFiniteAreNotWritten) {
  const TempDir folder;
  Host host;
  Trial run(Recipe(), host);
  run->set_checkpoints(CheckpointConfig{.folder = folder.file("run"), .every_steps = 1});
  EXPECT_EQ(run->step({}, nullptr), Status::kOk);
  run->set_checkpoints(std::nullopt);  // waits until it is written
  const std::vector<std::string> before = base::list_directory(folder.file("run"));
  run->set_checkpoints(CheckpointConfig{.folder = folder.file("run"), .every_steps = 1});
  run.model().flat_parameters().mutable_data_ptr<float>()[3] = std::nanf("");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(run->step({}, nullptr), Status::kOk);
  const Outcome by_hand = attempt([&] { run->save(folder.file("by hand")); });
  EXPECT_EQ(by_hand.status, Status::kNan);
  EXPECT_THAT(by_hand.text, HasSubstr("element 3 of"));
  EXPECT_FALSE(base::exists(folder.file("by hand")));
  EXPECT_EQ(attempt([&] { run->step({}, nullptr); }).status, Status::kDiverged);
  run->set_checkpoints(std::nullopt);
  EXPECT_EQ(base::list_directory(folder.file("run")), before);
  int64_t warnings = 0;
  while (const auto record = host.log.next())
    warnings += record->text.find("checkpoint not written") != std::string::npos;
  EXPECT_GE(warnings, 1);

  Trial again(Recipe(), host);
  again->load(folder.file("run"));
  again.train();
  EXPECT_EQ(again.weights(), weights_after(Recipe()));
}

TEST(Checkpoint, AStopLeavesOne) {
  Recipe setup;
  setup.trainer.num_ranks = 2;
  const std::vector<double> expected = weights_after(setup);
  const TempDir folder;
  Trial* running = nullptr;
  Recipe watched = setup;
  watch(watched, [&](const sample::BatchKey& key, const base::CancelToken&) {
    if (key.epoch == 2) (*running)->stop();
  });
  Host host;
  {
    Trial run(watched, host);
    running = &run;
    run->set_checkpoints(CheckpointConfig{.folder = folder.file("run"), .every_steps = 1'000'000});
    run.train();
    EXPECT_EQ(run->progress().state, TrainerState::kIdle);
  }
  Trial again(setup, host);
  again->load(folder.file("run"));
  EXPECT_GE(again->progress().epoch, 1);
  again.train();
  EXPECT_EQ(again.weights(), expected);
}

TEST(Checkpoint, ByTime) {
  Recipe setup;
  setup.trainer.evaluate_every = 0;  // no best that would be written besides
  setup.trainer.num_epochs = 1'000'000;
  const TempDir folder;
  Host host;
  Trial run(setup, host);
  run->set_checkpoints(CheckpointConfig{.folder = folder.file("run"), .every_seconds = 0.2});
  const auto begun = base::SteadyClock::now();
  run->start();
  EXPECT_FALSE(run->wait(Deadline::after_ms(1000)));
  run->stop();
  EXPECT_TRUE(run->wait({}));
  const double seconds = std::chrono::duration<double>(base::SteadyClock::now() - begun).count();
  int64_t written = 0;
  for (const std::string& name : base::list_directory(folder.file("run")))
    if (name.find("-step-") != name.npos) written = std::stoll(name.substr(0, 6)) + 1;
  EXPECT_GE(written, 1);
  EXPECT_LE(static_cast<double>(written), seconds / 0.2 + 1);
}

TEST(Checkpoint, WrongSettingsAreNamed) {
  Host host;
  Trial run(Recipe(), host);
  const auto refused = [&](const CheckpointConfig& config, const std::string& text) {
    const Outcome outcome = attempt([&] { run->set_checkpoints(config); });
    EXPECT_EQ(outcome.status, Status::kInvalidArgument);
    EXPECT_THAT(outcome.text, HasSubstr(text));
  };
  refused({}, "folder is empty");
  refused({.folder = "x", .every_steps = -1}, "every_steps -1");
  refused({.folder = "x", .every_seconds = std::nan("")}, "every_seconds nan");
  refused({.folder = "x", .keep = 0}, "keep 0");
}

}  // namespace
}  // namespace gnnmg::test
