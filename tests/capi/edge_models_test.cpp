// Models that read edge columns, from graph to trainer; results for graphs.
#include <cmath>

#include "capi/support.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

constexpr int64_t kNodes = 120, kEdges = 900;

// Nodes in two classes, the last of them isolated; edges with rows of three numbers, weights and
// types. Double precision keeps the difference between orders of summation small.
struct EdgeWorld {
  EdgeWorld() {
    EXPECT_OK(gnnmg_context_create(GNNMG_VERSION, nullptr, context.out()));
    std::vector<int64_t> sources, targets, types, labels;
    std::vector<double> features, rows, weights;
    for (int64_t e = 0; e < kEdges; ++e) {
      sources.push_back(e * 37 % (kNodes - 1));
      targets.push_back((e * 53 + e / 7) % (kNodes - 1));
      if (sources.back() == targets.back()) targets.back() = (targets.back() + 1) % (kNodes - 1);
      types.push_back(e * e % 5);
      weights.push_back(0.25 + static_cast<double>(e % 9));
      for (int64_t k = 0; k < 3; ++k) rows.push_back(std::sin(static_cast<double>(e * 3 + k)));
    }
    for (int64_t i = 0; i < kNodes; ++i) {
      labels.push_back(i % 2);
      for (int64_t k = 0; k < 6; ++k)
        features.push_back(std::cos(static_cast<double>(i * 6 + k)) + (i % 2 ? 0.3 : 0));
    }
    const int64_t x[] = {kNodes, 6}, y[] = {kNodes}, attr[] = {kEdges, 3}, one[] = {kEdges};
    EXPECT_OK(gnnmg_graph_create_from_coo(context, kNodes, sources.data(), targets.data(),
                                          GNNMG_DTYPE_I64, kEdges, graph.out()));
    EXPECT_OK(gnnmg_graph_set_node_tensor(graph, 0, "x", features.data(), GNNMG_DTYPE_F64, 2, x));
    EXPECT_OK(gnnmg_graph_set_node_tensor(graph, 0, "y", labels.data(), GNNMG_DTYPE_I64, 1, y));
    EXPECT_OK(
        gnnmg_graph_set_edge_tensor(graph, 0, "edge_attr", rows.data(), GNNMG_DTYPE_F64, 2, attr));
    EXPECT_OK(gnnmg_graph_set_edge_tensor(graph, 0, "edge_weight", weights.data(), GNNMG_DTYPE_F64,
                                          1, one));
    EXPECT_OK(
        gnnmg_graph_set_edge_tensor(graph, 0, "edge_type", types.data(), GNNMG_DTYPE_I64, 1, one));
    EXPECT_OK(gnnmg_dataset_create(graph, "x", "y", GNNMG_TASK_MULTICLASS, 2, data.out()));
    EXPECT_OK(gnnmg_dataset_add_random_split(data, "random", nullptr));
    layers.set("hidden_dim=8 dtype=f64 dropout=0.2");
  }

