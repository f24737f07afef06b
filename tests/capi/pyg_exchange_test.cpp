// Weights and states of optimizers to real PyTorch Geometric and back, on a real graph and through
// files alone: pyg_exchange.py is the other side.
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string_view>

#include "capi/support.h"
#include "support/data.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

// Adam divides by the root of squared gradients: where these are almost 0 a step consists of
// rounding, so the comparison uses double precision.
struct Case {
  std::string name;               // name in pyg_exchange.py
  const char *model, *optimizer;  // settings
  bool modules = false;           // the other model consists of torch's modules

  bool adam() const { return name.ends_with("adam"); }
  gnnmg_dtype dtype() const { return adam() ? GNNMG_DTYPE_F64 : GNNMG_DTYPE_F32; }
};
const char* const kAdam = "weight_decay=5e-4";
const char* const kSgd = "optimizer=sgd momentum=0.9 weight_decay=5e-4";
const Case kCases[] = {
    {"sage_adam", "jumping=cat", kAdam},
    {"sage_sgd", "jumping=cat", kSgd},
    {"gcn_adam", "architecture=gcn", kAdam},
    {"gcn_sgd", "architecture=gcn", kSgd},
    {"gat_adam", "architecture=gat heads=4", kAdam},
    {"gat_sgd", "architecture=gat heads=4", kSgd},
    {"gin_adam", "architecture=gin norm=batch", kAdam},
    {"gin_sgd", "architecture=gin norm=batch", kSgd},
    {"gin_modules_adam", "architecture=gin norm=batch", kAdam, true},
    // Norms over the rows of all edges.
    {"edge_graph_adam", "architecture=edge norm=graph", kAdam},
    {"edge_layer_adam", "architecture=edge norm=layer_graph", kAdam},
    {"edge_instance_adam", "architecture=edge norm=instance", kAdam},
    {"edge_pair_adam", "architecture=edge norm=pair norm_scale=-1", kAdam},
    // Decay of the first layer only: two groups of parameters.
    {"gcn_decay_adam", "architecture=gcn", "weight_decay=5e-4 weight_decay_layers=1"},
    {"sage_decay_sgd", "architecture=sage",
     "optimizer=sgd momentum=0.9 weight_decay=5e-4 weight_decay_layers=1"},
};

std::vector<double> numbers(const gnnmg_tensor* tensor) {
  auto facts = info<gnnmg_tensor_info>();
  EXPECT_OK(gnnmg_tensor_get_info(tensor, &facts));
  const auto widened = [](const auto& list) {
    return std::vector<double>(list.begin(), list.end());
  };
  if (facts.dtype == GNNMG_DTYPE_F64) return values<double>(tensor);
  if (facts.dtype == GNNMG_DTYPE_I64) return widened(values<int64_t>(tensor));
  EXPECT_EQ(facts.dtype, GNNMG_DTYPE_F32);
  return widened(values<float>(tensor));
}

// Reads a file of nothing but numbers of that type.
std::vector<double> raw_numbers(const std::string& path, gnnmg_dtype dtype) {
  const std::string bytes = slurp(path);
  const auto read = [&]<typename T>(T) {
    std::vector<T> list(bytes.size() / sizeof(T));
    std::memcpy(list.data(), bytes.data(), list.size() * sizeof(T));
    return std::vector<double>(list.begin(), list.end());
  };
  return dtype == GNNMG_DTYPE_F64 ? read(double{}) : read(float{});
}

void expect_close(const std::vector<double>& found, const std::vector<double>& expected,
                  gnnmg_dtype dtype, const std::string& what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  double worst = 0, largest = 1;
  for (size_t i = 0; i < found.size(); ++i) {
    worst = std::max(worst, std::abs(found[i] - expected[i]));
    largest = std::max(largest, std::abs(expected[i]));
  }
  EXPECT_LE(worst, (dtype == GNNMG_DTYPE_F64 ? 1e-9 : 1e-4) * largest) << what;
}

// Cora as one mini-batch.
class PygExchangeTest : public testing::Test {
 protected:
  void open() {
    ASSERT_OK(gnnmg_context_create(GNNMG_VERSION, nullptr, context_.out()));
    ASSERT_OK(gnnmg_dataset_open(context_, data_path("cora").c_str(), nullptr, dataset_.out(), -1));
    Graph graph;
    ASSERT_OK(gnnmg_dataset_get_graph(dataset_, 0, graph.out()));
    Sampler sampler;
    ASSERT_OK(gnnmg_sampler_create(graph, nullptr, "fanouts=-1,-1", sampler.out()));
    auto facts = info<gnnmg_dataset_info>();
    ASSERT_OK(gnnmg_dataset_get_info(dataset_, &facts));
    std::vector<int64_t> nodes(static_cast<size_t>(facts.num_nodes));
    std::iota(nodes.begin(), nodes.end(), int64_t{0});
    ASSERT_OK(gnnmg_sampler_sample(sampler, dataset_, nodes.data(), facts.num_nodes, nullptr, 0, 0,
                                   0, batch_.out(), -1));
  }

