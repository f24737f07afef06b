// Classes of PyTorch Geometric's modules put together at random, under names and in orders of
// registration as users choose them: their weights and states of optimizers come here, compute the
// same, make the same step, and go back. pyg_stacks.py is the other side.
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>

#include "capi/support.h"
#include "support/data.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

constexpr int64_t kFeatures = 6, kEdgeColumns = 3, kClasses = 4;

template <typename T>
std::vector<T> raw(const std::string& path) {
  const std::string bytes = slurp(path);
  std::vector<T> list(bytes.size() / sizeof(T));
  std::memcpy(list.data(), bytes.data(), list.size() * sizeof(T));
  return list;
}

using Settings = std::map<std::string, std::string>;

const std::map<std::string, int32_t> kNames = {
    {"sage", GNNMG_MODEL_SAGE},
    {"gcn", GNNMG_MODEL_GCN},
    {"gat", GNNMG_MODEL_GAT},
    {"gatv2", GNNMG_MODEL_GATV2},
    {"gin", GNNMG_MODEL_GIN},
    {"gine", GNNMG_MODEL_GINE},
    {"graphconv", GNNMG_MODEL_GRAPHCONV},
    {"edge", GNNMG_MODEL_EDGE},
    {"rgcn", GNNMG_MODEL_RGCN},
    {"transformer", GNNMG_MODEL_TRANSFORMER},
    {"pna", GNNMG_MODEL_PNA},
};
const std::map<std::string, int32_t> kAggregations = {{"mean", GNNMG_AGGREGATION_MEAN},
                                                      {"max", GNNMG_AGGREGATION_MAX},
                                                      {"sum", GNNMG_AGGREGATION_SUM}};
const std::map<std::string, int32_t> kActivations = {
    {"relu", GNNMG_ACTIVATION_RELU},   {"elu", GNNMG_ACTIVATION_ELU},
    {"gelu", GNNMG_ACTIVATION_GELU},   {"leaky_relu", GNNMG_ACTIVATION_LEAKY_RELU},
    {"tanh", GNNMG_ACTIVATION_TANH},   {"silu", GNNMG_ACTIVATION_SILU},
    {"prelu", GNNMG_ACTIVATION_PRELU}, {"sigmoid", GNNMG_ACTIVATION_SIGMOID}};
const std::map<std::string, int32_t> kNorms = {
    {"none", GNNMG_NORM_NONE},   {"batch", GNNMG_NORM_BATCH},
    {"layer", GNNMG_NORM_LAYER}, {"layer_graph", GNNMG_NORM_LAYER_GRAPH},
    {"graph", GNNMG_NORM_GRAPH}, {"instance", GNNMG_NORM_INSTANCE},
    {"pair", GNNMG_NORM_PAIR},   {"pair_rows", GNNMG_NORM_PAIR_ROWS}};

gnnmg_model_config conv_of(const Settings& settings) {
  auto config = init(gnnmg_model_config_init);
  const std::map<std::string, int32_t*> whole = {{"root_weight", &config.root_weight},
                                                 {"normalize", &config.normalize},
                                                 {"project", &config.project},
                                                 {"bias", &config.bias},
                                                 {"edge_weights", &config.edge_weights},
                                                 {"self_loops", &config.self_loops},
                                                 {"improved", &config.improved},
                                                 {"heads", &config.heads},
                                                 {"concat", &config.concat},
                                                 {"residual", &config.residual},
                                                 {"mlp_layers", &config.mlp_layers},
                                                 {"train_eps", &config.train_eps},
                                                 {"num_bases", &config.num_bases},
                                                 {"num_blocks", &config.num_blocks},
                                                 {"beta", &config.beta},
                                                 {"towers", &config.towers},
                                                 {"divide_input", &config.divide_input},
                                                 {"pre_layers", &config.pre_layers},
                                                 {"post_layers", &config.post_layers},
                                                 {"share_weights", &config.share_weights}};
  const std::map<std::string, int64_t*> wide = {{"out", &config.output_dim},
                                                {"edge_dim", &config.edge_dim},
                                                {"num_relations", &config.num_relations}};
  const std::map<std::string, double*> real = {{"eps", &config.eps},
                                               {"negative_slope", &config.negative_slope},
                                               {"average_degree", &config.average_degree},
                                               {"average_log_degree", &config.average_log_degree}};
  for (const auto& [key, value] : settings) {
    if (key == "kind") {
      config.architecture = kNames.at(value);
    } else if (key == "aggregation") {
      config.aggregation = kAggregations.at(value);
    } else if (key == "activation") {
      config.activation = kActivations.at(value);
    } else if (key == "norm") {
      config.norm = kNorms.at(value);
    } else if (whole.contains(key)) {
      *whole.at(key) = std::stoi(value);
    } else if (wide.contains(key)) {
      *wide.at(key) = std::stoll(value);
    } else {
      *real.at(key) = std::stod(value);
    }
  }
  return config;
}

