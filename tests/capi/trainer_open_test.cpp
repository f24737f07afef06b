// A trainer with a loss and rates of the caller's, frozen parameters, and weights of another model.
#include <cmath>
#include <vector>

#include "capi/support.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

World plain_world(int32_t ranks = 1) {
  World world;
  world.training.set("evaluate_every=0 keep_best=0");
  world.training.num_ranks = ranks;
  world.training.batches_per_step = 4;
  world.training.optimizer = GNNMG_OPTIMIZER_SGD;
  world.training.learning_rate = 0.1;
  return world;
}

// Cross-entropy, with notes about its calls.
struct OwnLoss {
  int calls = 0, released = 0;
  int64_t rows = 0;
  int32_t answer = 0;
  bool throws = false;
  std::thread::id thread;

  static int32_t compute(gnnmg_loss_batch* batch, void* data) {
    auto& own = *static_cast<OwnLoss*>(data);
    ++own.calls;
    own.rows += batch->num_rows;
    own.thread = std::this_thread::get_id();
    if (own.throws) throw 1;
    EXPECT_EQ(batch->dtype, GNNMG_DTYPE_F32);
    EXPECT_EQ(batch->targets, nullptr);
    const int64_t columns = batch->num_columns;
    for (int64_t i = 0; i < batch->num_rows; ++i) {
      if (batch->classes[i] < 0) continue;
      const float* row = static_cast<const float*>(batch->logits) + i * columns;
      float* gradient = static_cast<float*>(batch->gradient) + i * columns;
      double sum = 0;
      for (int64_t c = 0; c < columns; ++c) sum += std::exp(row[c]);
      batch->loss += batch->weights[i] * (std::log(sum) - row[batch->classes[i]]);
      for (int64_t c = 0; c < columns; ++c)
        gradient[c] = static_cast<float>(batch->weights[i] *
                                         (std::exp(row[c]) / sum - (c == batch->classes[i])));
    }
    return own.answer;
  }
  static void release(void* data) { ++static_cast<OwnLoss*>(data)->released; }
};

std::vector<float> tensor_of(const gnnmg_model* model, const char* key) {
  Tensor tensor;
  EXPECT_OK(gnnmg_model_export_tensor(model, key, tensor.out()));
  return values<float>(tensor);
}

std::string log_of(const gnnmg_context* context) {
  std::string all;
  char text[4096];
  size_t needed = 0;
  auto facts = info<gnnmg_log_info>();
  while (gnnmg_log_next(const_cast<gnnmg_context*>(context), &facts, text, sizeof text, &needed) ==
         GNNMG_OK)
    all += std::string(text) + "\n";
  return all;
}

class OwnLossTest : public testing::TestWithParam<std::tuple<int, bool, bool>> {};
INSTANTIATE_TEST_SUITE_P(Modes, OwnLossTest,
                         testing::Values(std::tuple(1, false, false), std::tuple(3, false, false),
                                         std::tuple(2, true, false), std::tuple(2, false, true)));

TEST_P(OwnLossTest, TrainsAsTheSameLossOfTheLibraryDoes) {
  const auto [ranks, deterministic, joint_norms] = GetParam();
  World world = plain_world(ranks);
  world.training.deterministic = deterministic;
  world.training.set("sync_batch_norm=" + std::to_string(joint_norms));
  world.layers.norm = GNNMG_NORM_BATCH;
  const Sampler sampler = world.make_sampler();
  const Model model = world.make_model(), other = world.make_model();
  const Trainer reference = world.make_trainer(model, sampler);
  ASSERT_OK(gnnmg_trainer_run(reference, nullptr, nullptr, nullptr));
  OwnLoss own;
  {
    const Trainer trainer = world.make_trainer(other, sampler);
    ASSERT_OK(gnnmg_trainer_set_loss(trainer, OwnLoss::compute, &own, OwnLoss::release));
    ASSERT_OK(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr));
    EXPECT_EQ(own.thread, std::this_thread::get_id());
    EXPECT_EQ(own.rows, 2 * 180);  // two epochs
    auto expected = info<gnnmg_metrics>(), found = info<gnnmg_metrics>();
    ASSERT_OK(gnnmg_trainer_evaluate(reference, GNNMG_PART_TEST, &expected, nullptr, -1));
    ASSERT_OK(gnnmg_trainer_evaluate(trainer, GNNMG_PART_TEST, &found, nullptr, -1));
    EXPECT_NEAR(found.loss, expected.loss, 1e-4);
  }
  EXPECT_TRUE(eventually([&] { return own.released == 1; }));
  const std::vector<float> a = weights(model), b = weights(other);
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-4) << i;
}

