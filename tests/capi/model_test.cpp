// Models and optimizers: tensors in and out, passes, files, slices.
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

#include "capi/support.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

Batch full_batch(World& world, const gnnmg_sampler* sampler, const std::vector<int64_t>& seeds) {
  Batch batch;
  EXPECT_OK(gnnmg_sampler_sample(sampler, world.dataset, seeds.data(),
                                 static_cast<int64_t>(seeds.size()), nullptr, 0, 0, 0, batch.out(),
                                 -1));
  return batch;
}

TEST(ModelTest, WidthsComeFromTheDataOrTheConfig) {
  World world(60);
  const Model model = world.make_model();
  auto facts = info<gnnmg_model_info>();
  ASSERT_OK(gnnmg_model_get_info(model, &facts));
  EXPECT_EQ(facts.architecture, GNNMG_ARCHITECTURE_SAGE);
  EXPECT_EQ(facts.input_dim, 8);
  EXPECT_EQ(facts.hidden_dim, 8);
  EXPECT_EQ(facts.output_dim, 3);
  EXPECT_EQ(facts.num_parameters, 8 * 8 * 2 + 8 + 8 * 3 * 2 + 3);
  Model other;
  EXPECT_FAILS(
      gnnmg_model_create(world.context, nullptr, &world.layers, world.layers.text(), other.out()),
      GNNMG_ERR_INVALID_ARGUMENT, "config.input_dim is 0");
  world.layers.input_dim = 5;
  world.layers.output_dim = 2;
  ASSERT_OK(
      gnnmg_model_create(world.context, nullptr, &world.layers, world.layers.text(), other.out()));
  ASSERT_OK(gnnmg_model_get_info(other, &facts));
  EXPECT_EQ(facts.input_dim, 5);
  EXPECT_EQ(facts.output_dim, 2);
  world.layers.num_layers = 11;
  EXPECT_FAILS(
      gnnmg_model_create(world.context, nullptr, &world.layers, world.layers.text(), other.out()),
      GNNMG_ERR_INVALID_ARGUMENT, "11");
  world.layers.num_layers = 2;
  world.layers.hidden_dim = int64_t{1} << 60;
  EXPECT_FAILS(
      gnnmg_model_create(world.context, nullptr, &world.layers, world.layers.text(), other.out()),
      GNNMG_ERR_INVALID_ARGUMENT, "config.hidden_dim");
}

TEST(ModelTest, TensorsShareMemoryWithTheModel) {
  World world(60);
  world.layers.norm = GNNMG_NORM_BATCH;
  const Model model = world.make_model();
  int64_t learned = 0, index = 0, buffers = 0;
  const char* key = nullptr;
  int32_t trained = 0;
  while (gnnmg_model_tensor_key(model, index++, &key, &trained) == GNNMG_OK) {
    Tensor tensor, gradient;
    ASSERT_OK(gnnmg_model_export_tensor(model, key, tensor.out())) << key;
    auto facts = info<gnnmg_tensor_info>();
    ASSERT_OK(gnnmg_tensor_get_info(tensor, &facts));
    EXPECT_EQ(facts.read_only, 0);
    if (trained) {
      learned += facts.num_elements;
      ASSERT_OK(gnnmg_model_export_gradient(model, key, gradient.out())) << key;
      EXPECT_EQ(shape_of(gradient), shape_of(tensor));
    } else {
      ++buffers;
      EXPECT_EQ(gnnmg_model_export_gradient(model, key, gradient.out()), GNNMG_ERR_NOT_FOUND);
    }
  }
  auto facts = info<gnnmg_model_info>();
  ASSERT_OK(gnnmg_model_get_info(model, &facts));
  EXPECT_EQ(learned, facts.num_parameters);
  EXPECT_EQ(index - 1, facts.num_tensors);
  EXPECT_GT(buffers, 0);

  Tensor bias, flat;
  ASSERT_OK(gnnmg_model_export_tensor(model, "convs.1.lin_l.bias", bias.out()));
  ASSERT_OK(gnnmg_model_export_parameters(model, flat.out()));
  auto view = info<gnnmg_tensor_info>();
  ASSERT_OK(gnnmg_tensor_get_info(bias, &view));
  static_cast<float*>(view.data)[0] = 1234.5f;
  const auto all = values<float>(flat);
  EXPECT_EQ(std::count(all.begin(), all.end(), 1234.5f), 1);

  std::vector<float> three{1, 2, 3}, two{1, 2};
  const Tensor good = wrap(three), bad = wrap(two);
  ASSERT_OK(gnnmg_model_set_tensor(model, "convs.1.lin_l.bias", good));
  EXPECT_EQ(values<float>(bias), three);
  EXPECT_FAILS(gnnmg_model_set_tensor(model, "convs.1.lin_l.bias", bad), GNNMG_ERR_INVALID_ARGUMENT,
               "f32 [2], expected f32 [3]");
  EXPECT_FAILS(gnnmg_model_set_tensor(model, "nothing", good), GNNMG_ERR_NOT_FOUND,
               "convs.0.lin_l.weight");
}

TEST(ModelTest, ACopyIsEqualAndItsOwn) {
  World world(60);
  const Model model = world.make_model();
  Model copy;
  ASSERT_OK(gnnmg_model_create_copy(model, copy.out()));
  EXPECT_EQ(weights(copy), weights(model));
  std::vector<float> three{1, 2, 3};
  ASSERT_OK(gnnmg_model_set_tensor(copy, "convs.1.lin_l.bias", wrap(three)));
  EXPECT_NE(weights(copy), weights(model));
  EXPECT_EQ(weights(world.make_model()), weights(model));  // equal seeds, equal weights
}

