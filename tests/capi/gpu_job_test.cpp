// The GPUs that processes of a job take, on a machine with four fake ones (tests/fake_machine), and
// their errors if the choices conflict. Processes are worlds of this program.
#include <functional>
#include <thread>

#include "capi/support.h"

namespace gnnmg::test {
namespace {

struct Process {
  World world;
  Comm comm;
  Sampler sampler;
  Model model;
  Trainer trainer;

  gnnmg_status make() {
    sampler = world.make_sampler();
    model = world.make_model();
    return gnnmg_trainer_create(model, world.dataset, sampler, comm, &world.training,
                                world.training.text(), trainer.out());
  }
  void name(int32_t device) { world.training.set("devices=" + std::to_string(device)); }
  // All messages so far, one per line.
  std::string messages() {
    std::string all;
    char text[4096];
    size_t needed = 0;
    auto facts = info<gnnmg_log_info>();
    while (gnnmg_log_next(world.context, &facts, text, sizeof text, &needed) == GNNMG_OK)
      all += std::string(text) + "\n";
    return all;
  }
};

// Processes of a job, each on a thread of its own; they leave together.
void run_job(int32_t count, const std::function<void(int32_t, Process&)>& body) {
  const int32_t port = free_port();
  std::vector<std::thread> threads;
  for (int32_t p = 0; p < count; ++p)
    threads.emplace_back([&, p] {
      Process own;
      own.world.training.num_ranks = 0;
      own.world.training.batches_per_step = 4;
      own.world.training.num_epochs = 2;
      CommConfig config;
      config.port = port;
      config.process_rank = p;
      config.num_processes = count;
      ASSERT_OK(gnnmg_comm_create(own.world.context, nullptr, nullptr, nullptr, &config,
                                  own.comm.out(), -1));
      body(p, own);
      own.trainer.reset();
      EXPECT_OK(gnnmg_comm_shutdown(own.comm, -1));
    });
  for (std::thread& thread : threads) thread.join();
}

#define EXPECT_NOTE(process, part)                                            \
  do {                                                                        \
    const std::string said = (process).messages();                            \
    EXPECT_NE(said.find(part), std::string::npos) << "the log has: " << said; \
  } while (false)

TEST(GpuJob, EachTakesItsShare) {
  for (const int32_t count : {1, 2, 4}) {
    run_job(count, [count](int32_t p, Process& own) {
      ASSERT_OK(own.make());
      const char* const notes[] = {"training on GPU 0, 1, 2, 3\n", "", "training on GPU 0, 1\n",
                                   "training on GPU 2, 3\n"};
      EXPECT_NOTE(own, count == 4 ? "training on GPU " + std::to_string(p) + "\n"
                                  : std::string(notes[2 * (count - 1) + p]));
      ASSERT_OK(gnnmg_trainer_run(own.trainer, nullptr, nullptr, nullptr));
      auto metrics = info<gnnmg_metrics>();
      ASSERT_OK(gnnmg_trainer_evaluate(own.trainer, GNNMG_PART_TEST, &metrics, nullptr, -1));
      EXPECT_GT(metrics.accuracy, 0.3);
      EXPECT_NOTE(own, "rank " + std::to_string(p * 4 / count) + " works on GPU " +
                           std::to_string(p * 4 / count) + " (fake GPU at 0000:0" +
                           std::to_string(p * 4 / count + 1) + ":00.0): ");
    });
  }
}

// Fewer GPUs than ranks: all train on the CPU, or get an error.
TEST(GpuJob, WithTooFewGpus) {
  run_job(2, [](int32_t, Process& own) {
    own.world.training.num_ranks = 3;
    ASSERT_OK(own.make());
    EXPECT_NOTE(own,
                "training on the CPU: 3 ranks and 2 GPUs of the 4 that it sees, which other "
                "processes see too, and a GPU takes one rank\n");
    own.world.training.device = GNNMG_DEVICE_CUDA;
    EXPECT_FAILS(own.make(), GNNMG_ERR_INVALID_ARGUMENT, "lower config.num_ranks");
  });
  run_job(5, [](int32_t p, Process& own) {
    own.world.training.num_epochs = 1;
    ASSERT_OK(own.make());
    EXPECT_NOTE(own, p == 0 ? "training on the CPU: 1 rank and no GPU of the 4"
                            : "training on the CPU: process 0 on host ");
    EXPECT_OK(gnnmg_trainer_run(own.trainer, nullptr, nullptr, nullptr));
  });
}

TEST(GpuJob, NamesItsGpus) {
  run_job(2, [](int32_t p, Process& own) {
    own.name(3 - 2 * p);
    ASSERT_OK(own.make());
    EXPECT_OK(gnnmg_trainer_run(own.trainer, nullptr, nullptr, nullptr));
    own.name(2);
    ASSERT_OK(own.make());
    EXPECT_FAILS(gnnmg_trainer_run(own.trainer, nullptr, nullptr, nullptr),
                 GNNMG_ERR_INVALID_ARGUMENT, "ranks 0 and 1 are both on the GPU at 0000:03:00.0");
    own.name(p);  // the communicator is unharmed
    ASSERT_OK(own.make());
    EXPECT_OK(gnnmg_trainer_run(own.trainer, nullptr, nullptr, nullptr));
  });
}

TEST(GpuJob, SomeOnTheCpu) {
  run_job(2, [](int32_t p, Process& own) {
    own.world.training.device = p == 0 ? GNNMG_DEVICE_CUDA : GNNMG_DEVICE_CPU;
    ASSERT_OK(own.make());
    const gnnmg_status status = gnnmg_trainer_run(own.trainer, nullptr, nullptr, nullptr);
    EXPECT_EQ(status, GNNMG_ERR_MISMATCH);
    const std::string text = gnnmg_last_error();
    EXPECT_EQ(text.find("trainer: process 1 on host "), 0u) << text;
    EXPECT_NE(text.find(" works on the CPU, but process 0 on host "), std::string::npos) << text;
  });
}

}  // namespace
}  // namespace gnnmg::test
