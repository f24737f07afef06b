// Hosts that use LibTorch themselves may call from a thread in any of its modes: inference mode,
// no_grad, autocast. Results are the same, and the thread stays in its mode.
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>

#include <filesystem>
#include <functional>
#include <thread>

#include "capi/support.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

bool autocasts() { return at::autocast::is_autocast_enabled(at::kCPU); }

int64_t num_threads() {
  int64_t count = 0;
  for ([[maybe_unused]] const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
    ++count;
  return count;
}

TEST(TorchThreads, OfAHostAreNeitherUsedNorChangedByASmallPrediction) {
  std::thread([] {
    World world;
    Predictor predictor;
    ASSERT_OK(
        gnnmg_predictor_create(world.make_model(), world.dataset, "fanouts=4,3", predictor.out()));
    const int usual = at::get_num_threads();
    at::set_num_threads(3);
    const int64_t before = num_threads();
    for (int64_t id = 0; id < 50; ++id) (void)predicted<float>(predictor, {id, 2 * id}, 0);
    EXPECT_EQ(num_threads(), before);
    EXPECT_EQ(at::get_num_threads(), 3);
    at::set_num_threads(usual);
  }).join();
}

// All numbers of a model that is trained, saved, loaded, trained further and evaluated by a
// trainer, then by the host's own loop.
std::vector<float> all_results() {
  const TempDir folder;
  const std::string file = folder.path() + "/model.pth", saved = folder.path() + "/saved";
  World world;
  world.layers.norm = GNNMG_NORM_BATCH;
  world.training.num_ranks = 2;
  const Sampler sampler = world.make_sampler();
  const Model model = world.make_model();
  std::vector<float> results;
  const auto note = [&](const gnnmg_tensor* tensor) {
    for (const float value : values<float>(tensor)) results.push_back(value);
  };
  {
    const Trainer trainer = world.make_trainer(model, sampler);
    double loss = 0;
    EXPECT_OK(gnnmg_trainer_step(trainer, &loss, -1));
    EXPECT_OK(gnnmg_trainer_save(trainer, saved.c_str(), -1));
    EXPECT_OK(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr));
    EXPECT_OK(gnnmg_trainer_load(trainer, saved.c_str(), -1));
    EXPECT_OK(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr));
    auto metrics = info<gnnmg_metrics>();
    EXPECT_OK(gnnmg_trainer_evaluate(trainer, GNNMG_PART_TEST, &metrics, nullptr, -1));
    results.push_back(static_cast<float>(metrics.loss));
    Tensor rows;
    EXPECT_OK(gnnmg_trainer_embed(trainer, 0, nullptr, rows.out(), -1));
    note(rows);
  }
  EXPECT_OK(gnnmg_model_save(model, file.c_str(), nullptr, -1));
  const Model other = world.make_model();
  EXPECT_OK(gnnmg_model_load(other, file.c_str(), nullptr, -1));
  Model copy;
  EXPECT_OK(gnnmg_model_create_copy(other, copy.out()));
  Optimizer optimizer;
  EXPECT_OK(gnnmg_optimizer_create(copy, nullptr, optimizer.out()));
  const Loader loader = world.make_loader(sampler);
  EXPECT_OK(gnnmg_loader_start(loader, 0, 0));
  for (Batch batch; gnnmg_loader_next(loader, batch.out(), -1) == GNNMG_OK;) {
    Tensor logits, labels;
    EXPECT_OK(gnnmg_model_forward(copy, batch, logits.out()));
    note(logits);
    EXPECT_OK(gnnmg_batch_export_labels(batch, labels.out()));
    double loss = 0;
    EXPECT_OK(gnnmg_model_backward(copy, GNNMG_LOSS_AUTO, &loss));
    EXPECT_OK(gnnmg_optimizer_step(optimizer));
  }
  Tensor parameters;
  EXPECT_OK(gnnmg_model_export_parameters(copy, parameters.out()));
  note(parameters);
  return results;
}

struct Mode {
  const char* name;
  std::function<std::vector<float>()> results;  // runs in that mode and leaves it on
};

TEST(TorchModes, OfTheHostChangeNothing) {
  const Mode modes[] = {
      {"inference mode",
       [] {
         const c10::InferenceMode mode;
         std::vector<float> results = all_results();
         EXPECT_TRUE(c10::InferenceMode::is_enabled());
         return results;
       }},
      {"no_grad",
       [] {
         const c10::NoGradGuard mode;
         std::vector<float> results = all_results();
         EXPECT_FALSE(c10::GradMode::is_enabled());
         return results;
       }},
      {"autocast",
       [] {
         at::autocast::set_autocast_enabled(at::kCPU, true);
         std::vector<float> results = all_results();
         EXPECT_TRUE(autocasts());
         at::autocast::set_autocast_enabled(at::kCPU, false);
         return results;
       }},
      {"another type by default",
       [] {
         const auto before = c10::get_default_dtype();
         c10::set_default_dtype(c10::scalarTypeToTypeMeta(at::kDouble));
         std::vector<float> results = all_results();
         EXPECT_EQ(c10::get_default_dtype(), c10::scalarTypeToTypeMeta(at::kDouble));
         c10::set_default_dtype(before);
         return results;
       }},
  };
  const std::vector<float> expected = all_results();
  ASSERT_GT(expected.size(), 100u);
  for (const Mode& mode : modes) {
    SCOPED_TRACE(mode.name);
    EXPECT_EQ(mode.results(), expected);
  }
}

}  // namespace
}  // namespace gnnmg::test
