// Models of custom layers.
#include <cmath>
#include <string_view>

#include "capi/support.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

Model empty_model(World& world) {
  auto config = init(gnnmg_model_config_init);
  config.architecture = GNNMG_MODEL_LAYERS;
  Model model;
  EXPECT_OK(gnnmg_model_create(world.context, world.dataset, &config, model.out()));
  return model;
}

gnnmg_model_config conv(gnnmg_architecture architecture, int64_t output_dim) {
  auto config = init(gnnmg_model_config_init);
  config.architecture = architecture;
  config.output_dim = output_dim;
  return config;
}

void add_layers(gnnmg_model* model) {
  const auto sage = conv(GNNMG_MODEL_SAGE, 8), gcn = conv(GNNMG_MODEL_GCN, 6);
  ASSERT_OK(gnnmg_model_add_conv(model, "conv1", &sage));
  ASSERT_OK(gnnmg_model_add_norm(model, "bn", GNNMG_NORM_BATCH, nullptr));
  auto pair = init(gnnmg_norm_config_init);
  pair.scale = 2;
  ASSERT_OK(gnnmg_model_add_norm(model, nullptr, GNNMG_NORM_PAIR, &pair));
  ASSERT_OK(gnnmg_model_add_activation(model, nullptr, GNNMG_ACTIVATION_RELU));
  ASSERT_OK(gnnmg_model_add_dropout(model, 0.1));
  ASSERT_OK(gnnmg_model_add_conv(model, "conv2", &gcn));
  ASSERT_OK(gnnmg_model_add_linear(model, "lin", 3, 1));
}

TEST(ModelLayersTest, AreTrainedAndExchanged) {
  World world(150);
  const TempDir folder;
  world.training.num_epochs = 4;
  world.training.num_ranks = 2;
  world.training.learning_rate = 0.02;
  const Sampler sampler = world.make_sampler();
  const Model model = empty_model(world);
  auto facts = info<gnnmg_model_info>();
  ASSERT_OK(gnnmg_model_get_info(model, &facts));
  EXPECT_EQ(facts.architecture, GNNMG_MODEL_LAYERS);
  EXPECT_EQ(facts.num_layers, 0);
  EXPECT_EQ(facts.input_dim, 8);
  add_layers(model);
  ASSERT_OK(gnnmg_model_get_info(model, &facts));
  EXPECT_EQ(facts.num_layers, 2);
  EXPECT_EQ(facts.output_dim, 3);
  EXPECT_EQ(facts.num_parameters, 0) << "they come with the first use";

  auto before = info<gnnmg_metrics>(), after = info<gnnmg_metrics>();
  ASSERT_OK(gnnmg_model_evaluate(model, world.dataset, GNNMG_SPLIT_TRAIN, &before, -1));
  ASSERT_OK(gnnmg_model_get_info(model, &facts));
  EXPECT_EQ(facts.num_parameters, 8 * 8 * 2 + 8 + 16 + 8 * 6 + 6 + 6 * 3 + 3);
  EXPECT_FAILS(gnnmg_model_add_dropout(model, 0.5), GNNMG_ERR_BUSY, "used already");
  const Trainer trainer = world.make_trainer(model, sampler);
  ASSERT_OK(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr));
  ASSERT_OK(gnnmg_model_evaluate(model, world.dataset, GNNMG_SPLIT_TRAIN, &after, -1));
  EXPECT_LT(after.loss, before.loss);

  for (const char* name : {"m.pth", "m.safetensors"}) {
    ASSERT_OK(gnnmg_model_save(model, folder.file(name).c_str(), nullptr, -1));
    const Model other = empty_model(world);
    add_layers(other);
    ASSERT_OK(gnnmg_model_load(other, folder.file(name).c_str(), nullptr, -1));
    EXPECT_EQ(weights(other), weights(model));
    Tensor rows, same;
    ASSERT_OK(gnnmg_model_embed(model, world.dataset, rows.out(), -1));
    ASSERT_OK(gnnmg_model_embed(other, world.dataset, same.out(), -1));
    EXPECT_EQ(values<float>(rows), values<float>(same));
  }
  auto file = init(gnnmg_model_file_config_init);
  file.other_framework = 1;
  ASSERT_OK(gnnmg_model_save(model, folder.file("dgl.pth").c_str(), &file, -1));
  const gnnmg_model_file_config* const said[] = {&file, nullptr};  // the file says it too
  for (const gnnmg_model_file_config* config : said) {
    const Model other = empty_model(world);
    add_layers(other);
    ASSERT_OK(gnnmg_model_load(other, folder.file("dgl.pth").c_str(), config, -1));
    EXPECT_EQ(weights(other), weights(model));
  }
  Model copy;
  ASSERT_OK(gnnmg_model_create_copy(model, copy.out()));
  EXPECT_EQ(weights(copy), weights(model));
}

