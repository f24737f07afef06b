// Options of models and optimizers without a test elsewhere: results as wide as the hidden rows,
// the class of DGL's GIN example, weight decay of the first layers.
#include <cmath>
#include <cstring>

#include "capi/support.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

constexpr int64_t kSeats = 60, kLinks = 300;

struct Nodes {
  Nodes() {
    EXPECT_OK(gnnmg_context_create(GNNMG_VERSION, nullptr, context.out()));
    std::vector<int64_t> sources, targets, labels;
    std::vector<double> features;
    for (int64_t e = 0; e < kLinks; ++e) {
      sources.push_back(e * 37 % kSeats);
      targets.push_back((e * 53 + e / 7) % kSeats);
    }
    for (int64_t i = 0; i < kSeats; ++i) {
      labels.push_back(i % 3);
      for (int64_t k = 0; k < 5; ++k)
        features.push_back(std::cos(static_cast<double>(i * 5 + k)) + (i % 3 ? 0.3 : 0));
    }
    const int64_t x[] = {kSeats, 5}, y[] = {kSeats};
    EXPECT_OK(gnnmg_graph_create_from_coo(context, kSeats, sources.data(), targets.data(),
                                          GNNMG_DTYPE_I64, kLinks, graph.out()));
    EXPECT_OK(gnnmg_graph_set_node_tensor(graph, 0, "x", features.data(), GNNMG_DTYPE_F64, 2, x));
    EXPECT_OK(gnnmg_graph_set_node_tensor(graph, 0, "y", labels.data(), GNNMG_DTYPE_I64, 1, y));
    EXPECT_OK(gnnmg_dataset_create(graph, "x", "y", GNNMG_TASK_MULTICLASS, 3, data.out()));
    EXPECT_OK(gnnmg_dataset_add_random_split(data, "random", nullptr));
    layers = init(gnnmg_model_config_init);
    layers.hidden_dim = 8;
    layers.dtype = GNNMG_DTYPE_F64;
  }
  Model model() const {
    Model made;
    EXPECT_OK(gnnmg_model_create(context, data, &layers, made.out()));
    return made;
  }

  Context context;
  Graph graph;
  Dataset data;
  gnnmg_model_config layers;
};

