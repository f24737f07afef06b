// Training on GPUs through the header, on a machine with two fake ones (tests/fake_machine):
// results equal those of the CPU for any placement of graph and features; errors if they do not
// fit, cannot be pinned, or a GPU fails.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>

#include "capi/fake_controls.h"
#include "capi/support.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

struct Curve {
  std::vector<double> losses;
  double accuracy = 0;
  std::function<void(int64_t epoch)> after = [](int64_t) {};
};
int32_t on_epoch(const gnnmg_epoch_info* epoch, void* user_data) {
  auto& curve = *static_cast<Curve*>(user_data);
  curve.losses.push_back(epoch->train_loss);
  curve.after(epoch->epoch);
  return 0;
}

// Two mini-batches per step, for any number of ranks.
struct Training : World {
  explicit Training(gnnmg_device_type device) : World(600) {
    training.device = device;
    training.num_ranks = 2;
    training.batches_per_step = 2;
    training.num_epochs = 3;
    training.set("keep_best=0");
    layers.dropout = 0.3;
  }
  gnnmg_status make() {
    sampler = make_sampler();
    model = make_model();
    return gnnmg_trainer_create(model, dataset, sampler, nullptr, &training, training.text(),
                                trainer.out());
  }
  Curve run() {
    Curve curve;
    EXPECT_OK(gnnmg_trainer_run(trainer, on_epoch, &curve, nullptr));
    auto metrics = info<gnnmg_metrics>();
    EXPECT_OK(gnnmg_trainer_evaluate(trainer, GNNMG_PART_TEST, &metrics, nullptr, -1));
    curve.accuracy = metrics.accuracy;
    return curve;
  }
  Sampler sampler;
  Model model;
  Trainer trainer;
};

Curve on_cpu() {
  Training training(GNNMG_DEVICE_CPU);
  EXPECT_OK(training.make());
  return training.run();
}

void expect_close(const Curve& curve, const Curve& wanted, double tolerance) {
  ASSERT_EQ(curve.losses.size(), wanted.losses.size());
  for (size_t i = 0; i < wanted.losses.size(); ++i)
    EXPECT_NEAR(curve.losses[i], wanted.losses[i], tolerance) << "epoch " << i;
  EXPECT_NEAR(curve.accuracy, wanted.accuracy, std::max(0.03, tolerance));
}

TEST(GpuTrainer, TrainsAsTheCpuDoes) {
  const Curve wanted = on_cpu();
  EXPECT_LT(wanted.losses.back(), wanted.losses.front());
  for (const int32_t ranks : {2, 1, 0}) {
    Training training(GNNMG_DEVICE_CUDA);
    training.training.num_ranks = ranks;
    ASSERT_OK(training.make());
    expect_close(training.run(), wanted, 1e-4);
  }
}

TEST(GpuTrainer, TrainsWhereverGraphAndFeaturesLie) {
  const Curve wanted = on_cpu();
  const std::pair<const char*, double> cases[] = {
      {"graph_placement=device feature_placement=device", 1e-4},
      {"graph_placement=pinned feature_placement=pinned", 1e-4},
      {"graph_placement=host feature_placement=host", 1e-4},
      {"graph_placement=device feature_placement=cached cache_bytes=4096", 1e-4},
      {"feature_placement=cached cache_bytes=4096 hotness=degree", 1e-4},
      {"feature_placement=split cache_bytes=4096", 1e-4},
      {"graph_placement=pinned feature_placement=split feature_form=int8", 0.05},
      {"feature_placement=cached cache_bytes=4096 hotness=counting", 1e-4},
      {"feature_placement=device feature_form=f16", 0.01},
      {"feature_placement=pinned feature_form=bf16", 0.05},
      {"feature_placement=device feature_form=int8", 0.05},
  };
  for (const auto& [settings, tolerance] : cases) {
    SCOPED_TRACE(settings);
    Training training(GNNMG_DEVICE_CUDA);
    training.training.set(settings);
    ASSERT_OK(training.make());
    expect_close(training.run(), wanted, tolerance);
  }
}