TEST(ModelTest, SavedAndLoadedInBothFormats) {
  World world(60);
  const TempDir folder;
  const Model model = world.make_model();
  for (const char* name : {"m.safetensors", "m.pth", "m.pt", "m"}) {
    const std::string path = folder.file(name);
    ASSERT_OK(gnnmg_model_save(model, path.c_str(), nullptr, -1)) << name;
    world.layers.seed += 1;
    const Model other = world.make_model();
    ASSERT_NE(weights(other), weights(model));
    ASSERT_EQ(until_done([&] { return gnnmg_model_load(other, path.c_str(), nullptr, 1); }),
              GNNMG_OK)
        << gnnmg_last_error();
    EXPECT_EQ(weights(other), weights(model)) << name;
  }
  EXPECT_EQ(slurp(folder.file("m.pth")).substr(0, 2), "PK");
  EXPECT_FAILS(gnnmg_model_load(model, folder.file("m").c_str(), "format=pth", -1),
               GNNMG_ERR_FORMAT,
               "is a file of safetensors, but the setting `format` asks for the other format");

  world.layers.hidden_dim = 9;
  const Model wider = world.make_model();
  const auto before = weights(wider);
  EXPECT_FAILS(gnnmg_model_load(wider, folder.file("m").c_str(), nullptr, -1), GNNMG_ERR_MISMATCH,
               "hidden_dim is 9, the file's is 8");
  EXPECT_NE(std::string(gnnmg_last_error()).find(folder.file("m") + ": "), std::string::npos);
  EXPECT_EQ(weights(wider), before);
  EXPECT_EQ(gnnmg_model_load(wider, folder.file("none").c_str(), nullptr, -1), GNNMG_ERR_NOT_FOUND);
  EXPECT_EQ(gnnmg_model_save(wider, folder.file("no/such/folder").c_str(), nullptr, -1),
            GNNMG_ERR_NOT_FOUND);
  auto error = info<gnnmg_error_info>();
  ASSERT_OK(gnnmg_last_error_info(&error));
  EXPECT_EQ(error.system_error, ENOENT);
}

// The name of a file does not define its format.
TEST(ModelTest, LoadedByContentWhateverTheName) {
  World world(60);
  const TempDir folder;
  const Model model = world.make_model();
  ASSERT_OK(gnnmg_model_save(model, folder.file("m.pth").c_str(), nullptr, -1));
  ASSERT_OK(gnnmg_model_save(model, folder.file("m.safetensors").c_str(), nullptr, -1));
  const std::string pth = slurp(folder.file("m.pth")), other = slurp(folder.file("m.safetensors"));
  world.layers.seed += 1;
  for (const auto& [name, bytes] :
       {std::pair("lightning.ckpt", pth), std::pair("model.pth.tar", pth),
        std::pair("pytorch_model.bin", pth), std::pair("wrong.safetensors", pth),
        std::pair("wrong.pth", other), std::pair("model", other)}) {
    const Model loaded = world.make_model();
    ASSERT_NE(weights(loaded), weights(model));
    ASSERT_OK(gnnmg_model_load(loaded, folder.write(name, bytes).c_str(), nullptr, -1)) << name;
    EXPECT_EQ(weights(loaded), weights(model)) << name;
  }
  EXPECT_FAILS(gnnmg_model_load(model, folder.write("m.pt", "<html>").c_str(), nullptr, -1),
               GNNMG_ERR_FORMAT, "is an HTML page, expected a file of torch.save() or of");
  EXPECT_FAILS(gnnmg_model_load(model, folder.file("m.safetensors").c_str(), "dict=convs", -1),
               GNNMG_ERR_FORMAT, "missing: convs.0.lin_l.weight");
  EXPECT_FAILS(gnnmg_model_load(model, folder.file("m.safetensors").c_str(), "dict=student", -1),
               GNNMG_ERR_NOT_FOUND, "has nothing at \"student\"");
}

TEST(ModelTest, WeightsGoFromOneFrameworkToTheOther) {
  World world(60);
  const TempDir folder;
  const std::string path = folder.file("m.pth");
  const Model model = world.make_model();
  const char* file = "other_framework=1 first_layer=conv1";
  ASSERT_OK(gnnmg_model_save(model, path.c_str(), file, -1));
  world.layers.framework = GNNMG_FRAMEWORK_DGL;
  const Model dgl = world.make_model();
  ASSERT_OK(gnnmg_model_load(dgl, path.c_str(), nullptr, -1)) << gnnmg_last_error();
  ASSERT_OK(gnnmg_model_save(dgl, folder.file("own.pth").c_str(), nullptr, -1));
  world.layers.framework = GNNMG_FRAMEWORK_PYG;
  world.layers.seed += 1;
  const Model back = world.make_model();
  ASSERT_NE(weights(back), weights(model));
  EXPECT_FAILS(gnnmg_model_load(back, folder.file("own.pth").c_str(), nullptr, -1),
               GNNMG_ERR_FORMAT, "unexpected: layers.0.fc_neigh.weight");
  ASSERT_OK(gnnmg_model_load(back, folder.file("own.pth").c_str(), "other_framework=1", -1));
  EXPECT_EQ(weights(back), weights(model));

  EXPECT_FAILS(gnnmg_model_save(model, path.c_str(), "other_framework=1 first_layer=conv", -1),
               GNNMG_ERR_INVALID_ARGUMENT, "the first layer's name is 'conv'");
  EXPECT_FAILS(gnnmg_model_load(back, path.c_str(), "other_framework=1 dict=model", -1),
               GNNMG_ERR_NOT_FOUND, "has nothing at \"model\"");
}