  Sampler sampler(int64_t fanout) const {
    const std::string hop = std::to_string(fanout), fanouts = "fanouts=" + hop + "," + hop;
    Sampler made;
    EXPECT_OK(gnnmg_sampler_create(graph, nullptr, fanouts.c_str(), made.out()));
    return made;
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

struct Kind {
  const char* name;
  gnnmg_architecture architecture;
  const char* settings;
};
const Kind kKinds[] = {
    {"GINE", GNNMG_ARCHITECTURE_GINE, ""},
    {"GINE, mean", GNNMG_ARCHITECTURE_GINE, "aggregation=mean"},
    {"R-GCN", GNNMG_ARCHITECTURE_RGCN, ""},
    {"R-GCN, bases", GNNMG_ARCHITECTURE_RGCN, "num_bases=2"},
    {"R-GCN, blocks", GNNMG_ARCHITECTURE_RGCN, "num_blocks=2"},
    {"transformer", GNNMG_ARCHITECTURE_TRANSFORMER, "heads=2 edge_dim=-1 beta=1"},
    {"PNA", GNNMG_ARCHITECTURE_PNA, "edge_dim=3 towers=2"},
    {"GAT", GNNMG_ARCHITECTURE_GAT, "edge_dim=-1"},
    {"GATv2", GNNMG_ARCHITECTURE_GATV2, "edge_dim=-1"},
    {"GCN", GNNMG_ARCHITECTURE_GCN, "edge_weights=1 improved=1"},
    {"GraphConv", GNNMG_ARCHITECTURE_GRAPHCONV, "edge_weights=1"},
    {"EdgeConv", GNNMG_ARCHITECTURE_EDGE, ""},
    {"EdgeConv, means", GNNMG_ARCHITECTURE_EDGE, "aggregation=mean"},
    {"EdgeConv, norms", GNNMG_ARCHITECTURE_EDGE, "norm=batch activation=elu"},
    {"PNA, deeper", GNNMG_ARCHITECTURE_PNA, "pre_layers=2 post_layers=2"},
    {"GATv2, one map", GNNMG_ARCHITECTURE_GATV2, "share_weights=1"},
    {"GCN, sums", GNNMG_ARCHITECTURE_GCN, "degree_norm=none self_loops=0"},
    {"GAT, largest features for loops", GNNMG_ARCHITECTURE_GAT, "edge_dim=-1 loop_fill=max"},
    {"GATv2, a constant for loops", GNNMG_ARCHITECTURE_GATV2,
     "edge_dim=-1 loop_fill=constant loop_value=0.5"},
    {"GINE, features as they are", GNNMG_ARCHITECTURE_GINE,
     "input=embedding hidden_dim=3 plain_edges=1"},
    {"GraphSAGE, several aggregations", GNNMG_ARCHITECTURE_SAGE,
     "reductions=mean,max,deviation activation=silu"},
    {"GraphSAGE, batch norm of its own", GNNMG_ARCHITECTURE_SAGE,
     "norm=batch norm_epsilon=1e-3 norm_momentum=0.4 norm_affine=off"},
    {"GraphSAGE, means of statistics", GNNMG_ARCHITECTURE_SAGE, "norm=batch norm_momentum=-1"},
    {"PNA, learned degrees", GNNMG_ARCHITECTURE_PNA, "train_norm=1"},
    {"GraphConv, weighted maximum", GNNMG_ARCHITECTURE_GRAPHCONV, "edge_weights=1 aggregation=max"},
    {"DGL's GraphSAGE with weights", GNNMG_ARCHITECTURE_SAGE,
     "framework=dgl aggregation=pool edge_weights=1"},
    {"DGL's GIN with weights", GNNMG_ARCHITECTURE_GIN,
     "framework=dgl aggregation=mean edge_weights=1"},
    {"DGL's R-GCN with a norm", GNNMG_ARCHITECTURE_RGCN, "framework=dgl inner_norm=1"},
    {"DGL's EdgeConv with a norm", GNNMG_ARCHITECTURE_EDGE, "framework=dgl inner_norm=1"},
    {"GAT, fewer edges", GNNMG_ARCHITECTURE_GAT, "edge_dim=-1 edge_dropout=0.3 node_dropout=0.1"},
};

TEST(EdgeModelsTest, TrainAlikeOnAnyNumberOfRanksAndAreExchanged) {
  const EdgeWorld world;
  const TempDir folder;
  const Sampler sampler = world.sampler(4), all = world.sampler(-1);
  for (const Kind& kind : kKinds) {
    SCOPED_TRACE(kind.name);
    ModelConfig layers = world.layers;
    layers.architecture = kind.architecture;
    layers.set(kind.settings);
    std::vector<double> first;
    Model trained;
    for (const int32_t ranks : {1, 2, 4}) {
      Model model;
      ASSERT_OK(gnnmg_model_create(world.context, world.data, &layers, layers.text(), model.out()));
      auto before = info<gnnmg_metrics>(), after = info<gnnmg_metrics>();
      ASSERT_OK(gnnmg_model_evaluate(model, world.data, GNNMG_PART_TRAIN, 0, &before, nullptr, -1));
      TrainerConfig training;
      training.num_epochs = 4;
      training.batch_size = 10;
      training.batches_per_step = 4;
      training.num_ranks = ranks;
      training.learning_rate = 0.01;
      Trainer trainer;
      ASSERT_OK(gnnmg_trainer_create(model, world.data, sampler, nullptr, &training,
                                     training.text(), trainer.out()));
      ASSERT_OK(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr));
      ASSERT_OK(gnnmg_trainer_evaluate(trainer, GNNMG_PART_TRAIN, &after, nullptr, -1));
      EXPECT_LT(after.loss, before.loss);
      const std::vector<double> weights = weights_of(model);
      if (first.empty()) first = weights;
      for (size_t i = 0; i < weights.size(); ++i) ASSERT_NEAR(weights[i], first[i], 1e-9) << i;
      trained = std::move(model);
    }
    // Mini-batches of all neighbors and inference over the graph agree, also for isolated nodes.
    const std::vector<int64_t> seeds{3, kNodes - 1, 50};
    Batch batch;
    ASSERT_OK(
        gnnmg_sampler_sample(all, world.data, seeds.data(), 3, nullptr, 0, 0, 0, batch.out(), -1));
    Tensor logits, rows;
    ASSERT_OK(gnnmg_model_infer(trained, batch, logits.out()));
    ASSERT_OK(gnnmg_model_embed(trained, world.data, 0, nullptr, rows.out(), -1));
    const auto a = values<double>(logits), b = values<double>(rows);
    for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[seeds[i / 2] * 2 + i % 2], 1e-9);

    for (const char* name : {"m.pth", "m.safetensors", "torch.pth"}) {
      const char* form = name[0] == 't' ? "torch_modules=1" : nullptr;
      ASSERT_OK(gnnmg_model_save(trained, folder.file(name).c_str(), form, -1));
      layers.seed = 7;
      Model other;
      ASSERT_OK(gnnmg_model_create(world.context, world.data, &layers, layers.text(), other.out()));
      EXPECT_NE(weights_of(other), first);
      ASSERT_OK(gnnmg_model_load(other, folder.file(name).c_str(), nullptr, -1));
      EXPECT_EQ(weights_of(other), weights_of(trained));
    }
  }
}