  Model make_model(const Case& c) {
    ModelConfig config;
    config.dtype = c.dtype();
    config.hidden_dim = 16;
    Model model;
    EXPECT_OK(gnnmg_model_create(context_, dataset_, &config, c.model, model.out()));
    return model;
  }

  Optimizer make_optimizer(const Case& c, gnnmg_model* model) {
    Optimizer optimizer;
    EXPECT_OK(gnnmg_optimizer_create(model, c.optimizer, optimizer.out()));
    return optimizer;
  }

  static const char* form_of(const Case& c) { return c.modules ? "torch_modules=1" : nullptr; }

  void step(gnnmg_model* model, gnnmg_optimizer* optimizer) {
    ASSERT_OK(gnnmg_model_forward(model, batch_, nullptr));
    ASSERT_OK(gnnmg_model_backward(model, GNNMG_LOSS_AUTO, nullptr));
    ASSERT_OK(gnnmg_optimizer_step(optimizer));
  }

  // The whole log.
  std::string logged() {
    auto facts = info<gnnmg_log_info>();
    char text[1000];
    size_t needed = 0;
    std::string all;
    while (gnnmg_log_next(context_, &facts, text, sizeof text, &needed) == GNNMG_OK)
      all += std::string(text) + "\n";
    return all;
  }

  std::string file(const Case& c, const char* end) { return folder_.file(c.name + "." + end); }

  // Writes a model in the middle of training, and the same model one step later.
  void write(const Case& c) {
    const Model model = make_model(c);
    const Optimizer optimizer = make_optimizer(c, model);
    for (int i = 0; i < 3; ++i) step(model, optimizer);
    const char* form = form_of(c);
    ASSERT_OK(gnnmg_model_save(model, file(c, "ours.pth").c_str(), form, -1));
    ASSERT_OK(gnnmg_optimizer_save(optimizer, file(c, "ours_optimizer.pth").c_str(), form, -1));
    ASSERT_OK(gnnmg_model_embed(model, dataset_, 0, file(c, "ours.npy").c_str(), nullptr, -1));
    step(model, optimizer);
    ASSERT_OK(gnnmg_model_save(model, file(c, "ours_after.pth").c_str(), form, -1));
  }

  // A file of several dicts, so one must be named; the optimizer's is the only one of its kind.
  void read_checkpoint(const Case& c, gnnmg_model* model, gnnmg_optimizer* optimizer) {
    const std::string path = file(c, "theirs_checkpoint.pth");
    EXPECT_FAILS(gnnmg_model_load(model, path.c_str(), nullptr, -1), GNNMG_ERR_FORMAT,
                 "holds 2 dicts of tensors, say which: model, ema");
    EXPECT_FAILS(gnnmg_model_load(model, path.c_str(), "dict=averages.other", -1),
                 GNNMG_ERR_NOT_FOUND, "has nothing at \"averages.other\"");
    EXPECT_FAILS(gnnmg_model_load(model, path.c_str(), "dict=optimizer", -1), GNNMG_ERR_FORMAT,
                 "what is at \"optimizer\" is no dict of tensors");
    for (const char* name : {"dict=averages.swa", "dict=model"}) {
      ASSERT_OK(gnnmg_model_load(model, path.c_str(), name, -1));
      Tensor first;
      const char* key = nullptr;
      int32_t trained = 0;
      ASSERT_OK(gnnmg_model_tensor_key(model, 0, &key, &trained));
      ASSERT_OK(gnnmg_model_export_tensor(model, key, first.out()));
      double sum = 0;
      for (const double value : numbers(first)) sum += std::abs(value);
      EXPECT_EQ(sum > 0, std::string_view(name) == "dict=model");
    }
    logged();
    ASSERT_OK(gnnmg_model_load(model, file(c, "theirs_among.pth").c_str(), nullptr, -1));
    EXPECT_NE(logged().find("passed over among the tensors of the state: epoch (an int), args (an "
                            "argparse.Namespace)"),
              std::string::npos);
    const std::string form = c.modules ? "torch_modules=1 " : "";
    ASSERT_OK(gnnmg_optimizer_load(optimizer, path.c_str(), (form + "dict=optimizer").c_str(), -1));
    ASSERT_OK(gnnmg_optimizer_load(optimizer, path.c_str(), form.c_str(), -1));
  }