std::vector<std::string> warnings_of(const World& world) {
  std::vector<std::string> all;
  auto facts = info<gnnmg_log_info>();
  char text[512];
  size_t needed = 0;
  while (gnnmg_log_next(world.context, &facts, text, sizeof text, &needed) == GNNMG_OK)
    if (facts.level == GNNMG_LOG_WARNING) all.emplace_back(text);
  return all;
}

// A mini-batch of one row in the caller's own loop.
TEST(ModelTest, ABatchNormOfOneRowIsToldOnce) {
  World world(60);
  world.layers.norm = GNNMG_NORM_BATCH;
  world.sampling = SamplerConfig();
  world.sampling.set("fanouts=0,0");
  const Sampler sampler = world.make_sampler();
  const Model model = world.make_model();
  Optimizer optimizer;
  ASSERT_OK(gnnmg_optimizer_create(model, nullptr, optimizer.out()));
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK(gnnmg_model_forward(model, full_batch(world, sampler, {7}), nullptr));
    ASSERT_OK(gnnmg_model_backward(model, GNNMG_LOSS_AUTO, nullptr));
    ASSERT_OK(gnnmg_optimizer_step(optimizer));
  }
  const std::vector<std::string> told = warnings_of(world);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_NE(told[0].find("a batch norm got one row"), std::string::npos) << told[0];
  Tensor mean;
  ASSERT_OK(gnnmg_model_export_tensor(model, "norms.0.module.running_mean", mean.out()));
  EXPECT_EQ(values<float>(mean), std::vector<float>(8, 0));
}

TEST(ModelTest, AConversionSaysWhatHasToBeSetForEqualResults) {
  World world(60);
  const TempDir folder;
  const auto warnings = [&] { return warnings_of(world); };
  const char* file = "other_framework=1";
  const std::string path = folder.file("gat.pth");
  world.layers.architecture = GNNMG_ARCHITECTURE_GAT;
  world.layers.framework = GNNMG_FRAMEWORK_DGL;
  const Model dgl = world.make_model();
  ASSERT_OK(gnnmg_model_save(dgl, path.c_str(), nullptr, -1));
  EXPECT_EQ(warnings().size(), 0u);
  world.layers.framework = GNNMG_FRAMEWORK_PYG;
  Model pyg = world.make_model();
  ASSERT_OK(gnnmg_model_load(pyg, path.c_str(), file, -1));
  const std::string found = testing::PrintToString(warnings());
  EXPECT_NE(found.find(path + ": weights converted"), std::string::npos) << found;
  EXPECT_NE(found.find("set self_loops to 0"), std::string::npos) << found;
  world.layers.set("self_loops=0");
  pyg = world.make_model();
  ASSERT_OK(gnnmg_model_load(pyg, path.c_str(), file, -1));
  const std::vector<std::string> left = warnings();  // warnings of every load
  ASSERT_EQ(left.size(), 1u);
  EXPECT_NE(left[0].find("settings that no tensor shows were not checked"), std::string::npos);
}

// The loss is the weighted sum over the seeds, by the sum of their weights.
TEST(ModelTest, BackwardWeighsClassesAndNodes) {
  World world(60);
  world.layers.dtype = GNNMG_DTYPE_F64;
  const double of_class[] = {0.5, 2, 3};
  std::vector<double> of_node(60);
  for (size_t i = 0; i < of_node.size(); ++i) of_node[i] = static_cast<double>(i % 4);
  const int64_t shape[] = {60};
  Tensor nodes, labels, logits, factors;
  ASSERT_OK(gnnmg_tensor_create(of_node.data(), GNNMG_DTYPE_F64, 1, shape, nullptr, nullptr,
                                nodes.out()));
  ASSERT_OK(gnnmg_dataset_set_class_weights(world.dataset, of_class, 3));
  ASSERT_OK(gnnmg_dataset_set_sample_weights(world.dataset, nodes));
  const Sampler sampler = world.make_sampler();
  const Model model = world.make_model();
  const std::vector<int64_t> seeds{3, 14, 15, 8, 26};  // node 8 has weight 0
  const Batch batch = full_batch(world, sampler, seeds);
  ASSERT_OK(gnnmg_batch_export_labels(batch, labels.out()));
  ASSERT_OK(gnnmg_batch_export_weights(batch, factors.out()));
  double loss = 0;
  ASSERT_OK(gnnmg_model_forward(model, batch, logits.out()));
  ASSERT_OK(gnnmg_model_backward(model, GNNMG_LOSS_AUTO, &loss));

  const auto classes = values<int64_t>(labels);
  const auto scores = values<double>(logits), weights = values<double>(factors);
  double sum = 0, weight = 0;
  for (size_t i = 0; i < seeds.size(); ++i) {
    const double own = of_class[classes[i]] * of_node[static_cast<size_t>(seeds[i])];
    EXPECT_EQ(weights[i], own);
    double all = 0;
    for (size_t c = 0; c < 3; ++c) all += std::exp(scores[3 * i + c]);
    sum -= own * (scores[3 * i + static_cast<size_t>(classes[i])] - std::log(all));
    weight += own;
  }
  EXPECT_NEAR(loss, sum / weight, 1e-12);
}

