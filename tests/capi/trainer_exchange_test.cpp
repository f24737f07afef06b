// Trainings that move: started in real PyTorch Geometric, continued by a trainer on several ranks,
// and taken back. Each side's steps must be those of the other. trainer_exchange.py is the other
// side.
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "capi/support.h"
#include "support/data.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

constexpr int kSteps = 4;  // same number as in trainer_exchange.py

struct Case {
  std::string name;               // name in trainer_exchange.py
  const char *model, *optimizer;  // settings
  bool dgl = false;               // layers are DGL's here, and PyG's in the file
};
const char* const kSgd =
    "optimizer=sgd learning_rate=0.05 weight_decay=5e-4 momentum=0.9 nesterov=1";
const char* const kAmsgrad = "optimizer=adamw weight_decay=0.01 amsgrad=1";
const Case kCases[] = {
    {"sage_adam", "architecture=sage", "weight_decay=5e-4"},
    {"gcn_sgd", "architecture=gcn", kSgd},
    {"gat_amsgrad", "architecture=gat heads=4", kAmsgrad},
    // DGL's other norms use degrees of the block.
    {"gcn_dgl_amsgrad", "architecture=gcn framework=dgl self_loops=0 degree_norm=none", kAmsgrad,
     true},
    {"sage_dgl_sgd", "architecture=sage framework=dgl", kSgd, true},
};

class TrainerExchange : public testing::Test {
 protected:
  void open() {
    ASSERT_OK(gnnmg_context_create(GNNMG_VERSION, nullptr, context_.out()));
    ASSERT_OK(gnnmg_dataset_open(context_, data_path("cora").c_str(), nullptr, dataset_.out(), -1));
    Graph graph;
    ASSERT_OK(gnnmg_dataset_get_graph(dataset_, 0, graph.out()));
    ASSERT_OK(gnnmg_sampler_create(graph, nullptr, "fanouts=-1,-1", sampler_.out()));
  }

  Model make_model(const Case& c) {
    ModelConfig config;
    config.dtype = GNNMG_DTYPE_F64;
    config.hidden_dim = 16;
    Model model;
    EXPECT_OK(gnnmg_model_create(context_, dataset_, &config, c.model, model.out()));
    return model;
  }

  // A trainer that trains on all 140 nodes in each step.
  Trainer make_trainer(const Case& c, gnnmg_model* model, int32_t ranks) {
    TrainerConfig config;
    config.num_ranks = ranks;
    config.batch_size = 140 / ranks;
    config.num_epochs = 3 * kSteps;
    const std::string settings = std::string("keep_best=0 ") + c.optimizer;
    Trainer trainer;
    EXPECT_OK(gnnmg_trainer_create(model, dataset_, sampler_, nullptr, &config, settings.c_str(),
                                   trainer.out()));
    return trainer;
  }

  static const char* form_of(const Case& c) { return c.dgl ? "other_framework=1" : nullptr; }

  static void run(gnnmg_trainer* trainer) {
    for (int i = 0; i < kSteps; ++i) ASSERT_OK(gnnmg_trainer_step(trainer, nullptr, -1));
  }

  std::string file(const Case& c, const char* end) {
    return folder_.file(c.name + "." + end + ".pth");
  }

  void expect_weights(const Case& c, const gnnmg_model* model, const char* end) {
    const Model expected = make_model(c);
    const char* form = form_of(c);
    ASSERT_OK(gnnmg_model_load(expected, file(c, end).c_str(), form, -1));
    Tensor found, wanted;
    ASSERT_OK(gnnmg_model_export_parameters(model, found.out()));
    ASSERT_OK(gnnmg_model_export_parameters(expected, wanted.out()));
    const auto a = values<double>(found), b = values<double>(wanted);
    ASSERT_EQ(a.size(), b.size());
    double worst = 0;
    for (size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
    EXPECT_LE(worst, 1e-10);
  }

  // Continues their training; with another state it would be a different one.
  void go_on(const Case& c, int32_t ranks) {
    const char* form = form_of(c);
    const Model model = make_model(c);
    const Trainer trainer = make_trainer(c, model, ranks);
    run(trainer);  // trains alone, and leaves no state
    ASSERT_OK(gnnmg_model_load(model, file(c, "theirs").c_str(), form, -1));
    ASSERT_OK(
        gnnmg_optimizer_load(optimizer_of(trainer), file(c, "theirs_optimizer").c_str(), form, -1));
    run(trainer);
    expect_weights(c, model, "theirs_after");
  }

  // Trains in this library and saves the state before and after the next step.
  void begin(const Case& c) {
    const char* form = form_of(c);
    const Model model = make_model(c);
    const Trainer trainer = make_trainer(c, model, 2);
    run(trainer);
    ASSERT_OK(gnnmg_model_save(model, file(c, "ours").c_str(), form, -1));
    ASSERT_OK(
        gnnmg_optimizer_save(optimizer_of(trainer), file(c, "ours_optimizer").c_str(), form, -1));
    run(trainer);
    ASSERT_OK(gnnmg_model_save(model, file(c, "ours_after").c_str(), form, -1));
  }

  int there(const char* phase) {
    const std::string command = "'" + python_path() + "' '" +
                                source_path("capi/trainer_exchange.py") + "' " + phase + " '" +
                                folder_.path() + "' '" + data_path("cora") + "'";
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  TempDir folder_;
  Context context_;
  Dataset dataset_;
  Sampler sampler_;
};

TEST_F(TrainerExchange, TrainingsMoveThereAndBack) {
  GNNMG_NEEDS_DATA("cora");
  ASSERT_NO_FATAL_FAILURE(open());
  {
    std::ofstream names(folder_.file("names.txt"));
    for (const Case& c : kCases) names << c.name << '\n';
  }
  const int begun = there("begin");
  GNNMG_NEEDS(begun != 77, python_path() +
                               " with PyTorch Geometric (src/cmake/setup.sh --full; "
                               "GNNMG_TEST_PYTHON names another Python)");
  ASSERT_EQ(begun, 0);
  for (const Case& c : kCases) {
    for (const int32_t ranks : {1, 2}) {
      const testing::ScopedTrace trace(__FILE__, __LINE__, c.name + " on " + std::to_string(ranks));
      ASSERT_NO_FATAL_FAILURE(go_on(c, ranks));
    }
    ASSERT_NO_FATAL_FAILURE(begin(c));
  }
  ASSERT_EQ(there("end"), 0);
}

}  // namespace
}  // namespace gnnmg::test
