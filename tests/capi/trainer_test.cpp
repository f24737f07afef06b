// Trainers: the three levels of use agree, and starting, waiting, stopping, canceling work as the
// header says.
#include <atomic>
#include <cmath>
#include <cstring>
#include <numeric>
#include <thread>

#include "base/file.h"
#include "capi/support.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

void expect_near(const std::vector<float>& a, const std::vector<float>& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], tolerance) << i;
}

// Settings under which the model ends with the last step's weights.
World plain_world() {
  World world;
  world.training.set("evaluate_every=0 keep_best=0");
  world.training.num_ranks = 2;
  world.training.optimizer = GNNMG_OPTIMIZER_SGD;
  world.training.learning_rate = 0.1;
  world.training.num_epochs = 3;
  world.layers.dropout = 0.5;
  return world;
}

std::vector<float> trained(World& world, const gnnmg_sampler* sampler) {
  const Model model = world.make_model();
  const Trainer trainer = world.make_trainer(model, sampler);
  EXPECT_OK(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr));
  return weights(model);
}

// Removes the labels of two thirds of the nodes, so that mini-batches have different numbers of
// labels.
void forget_labels(World& world) {
  ASSERT_OK(gnnmg_graph_generate(world.context, "planted",
                                 "num_nodes=300 num_classes=3 num_features=8 mean_degree=6",
                                 world.graph.out()));
  Tensor labels;
  ASSERT_OK(gnnmg_graph_export_node_tensor(world.graph, 0, "y", labels.out()));
  std::vector<int64_t> some = values<int64_t>(labels);
  for (size_t i = 0; i < some.size(); ++i)
    if (i % 3 != 0) some[i] = -1;
  const int64_t shape[] = {static_cast<int64_t>(some.size())};
  ASSERT_OK(
      gnnmg_graph_set_node_tensor(world.graph, 0, "some", some.data(), GNNMG_DTYPE_I64, 1, shape));
  ASSERT_OK(gnnmg_dataset_create(world.graph, "x", "some", GNNMG_TASK_MULTICLASS, 3,
                                 world.dataset.out()));
  std::vector<int64_t> ids(300);
  std::iota(ids.begin(), ids.end(), 0);
  ASSERT_OK(gnnmg_dataset_add_split(world.dataset, "all", ids.data(), 180, ids.data() + 180, 60,
                                    ids.data() + 240, 60));
}

class Depths : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Labels, Depths, testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "OfSome" : "OfAll");
});

