// Options of models and optimizers without a test elsewhere: results as wide as the hidden rows,
// the class of DGL's GIN example, weight decay of the first layers.
#include <cmath>

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
    layers.set("hidden_dim=8 dtype=f64");
  }
  Model model() const {
    Model made;
    EXPECT_OK(gnnmg_model_create(context, data, &layers, layers.text(), made.out()));
    return made;
  }

  Context context;
  Graph graph;
  Dataset data;
  ModelConfig layers;
};

TEST(ModelOptionsTest, ResultsMayBeAsWideAsHiddenRows) {
  Nodes world;
  world.layers.output_dim = -1;
  for (const char* jumping : {"jumping=none", "jumping=cat"}) {
    world.layers.set(jumping);
    const Model model = world.model();
    auto facts = info<gnnmg_model_info>();
    ASSERT_OK(gnnmg_model_get_info(model, &facts));
    EXPECT_EQ(facts.output_dim, 8);
    Tensor rows;
    ASSERT_OK(gnnmg_model_embed(model, world.data, 0, nullptr, rows.out(), -1));
    EXPECT_EQ(shape_of(rows), (std::vector<int64_t>{kSeats, 8}));
  }
  // The model does not read the classes of the data set.
  world.layers.input_dim = 5;
  Model alone;
  ASSERT_OK(
      gnnmg_model_create(world.context, nullptr, &world.layers, world.layers.text(), alone.out()));
  world.layers.output_dim = -2;
  Model none;
  EXPECT_FAILS(
      gnnmg_model_create(world.context, world.data, &world.layers, world.layers.text(), none.out()),
      GNNMG_ERR_INVALID_ARGUMENT, "config.output_dim is -2, expected -1 to");
}

TEST(ModelOptionsTest, WrongValuesAreNamed) {
  Nodes world;
  const auto refused = [&](const char* settings, const char* part) {
    Model none;
    EXPECT_FAILS(gnnmg_model_create(world.context, world.data, nullptr, settings, none.out()),
                 GNNMG_ERR_INVALID_ARGUMENT, part);
  };
  refused("loop_fill=9", "settings: loop_fill=9, expected one of mean, sum, max, min, constant");
  refused("norm_affine=-1", "settings: norm_affine=-1");
  refused("activation=9", "settings: activation=9");
  refused("plain_edges=2", "settings: plain_edges=2");
  refused("inner_norm=2", "settings: inner_norm=2");
  refused("train_norm=2", "settings: train_norm=2");
  refused("reductions=9", "settings: reductions=9");
  refused("scalers=-1", "settings: scalers=-1");
  refused("norm_momentum=nan", "settings: norm_momentum=nan");
  refused("output_heads=-1", "output_heads");
  refused("norm_epsilon=1e-3", "norm_epsilon=0.001 has an effect only with a norm");
  refused("loop_fill=max", "loop_fill");
}

TEST(ModelOptionsTest, AModelThatNoMemoryHoldsIsNamed) {
  Nodes world;
  Model none;
  EXPECT_FAILS(gnnmg_model_create(world.context, world.data, nullptr,
                                  "hidden_dim=16777216 num_layers=3", none.out()),
               GNNMG_ERR_NO_MEMORY, "parameters of the model");
  EXPECT_EQ(std::string(gnnmg_last_error()).find("alloc"), std::string::npos);
}