TEST(EdgeModelsTest, WhatTheDataLacksIsNamed) {
  EdgeWorld world;
  Model model;
  const auto refused = [&](gnnmg_status status, const char* part) {
    EXPECT_FAILS(
        gnnmg_model_create(world.context, nullptr, &world.layers, world.layers.text(), model.out()),
        status, part);
  };
  world.layers.input_dim = 6;
  world.layers.output_dim = 2;
  world.layers.architecture = GNNMG_ARCHITECTURE_GINE;
  refused(GNNMG_ERR_INVALID_ARGUMENT, "edge_dim is to be the data set's");
  world.layers.architecture = GNNMG_ARCHITECTURE_RGCN;
  refused(GNNMG_ERR_INVALID_ARGUMENT,
          "num_relations is to be the data set's, and there is no data set with types of "
          "edges, 'edge_type', 'type' or 'edge_label', to take it from");
  world.layers.set("num_relations=-5");
  refused(GNNMG_ERR_INVALID_ARGUMENT, "num_relations=-5");
  const std::string pna = "input_dim=6 output_dim=2 architecture=pna ";
  const std::string good = pna + "average_degree=1 average_log_degree=1 ";
  world.layers = {};
  world.layers.set(pna);
  refused(GNNMG_ERR_INVALID_ARGUMENT, "average_degree");
  const std::pair<const char*, const char*> wrong[] = {{"towers=-1", "towers=-1"},
                                                       {"reductions=,max", "reductions=,max"},
                                                       {"reductions=77", "reductions=77"},
                                                       {"node_vocabulary=-3", "node_vocabulary"}};
  for (const auto& [word, part] : wrong) {
    world.layers = {};
    world.layers.set(good + word);
    refused(GNNMG_ERR_INVALID_ARGUMENT, part);
  }

  // Six relations suit the graph, which has five; four do not.
  world.layers = {};
  world.layers.set("architecture=rgcn input_dim=6 output_dim=2 dtype=f64 num_relations=4");
  ASSERT_OK(
      gnnmg_model_create(world.context, nullptr, &world.layers, world.layers.text(), model.out()));
  const Sampler sampler = world.sampler(3);
  Trainer trainer;
  EXPECT_FAILS(
      gnnmg_trainer_create(model, world.data, sampler, nullptr, nullptr, nullptr, trainer.out()),
      GNNMG_ERR_RANGE, "expected 0 to 3");
  const std::vector<int64_t> seeds{3, 4};
  Batch batch;
  ASSERT_OK(gnnmg_sampler_sample(sampler, world.data, seeds.data(), 2, nullptr, 0, 0, 0,
                                 batch.out(), -1));
  Tensor logits;
  EXPECT_FAILS(gnnmg_model_infer(model, batch, logits.out()), GNNMG_ERR_RANGE, "has type 4");
  world.layers.set("num_relations=6");
  ASSERT_OK(
      gnnmg_model_create(world.context, nullptr, &world.layers, world.layers.text(), model.out()));
  EXPECT_OK(gnnmg_model_infer(model, batch, logits.out()));
}