gnnmg_norm_config norm_of(const Settings& settings) {
  auto config = init(gnnmg_norm_config_init);
  for (const auto& [key, value] : settings) {
    if (key == "epsilon") config.epsilon = std::stod(value);
    if (key == "momentum") config.momentum = std::stod(value);
    if (key == "scale") config.scale = std::stod(value);
    if (key == "affine")
      config.affine = value == "on" ? GNNMG_NORM_AFFINE_ON : GNNMG_NORM_AFFINE_OFF;
  }
  return config;
}

void add_layer(gnnmg_model* model, const std::string& line) {
  std::istringstream in(line);
  std::string layer, name, setting;
  in >> layer >> name;
  Settings settings;
  while (in >> setting) {
    const size_t at = setting.find('=');
    settings[setting.substr(0, at)] = setting.substr(at + 1);
  }
  if (layer == "conv") {
    const gnnmg_model_config config = conv_of(settings);
    ASSERT_OK(gnnmg_model_add_conv(model, name.c_str(), &config));
  } else if (layer == "linear") {
    ASSERT_OK(gnnmg_model_add_linear(model, name.c_str(), std::stoll(settings.at("out")),
                                     std::stoi(settings.at("bias"))));
  } else if (layer == "norm") {
    const gnnmg_norm_config config = norm_of(settings);
    ASSERT_OK(gnnmg_model_add_norm(model, name.c_str(), kNorms.at(settings.at("kind")), &config));
  } else {
    ASSERT_OK(
        gnnmg_model_add_activation(model, name.c_str(), kActivations.at(settings.at("kind"))));
  }
}

void expect_close(const std::vector<double>& found, const std::vector<double>& expected,
                  const std::string& what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  double worst = 0, largest = 1;
  for (size_t i = 0; i < found.size(); ++i) {
    worst = std::max(worst, std::abs(found[i] - expected[i]));
    largest = std::max(largest, std::abs(expected[i]));
  }
  EXPECT_LE(worst, 1e-8 * largest) << what;
}