// A norm with settings, between two convolutions, and the effect of one step on batch norm's
// running statistics.
TEST(ModelLayersTest, NormsHaveSettings) {
  World world(60);
  const auto stack = [&](gnnmg_norm kind, const gnnmg_norm_config* config, const char* name) {
    Model model = empty_model(world);
    const auto sage = conv(GNNMG_MODEL_SAGE, 8);
    EXPECT_OK(gnnmg_model_add_conv(model, "conv", &sage));
    EXPECT_OK(gnnmg_model_add_norm(model, name, kind, config));
    const auto gcn = conv(GNNMG_MODEL_GCN, 3);
    EXPECT_OK(gnnmg_model_add_conv(model, "last", &gcn));
    return model;
  };
  const auto keys = [](gnnmg_model* model) {
    std::string all;
    const char* key = nullptr;
    int32_t trained = 0;
    for (int64_t i = 0; gnnmg_model_tensor_key(model, i, &key, &trained) == GNNMG_OK; ++i)
      if (std::string_view(key).starts_with("norm.")) all += std::string(key) + " ";
    return all;
  };
  auto config = init(gnnmg_norm_config_init);
  config.affine = GNNMG_NORM_AFFINE_OFF;
  EXPECT_EQ(keys(stack(GNNMG_NORM_BATCH, &config, "norm")),
            "norm.module.running_mean norm.module.running_var norm.module.num_batches_tracked ");
  EXPECT_EQ(keys(stack(GNNMG_NORM_LAYER, &config, nullptr)), "");
  config.affine = GNNMG_NORM_AFFINE_ON;
  EXPECT_EQ(keys(stack(GNNMG_NORM_INSTANCE, &config, "norm")), "norm.weight norm.bias ");
  EXPECT_EQ(keys(stack(GNNMG_NORM_INSTANCE, nullptr, nullptr)), "");

  const auto rows = [&](gnnmg_model* model) {
    Tensor tensor;
    EXPECT_OK(gnnmg_model_embed(model, world.dataset, tensor.out(), -1));
    return values<float>(tensor);
  };
  config = init(gnnmg_norm_config_init);
  const std::vector<float> plain = rows(stack(GNNMG_NORM_LAYER, nullptr, "norm"));
  EXPECT_EQ(rows(stack(GNNMG_NORM_LAYER, &config, "norm")), plain);
  config.epsilon = 0;  // a value of 0 means the behavior before the field existed
  EXPECT_EQ(rows(stack(GNNMG_NORM_LAYER, &config, "norm")), plain);
  config.epsilon = 1;
  EXPECT_NE(rows(stack(GNNMG_NORM_LAYER, &config, "norm")), plain);

  const Sampler sampler = world.make_sampler();
  world.training.num_epochs = 1;
  world.training.batch_size = 1000;
  const auto means = [&](double momentum) {
    auto settings = init(gnnmg_norm_config_init);
    settings.momentum = momentum;
    const Model model = stack(GNNMG_NORM_BATCH, &settings, "norm");
    EXPECT_OK(gnnmg_trainer_run(world.make_trainer(model, sampler), nullptr, nullptr, nullptr));
    Tensor tensor;
    EXPECT_OK(gnnmg_model_export_tensor(model, "norm.module.running_mean", tensor.out()));
    return values<float>(tensor);
  };
  const std::vector<float> whole = means(1), tenth = means(0), quarter = means(0.25);
  for (size_t i = 0; i < whole.size(); ++i) {
    EXPECT_NE(whole[i], 0);
    EXPECT_NEAR(tenth[i], 0.1 * whole[i], 1e-6);
    EXPECT_NEAR(quarter[i], 0.25 * whole[i], 1e-6);
  }
  EXPECT_EQ(means(-1), whole) << "the first counts alone";
}