TEST_P(Depths, Agree) {
  World world = plain_world();
  if (GetParam()) forget_labels(world);
  const Sampler sampler = world.make_sampler();
  const std::vector<float> by_run = trained(world, sampler);
  EXPECT_NE(by_run, weights(world.make_model()));

  const Model stepped = world.make_model();
  const Trainer trainer = world.make_trainer(stepped, sampler);
  double loss = 0;
  int steps = 0;
  gnnmg_status status;
  while ((status = until_done([&] { return gnnmg_trainer_step(trainer, &loss, 1); })) == GNNMG_OK) {
    EXPECT_GT(loss, 0);
    ++steps;
  }
  EXPECT_EQ(status, GNNMG_END) << gnnmg_last_error();
  EXPECT_EQ(steps, 9);  // 180 seeds in mini-batches of 32, two a step, three epochs
  expect_near(weights(stepped), by_run, 1e-6);

  // The caller's own loop, one thread per rank.
  Model replicas[2] = {world.make_model(), {}};
  ASSERT_OK(gnnmg_model_create_copy(replicas[0], replicas[1].out()));
  gnnmg_comm* ends[2];
  ASSERT_OK(gnnmg_comm_create_group(world.context, 2, nullptr, ends));
  std::vector<std::thread> threads;
  for (int32_t rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      const Comm comm(ends[rank]);
      const gnnmg_model* const_model = replicas[rank];
      gnnmg_model* model = replicas[rank];
      auto plan = world.plan;
      plan.rank = rank;
      plan.world_size = 2;
      Loader loader;
      ASSERT_OK(gnnmg_loader_create(world.dataset, sampler, &plan, plan.text(), loader.out()));
      Optimizer optimizer;
      ASSERT_OK(gnnmg_optimizer_create(model, "optimizer=sgd learning_rate=0.1", optimizer.out()));
      Tensor gradients;
      ASSERT_OK(gnnmg_model_export_gradients(const_model, gradients.out()));
      for (int epoch = 0; epoch < 3; ++epoch) {
        Batch batch;
        while (until_done([&] { return gnnmg_loader_next(loader, batch.out(), 1); }) == GNNMG_OK) {
          auto facts = info<gnnmg_batch_info>();
          ASSERT_OK(gnnmg_batch_get_info(batch, &facts));
          ASSERT_OK(gnnmg_model_forward(model, batch, nullptr));
          ASSERT_OK(gnnmg_model_backward(model, GNNMG_LOSS_AUTO, nullptr));
          if (!facts.last_of_step) continue;
          ASSERT_OK(until_done(
              [&] { return gnnmg_comm_all_reduce(comm, gradients, GNNMG_REDUCE_SUM, 1); }));
          ASSERT_OK(gnnmg_optimizer_step(optimizer));
        }
      }
      EXPECT_OK(gnnmg_comm_shutdown(comm, -1));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(weights(replicas[0]), weights(replicas[1]));
  expect_near(weights(replicas[0]), by_run, 1e-5);
}

TEST(TrainerTest, DeterministicTrainingEndsWithTheSameBitsOnAnyNumberOfRanksAndThreads) {
  std::vector<std::vector<float>> ends;
  for (const int32_t ranks : {1, 2, 4})
    for (const int32_t threads : {1, 2}) {
      World world = plain_world();
      world.layers.hidden_dim = 64;
      world.training.deterministic = 1;
      world.training.batches_per_step = 4;
      world.training.num_ranks = ranks;
      world.training.set(threads == 1 ? "torch_threads=1 loader_threads=1"
                                      : "torch_threads=2 loader_threads=2");
      const Sampler sampler = world.make_sampler();
      ends.push_back(trained(world, sampler));
      EXPECT_TRUE(ends.back() == ends.front()) << ranks << " ranks, " << threads << " threads";
    }

  World world = plain_world();
  const Model model = world.make_model();
  const Sampler sampler = world.make_sampler();
  Trainer trainer;
  const auto refused = [&](const char* text) {
    EXPECT_FAILS(gnnmg_trainer_create(model, world.dataset, sampler, nullptr, &world.training,
                                      world.training.text(), trainer.out()),
                 GNNMG_ERR_INVALID_ARGUMENT, text);
  };
  world.training.deterministic = 2;
  refused("config.deterministic");
  world.training.deterministic = 1;
  world.training.set("loss_average=ranks");
  refused("loss_average");
}

TEST(TrainerTest, EmbedsWhatTheModelDoesOnAllRanks) {
  World world(9000, 1);
  world.training.deterministic = 1;
  world.training.num_ranks = 3;
  const Model model = world.make_model();
  const Sampler sampler = world.make_sampler();
  const Trainer trainer = world.make_trainer(model, sampler);
  ASSERT_OK(gnnmg_trainer_step(trainer, nullptr, -1));
  Tensor rows, alone;
  int pending = 0;
  const auto embed = [&](int64_t timeout_ms) {
    return gnnmg_trainer_embed(trainer, 0, nullptr, rows.out(), timeout_ms);
  };
  for (int round = 0; round < 20 && pending == 0; ++round)
    ASSERT_OK(until_done([&] { return embed(1); }, &pending));
  EXPECT_GT(pending, 0);
  ASSERT_OK(gnnmg_model_embed(model, world.dataset, 0, nullptr, alone.out(), -1));
  EXPECT_EQ(shape_of(rows), shape_of(alone));
  EXPECT_TRUE(values<float>(rows) == values<float>(alone));

  const TempDir folder;
  const std::string by_trainer = folder.file("a.npy"), by_model = folder.file("b.npy");
  ASSERT_OK(
      until_done([&] { return gnnmg_trainer_embed(trainer, 0, by_trainer.c_str(), nullptr, 1); }));
  ASSERT_OK(gnnmg_model_embed(model, world.dataset, 0, by_model.c_str(), nullptr, -1));
  EXPECT_TRUE(slurp(by_trainer) == slurp(by_model));

  EXPECT_EQ(begun_and_cancelled(embed,
                                [&] {
                                  EXPECT_EQ(gnnmg_trainer_step(trainer, nullptr, 0),
                                            GNNMG_ERR_BUSY);
                                  gnnmg_trainer_cancel(trainer);
                                }),
            GNNMG_ERR_CANCELLED);
  EXPECT_OK(gnnmg_trainer_step(trainer, nullptr, -1));  // training continues
}

// Leaves the drawing to the library, hop by hop.
struct Wishes {
  const gnnmg_graph* graph;
  std::vector<int64_t> fanouts;
  std::atomic<int> calls{0}, released{0};
  static int32_t sample(const gnnmg_layer_info* layer, const int64_t* targets, int64_t num_targets,
                        gnnmg_sink* sink, void* data) {
    auto* wish = static_cast<Wishes*>(data);
    ++wish->calls;
    return gnnmg_graph_sample_neighbors(wish->graph, 0, targets, num_targets,
                                        wish->fanouts[static_cast<size_t>(layer->layer)], 0,
                                        layer->key, sink);
  }
  static void release(void* data) { ++static_cast<Wishes*>(data)->released; }
};

TEST(TrainerTest, ACustomSamplerOverSeveralRanksTrainsAsTheBuiltInOne) {
  World world = plain_world();
  world.sampling.num_fanouts = 3;
  for (int i = 0; i < 3; ++i) world.sampling.fanouts[i] = 4;
  world.sampling.set("expansion=every_layer");
  world.layers.num_layers = 3;
  world.training.num_ranks = 3;
  const Sampler built_in = world.make_sampler();
  const std::vector<float> expected = trained(world, built_in);

  Wishes wishes{world.graph, {4, 4, 4}, {}, {}};
  Sampler custom;
  ASSERT_OK(gnnmg_sampler_create_custom(world.graph, &world.sampling, world.sampling.text(),
                                        Wishes::sample, &wishes, Wishes::release, custom.out()));
  std::atomic<bool> stop{false};
  std::thread lent([&] {
    while (!stop) EXPECT_OK(gnnmg_context_lend(world.context, 5));
  });
  EXPECT_EQ(trained(world, custom), expected);
  stop = true;
  lent.join();
  EXPECT_GT(wishes.calls, 3 * 6 * 3 - 1);
  custom.reset();
  EXPECT_TRUE(eventually([&] {
    EXPECT_OK(gnnmg_context_lend(world.context, 0));
    return wishes.released == 1;
  }));
}

TEST(TrainerTest, WithoutASamplerEachLayerDrawsTenNeighbors) {
  World world = plain_world();
  world.layers.num_layers = 3;
  Sampler sampler;
  ASSERT_OK(gnnmg_sampler_create(world.graph, nullptr, "fanouts=10,10,10", sampler.out()));
  EXPECT_EQ(trained(world, nullptr), trained(world, sampler));
}

struct Watcher {
  std::vector<gnnmg_epoch_info> epochs;
  std::vector<gnnmg_metrics> validations;
  std::vector<std::thread::id> threads;
  int released = 0;
  int64_t stop_after = -1;
  int32_t answer = 0;
  gnnmg_trainer* trainer = nullptr;
  std::function<void()> inside;
  static int32_t on_epoch(const gnnmg_epoch_info* epoch, void* data) {
    auto* watcher = static_cast<Watcher*>(data);
    watcher->epochs.push_back(*epoch);
    if (epoch->validation != nullptr) watcher->validations.push_back(*epoch->validation);
    watcher->threads.push_back(std::this_thread::get_id());
    if (watcher->inside) watcher->inside();
    return epoch->epoch == watcher->stop_after ? watcher->answer : 0;
  }
  static void release(void* data) { ++static_cast<Watcher*>(data)->released; }
};

TEST(TrainerTest, EpochsAreReportedOnTheThreadThatWaits) {
  World world;
  world.training.num_epochs = 4;
  const Sampler sampler = world.make_sampler();
  const Model model = world.make_model();
  const Trainer trainer = world.make_trainer(model, sampler);
  Watcher watcher;
  ASSERT_OK(gnnmg_trainer_run(trainer, Watcher::on_epoch, &watcher, Watcher::release));
  EXPECT_EQ(watcher.released, 1);
  ASSERT_EQ(watcher.epochs.size(), 4u);
  ASSERT_EQ(watcher.validations.size(), 4u);
  for (size_t e = 0; e < 4; ++e) {
    EXPECT_EQ(watcher.epochs[e].epoch, static_cast<int64_t>(e));
    EXPECT_EQ(watcher.epochs[e].num_epochs, 4);
    EXPECT_EQ(watcher.epochs[e].num_steps, 6);
    EXPECT_EQ(watcher.validations[e].count, 60);
    EXPECT_GT(watcher.epochs[e].train_loss, 0);
    EXPECT_EQ(watcher.threads[e], std::this_thread::get_id());
  }
  EXPECT_EQ(watcher.epochs[0].best, 1);
  auto progress = info<gnnmg_progress_info>();
  ASSERT_OK(gnnmg_trainer_progress(trainer, &progress));
  EXPECT_EQ(progress.state, GNNMG_TRAINER_STATE_FINISHED);
  EXPECT_EQ(progress.has_validation, 1);
  EXPECT_EQ(progress.device, GNNMG_DEVICE_CPU);
  EXPECT_EQ(progress.num_ranks, 1);
  EXPECT_EQ(watcher.epochs[0].device, GNNMG_DEVICE_CPU);
  EXPECT_EQ(watcher.epochs[0].num_ranks, 1);
  EXPECT_EQ(progress.times.total, watcher.epochs.back().times.total);
  EXPECT_EQ(progress.times.compute, watcher.epochs.back().times.compute);
  EXPECT_GT(progress.times.compute, 0);
  auto rank = info<gnnmg_rank_info>();
  ASSERT_OK(gnnmg_trainer_get_rank_info(trainer, 0, &rank));
  EXPECT_EQ(rank.device, -1);
  EXPECT_EQ(rank.epoch, 3);
  EXPECT_EQ(rank.num_steps, 6);
  EXPECT_EQ(rank.times.total, progress.times.total);
  EXPECT_EQ(rank.times.compute, progress.times.compute);
  EXPECT_EQ(rank.num_rows, 0);
  EXPECT_NEAR(rank.times.compute + rank.times.reduce + rank.times.optimizer + rank.idle_seconds,
              rank.times.total, 1e-9);
  EXPECT_GE(rank.idle_seconds, rank.times.wait - 1e-9);
  EXPECT_FAILS(gnnmg_trainer_get_rank_info(trainer, -1, &rank), GNNMG_ERR_NOT_FOUND, "index");
  auto plan = info<gnnmg_memory_info>();
  EXPECT_FAILS(gnnmg_trainer_get_memory_info(trainer, 0, &plan), GNNMG_ERR_NOT_FOUND,
               "works on the CPU");
  ASSERT_OK(gnnmg_trainer_get_memory_info(trainer, size_t{80} << 30, &plan));
  EXPECT_EQ(plan.fits, 1);
  EXPECT_GT(plan.step_bytes, 0);
  ASSERT_OK(gnnmg_trainer_get_memory_info(trainer, 4096, &plan));
  EXPECT_EQ(plan.fits, 0);
  EXPECT_FAILS(gnnmg_trainer_get_memory_info(trainer, SIZE_MAX, &plan), GNNMG_ERR_INVALID_ARGUMENT,
               "gpu_bytes");

  auto by_trainer = info<gnnmg_metrics>(), by_model = info<gnnmg_metrics>();
  ASSERT_OK(until_done(
      [&] { return gnnmg_trainer_evaluate(trainer, GNNMG_PART_TEST, &by_trainer, nullptr, 1); }));
  ASSERT_OK(gnnmg_model_evaluate(model, world.dataset, GNNMG_PART_TEST, 0, &by_model, nullptr, -1));
  EXPECT_EQ(by_trainer.count, by_model.count);
  EXPECT_EQ(by_trainer.correct, by_model.correct);
  EXPECT_NEAR(by_trainer.loss, by_model.loss, 1e-6);
  Model same;
  ASSERT_OK(gnnmg_trainer_get_model(trainer, same.out()));
  EXPECT_NE(same.get(), model.get());  // a separate token
  EXPECT_EQ(weights(same), weights(model));
}

TEST(TrainerTest, ACallbackThatAnswersNonZeroEndsTraining) {
  World world;
  world.training.num_ranks = 2;
  world.training.num_epochs = 10;
  const Sampler sampler = world.make_sampler();
  const Model model = world.make_model();
  const Trainer trainer = world.make_trainer(model, sampler);
  Watcher watcher;
  watcher.stop_after = 1;
  watcher.answer = 77;
  EXPECT_FAILS(gnnmg_trainer_run(trainer, Watcher::on_epoch, &watcher, Watcher::release),
               GNNMG_ERR_CALLBACK, "77");
  EXPECT_EQ(watcher.epochs.size(), 2u);
  EXPECT_EQ(watcher.released, 1);
  auto facts = info<gnnmg_model_info>();
  EXPECT_OK(gnnmg_model_get_info(model, &facts));  // the model is free again
  EXPECT_EQ(static_cast<int64_t>(weights(model).size()), facts.num_parameters);
  EXPECT_OK(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr));  // training continues
}

