// Models of custom layers.
#include <cmath>
#include <string_view>

#include "capi/support.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

Model empty_model(World& world) {
  Model model;
  EXPECT_OK(gnnmg_model_create(world.context, world.dataset, nullptr, "architecture=layers",
                               model.out()));
  return model;
}

void add_layers(gnnmg_model* model) {
  ASSERT_OK(gnnmg_model_add_conv(model, "conv1", nullptr, "output_dim=8"));
  ASSERT_OK(gnnmg_model_add_norm(model, "bn", GNNMG_NORM_BATCH, nullptr));
  ASSERT_OK(gnnmg_model_add_norm(model, nullptr, GNNMG_NORM_PAIR, "scale=2"));
  ASSERT_OK(gnnmg_model_add_activation(model, nullptr, GNNMG_ACTIVATION_RELU));
  ASSERT_OK(gnnmg_model_add_dropout(model, 0.1));
  ASSERT_OK(gnnmg_model_add_conv(model, "conv2", nullptr, "architecture=gcn output_dim=6"));
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
  EXPECT_EQ(facts.architecture, GNNMG_ARCHITECTURE_LAYERS);
  EXPECT_EQ(facts.num_layers, 0);
  EXPECT_EQ(facts.input_dim, 8);
  add_layers(model);
  ASSERT_OK(gnnmg_model_get_info(model, &facts));
  EXPECT_EQ(facts.num_layers, 2);
  EXPECT_EQ(facts.output_dim, 3);
  EXPECT_EQ(facts.num_parameters, 0) << "they come with the first use";

  auto before = info<gnnmg_metrics>(), after = info<gnnmg_metrics>();
  ASSERT_OK(gnnmg_model_evaluate(model, world.dataset, GNNMG_PART_TRAIN, 0, &before, nullptr, -1));
  ASSERT_OK(gnnmg_model_get_info(model, &facts));
  EXPECT_EQ(facts.num_parameters, 8 * 8 * 2 + 8 + 16 + 8 * 6 + 6 + 6 * 3 + 3);
  EXPECT_FAILS(gnnmg_model_add_dropout(model, 0.5), GNNMG_ERR_BUSY, "used already");
  const Trainer trainer = world.make_trainer(model, sampler);
  ASSERT_OK(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr));
  ASSERT_OK(gnnmg_model_evaluate(model, world.dataset, GNNMG_PART_TRAIN, 0, &after, nullptr, -1));
  EXPECT_LT(after.loss, before.loss);

  for (const char* name : {"m.pth", "m.safetensors"}) {
    ASSERT_OK(gnnmg_model_save(model, folder.file(name).c_str(), nullptr, -1));
    const Model other = empty_model(world);
    add_layers(other);
    ASSERT_OK(gnnmg_model_load(other, folder.file(name).c_str(), nullptr, -1));
    EXPECT_EQ(weights(other), weights(model));
    Tensor rows, same;
    ASSERT_OK(gnnmg_model_embed(model, world.dataset, 0, nullptr, rows.out(), -1));
    ASSERT_OK(gnnmg_model_embed(other, world.dataset, 0, nullptr, same.out(), -1));
    EXPECT_EQ(values<float>(rows), values<float>(same));
  }
  const char* file = "other_framework=1";
  ASSERT_OK(gnnmg_model_save(model, folder.file("dgl.pth").c_str(), file, -1));
  const char* const said[] = {file, nullptr};  // the file says it too
  for (const char* settings : said) {
    const Model other = empty_model(world);
    add_layers(other);
    ASSERT_OK(gnnmg_model_load(other, folder.file("dgl.pth").c_str(), settings, -1));
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
  const auto stack = [&](gnnmg_norm kind, const char* settings, const char* name) {
    Model model = empty_model(world);
    EXPECT_OK(gnnmg_model_add_conv(model, "conv", nullptr, "output_dim=8"));
    EXPECT_OK(gnnmg_model_add_norm(model, name, kind, settings));
    EXPECT_OK(gnnmg_model_add_conv(model, "last", nullptr, "architecture=gcn output_dim=3"));
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
  EXPECT_EQ(keys(stack(GNNMG_NORM_BATCH, "affine=off", "norm")),
            "norm.module.running_mean norm.module.running_var norm.module.num_batches_tracked ");
  EXPECT_EQ(keys(stack(GNNMG_NORM_LAYER, "affine=off", nullptr)), "");
  EXPECT_EQ(keys(stack(GNNMG_NORM_INSTANCE, "affine=on", "norm")), "norm.weight norm.bias ");
  EXPECT_EQ(keys(stack(GNNMG_NORM_INSTANCE, nullptr, nullptr)), "");

  const auto rows = [&](gnnmg_model* model) {
    Tensor tensor;
    EXPECT_OK(gnnmg_model_embed(model, world.dataset, 0, nullptr, tensor.out(), -1));
    return values<float>(tensor);
  };
  const std::vector<float> plain = rows(stack(GNNMG_NORM_LAYER, nullptr, "norm"));
  EXPECT_EQ(rows(stack(GNNMG_NORM_LAYER, "epsilon=1e-5", "norm")), plain);
  EXPECT_NE(rows(stack(GNNMG_NORM_LAYER, "epsilon=1", "norm")), plain);

  const Sampler sampler = world.make_sampler();
  world.training.num_epochs = 1;
  world.training.batch_size = 1000;
  const auto means = [&](const char* settings) {
    const Model model = stack(GNNMG_NORM_BATCH, settings, "norm");
    EXPECT_OK(gnnmg_trainer_run(world.make_trainer(model, sampler), nullptr, nullptr, nullptr));
    Tensor tensor;
    EXPECT_OK(gnnmg_model_export_tensor(model, "norm.module.running_mean", tensor.out()));
    return values<float>(tensor);
  };
  const std::vector<float> whole = means("momentum=1"), tenth = means(nullptr),
                           quarter = means("momentum=0.25");
  for (size_t i = 0; i < whole.size(); ++i) {
    EXPECT_NE(whole[i], 0);
    EXPECT_NEAR(tenth[i], 0.1 * whole[i], 1e-6);
    EXPECT_NEAR(quarter[i], 0.25 * whole[i], 1e-6);
  }
  EXPECT_EQ(means("momentum=-1"), whole) << "the first counts alone";
}

TEST(ModelLayersTest, WhatDoesNotFitIsRefusedAndLeavesTheModelAsItWas) {
  World world(60);
  const Model model = empty_model(world);
  const auto refuse_conv = [&](const char* settings, const char* text) {
    EXPECT_FAILS(gnnmg_model_add_conv(model, "x", nullptr, settings), GNNMG_ERR_INVALID_ARGUMENT,
                 text);
  };
  Tensor tensor;
  EXPECT_FAILS(gnnmg_model_export_parameters(model, tensor.out()), GNNMG_ERR_INVALID_ARGUMENT,
               "none of its 0 layers is a convolution");
  ASSERT_OK(gnnmg_model_add_conv(model, "conv1", nullptr, "output_dim=8"));
  EXPECT_FAILS(gnnmg_model_add_conv(model, "conv1", nullptr, "output_dim=8"),
               GNNMG_ERR_INVALID_ARGUMENT, "layer 1, convolution 'conv1'");
  EXPECT_FAILS(gnnmg_model_add_conv(model, nullptr, nullptr, "output_dim=8"),
               GNNMG_ERR_INVALID_ARGUMENT, "name");
  refuse_conv("architecture=gat output_dim=10 heads=4", "multiple of the 4 heads");
  refuse_conv("output_dim=-1", "output_dim is -1");
  refuse_conv("architecture=layers output_dim=4", "GNNMG_ARCHITECTURE_LAYERS");
  refuse_conv("architecture=rgcn output_dim=4", "num_relations");
  // Options that a convolution alone would ignore.
  refuse_conv("output_dim=8 dropout=0.5", "this is GraphSAGE: add a layer of dropout");
  refuse_conv("architecture=gcn output_dim=8 activation=tanh", "this is GCN: add a layer of it");
  refuse_conv("architecture=gcn output_dim=8 normalize=1",
              "normalize is an option of PyG's GraphSAGE, and this is GCN");
  const auto refuse_norm = [&](gnnmg_norm kind, const char* settings, const char* text) {
    EXPECT_FAILS(gnnmg_model_add_norm(model, "n", kind, settings), GNNMG_ERR_INVALID_ARGUMENT,
                 text);
  };
  refuse_norm(GNNMG_NORM_BATCH, "scale=2",
              "layer 1, norm 'n': norm settings: scale=2 has an effect only with norm=pair");
  refuse_norm(GNNMG_NORM_PAIR, "scale=-2", "scale is -2, expected");
  refuse_norm(GNNMG_NORM_LAYER, "epsilon=-1", "settings: epsilon=-1, expected a number, above 0");
  refuse_norm(GNNMG_NORM_LAYER, "epsilon=nan", "settings: epsilon=nan");
  refuse_norm(GNNMG_NORM_BATCH, "momentum=1.5", "momentum is 1.5");
  refuse_norm(GNNMG_NORM_LAYER, "momentum=0.5", "momentum=0.5 has an effect only with norm=batch");
  refuse_norm(GNNMG_NORM_GRAPH, "affine=off",
              "affine=off has an effect only with norm=batch, layer");
  refuse_norm(GNNMG_NORM_BATCH, "affine=3", "settings: affine=3");
  EXPECT_FAILS(gnnmg_model_add_norm(model, nullptr, GNNMG_NORM_BATCH, nullptr),
               GNNMG_ERR_INVALID_ARGUMENT, "its name is ''");
  Model refused;
  EXPECT_FAILS(gnnmg_model_create(world.context, world.dataset, nullptr,
                                  "architecture=layers dropout=0.5", refused.out()),
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
               "GNNMG_ARCHITECTURE_LAYERS");
}

}  // namespace
}  // namespace gnnmg::test