TEST(TrainerOpenTest, ALossFunctionThatFailsEndsTraining) {
  World world = plain_world(2);
  const Sampler sampler = world.make_sampler();
  OwnLoss own;
  own.answer = 7;
  const Model model = world.make_model();
  const Trainer trainer = world.make_trainer(model, sampler);
  ASSERT_OK(gnnmg_trainer_set_loss(trainer, OwnLoss::compute, &own, nullptr));
  EXPECT_FAILS(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr), GNNMG_ERR_CALLBACK,
               "the loss function answered 7");
  own.answer = 0;
  own.throws = true;
  EXPECT_FAILS(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr), GNNMG_ERR_CALLBACK,
               "threw an exception");
  own.throws = false;
  EXPECT_OK(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr));  // goes on
  EXPECT_FAILS(gnnmg_trainer_set_loss(trainer, nullptr, nullptr, nullptr), GNNMG_ERR_BUSY,
               "has begun");
  const Trainer other = world.make_trainer(model, sampler);
  ASSERT_OK(gnnmg_trainer_set_loss(other, OwnLoss::compute, &own, OwnLoss::release));
  ASSERT_OK(gnnmg_trainer_set_loss(other, nullptr, nullptr, nullptr));
  EXPECT_TRUE(eventually([&] { return own.released == 1; }));
  own.throws = true;
  EXPECT_OK(gnnmg_trainer_step(other, nullptr, -1));  // the library's loss
}

struct Rates {
  gnnmg_trainer* trainer = nullptr;
  std::vector<double> used;
  static int32_t halve(const gnnmg_epoch_info* epoch, void* data) {
    auto& own = *static_cast<Rates*>(data);
    own.used.push_back(epoch->learning_rate);
    EXPECT_OK(gnnmg_trainer_set_learning_rate(own.trainer, epoch->learning_rate / 2));
    return 0;
  }
};

TEST(TrainerOpenTest, TheRateOfACallbackReplacesTheSchedule) {
  for (const int32_t ranks : {1, 3}) {
    World world = plain_world(ranks);
    world.training.num_epochs = 4;
    world.training.set("schedule=cosine");
    const Sampler sampler = world.make_sampler();
    const Model model = world.make_model();
    const Trainer trainer = world.make_trainer(model, sampler);
    ASSERT_OK(gnnmg_trainer_set_learning_rate(trainer, 0.4));
    Rates rates{trainer, {}};
    ASSERT_OK(gnnmg_trainer_run(trainer, Rates::halve, &rates, nullptr));
    EXPECT_EQ(rates.used, (std::vector{0.4, 0.2, 0.1, 0.05}));
    EXPECT_FAILS(gnnmg_trainer_set_learning_rate(trainer, NAN), GNNMG_ERR_INVALID_ARGUMENT, "rate");
    EXPECT_FAILS(gnnmg_trainer_set_learning_rate(trainer, -1), GNNMG_ERR_INVALID_ARGUMENT, "-1");
  }
}

