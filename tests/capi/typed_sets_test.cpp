// Data sets of several edge types: models refuse them at once with one text, because they would
// read edge type 0 after any sampling; samplers and loaders take an explicit type. Also many
// graphs, some without nodes: from data set to file and back to results.
#include "capi/support.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

constexpr const char* kRefusal =
    "the graph has 1 node types and 2 edge types; models take graphs with one of each";

// Four nodes on a ring of type 1; of type 0 there is one edge, with a weight.
struct Typed {
  Typed() {
    EXPECT_OK(gnnmg_context_create(GNNMG_VERSION, nullptr, context.out()));
    EXPECT_OK(gnnmg_graph_create(context, graph.out()));
    EXPECT_OK(gnnmg_graph_add_node_type(graph, "node", 4, nullptr));
    EXPECT_OK(gnnmg_graph_add_edge_type(graph, 0, "few", 0, nullptr));
    EXPECT_OK(gnnmg_graph_add_edge_type(graph, 0, "ring", 0, &ring));
    const int64_t sources[] = {0, 1, 2, 3}, targets[] = {1, 2, 3, 0}, wide[] = {4, 2}, one = 1;
    const float x[] = {1, 2, 3, 4, 5, 6, 7, 8}, weight = 2;
    const int64_t y[] = {0, 1, 0, 1};
    EXPECT_OK(gnnmg_graph_set_coo(graph, 0, sources, targets, GNNMG_DTYPE_I64, 1));
    EXPECT_OK(gnnmg_graph_set_coo(graph, ring, sources, targets, GNNMG_DTYPE_I64, 4));
    EXPECT_OK(gnnmg_graph_set_node_tensor(graph, 0, "x", x, GNNMG_DTYPE_F32, 2, wide));
    EXPECT_OK(gnnmg_graph_set_node_tensor(graph, 0, "y", y, GNNMG_DTYPE_I64, 1, wide));
    EXPECT_OK(gnnmg_graph_set_edge_tensor(graph, 0, "weight", &weight, GNNMG_DTYPE_F32, 1, &one));
    EXPECT_OK(gnnmg_dataset_create(graph, "x", "y", GNNMG_TASK_MULTICLASS, 2, data.out()));
    EXPECT_OK(gnnmg_dataset_add_split(data, "all", y + 0, 2, nullptr, 0, nullptr, 0));
    const std::string settings = "fanouts=-1 edge_ids=1 edge_type=" + std::to_string(ring);
    EXPECT_OK(gnnmg_sampler_create(graph, nullptr, settings.c_str(), sampler.out()));
  }
  // A model with explicit sizes, without a data set.
  Model model(gnnmg_architecture architecture, int32_t edge_weights) const {
    ModelConfig config;
    config.architecture = architecture;
    config.num_layers = 1;
    config.input_dim = config.output_dim = 2;
    config.set("edge_weights=" + std::to_string(edge_weights));
    Model made;
    EXPECT_OK(gnnmg_model_create(context, nullptr, &config, config.text(), made.out()));
    return made;
  }
  int32_t ring = 0;
  Context context;
  Graph graph;
  Dataset data;
  Sampler sampler;
};

TEST(TypedSetsTest, ModelsRefuseThem) {
  const Typed world;
  Model of_set;
  EXPECT_FAILS(gnnmg_model_create(world.context, world.data, nullptr, nullptr, of_set.out()),
               GNNMG_ERR_UNSUPPORTED, kRefusal);
  const int64_t seeds[] = {0, 1, 2, 3};
  Batch batch;
  ASSERT_OK(
      gnnmg_sampler_sample(world.sampler, world.data, seeds, 4, nullptr, 0, 0, 0, batch.out(), -1));
  for (const gnnmg_architecture architecture : {GNNMG_ARCHITECTURE_SAGE, GNNMG_ARCHITECTURE_GCN})
    for (const int32_t edge_weights : {0, 1}) {
      if (edge_weights == 1 && architecture == GNNMG_ARCHITECTURE_SAGE)
        continue;  // SAGE reads no weights
      const Model model = world.model(architecture, edge_weights);
      Tensor logits, rows;
      EXPECT_FAILS(gnnmg_model_infer(model, batch, logits.out()), GNNMG_ERR_UNSUPPORTED, kRefusal);
      Trainer trainer;
      EXPECT_FAILS(gnnmg_trainer_create(model, world.data, world.sampler, nullptr, nullptr, nullptr,
                                        trainer.out()),
                   GNNMG_ERR_UNSUPPORTED, kRefusal);
      auto metrics = info<gnnmg_metrics>();
      EXPECT_FAILS(
          gnnmg_model_evaluate(model, world.data, GNNMG_PART_TRAIN, 0, &metrics, nullptr, -1),
          GNNMG_ERR_UNSUPPORTED, kRefusal);
      EXPECT_FAILS(gnnmg_model_embed(model, world.data, 0, nullptr, rows.out(), -1),
                   GNNMG_ERR_UNSUPPORTED, kRefusal);
      const TempDir folder;
      EXPECT_FAILS(
          gnnmg_model_embed(model, world.data, 0, folder.file("rows.npy").c_str(), nullptr, -1),
          GNNMG_ERR_UNSUPPORTED, kRefusal);
    }
}