TEST(ModelTest, BackwardOfBothKindsIsTheGradientOfTheLoss) {
  World world(60);
  world.sampling.fanouts[0] = world.sampling.fanouts[1] = -1;
  world.layers.dtype = GNNMG_DTYPE_F64;
  const Sampler sampler = world.make_sampler();
  const Model model = world.make_model();
  const std::vector<int64_t> seeds{3, 14, 15, 9, 26};
  const Batch batch = full_batch(world, sampler, seeds);
  Tensor labels, logits;
  ASSERT_OK(gnnmg_batch_export_labels(batch, labels.out()));
  const auto classes = values<int64_t>(labels);
  double loss = 0;
  ASSERT_OK(gnnmg_model_forward(model, batch, logits.out()));
  ASSERT_OK(gnnmg_model_backward(model, GNNMG_LOSS_AUTO, &loss));
  Tensor flat;
  ASSERT_OK(gnnmg_model_export_gradients(model, flat.out()));
  const auto gradients = values<double>(flat);

  // Cross-entropy by hand, and its gradient by the logits.
  const auto scores = values<double>(logits);
  std::vector<double> by_logit(scores.size());
  double expected = 0;
  for (size_t i = 0; i < seeds.size(); ++i) {
    double sum = 0;
    for (size_t c = 0; c < 3; ++c) sum += std::exp(scores[3 * i + c]);
    expected -= scores[3 * i + static_cast<size_t>(classes[i])] - std::log(sum);
    for (size_t c = 0; c < 3; ++c)
      by_logit[3 * i + c] =
          (std::exp(scores[3 * i + c]) / sum - (static_cast<int64_t>(c) == classes[i])) / 5;
  }
  EXPECT_NEAR(loss, expected / 5, 1e-12);

  // A second pass with that gradient doubles the gradients.
  const int64_t shape[] = {5, 3};
  Tensor own;
  ASSERT_OK(
      gnnmg_tensor_create(by_logit.data(), GNNMG_DTYPE_F64, 2, shape, nullptr, nullptr, own.out()));
  ASSERT_OK(gnnmg_model_forward(model, batch, nullptr));
  ASSERT_OK(gnnmg_model_backward_from(model, own));
  const auto doubled = values<double>(flat);
  double largest = 0;
  for (size_t i = 0; i < gradients.size(); ++i) {
    EXPECT_NEAR(doubled[i], 2 * gradients[i], 1e-12);
    largest = std::max(largest, std::abs(gradients[i]));
  }
  EXPECT_GT(largest, 1e-3);
}

TEST(ModelTest, PassesThatDoNotFitAreRefused) {
  World world(60);
  const Sampler sampler = world.make_sampler();
  const Model model = world.make_model();
  const Batch batch = full_batch(world, sampler, {1, 2});
  EXPECT_FAILS(gnnmg_model_backward(model, GNNMG_LOSS_AUTO, nullptr), GNNMG_ERR_NOT_FOUND,
               "gnnmg_model_forward()");
  Tensor logits;
  EXPECT_FAILS(gnnmg_model_infer(model, batch, nullptr), GNNMG_ERR_INVALID_ARGUMENT, "logits");
  ASSERT_OK(gnnmg_model_infer(model, batch, logits.out()));
  EXPECT_EQ(gnnmg_model_backward(model, GNNMG_LOSS_AUTO, nullptr), GNNMG_ERR_NOT_FOUND);
  std::vector<float> wrong(5);
  ASSERT_OK(gnnmg_model_forward(model, batch, nullptr));
  EXPECT_FAILS(gnnmg_model_backward_from(model, wrap(wrong)), GNNMG_ERR_INVALID_ARGUMENT,
               "expected f32 [2, 3]");
  EXPECT_OK(gnnmg_model_infer(model, batch, logits.out()));
  EXPECT_OK(gnnmg_model_backward(model, GNNMG_LOSS_AUTO, nullptr));  // the pass is still there
  EXPECT_EQ(gnnmg_model_backward(model, GNNMG_LOSS_AUTO, nullptr), GNNMG_ERR_NOT_FOUND);

  Batch bare;
  const int64_t seed = 1;
  ASSERT_OK(gnnmg_sampler_sample(sampler, nullptr, &seed, 1, nullptr, 0, 0, 0, bare.out(), -1));
  EXPECT_FAILS(gnnmg_model_infer(model, bare, logits.out()), GNNMG_ERR_NOT_FOUND, "no features");
  world.sampling.set("transpose=0");
  const Sampler forward_only = world.make_sampler();
  const Batch plain = full_batch(world, forward_only, {1, 2});
  EXPECT_OK(gnnmg_model_infer(model, plain, logits.out()));
  EXPECT_FAILS(gnnmg_model_forward(model, plain, nullptr), GNNMG_ERR_UNSUPPORTED, "transpose");
  world.layers.num_layers = 3;
  const Model deeper = world.make_model();
  EXPECT_FAILS(gnnmg_model_infer(deeper, batch, logits.out()), GNNMG_ERR_INVALID_ARGUMENT,
               "2 layers, the model 3");
  world.layers.input_dim = 7;
  const Model narrow = world.make_model();
  EXPECT_FAILS(gnnmg_model_infer(narrow, batch, logits.out()), GNNMG_ERR_INVALID_ARGUMENT,
               "8 features, the model expects 7");
}