TEST(GpuTrainer, CapturesItsStepsWhereTheyCanBe) {
  const Curve wanted = on_cpu();
  for (const char* capture : {"capture=on", "capture=off", "capture=auto", "capture=unpadded"}) {
    Training training(GNNMG_DEVICE_CUDA);
    training.training.set(capture);
    ASSERT_OK(training.make());
    expect_close(training.run(), wanted, 1e-4);
  }
  Training training(GNNMG_DEVICE_CUDA);
  training.training.set("capture=on feature_placement=host");
  ASSERT_OK(training.make());
  EXPECT_FAILS(gnnmg_trainer_run(training.trainer, nullptr, nullptr, nullptr),
               GNNMG_ERR_UNSUPPORTED, "cannot be captured: the host gathers the rows of features");
}

// All messages of a context, one per line.
std::string log_of(gnnmg_context* context) {
  auto facts = info<gnnmg_log_info>();
  char text[1000];
  size_t needed;
  std::string lines;
  while (gnnmg_log_next(context, &facts, text, sizeof text, &needed) == GNNMG_OK)
    lines += std::string(text) + '\n';
  return lines;
}

// Dropout, a short mini-batch and two ranks: captured and eager steps agree to the last bit. The
// empty rows that pad mini-batches change results only by rounding.
TEST(GpuTrainer, CapturedAndEagerStepsHaveTheSameBits) {
  const struct {
    const char *settings, *said;
  } ways[] = {
      {"capture=on", "rank 1: steps are captured and repeated, for mini-batches of up to "},
      {"capture=auto", "rank 1: steps are captured and repeated, for mini-batches of up to "},
      {"capture=off",
       "rank 1: steps are eager, over the shapes of captured ones, for "
       "mini-batches of up to "},
      {"capture=unpadded", "rank 1: steps are eager, without padding: capture is unpadded"},
  };
  std::vector<float> expected;
  for (const auto& way : ways) {
    SCOPED_TRACE(way.settings);
    const bool padded = std::string(way.settings) != "capture=unpadded";
    Training training(GNNMG_DEVICE_CUDA);
    training.training.set(way.settings);
    training.training.set("torch_threads=1");  // fake GPUs sum with LibTorch's threads of the CPU
    ASSERT_OK(training.make());
    auto plan = info<gnnmg_memory_info>();
    ASSERT_OK(gnnmg_trainer_get_memory_info(training.trainer, 0, &plan));
    EXPECT_EQ(plan.capture_bytes > 0, padded);
    (void)training.run();
    const std::string log = log_of(training.context);
    EXPECT_NE(log.find(way.said), std::string::npos) << log;
    const std::vector<float> found = weights(training.model);
    if (expected.empty()) expected = found;
    ASSERT_EQ(found.size(), expected.size());
    if (padded)
      EXPECT_EQ(found, expected);
    else
      for (size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-3) << i;
  }
  Training training(GNNMG_DEVICE_CUDA);
  training.training.set("capture=padded");
  EXPECT_FAILS(training.make(), GNNMG_ERR_INVALID_ARGUMENT, "capture");
}

// Eager steps continue from a checkpoint of captured steps as captured steps would.
TEST(GpuTrainer, EagerStepsGoOnFromCapturedOnes) {
  const TempDir folder;
  const std::string saved = folder.file("checkpoint");
  std::vector<float> expected;
  for (const bool capture : {true, false}) {
    Training training(GNNMG_DEVICE_CUDA);
    training.training.set(capture ? "capture=on torch_threads=1" : "capture=off torch_threads=1");
    ASSERT_OK(training.make());
    if (capture) {
      for (int i = 0; i < 3; ++i) ASSERT_OK(gnnmg_trainer_step(training.trainer, nullptr, -1));
      ASSERT_OK(gnnmg_trainer_save(training.trainer, saved.c_str(), -1));
    } else {
      ASSERT_OK(gnnmg_trainer_load(training.trainer, saved.c_str(), -1));
    }
    (void)training.run();
    if (capture)
      expected = weights(training.model);
    else
      EXPECT_EQ(weights(training.model), expected);
  }
}