TEST(TrainerTest, WhatACallbackMayDoAndWhatNot) {
  World world;
  const Sampler sampler = world.make_sampler();
  const Model model = world.make_model(), other = world.make_model();
  const Trainer trainer = world.make_trainer(model, sampler);
  const Loader loader = world.make_loader(sampler);
  Watcher watcher;
  watcher.inside = [&] {
    auto progress = info<gnnmg_progress_info>();
    EXPECT_OK(gnnmg_trainer_progress(trainer, &progress));  // (a)
    auto facts = info<gnnmg_dataset_info>();
    EXPECT_OK(gnnmg_dataset_get_info(world.dataset, &facts));  // (b)
    std::vector<float> three{1, 2, 3};
    EXPECT_OK(gnnmg_model_set_tensor(other, "convs.1.lin_l.bias", wrap(three)));  // (c), free
    EXPECT_EQ(gnnmg_model_set_tensor(model, "convs.1.lin_l.bias", wrap(three)), GNNMG_ERR_BUSY);
    EXPECT_EQ(gnnmg_trainer_start(trainer, nullptr, nullptr, nullptr), GNNMG_ERR_BUSY);
    Batch batch;  // waiting is refused
    EXPECT_FAILS(gnnmg_loader_next(loader, batch.out(), 0), GNNMG_ERR_BUSY, "inside a callback");
    EXPECT_EQ(gnnmg_trainer_wait(trainer, 0), GNNMG_ERR_BUSY);
    EXPECT_EQ(gnnmg_context_lend(world.context, 0), GNNMG_ERR_BUSY);
    auto metrics = info<gnnmg_metrics>();
    EXPECT_EQ(gnnmg_model_evaluate(other, world.dataset, GNNMG_PART_TEST, 0, &metrics, nullptr, -1),
              GNNMG_ERR_BUSY);
    const int64_t seed = 0;
    EXPECT_EQ(gnnmg_sampler_sample(sampler, nullptr, &seed, 1, nullptr, 0, 0, 0, batch.out(), -1),
              GNNMG_ERR_BUSY);
  };
  EXPECT_OK(gnnmg_trainer_run(trainer, Watcher::on_epoch, &watcher, nullptr));
  EXPECT_EQ(watcher.epochs.size(), 2u);
}