// Eight graphs of nodes and edges with categories; a model with a readout has a row for each.
TEST(EdgeModelsTest, ReadoutsOfGraphsWithCategories) {
  constexpr int64_t kGraphs = 8, kSize = 5;
  Context context;
  ASSERT_OK(gnnmg_context_create(GNNMG_VERSION, nullptr, context.out()));
  std::vector<int64_t> sources, targets, starts{0}, classes;
  std::vector<uint8_t> atoms, bonds;
  for (int64_t g = 0; g < kGraphs; ++g) {
    for (int64_t i = 0; i < kSize; ++i) {
      sources.push_back(g * kSize + i);
      targets.push_back(g * kSize + (i + 1 + g % 2) % kSize);
      atoms.push_back(static_cast<uint8_t>((g + i) % 4));
      atoms.push_back(static_cast<uint8_t>(i % 2));
      bonds.push_back(static_cast<uint8_t>((g * i) % 3));
    }
    starts.push_back((g + 1) * kSize);
    classes.push_back(g % 2);
  }
  const auto nodes = static_cast<int64_t>(atoms.size() / 2);
  const auto edges = static_cast<int64_t>(sources.size());
  const int64_t x[] = {nodes, 2}, attr[] = {edges, 1};
  Graph graph;
  ASSERT_OK(gnnmg_graph_create_from_coo(context, nodes, sources.data(), targets.data(),
                                        GNNMG_DTYPE_I64, edges, graph.out()));
  ASSERT_OK(gnnmg_graph_set_node_tensor(graph, 0, "x", atoms.data(), GNNMG_DTYPE_U8, 2, x));
  ASSERT_OK(
      gnnmg_graph_set_edge_tensor(graph, 0, "edge_attr", bonds.data(), GNNMG_DTYPE_U8, 2, attr));
  Dataset data;
  const Tensor labels = wrap(classes);
  ASSERT_OK(gnnmg_dataset_create_graphs(graph, starts.data(), kGraphs, "x", labels,
                                        GNNMG_TASK_MULTICLASS, 2, data.out()));
  ASSERT_OK(gnnmg_dataset_add_random_split(data, "random",
                                           "train_fraction=0.5 validation_fraction=0.25"));
  SamplerConfig sampling;
  Sampler sampler;
  ASSERT_OK(gnnmg_sampler_create_graphs(data, &sampling, sampling.text(), sampler.out()));

  ModelConfig layers;
  layers.architecture = GNNMG_ARCHITECTURE_GINE;
  layers.hidden_dim = 8;
  layers.set("edge_dim=6 node_vocabulary=4,2 edge_vocabulary=3 jumping=last");
  for (const gnnmg_readout readout :
       {GNNMG_READOUT_SUM, GNNMG_READOUT_ATTENTION, GNNMG_READOUT_SET2SET, GNNMG_READOUT_SORT}) {
    SCOPED_TRACE(readout);
    layers.readout = readout;
    if (readout == GNNMG_READOUT_SORT) layers.set("sort_rows=3");
    Model model;
    ASSERT_OK(gnnmg_model_create(context, data, &layers, layers.text(), model.out()));
    TrainerConfig training;
    training.num_epochs = 2;
    training.batch_size = 2;
    training.num_ranks = 2;
    Trainer trainer;
    ASSERT_OK(gnnmg_trainer_create(model, data, sampler, nullptr, &training, training.text(),
                                   trainer.out()));
    ASSERT_OK(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr));
    auto metrics = info<gnnmg_metrics>();
    ASSERT_OK(gnnmg_model_evaluate(model, data, GNNMG_PART_TEST, 0, &metrics, nullptr, -1));
    EXPECT_EQ(metrics.count, 2);

    Tensor rows, all_ranks, logits;
    ASSERT_OK(gnnmg_model_embed(model, data, 0, nullptr, rows.out(), -1));
    EXPECT_EQ(shape_of(rows), (std::vector<int64_t>{kGraphs, 2}));
    ASSERT_OK(gnnmg_trainer_embed(trainer, 0, nullptr, all_ranks.out(), -1));
    EXPECT_EQ(values<float>(all_ranks), values<float>(rows));
    const std::vector<int64_t> seeds{7, 2};
    Batch batch;
    ASSERT_OK(
        gnnmg_sampler_sample(sampler, data, seeds.data(), 2, nullptr, 0, 0, 0, batch.out(), -1));
    ASSERT_OK(gnnmg_model_infer(model, batch, logits.out()));
    const auto a = values<float>(logits), b = values<float>(rows);
    for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(a[i], b[seeds[i / 2] * 2 + i % 2], 1e-5);
  }
}