TEST(GpuTrainer, PlansItsMemory) {
  Training training(GNNMG_DEVICE_CUDA);
  training.training.num_ranks = 1;
  ASSERT_OK(training.make());
  auto free = info<gnnmg_memory_info>(), large = info<gnnmg_memory_info>();
  ASSERT_OK(gnnmg_trainer_get_memory_info(training.trainer, 0, &free));
  EXPECT_EQ(free.gpu_bytes, size_t{1} << 30);
  EXPECT_EQ(free.fits, 1);
  EXPECT_EQ(free.bounded, 1);
  EXPECT_EQ(free.reserve_bytes, size_t{1} << 24);
  EXPECT_EQ(free.graph_placement, GNNMG_GRAPH_PLACEMENT_DEVICE);
  EXPECT_EQ(free.feature_placement, GNNMG_FEATURE_PLACEMENT_DEVICE);
  EXPECT_EQ(free.total_bytes,
            free.graph_bytes + free.feature_bytes + free.sampler_bytes + free.row_bytes +
                std::max(free.step_bytes, free.evaluation_bytes) + free.parameter_bytes +
                free.optimizer_bytes + free.communication_bytes + free.capture_bytes +
                free.reserve_bytes);
  EXPECT_GT(free.capture_bytes, 0);
  ASSERT_OK(gnnmg_trainer_get_memory_info(training.trainer, 80'000'000'000, &large));
  EXPECT_EQ(large.reserve_bytes, size_t{1} << 30);
  EXPECT_EQ(large.total_bytes - large.reserve_bytes, free.total_bytes - free.reserve_bytes);
  // With that much memory it trains; with half of a step's need it is refused in advance.
  set_memory(0, static_cast<int64_t>(free.total_bytes - free.reserve_bytes - free.capture_bytes -
                                     free.step_bytes / 2 - free.graph_bytes));
  EXPECT_FAILS(gnnmg_trainer_run(training.trainer, nullptr, nullptr, nullptr), GNNMG_ERR_NO_MEMORY,
               "has no room for the training");
  set_memory(0, int64_t{1} << 30);
  EXPECT_OK(gnnmg_trainer_run(training.trainer, nullptr, nullptr, nullptr));
}

void expect_times(const char* capture) {
  Training training(GNNMG_DEVICE_CUDA);
  training.training.set(capture);
  training.training.set("feature_placement=cached cache_bytes=4096");
  ASSERT_OK(training.make());
  const TempDir folder;
  const std::string log = folder.file("epochs.jsonl");
  ASSERT_OK(gnnmg_trainer_set_record(training.trainer, GNNMG_RECORD_JSON_LINES, log.c_str()));
  (void)training.run();
  auto facts = info<gnnmg_rank_info>();
  for (int32_t r = 0; r < 2; ++r) {
    ASSERT_OK(gnnmg_trainer_get_rank_info(training.trainer, r, &facts));
    EXPECT_EQ(facts.rank, r);
    EXPECT_EQ(facts.device, r);
    EXPECT_EQ(facts.epoch, 2);
    EXPECT_GT(facts.num_steps, 0);
    EXPECT_GT(facts.times.compute, 0);
    EXPECT_GT(facts.times.reduce, 0);
    EXPECT_GE(facts.times.reduce, facts.times.peer_wait);
    EXPECT_GT(facts.times.optimizer, 0);
    const double busy = facts.times.compute + facts.times.reduce + facts.times.optimizer;
    EXPECT_LE(facts.times.wait + busy, facts.times.total * 1.001);
    EXPECT_GE(facts.idle_seconds, 0);
    EXPECT_NEAR(busy + facts.idle_seconds, facts.times.total, facts.times.total * 1e-3);
    EXPECT_GT(facts.num_rows, 0);
    EXPECT_GT(facts.num_rows_there, 0) << "a cache of the hottest rows is never hit";
    EXPECT_LT(facts.num_rows_there, facts.num_rows);
    EXPECT_GE(facts.bus_bytes, 128 * (facts.num_rows - facts.num_rows_there));
  }
  EXPECT_FAILS(gnnmg_trainer_get_rank_info(training.trainer, 2, &facts), GNNMG_ERR_NOT_FOUND,
               "this process has 2 ranks");
  std::ifstream lines(log);
  std::string last, line;
  while (std::getline(lines, line)) last = line;
  EXPECT_NE(last.find("\"ranks\":[{\"rank\":0,\"device\":0,"), std::string::npos) << last;
  EXPECT_NE(last.find(",\"idle_seconds\":"), std::string::npos) << last;
}

TEST(GpuTrainer, TellsWhereEachRanksTimeWent) {
  for (const char* capture : {"capture=unpadded", "capture=off", "capture=on"}) {
    SCOPED_TRACE(capture);
    expect_times(capture);
  }
}

TEST(GpuTrainer, GoesOnOnTheCpuFromItsCheckpoint) {
  const Curve wanted = on_cpu();
  const TempDir folder;
  const std::string saved = folder.file("checkpoint");
  Training first(GNNMG_DEVICE_CUDA);
  first.training.num_epochs = 1;
  ASSERT_OK(first.make());
  Curve curve;
  ASSERT_OK(gnnmg_trainer_run(first.trainer, on_epoch, &curve, nullptr));
  ASSERT_OK(gnnmg_trainer_save(first.trainer, saved.c_str(), -1));
  Training second(GNNMG_DEVICE_CPU);
  ASSERT_OK(second.make());
  ASSERT_OK(gnnmg_trainer_load(second.trainer, saved.c_str(), -1));
  const Curve rest = second.run();
  curve.losses.insert(curve.losses.end(), rest.losses.begin(), rest.losses.end());
  curve.accuracy = rest.accuracy;
  expect_close(curve, wanted, 1e-4);
}

TEST(GpuTrainer, SaysWhatDoesNotFit) {
  set_memory(0, 64 << 10);
  Training training(GNNMG_DEVICE_CUDA);
  training.training.num_ranks = 1;
  training.training.set("feature_placement=device");
  ASSERT_OK(gnnmg_graph_generate(training.context, "planted",
                                 "num_nodes=3000 num_classes=3 num_features=64",
                                 training.graph.out()));
  ASSERT_OK(gnnmg_dataset_create(training.graph, "x", "y", GNNMG_TASK_MULTICLASS, 3,
                                 training.dataset.out()));
  ASSERT_OK(gnnmg_dataset_add_random_split(training.dataset, "random", nullptr));
  ASSERT_OK(training.make());
  EXPECT_EQ(gnnmg_trainer_run(training.trainer, nullptr, nullptr, nullptr), GNNMG_ERR_NO_MEMORY);
  const std::string text = gnnmg_last_error();
  EXPECT_NE(text.find("GPU 0"), std::string::npos) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  // The model is unchanged, and training continues once there is memory.
  set_memory(0, int64_t{1} << 30);
  EXPECT_OK(gnnmg_trainer_run(training.trainer, nullptr, nullptr, nullptr));
}

TEST(GpuTrainer, SaysThatTheSystemRefusesToPin) {
  refuse_pinning(true);
  Training training(GNNMG_DEVICE_CUDA);
  training.training.set("feature_placement=pinned");
  ASSERT_OK(training.make());
  const gnnmg_status status = gnnmg_trainer_run(training.trainer, nullptr, nullptr, nullptr);
  EXPECT_TRUE(status == GNNMG_ERR_NO_MEMORY || status == GNNMG_ERR_UNSUPPORTED) << status;
  EXPECT_NE(std::string(gnnmg_last_error()).find("pin"), std::string::npos) << gnnmg_last_error();
  refuse_pinning(false);
  EXPECT_OK(gnnmg_trainer_run(training.trainer, nullptr, nullptr, nullptr));
}

TEST(GpuTrainer, SaysThatGpusCannotReadEachOther) {
  refuse_peer(1, 0, true);
  Training training(GNNMG_DEVICE_CUDA);
  training.training.set("feature_placement=split");
  ASSERT_OK(training.make());
  EXPECT_FAILS(gnnmg_trainer_run(training.trainer, nullptr, nullptr, nullptr),
               GNNMG_ERR_UNSUPPORTED, "GPU 1 cannot read memory of GPU 0");
  refuse_peer(1, 0, false);
  EXPECT_OK(gnnmg_trainer_run(training.trainer, nullptr, nullptr, nullptr));
}

TEST(GpuTrainer, NamesTheGpuThatIsLost) {
  Training training(GNNMG_DEVICE_CUDA);
  training.training.num_epochs = 50;
  ASSERT_OK(training.make());
  Curve curve;
  curve.after = [](int64_t epoch) {
    if (epoch == 1) lose(1);
  };
  EXPECT_FAILS(gnnmg_trainer_run(training.trainer, on_epoch, &curve, nullptr),
               GNNMG_ERR_DEVICE_LOST, "rank 1: GPU 1 (");
  auto facts = info<gnnmg_error_info>();
  ASSERT_OK(gnnmg_last_error_info(&facts));
  EXPECT_EQ(facts.rank, 1);
  auto device = info<gnnmg_device_info>();
  EXPECT_EQ(gnnmg_context_get_device_info(training.context, 1, &device), GNNMG_ERR_DEVICE_LOST);
  // The other GPU, and the CPU, continue from the same model.
  auto other = training.training;
  other.num_ranks = 0;
  other.num_epochs = 1;
  other.set("devices=0");
  ASSERT_OK(gnnmg_trainer_create(training.model, training.dataset, training.sampler, nullptr,
                                 &other, other.text(), training.trainer.out()));
  EXPECT_OK(gnnmg_trainer_run(training.trainer, nullptr, nullptr, nullptr));
  find_again(1);
}

TEST(GpuTrainer, ASnapshotInACallbackIsTheModelOfThatEpoch) {
  Training training(GNNMG_DEVICE_CUDA);
  ASSERT_OK(training.make());
  std::vector<std::vector<float>> seen;
  Curve curve;
  curve.after = [&](int64_t) {
    Model now;
    EXPECT_OK(gnnmg_trainer_snapshot(training.trainer, now.out()));
    seen.push_back(weights(now));
  };
  ASSERT_OK(gnnmg_trainer_run(training.trainer, on_epoch, &curve, nullptr));
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_NE(seen[0], seen[1]);
  EXPECT_EQ(seen[2], weights(training.model));
}

TEST(GpuTrainer, APredictorHasACopyOfAModelOnAGpuInMainMemory) {
  World world;
  const Model model = world.make_model();
  const auto predict = [&] {
    Predictor predictor;
    EXPECT_OK(gnnmg_predictor_create(model, world.dataset, "fanouts=4,3", predictor.out()));
    return predicted<float>(predictor, {7, 42, 7}, GNNMG_OUTPUT_LOGITS);
  };
  const std::vector<float> before = predict();
  ASSERT_OK(gnnmg_model_set_device(model, GNNMG_DEVICE_CUDA, 1, 0));
  EXPECT_EQ(predict(), before);
}

}  // namespace
}  // namespace gnnmg::test