TEST(ModelTest, AnEmptyBatchTakesPartWithNothing) {
  World world(60);
  const Sampler sampler = world.make_sampler();
  const Model model = world.make_model();
  const Batch batch = full_batch(world, sampler, {});
  Tensor logits, flat;
  double loss = 7;
  ASSERT_OK(gnnmg_model_forward(model, batch, logits.out()));
  EXPECT_EQ(shape_of(logits), (std::vector<int64_t>{0, 3}));
  ASSERT_OK(gnnmg_model_backward(model, GNNMG_LOSS_AUTO, &loss));
  EXPECT_EQ(loss, 0);
  ASSERT_OK(gnnmg_model_export_gradients(model, flat.out()));
  for (float value : values<float>(flat)) EXPECT_EQ(value, 0);
}

TEST(ModelTest, EmbedEqualsForwardWithAllNeighbors) {
  World world(120);
  world.sampling.fanouts[0] = world.sampling.fanouts[1] = -1;
  const Sampler sampler = world.make_sampler();
  const Model model = world.make_model();
  std::vector<int64_t> all(120);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
  const Batch batch = full_batch(world, sampler, all);
  Tensor logits, rows;
  ASSERT_OK(gnnmg_model_infer(model, batch, logits.out()));
  ASSERT_EQ(until_done(
                [&] { return gnnmg_model_embed(model, world.dataset, 0, nullptr, rows.out(), 1); }),
            GNNMG_OK)
      << gnnmg_last_error();
  EXPECT_EQ(shape_of(rows), (std::vector<int64_t>{120, 3}));
  const auto a = values<float>(logits), b = values<float>(rows);
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5);
}

// Every architecture through the whole interface: trained, evaluated, saved and read again; a
// mini-batch with all neighbors and layer-by-layer inference over the whole graph agree.
TEST(ModelTest, EveryArchitectureTrainsAndIsExchanged) {
  World world(150);
  const TempDir folder;
  world.sampling.fanouts[0] = world.sampling.fanouts[1] = -1;
  world.training.num_epochs = 6;
  world.training.learning_rate = 0.02;
  world.training.num_ranks = 2;
  const std::pair<gnnmg_architecture, const char*> all[] = {
      {GNNMG_ARCHITECTURE_SAGE, "convs.1.lin_r.weight"},
      {GNNMG_ARCHITECTURE_GCN, "convs.1.lin.weight"},
      {GNNMG_ARCHITECTURE_GAT, "convs.1.att_dst"},
      {GNNMG_ARCHITECTURE_GATV2, "convs.1.att"},
      {GNNMG_ARCHITECTURE_GIN, "convs.1.nn.lins.1.weight"}};
  for (const auto& [architecture, key] : all) {
    SCOPED_TRACE(key);
    world.layers.architecture = architecture;
    world.layers.dropout = 0;
    world.layers.heads =
        architecture == GNNMG_ARCHITECTURE_GAT || architecture == GNNMG_ARCHITECTURE_GATV2 ? 2 : 1;
    const Sampler sampler = world.make_sampler();
    const Model model = world.make_model();
    auto facts = info<gnnmg_model_info>();
    ASSERT_OK(gnnmg_model_get_info(model, &facts));
    EXPECT_EQ(facts.architecture, architecture);
    auto before = info<gnnmg_metrics>(), after = info<gnnmg_metrics>();
    ASSERT_OK(
        gnnmg_model_evaluate(model, world.dataset, GNNMG_PART_TRAIN, 0, &before, nullptr, -1));
    const Trainer trainer = world.make_trainer(model, sampler);
    ASSERT_OK(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr));
    ASSERT_OK(gnnmg_model_evaluate(model, world.dataset, GNNMG_PART_TRAIN, 0, &after, nullptr, -1));
    EXPECT_LT(after.loss, before.loss);

    const std::string path = folder.file("m.pth");
    ASSERT_OK(gnnmg_model_save(model, path.c_str(), nullptr, -1));
    const Model other = world.make_model();
    ASSERT_OK(gnnmg_model_load(other, path.c_str(), nullptr, -1));
    EXPECT_EQ(weights(other), weights(model));
    Tensor tensor;
    EXPECT_OK(gnnmg_model_export_tensor(model, key, tensor.out()));

    const Batch batch = full_batch(world, sampler, {3, 77, 149});
    Tensor logits, rows;
    ASSERT_OK(gnnmg_model_infer(model, batch, logits.out()));
    ASSERT_OK(gnnmg_model_embed(model, world.dataset, 0, nullptr, rows.out(), -1));
    const auto a = values<float>(logits), b = values<float>(rows);
    const int64_t seeds[] = {3, 77, 149};
    for (size_t i = 0; i < a.size(); ++i)
      EXPECT_NEAR(a[i], b[seeds[i / 3] * 3 + i % 3], 1e-4 * (1 + std::abs(a[i])));
  }
  world.layers.architecture = GNNMG_ARCHITECTURE_GAT;
  world.layers.heads = 3;
  Model refused;
  EXPECT_FAILS(gnnmg_model_create(world.context, world.dataset, &world.layers, world.layers.text(),
                                  refused.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "multiple of the 3 heads");
}