// A rate that is set before a checkpoint holds after it, and a checkpoint's replaces another.
TEST(TrainerOpenTest, CheckpointsKeepTheRate) {
  const TempDir folder;
  World world = plain_world(2);
  const Sampler sampler = world.make_sampler();
  const auto rate_after = [](gnnmg_trainer* trainer) {
    double rate = 0;
    EXPECT_OK(gnnmg_trainer_run(
        trainer,
        [](const gnnmg_epoch_info* epoch, void* out) {
          *static_cast<double*>(out) = epoch->learning_rate;
          return 0;
        },
        &rate, nullptr));
    return rate;
  };
  const Model model = world.make_model();
  const Trainer first = world.make_trainer(model, sampler);
  ASSERT_OK(gnnmg_trainer_step(first, nullptr, -1));
  ASSERT_OK(gnnmg_trainer_set_learning_rate(first, 0.03));
  ASSERT_OK(gnnmg_trainer_save(first, folder.file("asked").c_str(), -1));
  ASSERT_OK(gnnmg_trainer_step(first, nullptr, -1));
  ASSERT_OK(gnnmg_trainer_save(first, folder.file("used").c_str(), -1));
  const Model fresh = world.make_model();
  const Trainer unset = world.make_trainer(fresh, sampler);
  ASSERT_OK(gnnmg_trainer_save(unset, folder.file("unset").c_str(), -1));
  const std::vector<std::pair<const char*, double>> cases{
      {"asked", 0.03}, {"used", 0.03}, {"unset", 0.1}};
  for (const auto& [name, rate] : cases) {
    const Model other = world.make_model();
    const Trainer trainer = world.make_trainer(other, sampler);
    ASSERT_OK(gnnmg_trainer_set_learning_rate(trainer, 0.7));
    ASSERT_OK(gnnmg_trainer_load(trainer, folder.file(name).c_str(), -1));
    EXPECT_EQ(rate_after(trainer), rate) << name;
  }
}

TEST(TrainerOpenTest, FrozenParametersStayAndTheOthersTrainAsEver) {
  for (const int32_t ranks : {1, 2}) {
    World world = plain_world(ranks);
    world.layers.norm = GNNMG_NORM_BATCH;
    const Sampler sampler = world.make_sampler();
    const Model all = world.make_model(), part = world.make_model();
    ASSERT_OK(gnnmg_model_set_trainable(part, "convs.0.*", 0));
    const auto initial = tensor_of(part, "convs.0.lin_l.weight");
    EXPECT_EQ(initial, tensor_of(all, "convs.0.lin_l.weight"));
    const Trainer of_all = world.make_trainer(all, sampler);
    const Trainer of_part = world.make_trainer(part, sampler);
    ASSERT_OK(gnnmg_trainer_step(of_all, nullptr, -1));
    ASSERT_OK(gnnmg_trainer_step(of_part, nullptr, -1));
    EXPECT_EQ(initial, tensor_of(part, "convs.0.lin_l.weight"));
    EXPECT_NE(initial, tensor_of(all, "convs.0.lin_l.weight"));
    // One step of SGD changes each parameter by its own gradient alone.
    for (const char* key :
         {"convs.1.lin_l.weight", "convs.1.lin_r.weight", "norms.0.module.weight"})
      EXPECT_EQ(tensor_of(part, key), tensor_of(all, key)) << key;
    Tensor gradient;
    EXPECT_FAILS(gnnmg_model_export_gradient(part, "convs.0.lin_l.weight", gradient.out()),
                 GNNMG_ERR_NOT_FOUND, "frozen");
    EXPECT_FAILS(gnnmg_model_set_trainable(part, "*", 1), GNNMG_ERR_BUSY, "trainer");
  }
}

