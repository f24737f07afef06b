// Predictors: answers compared with forward passes and with the exact results of all nodes, every
// output, and mistakes. Threads are in predictor_threads_test.cpp.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "capi/support.h"

namespace gnnmg::test {
namespace {

const std::vector<int64_t> kIds = {7, 42, 7, 299, 0, 42, 131};

Predictor make_predictor(const gnnmg_model* model, const gnnmg_dataset* data,
                         const char* settings = nullptr) {
  Predictor predictor;
  EXPECT_OK(gnnmg_predictor_create(model, data, settings, predictor.out()));
  return predictor;
}

std::vector<float> logits(const gnnmg_predictor* predictor, const std::vector<int64_t>& ids) {
  return predicted<float>(predictor, ids, GNNMG_OUTPUT_LOGITS);
}

// The model's result for the mini-batch of these seeds.
std::vector<float> forward(gnnmg_model* model, const gnnmg_sampler* sampler,
                           const gnnmg_dataset* data, const std::vector<int64_t>& seeds,
                           uint64_t seed) {
  Batch batch;
  EXPECT_OK(gnnmg_sampler_sample(sampler, data, seeds.data(), static_cast<int64_t>(seeds.size()),
                                 nullptr, seed, 0, 0, batch.out(), -1));
  Tensor result;
  EXPECT_OK(gnnmg_model_infer(model, batch, result.out()));
  return values<float>(result);
}

// Rows of the exact result, in the order of the ids.
std::vector<float> embedded(gnnmg_model* model, const gnnmg_dataset* data,
                            const std::vector<int64_t>& ids) {
  Tensor tensor;
  EXPECT_OK(gnnmg_model_embed(model, data, 0, nullptr, tensor.out(), -1));
  const std::vector<float> all = values<float>(tensor);
  const int64_t cols = shape_of(tensor)[1];
  std::vector<float> rows;
  for (const int64_t id : ids)
    rows.insert(rows.end(), all.begin() + id * cols, all.begin() + (id + 1) * cols);
  return rows;
}

float largest(const std::vector<float>& values) {
  float most = 0;
  for (const float value : values) most = std::max(most, std::abs(value));
  return most;
}
void expect_close(const std::vector<float>& found, const std::vector<float>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], 1e-5f * std::max(1.0f, largest(expected))) << i;
}

using Setup = std::pair<const char*, const char*>;
class PredictorModels : public testing::TestWithParam<Setup> {
 protected:
  PredictorModels() { world_.layers.set(GetParam().second); }
  World world_;
};
INSTANTIATE_TEST_SUITE_P(
    Kinds, PredictorModels,
    testing::Values(Setup("Sage", ""), Setup("SageMax", "aggregation=max"),
                    Setup("SageWithBatchNorms", "norm=batch dropout=0.5"),
                    Setup("SageWithSkips", "skip=linear"), Setup("SageWithJumping", "jumping=cat"),
                    Setup("Gcn", "architecture=gcn"), Setup("Gat", "architecture=gat heads=2"),
                    Setup("Gin", "architecture=gin"), Setup("Pna", "architecture=pna"),
                    Setup("LearnedRows", "input=embedding"), Setup("GraphNorm", "norm=graph"),
                    Setup("Lstm", "aggregation=lstm"),
                    Setup("DglGcn", "architecture=gcn framework=dgl")),
    [](const auto& info) { return std::string(info.param.first); });

TEST_P(PredictorModels, DrawnNeighborhoodsGiveTheBitsOfAForwardPass) {
  const Model model = world_.make_model();
  const Sampler sampler = world_.make_sampler();  // 4 and 3
  const Predictor predictor = make_predictor(model, world_.dataset, "fanouts=4,3 seed=9");
  EXPECT_EQ(logits(predictor, kIds), forward(model, sampler, world_.dataset, kIds, 9));
  EXPECT_EQ(logits(predictor, {5}), forward(model, sampler, world_.dataset, {5}, 9));
  const Predictor other = make_predictor(model, world_.dataset, "seed=10 fanouts=4,3");
  EXPECT_NE(logits(other, kIds), logits(predictor, kIds));
}

TEST_P(PredictorModels, WholeNeighborhoodsGiveTheExactResult) {
  const Model model = world_.make_model();
  const Predictor predictor = make_predictor(model, world_.dataset);
  expect_close(logits(predictor, kIds), embedded(model, world_.dataset, kIds));
  expect_close(logits(predictor, {5}), embedded(model, world_.dataset, {5}));
  auto facts = info<gnnmg_predictor_info>();
  ASSERT_OK(gnnmg_predictor_get_info(predictor, &facts));
  EXPECT_EQ(facts.exact, 1);
}