  // Reads their files: compares logits, and one more step.
  void read(const Case& c) {
    const Model model = make_model(c), expected = make_model(c);
    const Optimizer optimizer = make_optimizer(c, model);
    if (c.adam()) {
      ASSERT_NO_FATAL_FAILURE(read_checkpoint(c, model, optimizer));
    } else {
      ASSERT_OK(gnnmg_model_load(model, file(c, "theirs.pth").c_str(), nullptr, -1));
      ASSERT_OK(
          gnnmg_optimizer_load(optimizer, file(c, "theirs_optimizer.pth").c_str(), nullptr, -1));
    }
    Tensor rows;
    ASSERT_OK(gnnmg_model_embed(model, dataset_, 0, nullptr, rows.out(), -1));
    expect_close(numbers(rows), raw_numbers(file(c, "theirs.raw"), c.dtype()), c.dtype(), "logits");
    step(model, optimizer);
    ASSERT_OK(gnnmg_model_load(expected, file(c, "theirs_after.pth").c_str(), nullptr, -1));
    const char* key = nullptr;
    int32_t trained = 0;
    for (int64_t i = 0; gnnmg_model_tensor_key(model, i, &key, &trained) == GNNMG_OK; ++i) {
      Tensor found, wanted;
      ASSERT_OK(gnnmg_model_export_tensor(model, key, found.out()));
      ASSERT_OK(gnnmg_model_export_tensor(expected, key, wanted.out()));
      expect_close(numbers(found), numbers(wanted), c.dtype(), key);
    }
  }

  TempDir folder_;
  Context context_;
  Dataset dataset_;
  Batch batch_;
};

TEST_F(PygExchangeTest, ModelsAndOptimizersGoThereAndBack) {
  GNNMG_NEEDS_DATA("cora");
  ASSERT_NO_FATAL_FAILURE(open());
  for (const Case& c : kCases) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, c.name);
    ASSERT_NO_FATAL_FAILURE(write(c));
  }
  const std::string python = python_path();
  const std::string command = "'" + python + "' '" + source_path("capi/pyg_exchange.py") + "' '" +
                              folder_.path() + "' '" + data_path("cora") + "'";
  const int status = std::system(command.c_str());
  GNNMG_NEEDS(!WIFEXITED(status) || WEXITSTATUS(status) != 77,
              python +
                  " with PyTorch Geometric (src/cmake/setup.sh --full; GNNMG_TEST_PYTHON "
                  "names another Python)");
  ASSERT_EQ(status, 0) << command;
  for (const Case& c : kCases) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, c.name);
    ASSERT_NO_FATAL_FAILURE(read(c));
  }
}