TEST(ModelTest, EmbedToAFileWritesTheSameRows) {
  World world(300);
  world.layers.dtype = GNNMG_DTYPE_F64;
  const Model model = world.make_model();
  const TempDir folder;
  const std::string path = folder.write("rows.npy", "an older file");
  Tensor rows;
  ASSERT_OK(gnnmg_model_embed(model, world.dataset, 0, nullptr, rows.out(), -1));
  EXPECT_OK(until_done(
      [&] { return gnnmg_model_embed(model, world.dataset, 0, path.c_str(), nullptr, 1); }));
  EXPECT_EQ(folder.list(), std::vector<std::string>{"rows.npy"});
  const std::string file = slurp(path);
  const auto expected = values<double>(rows);
  const size_t bytes = expected.size() * sizeof(double);
  ASSERT_EQ(file.size() % 64, bytes % 64);
  EXPECT_EQ(file.substr(0, 6), "\x93NUMPY");
  EXPECT_NE(file.find("'descr': '<f8', 'fortran_order': False, 'shape': (300, 3)"),
            std::string::npos);
  ASSERT_GT(file.size(), bytes);
  EXPECT_EQ(std::memcmp(file.data() + file.size() - bytes, expected.data(), bytes), 0);
}

TEST(ModelTest, EmbedToAFileLeavesNothingBehindWhenItFails) {
  World world(60000);
  const Model model = world.make_model();
  const TempDir folder;
  EXPECT_EQ(gnnmg_model_embed(model, world.dataset, 0, folder.file("missing/rows.npy").c_str(),
                              nullptr, -1),
            GNNMG_ERR_NOT_FOUND);
  const std::string file = folder.file("rows.npy");
  EXPECT_EQ(begun_and_cancelled(
                [&](int64_t timeout_ms) {
                  return gnnmg_model_embed(model, world.dataset, 0, file.c_str(), nullptr,
                                           timeout_ms);
                },
                [&] {
                  gnnmg_context_cancel(world.context);
                  std::filesystem::remove(file);  // left by an earlier call
                }),
            GNNMG_ERR_CANCELLED);
  EXPECT_TRUE(folder.list().empty());
}

TEST(ModelTest, CancellingTheContextEndsWhatItsModelsDo) {
  World world(60000);
  const Model model = world.make_model();
  Tensor rows;
  const auto embed = [&](int64_t timeout_ms) {
    return gnnmg_model_embed(model, world.dataset, 0, nullptr, rows.out(), timeout_ms);
  };
  const auto cancel = [&] { gnnmg_context_cancel(world.context); };
  EXPECT_EQ(begun_and_cancelled(embed, cancel), GNNMG_ERR_CANCELLED);
  auto metrics = info<gnnmg_metrics>();
  const auto evaluate = [&](int64_t timeout_ms) {
    return gnnmg_model_evaluate(model, world.dataset, GNNMG_PART_TEST, 0, &metrics, nullptr,
                                timeout_ms);
  };
  EXPECT_EQ(begun_and_cancelled(evaluate, cancel), GNNMG_ERR_CANCELLED);
  EXPECT_OK(evaluate(-1));  // later calls are not affected
  EXPECT_GT(metrics.count, 0);
}

TEST(ModelTest, EvaluationCountsWhatTheModelSays) {
  World world(200);
  const Model model = world.make_model();
  auto metrics = info<gnnmg_metrics>();
  ASSERT_EQ(until_done([&] {
              return gnnmg_model_evaluate(model, world.dataset, GNNMG_PART_TEST, 0, &metrics,
                                          nullptr, 1);
            }),
            GNNMG_OK)
      << gnnmg_last_error();
  EXPECT_EQ(metrics.task, GNNMG_TASK_MULTICLASS);
  Tensor rows, y, ids;
  ASSERT_OK(gnnmg_model_embed(model, world.dataset, 0, nullptr, rows.out(), -1));
  ASSERT_OK(gnnmg_graph_export_node_tensor(world.graph, 0, "y", y.out()));
  ASSERT_OK(gnnmg_dataset_export_split(world.dataset, GNNMG_PART_TEST, ids.out()));
  const auto scores = values<float>(rows);
  const auto labels = values<int64_t>(y);
  int64_t count = 0, correct = 0;
  for (int64_t id : values<int64_t>(ids)) {
    const auto* row = &scores[static_cast<size_t>(3 * id)];
    correct += std::max_element(row, row + 3) - row == labels[static_cast<size_t>(id)];
    ++count;
  }
  EXPECT_EQ(metrics.count, count);
  EXPECT_EQ(metrics.correct, correct);
  EXPECT_DOUBLE_EQ(metrics.accuracy, static_cast<double>(correct) / static_cast<double>(count));
}