TEST_P(PredictorModels, TheWeightsAreACopy) {
  const Model model = world_.make_model();
  const Predictor predictor = make_predictor(model, world_.dataset, "fanouts=4,3");
  const std::vector<float> before = logits(predictor, kIds);
  const Trainer trainer = world_.make_trainer(model, world_.make_sampler());
  ASSERT_OK(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr));
  EXPECT_EQ(logits(predictor, kIds), before);
  EXPECT_NE(logits(make_predictor(model, world_.dataset, "fanouts=4,3"), kIds), before);
}

TEST(PredictorTest, ProbabilitiesAndClassesFollowFromTheLogits) {
  World world;
  const Model model = world.make_model();
  const Predictor predictor = make_predictor(model, world.dataset, "fanouts=4,3");
  const auto rows = logits(predictor, kIds);
  const auto shares = predicted<float>(predictor, kIds, GNNMG_OUTPUT_PROBABILITIES);
  const auto classes = predicted<int64_t>(predictor, kIds, GNNMG_OUTPUT_CLASSES);
  ASSERT_EQ(rows.size(), 3 * kIds.size());
  ASSERT_EQ(shares.size(), rows.size());
  ASSERT_EQ(classes.size(), kIds.size());
  for (size_t i = 0; i < kIds.size(); ++i) {
    const float* row = &rows[3 * i];
    const double sum = std::exp(row[0]) + std::exp(row[1]) + std::exp(row[2]);
    for (int c = 0; c < 3; ++c) EXPECT_NEAR(shares[3 * i + c], std::exp(row[c]) / sum, 1e-6);
    EXPECT_EQ(classes[i], std::max_element(row, row + 3) - row);
  }
  auto facts = info<gnnmg_predictor_info>();
  ASSERT_OK(gnnmg_predictor_get_info(predictor, &facts));
  EXPECT_EQ(facts.dtype, GNNMG_DTYPE_F32);
  EXPECT_EQ(facts.task, GNNMG_TASK_MULTICLASS);
  EXPECT_EQ(facts.exact, 0);
  EXPECT_EQ(facts.num_ids, 300);
  EXPECT_EQ(facts.output_dim, 3);
  EXPECT_EQ(facts.classes_dim, 1);
  EXPECT_EQ(facts.embedding_dim, 8);
  EXPECT_EQ(facts.num_calls, 3);
  EXPECT_EQ(facts.num_rows, 3 * static_cast<int64_t>(kIds.size()));
  EXPECT_GT(facts.p50_seconds, 0);
  EXPECT_GE(facts.p99_seconds, facts.p50_seconds);
}

