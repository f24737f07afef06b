// GPUs that never finish, through the header, on a machine with eight fake ones, two per test:
// every call ends in time, names the GPU, and frees without waiting. GPU memory is released if the
// GPU finishes after all.
#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "capi/fake_controls.h"
#include "capi/support.h"

namespace gnnmg::test {
namespace {

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void expect_gone(int device) {
  go_on(device);
  for (int turn = 0; turn < 4000 && num_live(device) > 0; ++turn)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(num_live(device), 0);
}

constexpr const char* kUsedNoMore = "is used no more in this process";

// The caller's own loop on a GPU.
struct Loop : World {
  explicit Loop(int on) : World(400), gpu(on) {
    plan.device = GNNMG_DEVICE_CUDA;
    plan.device_index = gpu;
    EXPECT_OK(gnnmg_context_set_option(context, "gpu_timeout_ms", "300"));
    sampler = make_sampler();
    model = make_model();
    EXPECT_OK(gnnmg_model_set_device(model, GNNMG_DEVICE_CUDA, gpu, 0));
    EXPECT_OK(gnnmg_optimizer_create(model, nullptr, optimizer.out()));
    loader = make_loader(sampler);
    EXPECT_OK(gnnmg_loader_next(loader, batch.out(), -1));
    EXPECT_OK(gnnmg_model_forward(model, batch, nullptr));
    EXPECT_OK(gnnmg_model_backward(model, GNNMG_LOSS_AUTO, nullptr));
    EXPECT_OK(gnnmg_optimizer_step(optimizer));
  }
  gnnmg_status evaluate() {
    auto metrics = info<gnnmg_metrics>();
    return gnnmg_model_evaluate(model, dataset, GNNMG_PART_TEST, 0, &metrics, nullptr, -1);
  }
  // Frees everything; nothing waits for the GPU.
  void free() {
    EXPECT_OK(gnnmg_context_set_option(context, "gpu_timeout_ms", "60000"));
    EXPECT_LT(seconds([&] {
                batch.reset();
                loader.reset();
                optimizer.reset();
                model.reset();
                context.reset();
              }),
              5);
  }
  const int gpu;
  Sampler sampler;
  Model model;
  Optimizer optimizer;
  Loader loader;
  Batch batch;
};

TEST(GpuHang, InALoopOfOnesOwn) {
  Loop loop(0);
  hang(0);
  EXPECT_LT(seconds([&] {
              EXPECT_FAILS(
                  gnnmg_model_forward(loop.model, loop.batch, nullptr), GNNMG_ERR_TIMEOUT,
                  "GPU 0 has not come to the end of its work within 0.3 s; GPU 0 (fake GPU "
                  "at 0000:01:00.0) has not come to its end within 1 s of it and is used "
                  "no more in this process: end the process, and go on in another one");
            }),
            4);
  EXPECT_LT(seconds([&] {
              EXPECT_FAILS(gnnmg_model_forward(loop.model, loop.batch, nullptr),
                           GNNMG_ERR_DEVICE_LOST, kUsedNoMore);
              EXPECT_FAILS(gnnmg_optimizer_step(loop.optimizer), GNNMG_ERR_DEVICE_LOST,
                           kUsedNoMore);
              EXPECT_FAILS(loop.evaluate(), GNNMG_ERR_DEVICE_LOST, kUsedNoMore);
              EXPECT_FAILS(gnnmg_model_set_device(loop.make_model(), GNNMG_DEVICE_CUDA, 0, 0),
                           GNNMG_ERR_DEVICE_LOST, kUsedNoMore);
              auto device = info<gnnmg_device_info>();
              EXPECT_FAILS(gnnmg_context_get_device_info(loop.context, 0, &device),
                           GNNMG_ERR_DEVICE_LOST, kUsedNoMore);
            }),
            2);
  Loop other(1);
  EXPECT_OK(other.evaluate());
  other.free();
  loop.free();
  expect_gone(0);
}

// The context cancels a call that has waited.
TEST(GpuHang, AndTheContextIsCancelled) {
  Loop loop(2);
  EXPECT_OK(gnnmg_context_set_option(loop.context, "gpu_timeout_ms", "1000000"));
  hang(2);
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    EXPECT_OK(gnnmg_context_set_option(loop.context, "gpu_timeout_ms", "300"));
    gnnmg_context_cancel(loop.context);
  });
  EXPECT_LT(seconds([&] { EXPECT_FAILS(loop.evaluate(), GNNMG_ERR_CANCELLED, kUsedNoMore); }), 5);
  later.join();
  loop.free();
  expect_gone(2);
}