TEST(TypedSetsTest, SamplersTakeTheTypeThatTheyAreTold) {
  const Typed world;
  const int64_t seed = 0;
  Batch batch;
  ASSERT_OK(
      gnnmg_sampler_sample(world.sampler, world.data, &seed, 1, nullptr, 0, 0, 0, batch.out(), -1));
  Tensor nodes;
  ASSERT_OK(gnnmg_batch_export_node_ids(batch, 0, nodes.out()));
  EXPECT_EQ(values<int64_t>(nodes), (std::vector<int64_t>{0, 3})) << "3 precedes 0 on the ring";
}

template <typename T>
std::string npy(const std::string& descr, const std::string& shape, const std::vector<T>& values) {
  std::string header =
      "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.resize(118, ' ');
  header.back() = '\n';
  return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header +
         std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

// Features of one node type are not those of another type, even for equal numbers of nodes.
TEST(TypedSetsTest, SeedsAreOfTheDataSetsNodeType) {
  const TempDir folder;
  const auto array = [&](const std::string& name, const std::string& dtype, int64_t size,
                         const std::string& bytes) {
    folder.write("set/" + name, bytes);
    return "{\"file\": \"" + name + "\", \"dtype\": \"" + dtype + "\", \"shape\": [" +
           std::to_string(size) + "]}";
  };
  const auto edges = [&](const std::string& type) {
    return "{\"name\": \"likes\", \"source\": \"" + type + "\", \"target\": \"" + type +
           "\", \"indptr\": " +
           array(type + "p.npy", "i64", 3, npy<int64_t>("<i8", "3,", {0, 1, 1})) +
           ", \"indices\": " + array(type + "i.npy", "i32", 1, npy<int32_t>("<i4", "1,", {1})) +
           ", \"tensors\": []}";
  };
  folder.write("set/metadata.json",
               "{\"format\": \"gnnmg-dataset\", \"version\": 1, \"name\": \"\", \"source\": \"\", "
               "\"task\": \"none\", \"num_classes\": 0, \"node_type\": 0, \"feature\": \"x\", "
               "\"label\": \"\", \"node_types\": [{\"name\": \"a\", \"num_nodes\": 2, \"tensors\": "
               "[{\"name\": \"x\", \"layout\": \"dense\", \"array\": " +
                   array("x.npy", "f32", 2, npy<float>("<f4", "2,", {1, 2})) +
                   "}]}, {\"name\": \"b\", \"num_nodes\": 2, \"tensors\": []}], \"edge_types\": [" +
                   edges("a") + ", " + edges("b") + "], \"splits\": []}");
  Context context;
  ASSERT_OK(gnnmg_context_create(GNNMG_VERSION, nullptr, context.out()));
  Dataset data;
  ASSERT_OK(gnnmg_dataset_open(context, folder.file("set").c_str(), nullptr, data.out(), -1));
  Graph graph;
  ASSERT_OK(gnnmg_dataset_get_graph(data, 0, graph.out()));
  const int64_t seed = 0;
  for (const int32_t type : {0, 1}) {
    const std::string settings = "edge_type=" + std::to_string(type);
    Sampler sampler;
    ASSERT_OK(gnnmg_sampler_create(graph, nullptr, settings.c_str(), sampler.out()));
    Batch batch;
    const gnnmg_status status =
        gnnmg_sampler_sample(sampler, data, &seed, 1, nullptr, 0, 0, 0, batch.out(), -1);
    if (type == 0) {
      EXPECT_OK(status);
    } else {
      EXPECT_FAILS(status, GNNMG_ERR_INVALID_ARGUMENT,
                   "the seeds of the sampler are nodes of type 1");
    }
  }
}

// Two of the four graphs have no nodes; a mini-batch may consist of such graphs.
TEST(GraphsWithoutNodesTest, AreTrainedOnAndAnswered) {
  Context context;
  ASSERT_OK(gnnmg_context_create(GNNMG_VERSION, nullptr, context.out()));
  const int64_t sources[] = {0, 1, 2, 3}, targets[] = {1, 0, 3, 2}, starts[] = {0, 0, 2, 4, 4},
                wide[] = {4, 2}, y[] = {0, 1, 0, 1}, four = 4;
  const float x[] = {1, 0, 1, 0, 0, 1, 0, 1};
  Graph graph;
  ASSERT_OK(
      gnnmg_graph_create_from_coo(context, 4, sources, targets, GNNMG_DTYPE_I64, 4, graph.out()));
  ASSERT_OK(gnnmg_graph_set_node_tensor(graph, 0, "x", x, GNNMG_DTYPE_F32, 2, wide));
  Tensor labels;
  ASSERT_OK(gnnmg_tensor_create(const_cast<int64_t*>(y), GNNMG_DTYPE_I64, 1, &four, nullptr,
                                nullptr, labels.out()));
  Dataset data;
  ASSERT_OK(gnnmg_dataset_create_graphs(graph, starts, 4, "x", labels, GNNMG_TASK_MULTICLASS, 2,
                                        data.out()));
  const int64_t ids[] = {0, 1, 2, 3};
  ASSERT_OK(gnnmg_dataset_add_split(data, "all", ids, 4, nullptr, 0, nullptr, 0));
  Sampler sampler;
  ASSERT_OK(gnnmg_sampler_create_graphs(data, nullptr, nullptr, sampler.out()));
  const gnnmg_architecture architectures[] = {GNNMG_ARCHITECTURE_GIN, GNNMG_ARCHITECTURE_GCN,
                                              GNNMG_ARCHITECTURE_GAT};
  for (const gnnmg_readout readout :
       {GNNMG_READOUT_SUM, GNNMG_READOUT_MEAN, GNNMG_READOUT_MAX, GNNMG_READOUT_ATTENTION,
        GNNMG_READOUT_SET2SET, GNNMG_READOUT_SORT})
    for (const gnnmg_norm norm : {GNNMG_NORM_NONE, GNNMG_NORM_BATCH}) {
      const gnnmg_architecture architecture = architectures[readout % 3];
      SCOPED_TRACE("architecture " + std::to_string(architecture) + ", readout " +
                   std::to_string(readout) + ", norm " + std::to_string(norm));
      ModelConfig layers;
      layers.architecture = architecture;
      layers.hidden_dim = 8;
      layers.norm = norm;
      layers.readout = readout;
      layers.set("jumping=cat");  // a linear layer comes last
      Model model;
      ASSERT_OK(gnnmg_model_create(context, data, &layers, layers.text(), model.out()));
      TrainerConfig training;
      training.num_epochs = 2;
      training.batch_size = 1;  // makes batches of graphs without nodes too
      training.set("evaluate_every=0 keep_best=0");
      Trainer trainer;
      ASSERT_OK(gnnmg_trainer_create(model, data, sampler, nullptr, &training, training.text(),
                                     trainer.out()));
      ASSERT_OK(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr));
      auto metrics = info<gnnmg_metrics>();
      ASSERT_OK(gnnmg_trainer_evaluate(trainer, GNNMG_PART_TRAIN, &metrics, nullptr, -1));
      EXPECT_EQ(metrics.count, 4) << "every graph has an answer";
      Tensor rows;
      ASSERT_OK(gnnmg_model_embed(model, data, 0, nullptr, rows.out(), -1));
      const std::vector<float> answers = values<float>(rows);
      ASSERT_EQ(answers.size(), 8u);
      EXPECT_EQ(answers[0], answers[6]) << "what has no nodes is all alike";
      EXPECT_EQ(answers[1], answers[7]);
    }
}

}  // namespace
}  // namespace gnnmg::test
