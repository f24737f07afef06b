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

// Lines are those of Drawn in pyg_stacks.py.
void add_layer(gnnmg_model* model, const std::string& line) {
  std::istringstream in(line);
  std::string layer, name, kind, settings;
  in >> layer >> name;
  if (layer == "norm" || layer == "activation") in >> kind;
  std::getline(in, settings);
  if (layer == "conv") {
    ASSERT_OK(gnnmg_model_add_conv(model, name.c_str(), nullptr, settings.c_str()));
  } else if (layer == "linear") {
    int width = 0, bias = 0;
    ASSERT_EQ(std::sscanf(settings.c_str(), " out=%d bias=%d", &width, &bias), 2) << line;
    ASSERT_OK(gnnmg_model_add_linear(model, name.c_str(), width, bias));
  } else if (layer == "norm") {
    ASSERT_OK(gnnmg_model_add_norm(model, name.c_str(), kNorms.at(kind), settings.c_str()));
  } else {
    ASSERT_OK(gnnmg_model_add_activation(model, name.c_str(), kActivations.at(kind)));
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
    SamplerConfig sampling;
    sampling.num_fanouts = convolutions;
    for (int hop = 0; hop < convolutions; ++hop) sampling.fanouts[hop] = -1;
    Sampler sampler;
    EXPECT_OK(gnnmg_sampler_create(graph_, &sampling, nullptr, sampler.out()));
    std::vector<int64_t> all(static_cast<size_t>(nodes_));
    std::iota(all.begin(), all.end(), int64_t{0});
    Batch made;
    EXPECT_OK(gnnmg_sampler_sample(sampler, dataset_, all.data(), nodes_, nullptr, 0, 0, 0,
                                   made.out(), -1));
    return made;
  }

  Model make(const std::string& spec) {
    Model model;
    EXPECT_OK(gnnmg_model_create(context_, nullptr, nullptr,
                                 "architecture=layers input_dim=6 dtype=f64", model.out()));
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
    ASSERT_OK(gnnmg_model_embed(model, dataset_, 0, nullptr, rows.out(), -1));
    expect_close(values<double>(rows), raw<double>(file("logits")), "logits");

    Optimizer optimizer;
    ASSERT_OK(gnnmg_optimizer_create(model, "learning_rate=0.01", optimizer.out()));
    const char* form = "loaded_names=1";
    ASSERT_OK(gnnmg_optimizer_load(optimizer, file("optimizer.pth").c_str(), form, -1));
    auto facts = info<gnnmg_model_info>();
    ASSERT_OK(gnnmg_model_get_info(model, &facts));
    const Batch all = batch(facts.num_layers);
    ASSERT_OK(gnnmg_model_forward(model, all, nullptr));
    ASSERT_OK(gnnmg_model_backward(model, GNNMG_LOSS_AUTO, nullptr));
    ASSERT_OK(gnnmg_optimizer_step(optimizer));
    ASSERT_OK(gnnmg_model_load(expected, file("after.pth").c_str(), nullptr, -1));
    expect_same_tensors(model, expected);
    ASSERT_OK(gnnmg_model_save(model, file("back.pth").c_str(), form, -1));
    ASSERT_OK(gnnmg_optimizer_save(optimizer, file("back_optimizer.pth").c_str(), form, -1));
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