TEST(ModelTest, APendingCallThatReadsTheModelLeavesItToOtherReaders) {
  World world(60000);
  const Sampler sampler = world.make_sampler();
  const Batch batch = full_batch(world, sampler, {1, 2});
  const Model model = world.make_model();
  const TempDir folder;
  Tensor rows;
  // On a loaded machine the call may finish at once, and is repeated.
  EXPECT_TRUE(eventually([&] {
    return gnnmg_model_embed(model, world.dataset, 0, nullptr, rows.out(), 0) == GNNMG_PENDING;
  }));
  EXPECT_EQ(rows.get(), nullptr);
  EXPECT_FAILS(gnnmg_model_forward(model, batch, nullptr), GNNMG_ERR_BUSY,
               "argument 'model': gnnmg_model_embed() returned GNNMG_PENDING and holds this model; "
               "repeat it with equal arguments until it has ended, or end it with "
               "gnnmg_context_cancel() and repeat it once");
  const std::string path = folder.file("weights.safetensors");
  EXPECT_EQ(gnnmg_model_load(model, path.c_str(), nullptr, -1), GNNMG_ERR_BUSY);
  auto facts = info<gnnmg_model_info>();
  EXPECT_OK(gnnmg_model_get_info(model, &facts));
  Tensor logits;
  EXPECT_OK(gnnmg_model_infer(model, batch, logits.out()));
  EXPECT_OK(gnnmg_model_save(model, path.c_str(), nullptr, -1));
  auto metrics = info<gnnmg_metrics>();
  EXPECT_OK(gnnmg_model_evaluate(model, world.dataset, GNNMG_PART_TEST, 0, &metrics, nullptr, -1));
  EXPECT_EQ(gnnmg_model_forward(model, batch, nullptr), GNNMG_ERR_BUSY);
  EXPECT_OK(until_done(
      [&] { return gnnmg_model_embed(model, world.dataset, 0, nullptr, rows.out(), 1); }));
  EXPECT_OK(gnnmg_model_forward(model, batch, nullptr));
}