TEST(TrainerOpenTest, EveryOptimizerLeavesFrozenParametersAlone) {
  for (const gnnmg_optimizer_kind kind :
       {GNNMG_OPTIMIZER_ADAM, GNNMG_OPTIMIZER_ADAMW, GNNMG_OPTIMIZER_SGD, GNNMG_OPTIMIZER_RMSPROP,
        GNNMG_OPTIMIZER_ADAGRAD}) {
    SCOPED_TRACE(kind);
    World world = plain_world(2);
    world.training.optimizer = kind;
    world.training.weight_decay = 0.1;
    if (kind == GNNMG_OPTIMIZER_RMSPROP) world.training.set("momentum=0.9 centered=1");
    if (kind == GNNMG_OPTIMIZER_SGD) world.training.set("momentum=0.9 weight_decay_layers=2");
    const Sampler sampler = world.make_sampler();
    const Model model = world.make_model();
    ASSERT_OK(gnnmg_model_set_trainable(model, "*.lin_l.*", 0));
    const auto frozen = tensor_of(model, "convs.0.lin_l.weight");
    const auto trained = tensor_of(model, "convs.0.lin_r.weight");
    const Trainer trainer = world.make_trainer(model, sampler);
    ASSERT_OK(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr));
    EXPECT_EQ(frozen, tensor_of(model, "convs.0.lin_l.weight"));
    EXPECT_NE(trained, tensor_of(model, "convs.0.lin_r.weight"));
    Model copy;
    ASSERT_OK(gnnmg_trainer_snapshot(trainer, copy.out()));
    for (const char* key : {"convs.0.lin_l.weight", "convs.0.lin_r.weight", "convs.1.lin_l.bias"})
      EXPECT_EQ(tensor_of(copy, key), tensor_of(model, key)) << key;
    const TempDir folder;
    const std::string file = folder.file("state.pth");
    EXPECT_OK(gnnmg_optimizer_save(optimizer_of(trainer), file.c_str(), nullptr, -1));
    EXPECT_OK(gnnmg_optimizer_load(optimizer_of(trainer), file.c_str(), nullptr, -1));
  }
}

TEST(TrainerOpenTest, CheckpointsOfFrozenParametersFitOnlyTheSame) {
  const TempDir folder;
  const std::string path = folder.file("c");
  World world = plain_world();
  world.training.optimizer = GNNMG_OPTIMIZER_ADAM;
  const Sampler sampler = world.make_sampler();
  const auto frozen_model = [&] {
    Model model = world.make_model();
    EXPECT_OK(gnnmg_model_set_trainable(model, "convs.1.*", 0));
    return model;
  };
  const Model model = frozen_model(), same = frozen_model(), free = world.make_model();
  const Trainer trainer = world.make_trainer(model, sampler);
  ASSERT_OK(gnnmg_trainer_step(trainer, nullptr, -1));
  ASSERT_OK(gnnmg_trainer_save(trainer, path.c_str(), -1));
  ASSERT_OK(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr));
  const Trainer resumed = world.make_trainer(same, sampler);
  ASSERT_OK(gnnmg_trainer_load(resumed, path.c_str(), -1));
  ASSERT_OK(gnnmg_trainer_run(resumed, nullptr, nullptr, nullptr));
  EXPECT_EQ(weights(same), weights(model));
  const Trainer unlike = world.make_trainer(free, sampler);
  EXPECT_FAILS(gnnmg_trainer_load(unlike, path.c_str(), -1), GNNMG_ERR_MISMATCH,
               "frozen parameters is none, was convs.1.lin_l.weight");
}

