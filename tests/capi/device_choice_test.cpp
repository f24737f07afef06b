// The GPUs that a trainer chooses from its settings, on machines without any and with two
// (tests/fake_machine). A missing GPU gives a status with the remedy.
#include "capi/support.h"

namespace gnnmg::test {
namespace {

struct Choice : World {
  Choice() { training.num_ranks = 0; }
  gnnmg_status make() {
    sampler = make_sampler();
    model = make_model();
    return gnnmg_trainer_create(model, dataset, sampler, nullptr, &training, training.text(),
                                trainer.out());
  }
  // All messages so far, one per line.
  std::string messages() {
    std::string all;
    char text[4096];
    size_t needed = 0;
    auto facts = info<gnnmg_log_info>();
    while (gnnmg_log_next(context, &facts, text, sizeof text, &needed) == GNNMG_OK)
      all += std::string(text) + "\n";
    return all;
  }
  Sampler sampler;
  Model model;
  Trainer trainer;
};
#define EXPECT_NOTE(choice, part)                                             \
  do {                                                                        \
    const std::string said = (choice).messages();                             \
    EXPECT_NE(said.find(part), std::string::npos) << "the log has: " << said; \
  } while (false)

TEST(NoDriverChoice, IsTheCpu) {
  Choice choice;
  int64_t count = 0;
  const char* why = nullptr;
  ASSERT_OK(gnnmg_context_num_devices(choice.context, &count, &why));
  if (std::string(why).find("no NVIDIA driver") == std::string::npos)
    GTEST_SKIP() << "there is a driver";
  ASSERT_OK(choice.make());
  EXPECT_NOTE(choice, "training on the CPU: this machine has no NVIDIA driver");
  choice.training.num_ranks = 3;
  EXPECT_OK(choice.make());
  choice.training.device = GNNMG_DEVICE_CUDA;
  EXPECT_FAILS(choice.make(), GNNMG_ERR_DEPENDENCY,
               "config.device asks for GPUs: this machine has no NVIDIA driver");
  EXPECT_FAILS(choice.make(), GNNMG_ERR_DEPENDENCY,
               "set config.device to GNNMG_DEVICE_CPU to train without");
  choice.training.device = GNNMG_DEVICE_AUTO;
  choice.training.set("devices=0");
  EXPECT_FAILS(choice.make(), GNNMG_ERR_DEPENDENCY,
               "the setting `devices` names GPUs: this machine");
}

TEST(NoDriverChoice, LeavesModelsAndLoadersOnTheCpu) {
  Choice choice;
  ASSERT_OK(choice.make());
  choice.trainer.reset();
  auto facts = info<gnnmg_model_info>();
  ASSERT_OK(gnnmg_model_get_info(choice.model, &facts));
  EXPECT_EQ(facts.device, GNNMG_DEVICE_CPU);
  int64_t count = 0;
  ASSERT_OK(gnnmg_context_num_devices(choice.context, &count, nullptr));
  if (count > 0) GTEST_SKIP() << "there is a GPU";
  EXPECT_FAILS(gnnmg_model_set_device(choice.model, GNNMG_DEVICE_CUDA, 0, 0), GNNMG_ERR_DEPENDENCY,
               "argument 'index' asks for GPU 0: this machine has no NVIDIA");
  EXPECT_OK(gnnmg_model_set_device(choice.model, GNNMG_DEVICE_CPU, 0, 0));
  choice.plan.device = GNNMG_DEVICE_CUDA;
  Loader loader;
  EXPECT_FAILS(gnnmg_loader_create(choice.dataset, choice.sampler, &choice.plan, choice.plan.text(),
                                   loader.out()),
               GNNMG_ERR_DEPENDENCY,
               "device_index asks for GPU 0: this machine has no NVIDIA driver");
  choice.plan.device = GNNMG_DEVICE_CPU;
  loader = choice.make_loader(choice.sampler);
  // Copies within main memory need no GPU.
  std::vector<float> from{1, 2, 3}, to(3);
  EXPECT_OK(gnnmg_tensor_copy(choice.context, wrap(from), wrap(to)));
  EXPECT_EQ(to, from);
}

TEST(GpusChoice, AreAllOfThem) {
  Choice choice;
  ASSERT_OK(choice.make());
  EXPECT_NOTE(choice, "training on GPU 0, 1\n");
  choice.training.num_ranks = 1;
  ASSERT_OK(choice.make());
  EXPECT_NOTE(choice, "training on GPU 0\n");
  choice.training.num_ranks = 0;
  choice.training.set("devices=1");
  ASSERT_OK(choice.make());
  EXPECT_NOTE(choice, "training on GPU 1\n");
  choice.training = {};
  choice.training.device = GNNMG_DEVICE_CPU;
  EXPECT_OK(choice.make());
}

TEST(GpusChoice, WithMoreRanksThanGpus) {
  Choice choice;
  choice.training.num_ranks = 3;
  ASSERT_OK(choice.make());
  EXPECT_NOTE(choice, "training on the CPU: 3 ranks and 2 GPUs, and a GPU takes one rank\n");
  choice.training.device = GNNMG_DEVICE_CUDA;
  EXPECT_FAILS(choice.make(), GNNMG_ERR_INVALID_ARGUMENT,
               "3 ranks and 2 GPUs, and a GPU takes one rank; lower config.num_ranks");
}

TEST(GpusChoice, RefusesWhatCannotBe) {
  Choice choice;
  choice.training.set("devices=0,2");
  EXPECT_FAILS(choice.make(), GNNMG_ERR_NOT_FOUND,
               "settings: entry 1 of devices is 2, but this process sees 2 GPUs, 0 to 1");
  choice.training.set("devices=-1");
  EXPECT_FAILS(choice.make(), GNNMG_ERR_INVALID_ARGUMENT, "settings: devices=-1");
  choice.training.set("devices=1,1");
  EXPECT_FAILS(choice.make(), GNNMG_ERR_INVALID_ARGUMENT,
               "settings: devices=1,1 has GPU 1 twice: a GPU takes one rank");
  choice.training.set("devices=0,1");
  choice.training.num_ranks = 3;
  EXPECT_FAILS(choice.make(), GNNMG_ERR_INVALID_ARGUMENT,
               "num_ranks is 3, but devices has 2 entries");
  choice.training.num_ranks = 2;
  EXPECT_OK(choice.make());
  choice.training.device = GNNMG_DEVICE_CPU;
  EXPECT_FAILS(choice.make(), GNNMG_ERR_INVALID_ARGUMENT,
               "settings: devices=0,1 has an effect only with device=auto or cuda");
  choice.training.device = 3;
  EXPECT_FAILS(choice.make(), GNNMG_ERR_INVALID_ARGUMENT, "config.device is 3");
}

TEST(GpusChoice, RefusesPlacementsThatAreNone) {
  const auto refused = [](const char* settings, const std::string& part) {
    Choice choice;
    choice.training.set(settings);
    EXPECT_FAILS(choice.make(), GNNMG_ERR_INVALID_ARGUMENT, part);
  };
  for (const char* wrong :
       {"graph_placement=4", "feature_placement=gpu", "feature_form=4", "hotness=none",
        "gather_multiprocessors=-1", "cache_bytes=18446744073709551616", "capture=4"})
    refused(wrong, std::string("settings: ") + wrong);
  refused("cache_bytes=18446744073709551615", "cache_bytes");
  refused("cache_bytes=1 feature_placement=pinned",
          "settings: cache_bytes=1, but feature_placement=pinned caches no rows");
}

}  // namespace
}  // namespace gnnmg::test