TEST(ModelTest, ManyThreadsInferAndEvaluateAtOnce) {
  World world(2000);
  world.layers.dropout = 0.5;
  const Sampler sampler = world.make_sampler();
  const Model model = world.make_model();
  const Batch batch = full_batch(world, sampler, {1, 2, 3});
  Tensor wanted;
  ASSERT_OK(gnnmg_model_infer(model, batch, wanted.out()));
  const auto rows = values<float>(wanted);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int call = 0; call < 20; ++call) {
        Tensor logits;
        EXPECT_OK(gnnmg_model_infer(model, batch, logits.out()));
        EXPECT_EQ(values<float>(logits), rows);
        auto metrics = info<gnnmg_metrics>();
        EXPECT_OK(
            gnnmg_model_evaluate(model, world.dataset, GNNMG_PART_TEST, 0, &metrics, nullptr, -1));
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(OptimizerTest, UpdatesAndClearsTheGradients) {
  World world(60);
  const Sampler sampler = world.make_sampler();
  const Model model = world.make_model();
  Optimizer optimizer;
  ASSERT_OK(gnnmg_optimizer_create(model, "optimizer=sgd learning_rate=0.5", optimizer.out()));
  const Batch batch = full_batch(world, sampler, {1, 2, 3});
  ASSERT_OK(gnnmg_model_forward(model, batch, nullptr));
  ASSERT_OK(gnnmg_model_backward(model, GNNMG_LOSS_AUTO, nullptr));
  Tensor flat;
  ASSERT_OK(gnnmg_model_export_gradients(model, flat.out()));
  const auto gradients = values<float>(flat), before = weights(model);
  ASSERT_OK(gnnmg_optimizer_step(optimizer));
  const auto after = weights(model);
  for (size_t i = 0; i < before.size(); ++i)
    EXPECT_FLOAT_EQ(after[i], before[i] - 0.5f * gradients[i]);
  for (float value : values<float>(flat)) EXPECT_EQ(value, 0);

  double rate = 0;
  ASSERT_OK(gnnmg_optimizer_set_learning_rate(optimizer, 0.25));
  ASSERT_OK(gnnmg_optimizer_learning_rate(optimizer, &rate));
  EXPECT_EQ(rate, 0.25);
  EXPECT_FAILS(gnnmg_optimizer_set_learning_rate(optimizer, NAN), GNNMG_ERR_INVALID_ARGUMENT,
               "rate");
  Optimizer bad;
  EXPECT_FAILS(gnnmg_optimizer_create(model, "clip_norm=-1", bad.out()), GNNMG_ERR_INVALID_ARGUMENT,
               "clip_norm");
  EXPECT_FAILS(gnnmg_optimizer_create(model, "learning_rate=-1", bad.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "learning_rate");
}

TEST(OptimizerTest, AForwardPassIsLostWhenTheParametersChange) {
  World world(60);
  const Sampler sampler = world.make_sampler();
  const Model model = world.make_model();
  const TempDir folder;
  const std::string path = folder.file("weights.safetensors");
  Optimizer optimizer;
  ASSERT_OK(gnnmg_optimizer_create(model, nullptr, optimizer.out()));
  const Trainer trainer = world.make_trainer(model, sampler);
  ASSERT_OK(gnnmg_model_save(model, path.c_str(), nullptr, -1));
  const std::vector<std::function<gnnmg_status()>> changes = {
      [&] { return gnnmg_optimizer_step(optimizer); },
      [&] { return gnnmg_model_load(model, path.c_str(), nullptr, -1); },
      [&] { return gnnmg_trainer_step(trainer, nullptr, -1); },
      [&] {
        std::vector<float> bias(3, 0.5f);
        return gnnmg_model_set_tensor(model, "convs.1.lin_l.bias", wrap(bias));
      },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    ASSERT_OK(gnnmg_model_forward(model, full_batch(world, sampler, {1, 2, 3}), nullptr));
    ASSERT_OK(changes[i]()) << i;
    EXPECT_FAILS(gnnmg_model_backward(model, GNNMG_LOSS_AUTO, nullptr), GNNMG_ERR_NOT_FOUND,
                 "change of the model's parameters");
  }
}

TEST(OptimizerTest, ClipsTheWholeGradient) {
  World world(60);
  const Sampler sampler = world.make_sampler();
  const Model model = world.make_model();
  Optimizer optimizer;
  ASSERT_OK(gnnmg_optimizer_create(model, "optimizer=sgd learning_rate=1 clip_norm=0.01",
                                   optimizer.out()));
  ASSERT_OK(gnnmg_model_forward(model, full_batch(world, sampler, {1, 2, 3}), nullptr));
  ASSERT_OK(gnnmg_model_backward(model, GNNMG_LOSS_AUTO, nullptr));
  const auto before = weights(model);
  ASSERT_OK(gnnmg_optimizer_step(optimizer));
  const auto after = weights(model);
  double square = 0;
  for (size_t i = 0; i < before.size(); ++i) square += std::pow(after[i] - before[i], 2);
  EXPECT_NEAR(std::sqrt(square), 0.01, 1e-5);
}

TEST(OptimizerTest, ItsStateIsSavedAndRead) {
  World world(60);
  const TempDir folder;
  const std::string path = folder.file("adam.pth");
  const Sampler sampler = world.make_sampler();
  const Model model = world.make_model();
  Optimizer first, second, sgd;
  ASSERT_OK(gnnmg_optimizer_create(model, nullptr, first.out()));
  const auto update = [&](gnnmg_model* of, gnnmg_optimizer* by) {
    const Batch batch = full_batch(world, sampler, {1, 2, 3, 4});
    ASSERT_OK(gnnmg_model_forward(of, batch, nullptr));
    ASSERT_OK(gnnmg_model_backward(of, GNNMG_LOSS_AUTO, nullptr));
    ASSERT_OK(gnnmg_optimizer_step(by));
  };
  update(model, first);
  update(model, first);
  ASSERT_OK(gnnmg_optimizer_save(first, path.c_str(), nullptr, -1));
  Model copy;
  ASSERT_OK(gnnmg_model_create_copy(model, copy.out()));
  ASSERT_OK(gnnmg_optimizer_create(copy, nullptr, second.out()));
  ASSERT_OK(gnnmg_optimizer_load(second, path.c_str(), nullptr, -1));
  update(model, first);
  update(copy, second);
  EXPECT_EQ(weights(copy), weights(model));

  ASSERT_OK(gnnmg_optimizer_create(copy, "optimizer=sgd momentum=0.5", sgd.out()));
  EXPECT_FAILS(gnnmg_optimizer_load(sgd, path.c_str(), nullptr, -1), GNNMG_ERR_FORMAT,
               "missing: momentum_buffer.convs.0.lin_l.weight");
  EXPECT_EQ(gnnmg_optimizer_load(first, folder.file("none").c_str(), nullptr, -1),
            GNNMG_ERR_NOT_FOUND);
  EXPECT_EQ(gnnmg_optimizer_save(first, folder.file("no/such").c_str(), nullptr, -1),
            GNNMG_ERR_NOT_FOUND);
}

TEST(OptimizerTest, ItsStateGoesWithWeightsOfAnotherForm) {
  World world(60);
  const TempDir folder;
  const std::string path = folder.file("state.pth");
  const Sampler sampler = world.make_sampler();
  const Model model = world.make_model();
  Optimizer optimizer;
  ASSERT_OK(gnnmg_optimizer_create(model, nullptr, optimizer.out()));
  ASSERT_OK(gnnmg_model_forward(model, full_batch(world, sampler, {1, 2, 3, 4}), nullptr));
  ASSERT_OK(gnnmg_model_backward(model, GNNMG_LOSS_AUTO, nullptr));
  ASSERT_OK(gnnmg_optimizer_step(optimizer));
  const char* form = "other_framework=1";
  ASSERT_OK(gnnmg_optimizer_save(optimizer, path.c_str(), form, -1));
  ASSERT_OK(gnnmg_optimizer_load(optimizer, path.c_str(), form, -1));
  EXPECT_FAILS(gnnmg_optimizer_load(optimizer, path.c_str(), nullptr, -1), GNNMG_ERR_FORMAT,
               "misshapen: exp_avg.convs.0.lin_l.bias is ");
  EXPECT_FAILS(gnnmg_optimizer_load(optimizer, path.c_str(), "other_framework=1 dict=else", -1),
               GNNMG_ERR_NOT_FOUND, "has nothing at \"else.state\"");
  EXPECT_FAILS(gnnmg_optimizer_save(optimizer, path.c_str(), "format=safetensors", -1),
               GNNMG_ERR_INVALID_ARGUMENT, "states of optimizers are .pth files");
  EXPECT_FAILS(gnnmg_optimizer_load(optimizer, path.c_str(), "other_framework=2", -1),
               GNNMG_ERR_INVALID_ARGUMENT, "other_framework=2");

  world.layers.architecture = GNNMG_ARCHITECTURE_GATV2;
  const Model gat = world.make_model();
  Optimizer other;
  ASSERT_OK(gnnmg_optimizer_create(gat, nullptr, other.out()));
  EXPECT_FAILS(gnnmg_optimizer_save(other, path.c_str(), form, -1), GNNMG_ERR_UNSUPPORTED,
               "GATv2Conv: biases of DGL are sums of those of PyG");
}

TEST(OptimizerTest, KeepsItsModelAlive) {
  World world(60);
  Model model = world.make_model();
  Optimizer optimizer;
  ASSERT_OK(gnnmg_optimizer_create(model, nullptr, optimizer.out()));
  model.reset();
  world.context.reset();
  EXPECT_OK(gnnmg_optimizer_step(optimizer));
}

}  // namespace
}  // namespace gnnmg::test