TEST(TrainerOpenTest, WhatCannotBeFrozenIsNamed) {
  World world = plain_world();
  const Sampler sampler = world.make_sampler();
  const Model model = world.make_model();
  EXPECT_FAILS(gnnmg_model_set_trainable(model, "conv.*", 0), GNNMG_ERR_NOT_FOUND,
               "convs.0.lin_l.weight");
  EXPECT_FAILS(gnnmg_model_set_trainable(model, "*", 2), GNNMG_ERR_INVALID_ARGUMENT, "trainable");
  ASSERT_OK(gnnmg_model_set_trainable(model, "*", 0));
  Trainer trainer;
  EXPECT_FAILS(gnnmg_trainer_create(model, world.dataset, sampler, nullptr, &world.training,
                                    world.training.text(), trainer.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "frozen");
  Model copy;
  ASSERT_OK(gnnmg_model_create_copy(model, copy.out()));
  ASSERT_OK(gnnmg_model_set_trainable(copy, "convs.1.*", 1));
  const Trainer works = world.make_trainer(copy, sampler);
  EXPECT_OK(gnnmg_trainer_step(works, nullptr, -1));
  EXPECT_EQ(tensor_of(copy, "convs.0.lin_l.weight"), tensor_of(model, "convs.0.lin_l.weight"));
}

TEST(TrainerOpenTest, PartOfAFileIsLoaded) {
  const TempDir folder;
  World world = plain_world();
  const Model old = world.make_model();
  auto config = world.layers;
  config.input_dim = 8;
  config.output_dim = 5;
  config.seed = 9;
  Model wider;
  ASSERT_OK(gnnmg_model_create(world.context, nullptr, &config, config.text(), wider.out()));
  for (const char* name : {"a.pth", "a.safetensors"}) {
    const std::string path = folder.file(name);
    ASSERT_OK(gnnmg_model_save(old, path.c_str(), nullptr, -1));
    EXPECT_FAILS(gnnmg_model_load(wider, path.c_str(), nullptr, -1), GNNMG_ERR_MISMATCH,
                 "output_dim");
    const auto head = tensor_of(wider, "convs.1.lin_l.weight");
    log_of(world.context);
    ASSERT_OK(gnnmg_model_load(wider, path.c_str(), "partial=1", -1));
    EXPECT_EQ(tensor_of(wider, "convs.0.lin_l.weight"), tensor_of(old, "convs.0.lin_l.weight"));
    EXPECT_EQ(tensor_of(wider, "convs.1.lin_l.weight"), head);
    const std::string log = log_of(world.context);
    EXPECT_NE(log.find("convs.1.lin_l.weight is [3, 8], expected [5, 8]"), std::string::npos)
        << log;
    EXPECT_NE(log.find("output_dim is 5, the file's is 3"), std::string::npos) << log;
  }
  config.hidden_dim = 4;
  config.input_dim = 3;
  Model foreign;
  ASSERT_OK(gnnmg_model_create(world.context, nullptr, &config, config.text(), foreign.out()));
  EXPECT_FAILS(gnnmg_model_load(foreign, folder.file("a.pth").c_str(), "partial=1", -1),
               GNNMG_ERR_FORMAT, "convs.0.lin_l.weight");
  EXPECT_FAILS(
      gnnmg_model_load(wider, folder.file("a.pth").c_str(), "partial=1 other_framework=1", -1),
      GNNMG_ERR_UNSUPPORTED, "partial");
}

TEST(TrainerOpenTest, LossesOfClassesTrain) {
  for (const gnnmg_loss loss : {GNNMG_LOSS_CROSS_ENTROPY, GNNMG_LOSS_FOCAL}) {
    World world = plain_world(2);
    world.training.loss = loss;
    world.training.num_epochs = 8;
    world.training.learning_rate = 0.5;
    if (loss == GNNMG_LOSS_CROSS_ENTROPY) world.training.set("label_smoothing=0.2");
    const Sampler sampler = world.make_sampler();
    const Model model = world.make_model();
    const Trainer trainer = world.make_trainer(model, sampler);
    auto before = info<gnnmg_metrics>(), after = info<gnnmg_metrics>();
    ASSERT_OK(gnnmg_trainer_evaluate(trainer, GNNMG_PART_TRAIN, &before, nullptr, -1));
    ASSERT_OK(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr));
    ASSERT_OK(gnnmg_trainer_evaluate(trainer, GNNMG_PART_TRAIN, &after, nullptr, -1));
    EXPECT_LT(after.loss, before.loss);
    EXPECT_GT(after.accuracy, before.accuracy);
  }
  World world = plain_world();
  const Sampler sampler = world.make_sampler();
  const Model model = world.make_model();
  Trainer trainer;
  const auto refused = [&](const char* text) {
    EXPECT_FAILS(gnnmg_trainer_create(model, world.dataset, sampler, nullptr, &world.training,
                                      world.training.text(), trainer.out()),
                 GNNMG_ERR_INVALID_ARGUMENT, text);
  };
  world.training.loss = GNNMG_LOSS_HUBER;
  refused("targets, but the data set has classes");
  world.training.loss = GNNMG_LOSS_FOCAL;
  world.training.set("label_smoothing=0.1");
  refused("label_smoothing=0.1 has an effect only with loss=cross_entropy");
  world.training.set("label_smoothing=0 huber_delta=0");
  refused("huber_delta");
}

}  // namespace
}  // namespace gnnmg::test