TEST(TrainerTest, ACallbackThatThrowsIsACallbackError) {
  World world;
  const Sampler sampler = world.make_sampler();
  const Model model = world.make_model();
  const Trainer trainer = world.make_trainer(model, sampler);
  Watcher watcher;
  watcher.inside = [] { throw 42; };
  EXPECT_FAILS(gnnmg_trainer_run(trainer, Watcher::on_epoch, &watcher, Watcher::release),
               GNNMG_ERR_CALLBACK, "exception");
  EXPECT_EQ(watcher.released, 1);
}

TEST(TrainerTest, AFailedSamplerIsNamedAndReleased) {
  World world;
  world.training.num_ranks = 2;
  static std::atomic<int> released;
  released = 0;
  Sampler sampler;
  ASSERT_OK(gnnmg_sampler_create_custom(
      world.graph, nullptr, nullptr,
      [](const gnnmg_layer_info* layer, const int64_t*, int64_t, gnnmg_sink*, void*) {
        return static_cast<int32_t>(layer->batch == 3 ? 5 : 0);
      },
      nullptr, [](void*) { ++released; }, sampler.out()));
  const Model model = world.make_model();
  Trainer trainer = world.make_trainer(model, sampler);
  EXPECT_FAILS(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr), GNNMG_ERR_CALLBACK,
               "answered 5");
  EXPECT_NE(std::string(gnnmg_last_error()).find("mini-batch 3"), std::string::npos);
  sampler.reset();
  EXPECT_EQ(released, 0);  // the trainer still has it
  trainer.reset();
  EXPECT_TRUE(eventually([&] {
    EXPECT_OK(gnnmg_context_lend(world.context, 0));
    return released == 1;
  }));
}