TEST(PredictorTest, TargetsOfYesOrNoAndNumbers) {
  World world;
  std::vector<float> answers(600);
  for (size_t i = 0; i < answers.size(); ++i) answers[i] = static_cast<float>(i % 3 == 0);
  const int64_t shape[] = {300, 2};
  Graph graph;
  ASSERT_OK(gnnmg_graph_generate(world.context, "planted", "num_nodes=300", graph.out()));
  ASSERT_OK(gnnmg_graph_set_node_tensor(graph, 0, "z", answers.data(), GNNMG_DTYPE_F32, 2, shape));
  Dataset yes_or_no, numbers, unlabeled;
  ASSERT_OK(gnnmg_dataset_create(graph, "x", "z", GNNMG_TASK_BINARY, 2, yes_or_no.out()));
  ASSERT_OK(gnnmg_dataset_create(graph, "x", "z", GNNMG_TASK_REGRESSION, 2, numbers.out()));
  ASSERT_OK(gnnmg_dataset_create(graph, "x", nullptr, GNNMG_TASK_NONE, 0, unlabeled.out()));
  Model model;
  ASSERT_OK(gnnmg_model_create(world.context, yes_or_no, &world.layers, world.layers.text(),
                               model.out()));

  const Predictor binary = make_predictor(model, yes_or_no);
  const auto rows = logits(binary, kIds);
  const auto shares = predicted<float>(binary, kIds, GNNMG_OUTPUT_PROBABILITIES);
  const auto classes = predicted<int64_t>(binary, kIds, GNNMG_OUTPUT_CLASSES);
  ASSERT_EQ(rows.size(), 2 * kIds.size());
  ASSERT_EQ(classes.size(), rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_NEAR(shares[i], 1 / (1 + std::exp(-rows[i])), 1e-6);
    EXPECT_EQ(classes[i], rows[i] > 0);
  }

  float out[16];
  const auto refused = [&](const gnnmg_predictor* predictor, gnnmg_output output,
                           const char* part) {
    size_t needed = 1;
    EXPECT_FAILS(gnnmg_predictor_run(predictor, kIds.data(), 1, output, out, sizeof out, &needed),
                 GNNMG_ERR_UNSUPPORTED, part);
    EXPECT_EQ(needed, 0u);
  };
  const Predictor regression = make_predictor(model, numbers);
  EXPECT_EQ(logits(regression, kIds), rows);
  refused(regression, GNNMG_OUTPUT_PROBABILITIES, "predicts numbers");
  refused(regression, GNNMG_OUTPUT_CLASSES, "there are no classes");
  // Without labels the model's own data set gives the meaning, unless the settings do.
  EXPECT_EQ(predicted<int64_t>(make_predictor(model, unlabeled), kIds, GNNMG_OUTPUT_CLASSES),
            classes);
  const Predictor told = make_predictor(model, unlabeled, "task=multiclass");
  EXPECT_EQ(predicted<int64_t>(told, kIds, GNNMG_OUTPUT_CLASSES).size(), kIds.size());
  Model untaught;
  ModelConfig layers = world.layers;
  layers.output_dim = 2;
  ASSERT_OK(gnnmg_model_create(world.context, unlabeled, &layers, layers.text(), untaught.out()));
  refused(make_predictor(untaught, unlabeled), GNNMG_OUTPUT_CLASSES, "task=multiclass");
}

TEST(PredictorTest, EmbeddingsAreWhatTheLastLayerReads) {
  World world;
  const Model model = world.make_model();  // GraphSAGE of two layers, 8 to 8 to 3
  const Predictor predictor = make_predictor(model, world.dataset);
  std::vector<int64_t> all(300);
  std::iota(all.begin(), all.end(), 0);
  const auto hidden = predicted<float>(predictor, all, GNNMG_OUTPUT_EMBEDDINGS);
  ASSERT_EQ(hidden.size(), 300u * 8);
  Tensor of_neighbors, own, shift;
  ASSERT_OK(gnnmg_model_export_tensor(model, "convs.1.lin_l.weight", of_neighbors.out()));
  ASSERT_OK(gnnmg_model_export_tensor(model, "convs.1.lin_r.weight", own.out()));
  ASSERT_OK(gnnmg_model_export_tensor(model, "convs.1.lin_l.bias", shift.out()));
  const auto left = values<float>(of_neighbors), right = values<float>(own),
             bias = values<float>(shift);
  std::vector<int64_t> into(300);
  int64_t degree = 0;
  ASSERT_OK(gnnmg_graph_get_in_edges(world.graph, 0, 42, into.data(), nullptr, 300, &degree));
  into.resize(static_cast<size_t>(degree));
  std::vector<float> expected(bias);
  for (int c = 0; c < 3; ++c)
    for (int k = 0; k < 8; ++k) {
      double mean = 0;
      for (const int64_t n : into) mean += hidden[n * 8 + k] / static_cast<double>(into.size());
      expected[c] +=
          static_cast<float>(left[c * 8 + k] * mean) + right[c * 8 + k] * hidden[42 * 8 + k];
    }
  expect_close(logits(predictor, {42}), expected);

  world.layers.set("jumping=cat");  // a linear layer reads 16 columns
  auto facts = info<gnnmg_predictor_info>();
  ASSERT_OK(gnnmg_predictor_get_info(make_predictor(world.make_model(), world.dataset), &facts));
  EXPECT_EQ(facts.embedding_dim, 16);

  world.layers.set("jumping=none");
  world.layers.output_dim = -1;
  const Predictor rows = make_predictor(world.make_model(), world.dataset);
  EXPECT_EQ(predicted<float>(rows, kIds, GNNMG_OUTPUT_EMBEDDINGS), logits(rows, kIds));

  world.layers.output_dim = 0;
  world.layers.num_layers = 1;
  const Predictor one_layer = make_predictor(world.make_model(), world.dataset);
  float out[64];
  EXPECT_FAILS(gnnmg_predictor_run(one_layer, kIds.data(), 1, GNNMG_OUTPUT_EMBEDDINGS, out,
                                   sizeof out, nullptr),
               GNNMG_ERR_UNSUPPORTED, "there are no embeddings");
}