// Classes that mix modules of torch and PyG, which no setting describes: their files go back with
// the same keys and with the state of their optimizer.
TEST_F(PygExchangeTest, MixturesOfModulesGoBackUnderTheirOwnKeys) {
  GNNMG_NEEDS_DATA("cora");
  const std::string python = python_path();
  const auto run = [&](const char* what) {
    const std::string command = "'" + python + "' '" + source_path("capi/pyg_exchange.py") + "' '" +
                                folder_.path() + "' '" + data_path("cora") + "' " + what;
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  const int status = run("make");
  GNNMG_NEEDS(status != 77, python + " with PyTorch Geometric");
  ASSERT_EQ(status, 0);
  ASSERT_OK(gnnmg_context_create(GNNMG_VERSION, nullptr, context_.out()));
  struct Mixture {
    const char* name;
    gnnmg_norm norm = GNNMG_NORM_NONE;
    int32_t mlp_layers = 2;
    bool inner_norm = false, edge = false, turned = false;
  };
  for (const Mixture& mixture :
       {Mixture{"pyg_norm", GNNMG_NORM_BATCH}, Mixture{"torch_norm", GNNMG_NORM_BATCH},
        Mixture{"single", GNNMG_NORM_NONE, 1}, Mixture{"dropout"},
        Mixture{"inner_norm", GNNMG_NORM_BATCH, 2, true},
        Mixture{"edge_alone", GNNMG_NORM_NONE, 1, false, true},
        Mixture{"edge_single", GNNMG_NORM_NONE, 1, false, true},
        Mixture{"edge_mlp", GNNMG_NORM_NONE, 1, false, true},
        Mixture{"turned", GNNMG_NORM_NONE, 2, false, false, true}}) {
    const std::string name = mixture.name;
    SCOPED_TRACE(name);
    Model model;
    ASSERT_OK(gnnmg_model_create(context_, nullptr, nullptr,
                                 "architecture=layers input_dim=6 dtype=f64", model.out()));
    for (const int64_t width : {8, 4}) {
      ModelConfig conv;
      conv.architecture = mixture.edge ? GNNMG_ARCHITECTURE_EDGE : GNNMG_ARCHITECTURE_GIN;
      if (mixture.turned) conv.architecture = GNNMG_ARCHITECTURE_GCN;
      conv.output_dim = width;
      conv.set("mlp_layers=" + std::to_string(mixture.mlp_layers));
      if (mixture.inner_norm) conv.norm = GNNMG_NORM_BATCH;
      const std::string list = mixture.turned ? "conv" : "convs.";
      const int number = (width == 8 ? 0 : 1) + mixture.turned;
      ASSERT_OK(
          gnnmg_model_add_conv(model, (list + std::to_string(number)).c_str(), &conv, conv.text()));
      if (width == 4) continue;
      if (mixture.turned) {
        ASSERT_OK(gnnmg_model_add_norm(model, "first", GNNMG_NORM_BATCH, nullptr));
        ASSERT_OK(gnnmg_model_add_norm(model, "second", GNNMG_NORM_LAYER, nullptr));
      }
      if (mixture.norm != GNNMG_NORM_NONE) {
        ASSERT_OK(gnnmg_model_add_norm(model, "norms.0", mixture.norm, nullptr));
      }
      ASSERT_OK(gnnmg_model_add_activation(model, nullptr, GNNMG_ACTIVATION_RELU));
    }
    const auto path = [&](const char* end) { return folder_.file(name + "." + end); };
    const char* form = "loaded_names=1";
    EXPECT_FAILS(gnnmg_model_save(model, path("back.pth").c_str(), form, -1),
                 GNNMG_ERR_INVALID_ARGUMENT, "none were loaded");
    ASSERT_OK(gnnmg_model_load(model, path("theirs.pth").c_str(), nullptr, -1));
    ASSERT_OK(gnnmg_model_save(model, path("back.pth").c_str(), form, -1));
    ASSERT_OK(gnnmg_model_save(model, path("back.safetensors").c_str(), form, -1));
    Optimizer optimizer;
    ASSERT_OK(gnnmg_optimizer_create(model, nullptr, optimizer.out()));
    // These classes number their norms after all convolutions, the stack numbers them in between.
    ASSERT_OK(gnnmg_optimizer_load(optimizer, path("theirs_optimizer.pth").c_str(), form, -1));
    ASSERT_OK(gnnmg_optimizer_save(optimizer, path("back_optimizer.pth").c_str(), form, -1));
    ASSERT_OK(gnnmg_model_save(model, path("own.pth").c_str(), nullptr, -1));
    ASSERT_OK(gnnmg_optimizer_save(optimizer, path("own_optimizer.pth").c_str(), nullptr, -1));
    if (mixture.norm != GNNMG_NORM_NONE && !mixture.inner_norm) {
      EXPECT_FAILS(
          gnnmg_optimizer_load(optimizer, path("theirs_optimizer.pth").c_str(), nullptr, -1),
          GNNMG_ERR_FORMAT, "which loaded_names 1 reads it in");
    }
    if (mixture.turned) {  // shapes are symmetric
      EXPECT_EQ(logged().find("set loaded_names 1"), std::string::npos);
      ASSERT_OK(gnnmg_optimizer_load(optimizer, path("theirs_optimizer.pth").c_str(), nullptr, -1));
      EXPECT_NE(logged().find("for the state of that class set loaded_names 1"), std::string::npos);
    }
    EXPECT_FAILS(
        gnnmg_model_save(model, path("back.pth").c_str(), "loaded_names=1 torch_modules=1", -1),
        GNNMG_ERR_INVALID_ARGUMENT, "loaded_names=1, and torch_modules=1");
    EXPECT_FAILS(
        gnnmg_model_save(model, path("back.pth").c_str(), "loaded_names=1 other_framework=1", -1),
        mixture.norm == GNNMG_NORM_NONE || !mixture.inner_norm ? GNNMG_ERR_INVALID_ARGUMENT
                                                               : GNNMG_ERR_UNSUPPORTED,
        mixture.inner_norm ? "no counterpart" : "other_framework is 1");
  }
  EXPECT_EQ(run("take"), 0);
}

}  // namespace
}  // namespace gnnmg::test