TEST(TrainerTest, WhatIsDoneWithIsReleasedByTheLastFree) {
  static std::atomic<int> released;
  released = 0;
  const auto sample = [](const gnnmg_layer_info*, const int64_t*, int64_t, gnnmg_sink*,
                         void*) -> int32_t { return 0; };
  World world;
  Model model = world.make_model();
  for (int round = 1; round <= 20; ++round) {
    Sampler sampler;
    ASSERT_OK(gnnmg_sampler_create_custom(
        world.graph, nullptr, nullptr, sample, nullptr, [](void*) { ++released; }, sampler.out()));
    if (round % 2 == 1) {
      Trainer trainer = world.make_trainer(model, sampler);
      ASSERT_OK(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr));
      sampler.reset();
      EXPECT_EQ(released, round - 1);
      trainer.reset();
    } else {
      Loader loader = world.make_loader(sampler);
      Batch batch;
      while (gnnmg_loader_next(loader, batch.out(), -1) == GNNMG_OK) batch.reset();
      sampler.reset();
      EXPECT_EQ(released, round - 1);
      loader.reset();
    }
    EXPECT_EQ(released, round);
  }
}

TEST(TrainerTest, StartAndWaitInSlices) {
  World world;
  world.training.num_epochs = 5;
  const Sampler sampler = world.make_sampler();
  const Model model = world.make_model();
  const Trainer trainer = world.make_trainer(model, sampler);
  EXPECT_FAILS(gnnmg_trainer_wait(trainer, 0), GNNMG_ERR_INVALID_ARGUMENT, "not started");
  Watcher watcher;
  ASSERT_OK(gnnmg_trainer_start(trainer, Watcher::on_epoch, &watcher, Watcher::release));
  Watcher second;
  EXPECT_EQ(gnnmg_trainer_start(trainer, Watcher::on_epoch, &second, Watcher::release),
            GNNMG_ERR_BUSY);
  EXPECT_EQ(second.released, 1);
  auto facts = info<gnnmg_model_info>();
  EXPECT_EQ(gnnmg_model_get_info(model, &facts), GNNMG_ERR_BUSY);
  auto metrics = info<gnnmg_metrics>();
  EXPECT_EQ(gnnmg_trainer_evaluate(trainer, GNNMG_PART_TEST, &metrics, nullptr, -1),
            GNNMG_ERR_BUSY);
  EXPECT_EQ(gnnmg_trainer_step(trainer, nullptr, -1), GNNMG_ERR_BUSY);
  EXPECT_EQ(watcher.epochs.size(), 0u);  // no thread waits, so nothing is called
  int pending = 0;
  EXPECT_OK(until_done([&] { return gnnmg_trainer_wait(trainer, 1); }, &pending));
  EXPECT_EQ(watcher.epochs.size(), 5u);
  EXPECT_EQ(watcher.released, 1);
  EXPECT_OK(gnnmg_model_get_info(model, &facts));
  EXPECT_EQ(gnnmg_trainer_wait(trainer, 0), GNNMG_ERR_INVALID_ARGUMENT);
}