TEST(PredictorTest, EmbeddingsOfLayersOfOnesOwn) {
  World world;
  world.layers = ModelConfig();
  world.layers.architecture = GNNMG_ARCHITECTURE_LAYERS;
  const Model model = world.make_model();
  ASSERT_OK(gnnmg_model_add_conv(model, "conv1", nullptr, "output_dim=5"));
  ASSERT_OK(gnnmg_model_add_activation(model, nullptr, GNNMG_ACTIVATION_RELU));
  ASSERT_OK(gnnmg_model_add_linear(model, "head", 3, 1));
  const Predictor predictor = make_predictor(model, world.dataset, "fanouts=4");
  const auto hidden = predicted<float>(predictor, kIds, GNNMG_OUTPUT_EMBEDDINGS);
  ASSERT_EQ(hidden.size(), 5 * kIds.size());
  Tensor weight, bias;
  ASSERT_OK(gnnmg_model_export_tensor(model, "head.weight", weight.out()));
  ASSERT_OK(gnnmg_model_export_tensor(model, "head.bias", bias.out()));
  const auto w = values<float>(weight), b = values<float>(bias);
  std::vector<float> expected;
  for (size_t i = 0; i < kIds.size(); ++i)
    for (size_t c = 0; c < 3; ++c)
      expected.push_back(std::inner_product(&hidden[5 * i], &hidden[5 * i] + 5, &w[5 * c], b[c]));
  expect_close(logits(predictor, kIds), expected);
}