// A mini-batch may consist of nodes without edges: its result then depends on no row, but still on
// the parameters.
TEST(EdgeModels, TrainOnNodesWithoutEdges) {
  const EdgeWorld world;
  Graph graph;
  const int64_t ends[] = {0, 1}, rows[] = {kNodes, 1};
  const std::vector<double> x(kNodes, 0.5);
  std::vector<int64_t> labels, nodes, types{0, 1};
  for (int64_t i = 0; i < kNodes; ++i) labels.push_back(i % 2), nodes.push_back(i);
  ASSERT_OK(gnnmg_graph_create_from_coo(world.context, kNodes, ends, ends + 1, GNNMG_DTYPE_I64, 1,
                                        graph.out()));
  ASSERT_OK(gnnmg_graph_set_node_tensor(graph, 0, "x", x.data(), GNNMG_DTYPE_F64, 2, rows));
  ASSERT_OK(gnnmg_graph_set_node_tensor(graph, 0, "y", labels.data(), GNNMG_DTYPE_I64, 1, rows));
  const int64_t edges[] = {1};
  ASSERT_OK(
      gnnmg_graph_set_edge_tensor(graph, 0, "edge_type", types.data(), GNNMG_DTYPE_I64, 1, edges));
  Dataset data;
  ASSERT_OK(gnnmg_dataset_create(graph, "x", "y", GNNMG_TASK_MULTICLASS, 2, data.out()));
  ASSERT_OK(gnnmg_dataset_add_split(data, "all", nodes.data() + 2, kNodes - 2, nodes.data(), 1,
                                    nodes.data() + 1, 1));
  Sampler sampler;
  ASSERT_OK(gnnmg_sampler_create(graph, nullptr, nullptr, sampler.out()));
  for (const gnnmg_architecture architecture :
       {GNNMG_ARCHITECTURE_SAGE, GNNMG_ARCHITECTURE_GCN, GNNMG_ARCHITECTURE_GAT,
        GNNMG_ARCHITECTURE_GATV2, GNNMG_ARCHITECTURE_RGCN, GNNMG_ARCHITECTURE_TRANSFORMER,
        GNNMG_ARCHITECTURE_GRAPHCONV})
    for (const int32_t bases : {0, 2}) {
      if (bases > 0 && architecture != GNNMG_ARCHITECTURE_RGCN) continue;
      SCOPED_TRACE(testing::Message() << "architecture " << architecture << ", bases " << bases);
      ModelConfig layers = world.layers;
      layers.architecture = architecture;
      layers.set("bias=0");
      if (architecture == GNNMG_ARCHITECTURE_SAGE || architecture == GNNMG_ARCHITECTURE_RGCN ||
          architecture == GNNMG_ARCHITECTURE_TRANSFORMER)
        layers.set("root_weight=0");
      if (architecture == GNNMG_ARCHITECTURE_RGCN) {
        layers.set("num_relations=2");
        layers.set("num_bases=" + std::to_string(bases));
      }
      if (architecture == GNNMG_ARCHITECTURE_GCN || architecture == GNNMG_ARCHITECTURE_GAT ||
          architecture == GNNMG_ARCHITECTURE_GATV2)
        layers.set("self_loops=0");
      Model model;
      ASSERT_OK(gnnmg_model_create(world.context, data, &layers, layers.text(), model.out()));
      TrainerConfig training;
      training.num_epochs = 2;
      training.batch_size = 16;
      Trainer trainer;
      ASSERT_OK(gnnmg_trainer_create(model, data, sampler, nullptr, &training, training.text(),
                                     trainer.out()));
      EXPECT_OK(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr));
    }
}

}  // namespace
}  // namespace gnnmg::test