TEST(ModelOptionsTest, ResultsMayBeAsWideAsHiddenRows) {
  Nodes world;
  world.layers.output_dim = -1;
  for (const gnnmg_jumping jumping : {GNNMG_JUMPING_NONE, GNNMG_JUMPING_CAT}) {
    world.layers.jumping = jumping;
    const Model model = world.model();
    auto facts = info<gnnmg_model_info>();
    ASSERT_OK(gnnmg_model_get_info(model, &facts));
    EXPECT_EQ(facts.output_dim, 8);
    Tensor rows;
    ASSERT_OK(gnnmg_model_embed(model, world.data, rows.out(), -1));
    EXPECT_EQ(shape_of(rows), (std::vector<int64_t>{kSeats, 8}));
  }
  // The model does not read the classes of the data set.
  world.layers.input_dim = 5;
  Model alone;
  ASSERT_OK(gnnmg_model_create(world.context, nullptr, &world.layers, alone.out()));
  world.layers.output_dim = -2;
  Model none;
  EXPECT_FAILS(gnnmg_model_create(world.context, world.data, &world.layers, none.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "config.output_dim is -2, expected -1 to");
}

TEST(ModelOptionsTest, WrongValuesAreNamed) {
  Nodes world;
  const gnnmg_model_config good = world.layers;
  const auto refused = [&](auto&& change, const char* part) {
    gnnmg_model_config config = good;
    change(config);
    Model none;
    EXPECT_FAILS(gnnmg_model_create(world.context, world.data, &config, none.out()),
                 GNNMG_ERR_INVALID_ARGUMENT, part);
  };
  using C = gnnmg_model_config;
  refused([](C& c) { c.loop_fill = 9; }, "config.loop_fill is 9");
  refused([](C& c) { c.norm_affine = -1; }, "config.norm_affine is -1");
  refused([](C& c) { c.activation = 9; }, "config.activation is 9");
  refused([](C& c) { c.plain_edges = 2; }, "config.plain_edges is 2");
  refused([](C& c) { c.inner_norm = 2; }, "config.inner_norm is 2");
  refused([](C& c) { c.train_norm = 2; }, "config.train_norm is 2");
  refused([](C& c) { c.output_heads = -1; }, "output_heads is -1");
  refused([](C& c) { c.norm_epsilon = 1e-3; }, "norm_epsilon is an option of norms");
  refused([](C& c) { c.norm_momentum = NAN; }, "norm_momentum is nan");
}

// Errors name the constants of an enumeration, for unknown values and for unsuitable ones.
TEST(ModelOptionsTest, ConstantsAreNamed) {
  Nodes world;
  const gnnmg_model_config good = world.layers;
  const auto refused = [&](auto&& change, const std::string& part) {
    gnnmg_model_config config = good;
    change(config);
    Model none;
    EXPECT_FAILS(gnnmg_model_create(world.context, world.data, &config, none.out()),
                 GNNMG_ERR_INVALID_ARGUMENT, part);
  };
  using C = gnnmg_model_config;
  const auto range = [](const std::string& first, const std::string& last) {
    return "expected GNNMG_" + first + " to GNNMG_" + last;
  };
  refused([](C& c) { c.architecture = 0; }, range("MODEL_SAGE (1)", "MODEL_EDGE (12)"));
  refused([](C& c) { c.aggregation = -2; },
          range("AGGREGATION_DEFAULT (-1)", "AGGREGATION_GCN (5)"));
  refused([](C& c) { c.framework = 2; }, range("FRAMEWORK_PYG (0)", "FRAMEWORK_DGL (1)"));
  refused([](C& c) { c.dtype = 5; }, range("DTYPE_F32 (0)", "DTYPE_F64 (1)"));
  refused([](C& c) { c.reductions[0] = 9; },
          range("PNA_REDUCTION_MEAN (1)", "PNA_REDUCTION_DEVIATION (6)"));
  refused([](C& c) { c.scalers[0] = -1; },
          range("PNA_SCALER_IDENTITY (1)", "PNA_SCALER_INVERSE_LINEAR (5)"));
  refused([](C& c) { c.aggregation = GNNMG_AGGREGATION_POOL; },
          "aggregation is GNNMG_AGGREGATION_POOL, and PyG's GraphSAGE has");
  refused(
      [](C& c) {
        c.architecture = GNNMG_MODEL_GIN;
        c.aggregation = GNNMG_AGGREGATION_LSTM;
      },
      "aggregation is GNNMG_AGGREGATION_LSTM, and GIN has");
  refused(
      [](C& c) {
        c.architecture = GNNMG_MODEL_TRANSFORMER;
        c.framework = GNNMG_FRAMEWORK_DGL;
      },
      "framework is GNNMG_FRAMEWORK_DGL, which the graph transformer is not made for");
  refused([](C& c) { c.loop_fill = GNNMG_LOOP_FILL_MAX; }, "loop_fill");
  Dataset none;
  EXPECT_FAILS(gnnmg_dataset_create(world.graph, "x", "y", 7, 0, none.out()),
               GNNMG_ERR_INVALID_ARGUMENT, range("TASK_NONE (0)", "TASK_REGRESSION (3)"));
  EXPECT_FAILS(gnnmg_dataset_create(world.graph, "x", "y", GNNMG_TASK_REGRESSION, 0, none.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "task is GNNMG_TASK_REGRESSION, but the labels");
}

// The class of DGL's GIN example through files: a model writes and reads its keys.
TEST(ModelOptionsTest, TheClassOfDglsGinExample) {
  Nodes world;
  const TempDir folder;
  auto& layers = world.layers;
  layers.architecture = GNNMG_MODEL_GIN;
  layers.norm = GNNMG_NORM_BATCH;
  layers.jumping = GNNMG_JUMPING_SCORES;
  layers.readout = GNNMG_READOUT_SUM;
  const Model model = world.model();
  auto file = init(gnnmg_model_file_config_init);
  file.other_framework = 1;
  const std::string path = folder.file("gin.pth");
  ASSERT_OK(gnnmg_model_save(model, path.c_str(), &file, -1));
  layers.seed = 9;
  const Model first = world.model(), second = world.model();
  EXPECT_NE(weights_of(first), weights_of(model));
  ASSERT_OK(gnnmg_model_load(first, path.c_str(), nullptr, -1));  // found by its keys
  ASSERT_OK(gnnmg_model_load(second, path.c_str(), &file, -1));
  EXPECT_EQ(weights_of(first), weights_of(second));
  // All weights are the same except biases, which the class does not have.
  Tensor mine, theirs;
  const char* key = "convs.1.nn.lins.1.weight";
  ASSERT_OK(gnnmg_model_export_tensor(model, key, mine.out()));
  ASSERT_OK(gnnmg_model_export_tensor(first, key, theirs.out()));
  EXPECT_EQ(values<double>(mine), values<double>(theirs));
  layers.mlp_layers = 3;
  const Model deeper = world.model();
  EXPECT_FAILS(gnnmg_model_save(deeper, path.c_str(), &file, -1), GNNMG_ERR_UNSUPPORTED, "norms");
  EXPECT_FAILS(gnnmg_model_load(deeper, path.c_str(), nullptr, -1), GNNMG_ERR_MISMATCH,
               "mlp_layers is 3, the file's is 2");
}

TEST(ModelOptionsTest, WeightDecayOfTheFirstLayers) {
  const Nodes world;
  auto sampling = init(gnnmg_sampler_config_init);
  Sampler sampler;
  ASSERT_OK(gnnmg_sampler_create(world.graph, &sampling, sampler.out()));
  const auto trained = [&](int32_t layers, gnnmg_optimizer_kind kind) {
    const Model model = world.model();
    auto training = init(gnnmg_trainer_config_init);
    training.num_epochs = 3;
    training.num_ranks = 2;
    training.optimizer = kind;
    training.weight_decay = 0.1;
    training.weight_decay_layers = layers;
    training.keep_best = 0;
    Trainer trainer;
    EXPECT_OK(gnnmg_trainer_create(model, world.data, sampler, nullptr, &training, trainer.out()));
    EXPECT_OK(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr));
    return weights_of(model);
  };
  for (const gnnmg_optimizer_kind kind : {GNNMG_OPTIMIZER_ADAM, GNNMG_OPTIMIZER_ADAMW}) {
    const auto all = trained(0, kind), both = trained(2, kind), first = trained(1, kind);
    for (size_t i = 0; i < all.size(); ++i) EXPECT_NEAR(both[i], all[i], 1e-12);
    EXPECT_NE(first, all);
  }
  const Model model = world.model();
  auto training = init(gnnmg_trainer_config_init);
  training.weight_decay_layers = 3;
  Trainer none;
  EXPECT_FAILS(gnnmg_trainer_create(model, world.data, sampler, nullptr, &training, none.out()),
               GNNMG_ERR_INVALID_ARGUMENT,
               "weight_decay_layers is 3, and the model has 2 convolutions");
  training.weight_decay_layers = -1;
  EXPECT_FAILS(gnnmg_trainer_create(model, world.data, sampler, nullptr, &training, none.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "weight_decay_layers");
  auto rule = init(gnnmg_optimizer_config_init);
  rule.weight_decay_layers = 3;
  Optimizer optimizer;
  EXPECT_FAILS(gnnmg_optimizer_create(model, &rule, optimizer.out()), GNNMG_ERR_INVALID_ARGUMENT,
               "weight_decay_layers is 3");
  rule.weight_decay_layers = 1;
  EXPECT_OK(gnnmg_optimizer_create(model, &rule, optimizer.out()));
}

}  // namespace
}  // namespace gnnmg::test