TEST(TrainerTest, StopEndsBetweenStepsAndStartGoesOn) {
  World world = plain_world();
  world.training.num_epochs = 40;
  const Sampler sampler = world.make_sampler();
  const std::vector<float> expected = trained(world, sampler);
  const Model model = world.make_model();
  const Trainer trainer = world.make_trainer(model, sampler);
  auto progress = info<gnnmg_progress_info>();
  Watcher stopper;  // stops the first start after an epoch, whenever the others finish
  stopper.inside = [&] { gnnmg_trainer_stop(trainer); };
  int stops = 0;
  do {
    if (stops == 0) {
      ASSERT_OK(gnnmg_trainer_start(trainer, Watcher::on_epoch, &stopper, nullptr));
    } else {
      ASSERT_OK(gnnmg_trainer_start(trainer, nullptr, nullptr, nullptr));
      std::this_thread::sleep_for(std::chrono::milliseconds(15));
      gnnmg_trainer_stop(trainer);
    }
    ASSERT_OK(gnnmg_trainer_wait(trainer, -1));
    ASSERT_OK(gnnmg_trainer_progress(trainer, &progress));
    ++stops;
  } while (progress.state != GNNMG_TRAINER_STATE_FINISHED && stops < 5000);
  EXPECT_GT(stops, 1);
  EXPECT_EQ(weights(model), expected);
  gnnmg_trainer_stop(nullptr);
}

TEST(TrainerTest, CancelFromASecondThread) {
  World world(2000);
  world.training.num_epochs = 1000000;
  world.training.num_ranks = 2;
  const Sampler sampler = world.make_sampler();
  const Model model = world.make_model();
  Trainer trainer = world.make_trainer(model, sampler);
  std::chrono::steady_clock::time_point cancelled;
  std::thread second([&] {
    auto progress = info<gnnmg_progress_info>();
    EXPECT_TRUE(eventually([&] {
      EXPECT_OK(gnnmg_trainer_progress(trainer, &progress));
      return progress.state == GNNMG_TRAINER_STATE_RUNNING && progress.step > 2;
    }));
    cancelled = std::chrono::steady_clock::now();
    gnnmg_trainer_cancel(trainer);
  });
  EXPECT_EQ(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr), GNNMG_ERR_CANCELLED);
  second.join();
  EXPECT_LT(std::chrono::steady_clock::now() - cancelled, std::chrono::seconds(10));
  const auto half_way = weights(model);  // the model is free and usable
  double loss = 0;
  EXPECT_OK(gnnmg_trainer_step(trainer, &loss, -1));  // training continues from there
  EXPECT_NE(weights(model), half_way);
  gnnmg_trainer* stale = trainer;
  trainer.reset();
  gnnmg_trainer_cancel(stale);
  gnnmg_trainer_cancel(nullptr);
}

// A free after a run has found its handle and before its ranks have started.
TEST(TrainerTest, FreeingOneThatIsAboutToRunEndsItAsWell) {
  World world(200);
  world.training.num_epochs = 1000000;
  const Sampler sampler = world.make_sampler();
  const Model model = world.make_model();
  for (int round = 0; round < 300; ++round) {
    Trainer trainer = world.make_trainer(model, sampler);
    gnnmg_trainer* const token = trainer;
    std::atomic<bool> ready{false};
    std::thread runs([&] {
      ready = true;
      const gnnmg_status status = gnnmg_trainer_run(token, nullptr, nullptr, nullptr);
      EXPECT_TRUE(status == GNNMG_ERR_CANCELLED || status == GNNMG_ERR_HANDLE)
          << gnnmg_status_name(status);
    });
    while (!ready) std::this_thread::yield();
    const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(300 * round);
    while (std::chrono::steady_clock::now() < until) {
    }
    trainer.reset();
    runs.join();
    auto facts = info<gnnmg_model_info>();
    EXPECT_TRUE(eventually([&] { return gnnmg_model_get_info(model, &facts) == GNNMG_OK; }));
  }
}

