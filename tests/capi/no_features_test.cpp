// Models of graphs without features, from data set to file: settings that the data set decides,
// training on any number of ranks, the caller's own loops, and errors.
#include "capi/support.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

constexpr int64_t kEntities = 90, kFacts = 500;

// Nodes in three classes, the first 60 for training; most edges keep to a class. Edges have types.
struct Knowledge {
  explicit Knowledge(int64_t nodes = kEntities) {
    EXPECT_OK(gnnmg_context_create(GNNMG_VERSION, nullptr, context.out()));
    std::vector<int64_t> sources, targets, types, labels, train, test;
    for (int64_t e = 0; e < kFacts; ++e) {
      const int64_t source = e * 37 % kEntities, shift = e % 5 == 0 ? 1 : 3;
      sources.push_back(source);
      targets.push_back((source + shift * (1 + e % 7)) % kEntities);
      types.push_back(e / 3 % 4);
    }
    for (int64_t i = 0; i < nodes; ++i) labels.push_back(i % 3);
    for (int64_t i = 0; i < kEntities; ++i) (i < 60 ? train : test).push_back(i);
    const int64_t y[] = {nodes}, one[] = {kFacts};
    EXPECT_OK(gnnmg_graph_create_from_coo(context, nodes, sources.data(), targets.data(),
                                          GNNMG_DTYPE_I64, kFacts, graph.out()));
    EXPECT_OK(gnnmg_graph_set_node_tensor(graph, 0, "y", labels.data(), GNNMG_DTYPE_I64, 1, y));
    EXPECT_OK(
        gnnmg_graph_set_edge_tensor(graph, 0, "edge_type", types.data(), GNNMG_DTYPE_I64, 1, one));
    EXPECT_OK(gnnmg_dataset_create(graph, nullptr, "y", GNNMG_TASK_MULTICLASS, 3, data.out()));
    EXPECT_OK(gnnmg_dataset_add_split(data, "main", train.data(), 60, nullptr, 0, test.data(), 30));
    layers.set("hidden_dim=8 dtype=f64");
    EXPECT_OK(gnnmg_sampler_create(graph, nullptr, "fanouts=4,4", sampler.out()));
  }
  Model model(const std::string& settings) const {
    ModelConfig config = layers;
    config.set(settings);
    Model made;
    EXPECT_OK(gnnmg_model_create(context, data, &config, config.text(), made.out()));
    return made;
  }

  Context context;
  Graph graph;
  Dataset data;
  Sampler sampler;
  ModelConfig layers;
};

TEST(NoFeaturesTest, TrainAlikeOnAnyNumberOfRanksAndAreKept) {
  const Knowledge world;
  const TempDir folder;
  for (const std::string kind :
       {"architecture=rgcn input=nodes", "architecture=rgcn input=embedding",
        "architecture=sage input=embedding"}) {
    SCOPED_TRACE(kind);
    std::vector<double> first;
    Model trained;
    for (const int32_t ranks : {1, 2, 4}) {
      Model model = world.model(kind);
      auto facts = info<gnnmg_model_info>();
      ASSERT_OK(gnnmg_model_get_info(model, &facts));
      EXPECT_EQ(facts.input_dim, kEntities);
      TrainerConfig training;
      training.num_epochs = 30;
      training.batch_size = 20;
      training.batches_per_step = 4;
      training.num_ranks = ranks;
      training.learning_rate = 0.05;
      Trainer trainer;
      ASSERT_OK(gnnmg_trainer_create(model, world.data, world.sampler, nullptr, &training,
                                     training.text(), trainer.out()));
      ASSERT_OK(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr));
      auto after = info<gnnmg_metrics>();
      ASSERT_OK(gnnmg_trainer_evaluate(trainer, GNNMG_PART_TRAIN, &after, nullptr, -1));
      EXPECT_GT(after.accuracy, 0.8);
      const std::vector<double> found = weights_of(model);
      if (ranks == 1) first = found;
      ASSERT_EQ(found.size(), first.size());
      for (size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], first[i], 1e-9);
      trained = std::move(model);
    }

    const std::string path = folder.file("m.pth");
    ASSERT_OK(gnnmg_model_save(trained, path.c_str(), nullptr, -1));
    Model copy = world.model(kind);
    ASSERT_OK(gnnmg_model_load(copy, path.c_str(), nullptr, -1));
    EXPECT_EQ(weights_of(copy), weights_of(trained));
    Tensor rows;
    ASSERT_OK(gnnmg_model_embed(copy, world.data, 0, nullptr, rows.out(), -1));
    EXPECT_EQ(shape_of(rows), (std::vector<int64_t>{kEntities, 3}));
    // A table for another number of nodes is refused whole.
    const Model other = world.model(kind + " input_dim=" + std::to_string(kEntities - 1));
    EXPECT_FAILS(gnnmg_model_load(other, path.c_str(), nullptr, -1), GNNMG_ERR_MISMATCH,
                 "input_dim is 89, the file's is 90");
    auto metrics = info<gnnmg_metrics>();
    EXPECT_FAILS(gnnmg_model_evaluate(other, world.data, GNNMG_PART_TEST, 0, &metrics, nullptr, -1),
                 GNNMG_ERR_INVALID_ARGUMENT, "has 90 nodes, the model has weights for 89");
    Trainer trainer;
    EXPECT_FAILS(gnnmg_trainer_create(other, world.data, world.sampler, nullptr, nullptr, nullptr,
                                      trainer.out()),
                 GNNMG_ERR_INVALID_ARGUMENT, "the model has weights for 89 nodes");
    std::remove(path.c_str());
  }
}