// Errors name the constants of an enumeration, for unknown values and for unsuitable ones.
TEST(ModelOptionsTest, ConstantsAreNamed) {
  Nodes world;
  const auto refused = [&](auto&& change, const std::string& part) {
    ModelConfig config;
    change(config);
    Model none;
    EXPECT_FAILS(gnnmg_model_create(world.context, world.data, &config, nullptr, none.out()),
                 GNNMG_ERR_INVALID_ARGUMENT, part);
  };
  using C = ModelConfig;
  const auto range = [](const std::string& first, const std::string& last) {
    return "expected GNNMG_" + first + " to GNNMG_" + last;
  };
  refused([](C& c) { c.architecture = 12; },
          range("ARCHITECTURE_SAGE (0)", "ARCHITECTURE_EDGE (11)"));
  refused([](C& c) { c.aggregation = -2; },
          range("AGGREGATION_DEFAULT (0)", "AGGREGATION_GCN (6)"));
  refused([](C& c) { c.framework = 2; }, range("FRAMEWORK_PYG (0)", "FRAMEWORK_DGL (1)"));
  refused([](C& c) { c.dtype = 5; }, range("DTYPE_F32 (0)", "DTYPE_F64 (1)"));
  refused([](C& c) { c.aggregation = GNNMG_AGGREGATION_POOL; },
          "aggregation is pool, and PyG's GraphSAGE has");
  refused(
      [](C& c) {
        c.architecture = GNNMG_ARCHITECTURE_GIN;
        c.aggregation = GNNMG_AGGREGATION_LSTM;
      },
      "aggregation is lstm, and GIN has");
  refused(
      [](C& c) {
        c.architecture = GNNMG_ARCHITECTURE_TRANSFORMER;
        c.framework = GNNMG_FRAMEWORK_DGL;
      },
      "framework is dgl, which the graph transformer is not made for");
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
  layers.set("architecture=gin norm=batch jumping=scores readout=sum");
  const Model model = world.model();
  const char* file = "other_framework=1";
  const std::string path = folder.file("gin.pth");
  ASSERT_OK(gnnmg_model_save(model, path.c_str(), file, -1));
  layers.seed = 9;
  const Model first = world.model(), second = world.model();
  EXPECT_NE(weights_of(first), weights_of(model));
  ASSERT_OK(gnnmg_model_load(first, path.c_str(), nullptr, -1));  // found by its keys
  ASSERT_OK(gnnmg_model_load(second, path.c_str(), file, -1));
  EXPECT_EQ(weights_of(first), weights_of(second));
  // All weights are the same except biases, which the class does not have.
  Tensor mine, theirs;
  const char* key = "convs.1.nn.lins.1.weight";
  ASSERT_OK(gnnmg_model_export_tensor(model, key, mine.out()));
  ASSERT_OK(gnnmg_model_export_tensor(first, key, theirs.out()));
  EXPECT_EQ(values<double>(mine), values<double>(theirs));
  layers.set("mlp_layers=3");
  const Model deeper = world.model();
  EXPECT_FAILS(gnnmg_model_save(deeper, path.c_str(), file, -1), GNNMG_ERR_UNSUPPORTED, "norms");
  EXPECT_FAILS(gnnmg_model_load(deeper, path.c_str(), nullptr, -1), GNNMG_ERR_MISMATCH,
               "mlp_layers is 3, the file's is 2");
}

TEST(ModelOptionsTest, WeightDecayOfTheFirstLayers) {
  const Nodes world;
  Sampler sampler;
  ASSERT_OK(gnnmg_sampler_create(world.graph, nullptr, nullptr, sampler.out()));
  const auto trained = [&](int32_t layers, gnnmg_optimizer_kind kind) {
    const Model model = world.model();
    TrainerConfig training;
    training.num_epochs = 3;
    training.num_ranks = 2;
    training.optimizer = kind;
    training.weight_decay = 0.1;
    training.set("keep_best=0 weight_decay_layers=" + std::to_string(layers));
    Trainer trainer;
    EXPECT_OK(gnnmg_trainer_create(model, world.data, sampler, nullptr, &training, training.text(),
                                   trainer.out()));
    EXPECT_OK(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr));
    return weights_of(model);
  };
  for (const gnnmg_optimizer_kind kind : {GNNMG_OPTIMIZER_ADAM, GNNMG_OPTIMIZER_ADAMW}) {
    const auto all = trained(0, kind), both = trained(2, kind), first = trained(1, kind);
    for (size_t i = 0; i < all.size(); ++i) EXPECT_NEAR(both[i], all[i], 1e-12);
    EXPECT_NE(first, all);
  }
  const Model model = world.model();
  Trainer none;
  const auto refused = [&](const char* settings, const char* part) {
    EXPECT_FAILS(
        gnnmg_trainer_create(model, world.data, sampler, nullptr, nullptr, settings, none.out()),
        GNNMG_ERR_INVALID_ARGUMENT, part);
  };
  refused("weight_decay=0.1 weight_decay_layers=3",
          "weight_decay_layers is 3, and the model has 2 convolutions");
  refused("weight_decay_layers=-1", "weight_decay_layers");
  Optimizer optimizer;
  EXPECT_FAILS(
      gnnmg_optimizer_create(model, "weight_decay=0.1 weight_decay_layers=3", optimizer.out()),
      GNNMG_ERR_INVALID_ARGUMENT, "weight_decay_layers is 3");
  EXPECT_OK(
      gnnmg_optimizer_create(model, "weight_decay=0.1 weight_decay_layers=1", optimizer.out()));
}

}  // namespace
}  // namespace gnnmg::test