TEST(PredictorTest, ResultsOfGraphs) {
  World world(60);
  const int64_t starts[] = {0, 20, 20, 45, 60};
  Graph graph;
  std::vector<int64_t> from, to;
  for (int64_t g = 0; g < 4; ++g)
    for (int64_t n = starts[g]; n + 1 < starts[g + 1]; ++n) {
      from.insert(from.end(), {n, n + 1});
      to.insert(to.end(), {n + 1, n});
    }
  ASSERT_OK(gnnmg_graph_create_from_coo(world.context, 60, from.data(), to.data(), GNNMG_DTYPE_I64,
                                        static_cast<int64_t>(from.size()), graph.out()));
  std::vector<float> x(60 * 8);
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i));
  const int64_t wide[] = {60, 8};
  ASSERT_OK(gnnmg_graph_set_node_tensor(graph, 0, "x", x.data(), GNNMG_DTYPE_F32, 2, wide));
  std::vector<int64_t> labels = {0, 1, 1, 0};
  Dataset graphs;
  ASSERT_OK(gnnmg_dataset_create_graphs(graph, starts, 4, "x", wrap(labels), GNNMG_TASK_MULTICLASS,
                                        2, graphs.out()));
  world.layers.architecture = GNNMG_ARCHITECTURE_GIN;
  world.layers.set("skip=linear");  // a linear layer after the readout
  world.layers.readout = GNNMG_READOUT_SUM;
  Model model;
  ASSERT_OK(
      gnnmg_model_create(world.context, graphs, &world.layers, world.layers.text(), model.out()));
  const Predictor predictor = make_predictor(model, graphs);
  const std::vector<int64_t> ids = {3, 0, 3, 2, 1};
  expect_close(logits(predictor, ids), embedded(model, graphs, ids));
  EXPECT_EQ(predicted<int64_t>(predictor, ids, GNNMG_OUTPUT_CLASSES).size(), 5u);
  EXPECT_EQ(predicted<float>(predictor, ids, GNNMG_OUTPUT_EMBEDDINGS).size(), 5u * 8);
  float out[8];
  const int64_t none = 4;
  EXPECT_FAILS(gnnmg_predictor_run(predictor, &none, 1, 0, out, sizeof out, nullptr),
               GNNMG_ERR_RANGE, "ids[0] is 4, expected 0 to 3, the graphs");
  Predictor refused;
  EXPECT_FAILS(gnnmg_predictor_create(model, graphs, "fanouts=3,3", refused.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "graphs, which are read whole");
  EXPECT_FAILS(gnnmg_predictor_create(model, world.dataset, nullptr, refused.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "one graph");
}

TEST(PredictorTest, AnEmptyRequestAndItsSize) {
  World world;
  const Predictor predictor = make_predictor(world.make_model(), world.dataset, "fanouts=4,3");
  size_t needed = 1;
  EXPECT_OK(gnnmg_predictor_run(predictor, nullptr, 0, GNNMG_OUTPUT_LOGITS, nullptr, 0, &needed));
  EXPECT_EQ(needed, 0u);
  float out = 5;
  EXPECT_OK(gnnmg_predictor_run(predictor, kIds.data(), 0, GNNMG_OUTPUT_LOGITS, &out, sizeof out,
                                nullptr));
  EXPECT_EQ(out, 5);
  EXPECT_OK(
      gnnmg_predictor_run(predictor, kIds.data(), 2, GNNMG_OUTPUT_CLASSES, nullptr, 0, &needed));
  EXPECT_EQ(needed, 2 * sizeof(int64_t));
  int64_t one;
  EXPECT_FAILS(gnnmg_predictor_run(predictor, kIds.data(), 2, GNNMG_OUTPUT_CLASSES, &one,
                                   sizeof one, &needed),
               GNNMG_ERR_INVALID_ARGUMENT, "output takes 16 bytes");
  EXPECT_EQ(needed, 2 * sizeof(int64_t));
}

TEST(PredictorTest, DataOfOtherClassesIsWarnedOf) {
  World world;
  ModelConfig layers = world.layers;
  layers.input_dim = 8;
  layers.output_dim = 5;
  Model model;
  ASSERT_OK(gnnmg_model_create(world.context, nullptr, &layers, layers.text(), model.out()));
  auto facts = info<gnnmg_log_info>();
  char text[1024];
  size_t needed = 0;
  while (gnnmg_log_next(world.context, &facts, text, sizeof text, &needed) == GNNMG_OK) {
  }
  const Predictor same = make_predictor(world.make_model(), world.dataset);
  EXPECT_EQ(gnnmg_log_next(world.context, &facts, text, sizeof text, &needed), GNNMG_END) << text;
  const Predictor other = make_predictor(model, world.dataset);
  ASSERT_OK(gnnmg_log_next(world.context, &facts, text, sizeof text, &needed));
  EXPECT_EQ(facts.level, GNNMG_LOG_WARNING);
  EXPECT_NE(std::string(text).find("the model has 5 outputs"), std::string::npos) << text;
}

TEST(PredictorTest, NothingIsWrittenBehindTheResult) {
  World world;
  const Predictor predictor = make_predictor(world.make_model(), world.dataset, "fanouts=4,3");
  std::vector<float> out(8, 5);
  ASSERT_OK(gnnmg_predictor_run(predictor, kIds.data(), 2, GNNMG_OUTPUT_LOGITS, out.data(),
                                out.size() * sizeof(float), nullptr));
  EXPECT_EQ(out[6], 5);
  EXPECT_EQ(out[7], 5);
}

TEST(PredictorTest, MistakesInACallAreNamed) {
  World world;
  const Predictor predictor = make_predictor(world.make_model(), world.dataset, "fanouts=4,3");
  std::vector<float> out(100);
  const auto run = [&](const int64_t* ids, int64_t count, gnnmg_output output, void* to,
                       size_t capacity) {
    return gnnmg_predictor_run(predictor, ids, count, output, to, capacity, nullptr);
  };
  const int64_t past = 300, negative = -1;
  const int64_t* ids = kIds.data();
  const auto kInvalid = GNNMG_ERR_INVALID_ARGUMENT;
  EXPECT_FAILS(run(ids, 3, 0, out.data(), 20), kInvalid,
               "output takes 36 bytes (3 x 3 f32), the array has 20");
  EXPECT_FAILS(run(ids, 3, GNNMG_OUTPUT_CLASSES, out.data(), 20), kInvalid,
               "output takes 24 bytes (3 x 1 i64), the array has 20");
  EXPECT_FAILS(run(&past, 1, 0, out.data(), 400), GNNMG_ERR_RANGE,
               "ids[0] is 300, expected 0 to 299, the nodes of the data set");
  EXPECT_FAILS(run(&negative, 1, 0, out.data(), 400), GNNMG_ERR_RANGE, "ids[0] is -1");
  EXPECT_FAILS(run(nullptr, 1, 0, out.data(), 400), kInvalid, "'ids' is NULL");
  EXPECT_FAILS(run(ids, -1, 0, out.data(), 400), kInvalid, "-1");
  EXPECT_FAILS(run(ids, INT64_MAX / 8, 0, out.data(), 400), kInvalid, "more than any memory");
  EXPECT_FAILS(run(ids, 1, 0, nullptr, 400), kInvalid, "'out' is NULL");
  EXPECT_FAILS(run(ids, 1, GNNMG_OUTPUT_CLASSES, reinterpret_cast<char*>(out.data()) + 4, 100),
               kInvalid, "not aligned to 8 bytes");
  EXPECT_FAILS(run(ids, 1, 4, out.data(), 400), kInvalid, "GNNMG_OUTPUT_EMBEDDINGS");
  auto facts = info<gnnmg_predictor_info>();
  ASSERT_OK(gnnmg_predictor_get_info(predictor, &facts));
  EXPECT_EQ(facts.num_calls, 0);  // none was answered
}

TEST(PredictorTest, MistakesInSettingsAreNamed) {
  World world;
  const Model model = world.make_model();
  Predictor predictor;
  const auto refused = [&](const char* settings, const char* part) {
    EXPECT_FAILS(gnnmg_predictor_create(model, world.dataset, settings, predictor.out()),
                 GNNMG_ERR_INVALID_ARGUMENT, part);
    EXPECT_EQ(predictor.get(), nullptr);
  };
  refused("fanuots=4,3",
          "unknown name 'fanuots'; did you mean 'fanouts'? There are: fanouts, seed");
  refused("temperature=2", "unknown name 'temperature'; there are: fanouts, seed, task");
  refused("fanouts=4", "fanouts: 1 number, and the model has 2 layers");
  refused("fanouts=4,3,2", "3 numbers");
  refused("fanouts=4,many", "fanouts=4,many, expected integers with commas between them, -1 to");
  refused("fanouts=", "settings: fanouts=, expected a value");
  refused("seed=-1", "seed=-1, expected an integer of 0 or more");
  refused("seed=1 fanouts=4,3 seed=2", "settings: seed is given twice");
  refused("seed=3", "seed=3 has an effect only with fanouts");
  refused("task=classes", "task=classes, expected one of none, multiclass, binary, regression");
  ASSERT_OK(
      gnnmg_predictor_create(model, world.dataset, "  fanouts=4,3\tseed=3\n", predictor.out()));
}

TEST(PredictorTest, OtherFeaturesAreNamed) {
  World world;
  const Model model = world.make_model();
  Predictor predictor;
  Dataset bare;
  ASSERT_OK(gnnmg_dataset_create(world.graph, nullptr, nullptr, GNNMG_TASK_NONE, 0, bare.out()));
  EXPECT_FAILS(gnnmg_predictor_create(model, bare, nullptr, predictor.out()), GNNMG_ERR_NOT_FOUND,
               "has no features");
  world.layers.input_dim = 12;
  world.layers.output_dim = 3;
  Model wider;
  ASSERT_OK(
      gnnmg_model_create(world.context, nullptr, &world.layers, world.layers.text(), wider.out()));
  EXPECT_FAILS(gnnmg_predictor_create(wider, world.dataset, nullptr, predictor.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "the model reads 12 columns, the data set's 'x' has 8");
  world.layers.set("input=embedding");
  Model of_nodes;
  ASSERT_OK(gnnmg_model_create(world.context, nullptr, &world.layers, world.layers.text(),
                               of_nodes.out()));
  EXPECT_FAILS(gnnmg_predictor_create(of_nodes, world.dataset, nullptr, predictor.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "weights for 12 nodes, the data set has 300");
  World other(60);
  EXPECT_FAILS(gnnmg_predictor_create(model, other.dataset, nullptr, predictor.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "context");
}

TEST(PredictorTest, OutlivesAllThatItWasMadeFrom) {
  std::vector<float> before, after;
  Predictor predictor;
  {
    World world;
    const Model model = world.make_model();
    ASSERT_OK(gnnmg_predictor_create(model, world.dataset, "fanouts=4,3", predictor.out()));
    before = logits(predictor, kIds);
  }
  EXPECT_EQ(logits(predictor, kIds), before);
  gnnmg_predictor* const stale = predictor.get();
  predictor.reset();
  float out[3];
  EXPECT_FAILS(gnnmg_predictor_run(stale, kIds.data(), 1, 0, out, sizeof out, nullptr),
               GNNMG_ERR_HANDLE, "'predictor'");
  gnnmg_predictor_free(stale);
}

}  // namespace
}  // namespace gnnmg::test