TEST(NoFeaturesTest, LoopsOfOnesOwn) {
  const Knowledge world;
  Model model = world.model("architecture=rgcn input=nodes");
  const int64_t seeds[] = {3, 70, 11};
  Batch batch;
  ASSERT_OK(
      gnnmg_sampler_sample(world.sampler, world.data, seeds, 3, nullptr, 0, 0, 0, batch.out(), -1));
  ASSERT_OK(gnnmg_model_forward(model, batch, nullptr));
  double loss = 0;
  ASSERT_OK(gnnmg_model_backward(model, GNNMG_LOSS_AUTO, &loss));
  EXPECT_GT(loss, 0);
  Tensor gradient;
  ASSERT_OK(gnnmg_model_export_gradient(model, "convs.0.weight", gradient.out()));
  EXPECT_EQ(shape_of(gradient), (std::vector<int64_t>{4, kEntities, 8}));
  double sum = 0;
  for (double value : values<double>(gradient)) sum += value * value;
  EXPECT_GT(sum, 0);
  // A larger graph has ids that the model does not know.
  const Knowledge larger(kEntities + 5);
  const int64_t beyond[] = {kEntities + 2};
  ModelConfig config = world.layers;
  config.set("input=embedding input_dim=" + std::to_string(kEntities));
  Model known;
  ASSERT_OK(gnnmg_model_create(larger.context, larger.data, &config, config.text(), known.out()));
  ASSERT_OK(gnnmg_sampler_sample(larger.sampler, larger.data, beyond, 1, nullptr, 0, 0, 0,
                                 batch.out(), -1));
  Tensor logits;
  EXPECT_FAILS(gnnmg_model_infer(known, batch, logits.out()), GNNMG_ERR_RANGE,
               "has the id 92, and the model has weights for those from 0 to 89");
}

TEST(NoFeaturesTest, ConfigsAreChecked) {
  const Knowledge world;
  const auto refused = [&](const char* settings, const char* text) {
    Model model;
    EXPECT_FAILS(gnnmg_model_create(world.context, world.data, nullptr, settings, model.out()),
                 GNNMG_ERR_INVALID_ARGUMENT, text);
  };
  refused("",
          "config.input_dim is 0, to be taken from a data set, and there is none with "
          "features (the setting `input` says what a model reads without any); set it, or pass a "
          "data set "
          "that has them");
  refused("input=3", "settings: input=3");
  refused("input=nodes", "R-GCN of PyG's reads alone");
  refused("input=embedding input_dim=2147483648", "input_dim is 2147483648");
  refused("input=embedding edge_dropout=1", "edge_dropout=1");
  refused("input=embedding node_dropout=2", "node_dropout=2");
}

// Custom layers on learned rows, and on the nodes themselves.
TEST(NoFeaturesTest, LayersOfOnesOwn) {
  const Knowledge world;
  for (const std::string input : {"embedding", "nodes"}) {
    const bool nodes = input == "nodes";
    const std::string settings =
        "architecture=layers dtype=f64 input=" + input + (nodes ? "" : " hidden_dim=5");
    Model model;
    ASSERT_OK(
        gnnmg_model_create(world.context, world.data, nullptr, settings.c_str(), model.out()));
    if (nodes)
      EXPECT_FAILS(gnnmg_model_add_linear(model, "first", 4, 1), GNNMG_ERR_INVALID_ARGUMENT,
                   "expected a convolution of R-GCN's");
    ASSERT_OK(gnnmg_model_add_conv(model, "conv1", nullptr, "architecture=rgcn output_dim=6"));
    ASSERT_OK(gnnmg_model_add_activation(model, nullptr, GNNMG_ACTIVATION_RELU));
    ASSERT_OK(gnnmg_model_add_conv(model, "conv2", nullptr, "architecture=rgcn output_dim=3"));
    auto facts = info<gnnmg_model_info>();
    ASSERT_OK(gnnmg_model_get_info(model, &facts));
    EXPECT_EQ(facts.input_dim, kEntities);
    TrainerConfig training;
    training.num_epochs = 20;
    training.batch_size = 20;
    training.learning_rate = 0.05;
    Trainer trainer;
    ASSERT_OK(gnnmg_trainer_create(model, world.data, world.sampler, nullptr, &training,
                                   training.text(), trainer.out()));
    ASSERT_OK(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr));
    auto after = info<gnnmg_metrics>();
    ASSERT_OK(gnnmg_trainer_evaluate(trainer, GNNMG_PART_TRAIN, &after, nullptr, -1));
    EXPECT_GT(after.accuracy, 0.7);
    Tensor first;
    ASSERT_OK(
        gnnmg_model_export_tensor(model, nodes ? "conv1.weight" : "embedding.weight", first.out()));
    EXPECT_EQ(shape_of(first), nodes ? (std::vector<int64_t>{4, kEntities, 6})
                                     : (std::vector<int64_t>{kEntities, 5}));
  }
}

}  // namespace
}  // namespace gnnmg::test