TEST(TrainerTest, FreeingARunningTrainerCancelsIt) {
  World world(2000);
  world.training.num_epochs = 1000000;
  const Sampler sampler = world.make_sampler();
  const Model model = world.make_model();
  Trainer trainer = world.make_trainer(model, sampler);
  Watcher watcher;
  ASSERT_OK(gnnmg_trainer_start(trainer, Watcher::on_epoch, &watcher, Watcher::release));
  EXPECT_EQ(gnnmg_trainer_wait(trainer, 30), GNNMG_PENDING);
  EXPECT_FAILS(gnnmg_trainer_step(trainer, nullptr, 0), GNNMG_ERR_BUSY, "gnnmg_trainer_wait()");
  auto of_model = info<gnnmg_model_info>();
  EXPECT_FAILS(gnnmg_model_get_info(model, &of_model), GNNMG_ERR_BUSY,
               "from gnnmg_trainer_start()");
  const auto start = std::chrono::steady_clock::now();
  trainer.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  auto facts = info<gnnmg_model_info>();
  EXPECT_TRUE(eventually([&] {  // the model is free once the ranks have ended
    const gnnmg_status status = gnnmg_model_get_info(model, &facts);
    EXPECT_TRUE(status == GNNMG_OK || status == GNNMG_ERR_BUSY);
    return status == GNNMG_OK && watcher.released == 1;
  }));
}

TEST(TrainerTest, RecordsAreWritten) {
  World world;
  const TempDir folder;
  const Sampler sampler = world.make_sampler();
  const Model model = world.make_model();
  const Trainer trainer = world.make_trainer(model, sampler);
  const std::string lines = folder.file("epochs.jsonl");
  ASSERT_OK(gnnmg_trainer_set_record(trainer, GNNMG_RECORD_JSON_LINES, lines.c_str()));
  ASSERT_OK(
      gnnmg_trainer_set_record(trainer, GNNMG_RECORD_TENSORBOARD, folder.file("events").c_str()));
  ASSERT_OK(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr));
  const std::string text = slurp(lines);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_EQ(text.front(), '{');
  EXPECT_EQ(folder.list().size(), 3u);  // the file, the folder, its event file
  EXPECT_EQ(gnnmg_trainer_set_record(trainer, 9, "x"), GNNMG_ERR_INVALID_ARGUMENT);
}