TEST(ModelLayersTest, WhatDoesNotFitIsRefusedAndLeavesTheModelAsItWas) {
  World world(60);
  const Model model = empty_model(world);
  const auto sage = conv(GNNMG_MODEL_SAGE, 8);
  Tensor tensor;
  EXPECT_FAILS(gnnmg_model_export_parameters(model, tensor.out()), GNNMG_ERR_INVALID_ARGUMENT,
               "none of its 0 layers is a convolution");
  ASSERT_OK(gnnmg_model_add_conv(model, "conv1", &sage));
  EXPECT_FAILS(gnnmg_model_add_conv(model, "conv1", &sage), GNNMG_ERR_INVALID_ARGUMENT,
               "layer 1, convolution 'conv1'");
  EXPECT_FAILS(gnnmg_model_add_conv(model, nullptr, &sage), GNNMG_ERR_INVALID_ARGUMENT, "name");
  auto wrong = conv(GNNMG_MODEL_GAT, 10);
  wrong.heads = 4;
  EXPECT_FAILS(gnnmg_model_add_conv(model, "gat", &wrong), GNNMG_ERR_INVALID_ARGUMENT,
               "multiple of the 4 heads");
  wrong = conv(GNNMG_MODEL_SAGE, -1);
  EXPECT_FAILS(gnnmg_model_add_conv(model, "x", &wrong), GNNMG_ERR_INVALID_ARGUMENT,
               "output_dim is -1");
  wrong = conv(GNNMG_MODEL_LAYERS, 4);
  EXPECT_FAILS(gnnmg_model_add_conv(model, "x", &wrong), GNNMG_ERR_INVALID_ARGUMENT,
               "GNNMG_MODEL_LAYERS");
  wrong = conv(GNNMG_MODEL_RGCN, 4);
  EXPECT_FAILS(gnnmg_model_add_conv(model, "x", &wrong), GNNMG_ERR_INVALID_ARGUMENT,
               "config.num_relations");
  // Options that a convolution alone would ignore.
  wrong = conv(GNNMG_MODEL_SAGE, 8);
  wrong.dropout = 0.5;
  EXPECT_FAILS(gnnmg_model_add_conv(model, "x", &wrong), GNNMG_ERR_INVALID_ARGUMENT,
               "this is GraphSAGE: add a layer of dropout");
  wrong = conv(GNNMG_MODEL_GCN, 8);
  wrong.activation = GNNMG_ACTIVATION_TANH;
  EXPECT_FAILS(gnnmg_model_add_conv(model, "x", &wrong), GNNMG_ERR_INVALID_ARGUMENT,
               "this is GCN: add a layer of it");
  wrong = conv(GNNMG_MODEL_GCN, 8);
  wrong.normalize = 1;
  EXPECT_FAILS(gnnmg_model_add_conv(model, "x", &wrong), GNNMG_ERR_INVALID_ARGUMENT,
               "normalize is an option of PyG's GraphSAGE, and this is GCN");
  const auto refuse_norm = [&](gnnmg_norm kind, void (*change)(gnnmg_norm_config&),
                               const char* text) {
    auto config = init(gnnmg_norm_config_init);
    change(config);
    EXPECT_FAILS(gnnmg_model_add_norm(model, "n", kind, &config), GNNMG_ERR_INVALID_ARGUMENT, text);
  };
  using Norm = gnnmg_norm_config;
  refuse_norm(
      GNNMG_NORM_BATCH, [](Norm& c) { c.scale = 2; },
      "layer 1, norm 'n': config.scale is an option of the pair norms");
  refuse_norm(GNNMG_NORM_PAIR, [](Norm& c) { c.scale = -2; }, "config.scale is -2, expected");
  refuse_norm(GNNMG_NORM_LAYER, [](Norm& c) { c.epsilon = -1; }, "config.epsilon is -1, expected");
  refuse_norm(GNNMG_NORM_LAYER, [](Norm& c) { c.epsilon = NAN; }, "config.epsilon is nan");
  refuse_norm(GNNMG_NORM_BATCH, [](Norm& c) { c.momentum = 1.5; }, "config.momentum is 1.5");
  refuse_norm(GNNMG_NORM_LAYER, [](Norm& c) { c.momentum = 0.5; }, "an option of batch norm");
  refuse_norm(
      GNNMG_NORM_GRAPH, [](Norm& c) { c.affine = GNNMG_NORM_AFFINE_OFF; },
      "config.affine is an option of batch, layer and instance norms");
  refuse_norm(GNNMG_NORM_BATCH, [](Norm& c) { c.affine = 3; }, "config.affine is 3");
  EXPECT_FAILS(gnnmg_model_add_norm(model, nullptr, GNNMG_NORM_BATCH, nullptr),
               GNNMG_ERR_INVALID_ARGUMENT, "its name is ''");
  auto whole = conv(GNNMG_MODEL_LAYERS, 0);
  whole.dropout = 0.5;
  Model refused;
  EXPECT_FAILS(gnnmg_model_create(world.context, world.dataset, &whole, refused.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "dropout is an option of ready-made models");
  EXPECT_FAILS(gnnmg_model_add_linear(model, "lin", 0, 1), GNNMG_ERR_INVALID_ARGUMENT,
               "output_dim is 0");
  EXPECT_FAILS(gnnmg_model_add_linear(model, "lin", 3, 2), GNNMG_ERR_INVALID_ARGUMENT, "bias");
  EXPECT_FAILS(gnnmg_model_add_norm(model, "n", GNNMG_NORM_NONE, nullptr),
               GNNMG_ERR_INVALID_ARGUMENT, "norm");
  EXPECT_FAILS(gnnmg_model_add_activation(model, nullptr, 99), GNNMG_ERR_INVALID_ARGUMENT, "99");
  EXPECT_FAILS(gnnmg_model_add_dropout(model, 1), GNNMG_ERR_INVALID_ARGUMENT, "dropout is 1");
  EXPECT_FAILS(gnnmg_model_add_readout(model, nullptr, GNNMG_READOUT_NONE, 0),
               GNNMG_ERR_INVALID_ARGUMENT, "readout");
  EXPECT_FAILS(gnnmg_model_add_readout(model, "pool", GNNMG_READOUT_SET2SET, -2),
               GNNMG_ERR_INVALID_ARGUMENT, "readout_steps is -2");
  auto facts = info<gnnmg_model_info>();
  ASSERT_OK(gnnmg_model_get_info(model, &facts));
  EXPECT_EQ(facts.num_layers, 1);
  EXPECT_EQ(facts.output_dim, 8);
  EXPECT_EQ(weights(model).size(), 8u * 8 * 2 + 8);
  EXPECT_FAILS(gnnmg_model_add_dropout(world.make_model(), 0.5), GNNMG_ERR_INVALID_ARGUMENT,
               "GNNMG_MODEL_LAYERS");
}

}  // namespace
}  // namespace gnnmg::test