// Frees everything while the GPU hangs and no call has noticed it.
TEST(GpuHang, AndEverythingIsFreed) {
  Loop loop(3);
  hang(3);
  loop.free();
  expect_gone(3);
}

// Only memory of mini-batches hangs.
TEST(GpuHang, InALoader) {
  for (const int32_t workers : {0, 2}) {
    const int gpu = workers == 0 ? 4 : 5;
    Loop loop(gpu);
    loop.batch.reset();
    loop.loader.reset();
    loop.plan.set("num_threads=" + std::to_string(workers));
    loop.loader = loop.make_loader(loop.sampler);
    hang(gpu, 1);
    gnnmg_status status = GNNMG_OK;
    EXPECT_LT(seconds([&] {
                while (status == GNNMG_OK)
                  status = gnnmg_loader_next(loop.loader, loop.batch.out(), -1);
              }),
              4);
    EXPECT_EQ(status, GNNMG_ERR_TIMEOUT) << gnnmg_last_error();
    EXPECT_NE(std::string(gnnmg_last_error()).find("has not come to the end of its work"),
              std::string::npos)
        << gnnmg_last_error();
    loop.free();
    expect_gone(gpu);
  }
}

// A rank without a CPU for as long as a short deadline ends the training; it is then started again.
void train(gnnmg_trainer* trainer) {
  gnnmg_status status = GNNMG_ERR_TIMEOUT;
  for (int round = 0; round < 10 && status == GNNMG_ERR_TIMEOUT; ++round) {
    ASSERT_OK(gnnmg_trainer_start(trainer, nullptr, nullptr, nullptr));
    status = gnnmg_trainer_wait(trainer, 200);
  }
  EXPECT_EQ(status, GNNMG_PENDING);
}

TEST(GpuHang, InATrainer) {
  World world(600);
  world.training.device = GNNMG_DEVICE_CUDA;
  world.training.num_ranks = 0;
  world.training.num_epochs = 1'000'000;
  world.training.set("devices=6,7 evaluate_every=0 deadline_ms=300");
  const Sampler sampler = world.make_sampler();
  const Model model = world.make_model();
  Trainer trainer;
  ASSERT_OK(gnnmg_trainer_create(model, world.dataset, sampler, nullptr, &world.training,
                                 world.training.text(), trainer.out()));
  train(trainer);
  hang(7);
  EXPECT_LT(seconds([&] {
              EXPECT_FAILS(gnnmg_trainer_wait(trainer, -1), GNNMG_ERR_TIMEOUT,
                           "; rank 1: GPU 7 (fake GPU at 0000:08:00.0) has not come to its end");
            }),
            6);
  EXPECT_FAILS(gnnmg_trainer_step(trainer, nullptr, -1), GNNMG_ERR_DEVICE_LOST, kUsedNoMore);
  auto weights = info<gnnmg_model_info>();
  EXPECT_OK(gnnmg_model_get_info(model, &weights));
  EXPECT_LT(seconds([&] { trainer.reset(); }), 5);
  // A trainer that is freed in mid-work.
  world.training.set("devices=6 deadline_ms=60000");
  ASSERT_OK(gnnmg_trainer_create(model, world.dataset, sampler, nullptr, &world.training,
                                 world.training.text(), trainer.out()));
  train(trainer);
  hang(6);
  EXPECT_LT(seconds([&] {
              trainer.reset();
              world.context.reset();
            }),
            5);
  expect_gone(7);
  expect_gone(6);
}

}  // namespace
}  // namespace gnnmg::test