TEST(TrainerTest, WhatDoesNotFitIsRefusedAtOnce) {
  World world;
  const Sampler sampler = world.make_sampler();
  const Model model = world.make_model();
  Trainer trainer;
  const auto refused = [&](gnnmg_status status, const char* part) {
    EXPECT_FAILS(gnnmg_trainer_create(model, world.dataset, sampler, nullptr, &world.training,
                                      world.training.text(), trainer.out()),
                 status, part);
    world.training = {};
  };
  world.training.batch_size = -1;
  refused(GNNMG_ERR_INVALID_ARGUMENT, "batch_size");
  world.training.learning_rate = -1;
  refused(GNNMG_ERR_INVALID_ARGUMENT, "learning_rate");
  world.training.num_epochs = -1;
  refused(GNNMG_ERR_INVALID_ARGUMENT, "num_epochs");
  world.training.set("shuffle=2");
  refused(GNNMG_ERR_INVALID_ARGUMENT, "settings: shuffle=2");
  world.training.set("schedule=9");
  refused(GNNMG_ERR_INVALID_ARGUMENT, "settings: schedule=9");
  world.training.num_ranks = -3;
  refused(GNNMG_ERR_INVALID_ARGUMENT, "config.num_ranks is -3");

  world.layers.num_layers = 3;
  const Model deeper = world.make_model();
  EXPECT_EQ(gnnmg_trainer_create(deeper, world.dataset, sampler, nullptr, nullptr, nullptr,
                                 trainer.out()),
            GNNMG_ERR_INVALID_ARGUMENT);
  gnnmg_comm* end = nullptr;
  ASSERT_OK(gnnmg_comm_create_group(world.context, 1, nullptr, &end));
  const Comm comm(end);
  EXPECT_FAILS(
      gnnmg_trainer_create(model, world.dataset, sampler, comm, nullptr, nullptr, trainer.out()),
      GNNMG_ERR_UNSUPPORTED, "pass NULL");
  Dataset bare;
  ASSERT_OK(gnnmg_dataset_create(world.graph, "x", "y", 0, 0, bare.out()));
  EXPECT_FAILS(gnnmg_trainer_create(model, bare, sampler, nullptr, nullptr, nullptr, trainer.out()),
               GNNMG_ERR_NOT_FOUND, "no split");

  // Evaluation would follow other edges than training.
  world.sampling.set("outgoing=1");
  const Sampler outwards = world.make_sampler();
  EXPECT_FAILS(gnnmg_trainer_create(model, world.dataset, outwards, nullptr, nullptr, nullptr,
                                    trainer.out()),
               GNNMG_ERR_UNSUPPORTED, "GNNMG_TRANSFORM_REVERSE_EDGES");
  world.sampling.set("outgoing=0");
  Graph turned, back;
  ASSERT_OK(
      gnnmg_graph_create_transformed(world.graph, GNNMG_TRANSFORM_REVERSE_EDGES, 0, turned.out()));
  Sampler elsewhere;
  ASSERT_OK(gnnmg_sampler_create(turned, &world.sampling, world.sampling.text(), elsewhere.out()));
  EXPECT_FAILS(gnnmg_trainer_create(model, world.dataset, elsewhere, nullptr, nullptr, nullptr,
                                    trainer.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "other edges than the data set's");
  EXPECT_EQ(trainer.get(), nullptr);
  // Another handle, or another copy of the same edges, is the same graph.
  ASSERT_OK(gnnmg_graph_create_transformed(turned, GNNMG_TRANSFORM_REVERSE_EDGES, 0, back.out()));
  ASSERT_OK(gnnmg_sampler_create(back, &world.sampling, world.sampling.text(), elsewhere.out()));
  EXPECT_OK(gnnmg_trainer_create(model, world.dataset, elsewhere, nullptr, nullptr, nullptr,
                                 trainer.out()));
}

TEST(TrainerTest, GoesOnFromACheckpoint) {
  World world = plain_world();
  world.training.num_epochs = 4;
  const Sampler sampler = world.make_sampler();
  const std::vector<float> expected = trained(world, sampler);
  const TempDir folder;
  CheckpointConfig config;
  config.every_steps = 2;
  const std::string run = folder.file("run");
  {
    const Model model = world.make_model();
    const Trainer trainer = world.make_trainer(model, sampler);
    EXPECT_FAILS(gnnmg_trainer_load(trainer, run.c_str(), -1), GNNMG_ERR_NOT_FOUND, "run");
    auto error = info<gnnmg_error_info>();
    ASSERT_OK(gnnmg_last_error_info(&error));
    EXPECT_EQ(error.system_error, ENOENT);
    ASSERT_OK(gnnmg_trainer_set_checkpoints(trainer, run.c_str(), &config));
    for (int i = 0; i < 5; ++i)
      ASSERT_OK(until_done([&] { return gnnmg_trainer_step(trainer, nullptr, -1); }));
    ASSERT_OK(
        until_done([&] { return gnnmg_trainer_save(trainer, folder.file("five").c_str(), 0); }));
    EXPECT_FAILS(gnnmg_trainer_save(trainer, folder.file("five").c_str(), -1),
                 GNNMG_ERR_INVALID_ARGUMENT, "five: exists already");
  }
  // The writer may be late, and finishes with the free at the latest.
  EXPECT_TRUE(eventually([&] {
    return base::exists(run + "/latest") && slurp(run + "/latest") == "000001-step-4\n";
  }));
  for (const std::string& path : {run, folder.file("five")}) {
    const Model model = world.make_model();
    const Trainer trainer = world.make_trainer(model, sampler);
    ASSERT_OK(until_done([&] { return gnnmg_trainer_load(trainer, path.c_str(), 0); }));
    auto progress = info<gnnmg_progress_info>();
    ASSERT_OK(gnnmg_trainer_progress(trainer, &progress));
    EXPECT_EQ(progress.epoch, 1);
    EXPECT_EQ(progress.step, path == run ? 1 : 2);
    ASSERT_OK(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr));
    EXPECT_EQ(weights(model), expected) << path;
  }
  world.training.seed += 1;
  const Model model = world.make_model();
  const Trainer other = world.make_trainer(model, sampler);
  EXPECT_FAILS(gnnmg_trainer_load(other, run.c_str(), -1), GNNMG_ERR_MISMATCH, "seed is");
  config.keep = -1;
  EXPECT_FAILS(gnnmg_trainer_set_checkpoints(other, run.c_str(), &config),
               GNNMG_ERR_INVALID_ARGUMENT, "keep");
  EXPECT_OK(gnnmg_trainer_set_checkpoints(other, nullptr, nullptr));
  ASSERT_OK(gnnmg_trainer_start(other, nullptr, nullptr, nullptr));
  EXPECT_FAILS(gnnmg_trainer_save(other, folder.file("busy").c_str(), -1), GNNMG_ERR_BUSY, "");
  ASSERT_OK(until_done([&] { return gnnmg_trainer_wait(other, -1); }));
}

}  // namespace
}  // namespace gnnmg::test
