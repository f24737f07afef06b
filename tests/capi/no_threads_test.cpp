// A system without further threads: the limit of a user or of a control group, as the program sees
// it. Calls use fewer threads or end with GNNMG_ERR_NO_MEMORY; nothing ends the program, as OpenMP
// would.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <functional>
#include <memory>

#include "capi/support.h"

namespace {

// Number of further threads that may start, and of live ones.
std::atomic<int> allowed{1 << 20};
std::atomic<int> alive{0};

struct Start {
  void* (*body)(void*);
  void* argument;
};

void* run(void* start) {
  struct Count {
    ~Count() { --alive; }
  } const count;
  const std::unique_ptr<Start> own(static_cast<Start*>(start));
  return own->body(own->argument);
}

}  // namespace

// Replaces the C library's function for this process: OpenMP, LibTorch and the library call it.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*body)(void*), void* argument) {
  static const auto real =
      reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  if (++alive > allowed) {
    --alive;
    return EAGAIN;
  }
  auto start = std::make_unique<Start>(Start{body, argument});
  const int refused = real(thread, attributes, run, start.get());
  if (refused != 0)
    --alive;
  else
    (void)start.release();
  return refused;
}

namespace gnnmg::test {
namespace {

constexpr int kThreads = 4;  // threads of LibTorch's loops

// Runs `body` with a limit on further threads, in a process of its own: OpenMP keeps threads.
bool with_threads(int count, const std::function<void()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    allowed = alive + count;
    body();
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "with " << count << " threads";
  return status == 0;  // a failure would pass to the next ones
}

int warnings(const gnnmg_context* context) {
  int count = 0;
  char text[512];
  size_t needed = 0;
  auto facts = info<gnnmg_log_info>();
  while (gnnmg_log_next(const_cast<gnnmg_context*>(context), &facts, text, sizeof text, &needed) ==
         GNNMG_OK)
    if (facts.level == GNNMG_LOG_WARNING &&
        std::string(text).find("no threads left for the loops") != std::string::npos)
      ++count;
  return count;
}

// The two allowed results of a call.
void expect_ok_or_no_memory(gnnmg_status status) {
  EXPECT_TRUE(status == GNNMG_OK || status == GNNMG_ERR_NO_MEMORY)
      << gnnmg_status_name(status) << ": " << gnnmg_last_error();
}

// Large enough that LibTorch divides it.
struct Large : World {
  Large() : World(8000, 1) {
    layers.hidden_dim = 64;
    training.batch_size = 1024;
    plan.batch_size = 1024;
    training.num_epochs = 1;
    training.set("torch_threads=" + std::to_string(kThreads));
    plan.set("num_threads=0");
  }
};

// All computations, each on a fresh thread.
TEST(NoThreads, ModelsOnTheCallersThread) {
  for (int count = 0; count < kThreads; ++count)
    ASSERT_TRUE(with_threads(count, [&] {
      Large world;
      const Sampler sampler = world.make_sampler();
      const Model model = world.make_model();
      const Loader loader = world.make_loader(sampler);
      Optimizer optimizer;
      ASSERT_OK(gnnmg_optimizer_create(model, nullptr, optimizer.out()));
      Batch batch;
      ASSERT_OK(gnnmg_loader_next(loader, batch.out(), -1));
      EXPECT_OK(gnnmg_model_forward(model, batch, nullptr));
      EXPECT_OK(gnnmg_model_backward(model, GNNMG_LOSS_AUTO, nullptr));
      EXPECT_OK(gnnmg_optimizer_step(optimizer));
      Model copy;
      EXPECT_OK(gnnmg_model_create_copy(model, copy.out()));
      EXPECT_EQ(warnings(world.context), count == 0 ? 1 : 0);
    }));
}

TEST(NoThreads, ResultsForAllNodes) {
  for (int count = 0; count < kThreads; ++count)
    ASSERT_TRUE(with_threads(count, [&] {
      Large world;
      const Model model = world.make_model();
      for (int time = 0; time < 3; ++time)
        // The previous call's thread counts until it has ended.
        EXPECT_TRUE(eventually([&] {
          Tensor rows;
          const gnnmg_status status =
              gnnmg_model_embed(model, world.dataset, 0, nullptr, rows.out(), -1);
          return status == (count == 0 ? GNNMG_ERR_NO_MEMORY : GNNMG_OK);
        })) << gnnmg_last_error();
      auto metrics = info<gnnmg_metrics>();
      expect_ok_or_no_memory(
          gnnmg_model_evaluate(model, world.dataset, GNNMG_PART_TEST, 0, &metrics, nullptr, -1));
    }));
}

// Ranks, loader threads and checkpoint threads: a thread that cannot start is an error, and with
// enough threads the result is the same.
TEST(NoThreads, Training) {
  for (const int32_t ranks : {1, 2})
    for (int count = 0; count < 18; ++count)
      ASSERT_TRUE(with_threads(count, [&] {
        Large world;
        world.training.num_ranks = ranks;
        const Sampler sampler = world.make_sampler();
        const Model model = world.make_model();
        gnnmg_trainer* trainer = nullptr;
        ASSERT_OK(gnnmg_trainer_create(model, world.dataset, sampler, nullptr, &world.training,
                                       world.training.text(), &trainer));
        const gnnmg_status status = gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr);
        if (ranks == 1 || count == 0) expect_ok_or_no_memory(status);
        if (count == 0) {
          EXPECT_EQ(status, GNNMG_ERR_NO_MEMORY) << gnnmg_last_error();
        }
        if (count >= 16) {
          EXPECT_OK(status);
        }
        EXPECT_LE(warnings(world.context), 1);
      }));
}

TEST(NoThreads, AContextWorksWithFewer) {
  ASSERT_TRUE(with_threads(2, [] {
    ContextConfig config;
    config.num_threads = 8;
    Context context;
    ASSERT_OK(gnnmg_context_create(GNNMG_VERSION, &config, context.out()));
    auto facts = info<gnnmg_context_info>();
    ASSERT_OK(gnnmg_context_get_info(context, &facts));
    EXPECT_EQ(facts.num_threads, 3);
    char text[512];
    size_t needed = 0;
    auto record = info<gnnmg_log_info>();
    ASSERT_OK(gnnmg_log_next(context, &record, text, sizeof text, &needed));
    EXPECT_EQ(record.level, GNNMG_LOG_WARNING);
    EXPECT_NE(std::string(text).find("works with 3 of 8"), std::string::npos) << text;
  }));
}

}  // namespace
}  // namespace gnnmg::test