class PygStacks : public testing::Test {
 protected:
  int run(const char* what) {
    const std::string command = "'" + python_path() + "' '" + source_path("capi/pyg_stacks.py") +
                                "' '" + folder_.path() + "' " + what;
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  void open() {
    ASSERT_OK(gnnmg_context_create(GNNMG_VERSION, nullptr, context_.out()));
    auto sources = raw<int64_t>(folder_.file("sources.raw")),
         targets = raw<int64_t>(folder_.file("targets.raw")),
         types = raw<int64_t>(folder_.file("edge_type.raw")),
         labels = raw<int64_t>(folder_.file("labels.raw"));
    auto x = raw<double>(folder_.file("x.raw")), attr = raw<double>(folder_.file("edge_attr.raw")),
         weight = raw<double>(folder_.file("edge_weight.raw"));
    const auto edges = static_cast<int64_t>(sources.size());
    nodes_ = static_cast<int64_t>(labels.size());
    Graph graph;
    ASSERT_OK(gnnmg_graph_create_from_coo(context_, nodes_, sources.data(), targets.data(),
                                          GNNMG_DTYPE_I64, edges, graph.out()));
    const auto node = [&](const char* name, const void* values, gnnmg_dtype dtype,
                          int64_t columns) {
      const int64_t shape[] = {nodes_, columns};
      ASSERT_OK(gnnmg_graph_set_node_tensor(graph, 0, name, values, dtype, columns ? 2 : 1, shape));
    };
    const auto edge = [&](const char* name, const void* values, gnnmg_dtype dtype,
                          int64_t columns) {
      const int64_t shape[] = {edges, columns};
      ASSERT_OK(gnnmg_graph_set_edge_tensor(graph, 0, name, values, dtype, columns ? 2 : 1, shape));
    };
    node("x", x.data(), GNNMG_DTYPE_F64, kFeatures);
    node("y", labels.data(), GNNMG_DTYPE_I64, 0);
    edge("edge_attr", attr.data(), GNNMG_DTYPE_F64, kEdgeColumns);
    edge("edge_type", types.data(), GNNMG_DTYPE_I64, 0);
    edge("edge_weight", weight.data(), GNNMG_DTYPE_F64, 0);
    ASSERT_OK(
        gnnmg_dataset_create(graph, "x", "y", GNNMG_TASK_MULTICLASS, kClasses, dataset_.out()));
    graph_ = std::move(graph);
  }

  // All nodes as one mini-batch for that many convolutions.
  Batch batch(int convolutions) {
    auto sampling = init(gnnmg_sampler_config_init);
    sampling.num_fanouts = convolutions;
    for (int hop = 0; hop < convolutions; ++hop) sampling.fanouts[hop] = -1;
    Sampler sampler;
    EXPECT_OK(gnnmg_sampler_create(graph_, &sampling, sampler.out()));
    std::vector<int64_t> all(static_cast<size_t>(nodes_));
    std::iota(all.begin(), all.end(), int64_t{0});
    Batch made;
    EXPECT_OK(gnnmg_sampler_sample(sampler, dataset_, all.data(), nodes_, 0, 0, 0, made.out(), -1));
    return made;
  }

  Model make(const std::string& spec) {
    auto whole = init(gnnmg_model_config_init);
    whole.architecture = GNNMG_MODEL_LAYERS;
    whole.input_dim = kFeatures;
    whole.dtype = GNNMG_DTYPE_F64;
    Model model;
    EXPECT_OK(gnnmg_model_create(context_, nullptr, &whole, model.out()));
    std::istringstream lines(spec);
    for (std::string line; std::getline(lines, line);) add_layer(model, line);
    return model;
  }

  void expect_same_tensors(const gnnmg_model* found, const gnnmg_model* expected) {
    const char* key = nullptr;
    int32_t trained = 0;
    for (int64_t i = 0; gnnmg_model_tensor_key(found, i, &key, &trained) == GNNMG_OK; ++i) {
      Tensor a, b;
      ASSERT_OK(gnnmg_model_export_tensor(found, key, a.out()));
      ASSERT_OK(gnnmg_model_export_tensor(expected, key, b.out()));
      auto facts = info<gnnmg_tensor_info>();
      ASSERT_OK(gnnmg_tensor_get_info(a, &facts));
      if (facts.dtype == GNNMG_DTYPE_I64)
        EXPECT_EQ(values<int64_t>(a), values<int64_t>(b)) << key;
      else
        expect_close(values<double>(a), values<double>(b), key);
    }
  }

  void exchange(int number) {
    const auto file = [&](const char* end) {
      return folder_.file(std::to_string(number) + "." + end);
    };
    const std::string spec = slurp(file("spec"));
    SCOPED_TRACE(spec);
    const Model model = make(spec), expected = make(spec);
    ASSERT_OK(gnnmg_model_load(model, file("pth").c_str(), nullptr, -1));
    Tensor rows;
    ASSERT_OK(gnnmg_model_embed(model, dataset_, rows.out(), -1));
    expect_close(values<double>(rows), raw<double>(file("logits")), "logits");

    auto settings = init(gnnmg_optimizer_config_init);
    settings.learning_rate = 0.01;
    Optimizer optimizer;
    ASSERT_OK(gnnmg_optimizer_create(model, &settings, optimizer.out()));
    auto form = init(gnnmg_model_file_config_init);
    form.loaded_names = 1;
    ASSERT_OK(gnnmg_optimizer_load(optimizer, file("optimizer.pth").c_str(), &form, -1));
    auto facts = info<gnnmg_model_info>();
    ASSERT_OK(gnnmg_model_get_info(model, &facts));
    const Batch all = batch(facts.num_layers);
    ASSERT_OK(gnnmg_model_forward(model, all, 1, nullptr));
    ASSERT_OK(gnnmg_model_backward(model, GNNMG_LOSS_AUTO, nullptr));
    ASSERT_OK(gnnmg_optimizer_step(optimizer));
    ASSERT_OK(gnnmg_model_load(expected, file("after.pth").c_str(), nullptr, -1));
    expect_same_tensors(model, expected);
    ASSERT_OK(gnnmg_model_save(model, file("back.pth").c_str(), &form, -1));
    ASSERT_OK(gnnmg_optimizer_save(optimizer, file("back_optimizer.pth").c_str(), &form, -1));
  }

  TempDir folder_;
  Context context_;
  Graph graph_;
  Dataset dataset_;
  int64_t nodes_ = 0;
};

TEST_F(PygStacks, ComeHereMakeAStepAndGoBack) {
  const int status = run("make");
  GNNMG_NEEDS(status != 77, python_path() + " with PyTorch Geometric");
  ASSERT_EQ(status, 0);
  ASSERT_NO_FATAL_FAILURE(open());
  const int cases = std::stoi(slurp(folder_.file("cases")));
  ASSERT_GT(cases, 0);
  for (int number = 0; number < cases && !HasFailure(); ++number) exchange(number);
  EXPECT_EQ(run("take"), 0);
}

}  // namespace
}  // namespace gnnmg::test
