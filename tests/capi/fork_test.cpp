// In a child of a process that has used the library every call fails at once.
#include <sys/wait.h>
#include <unistd.h>

#include "capi/support.h"

namespace gnnmg::test {
namespace {

// The exit code of a child that runs `body`; 100 + the number of the first check that failed.
template <typename Body>
int in_child(const Body& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Fork, BeforeTheFirstContextItIsAllowed) {
  // Runs first in this program, before any use of the library.
  EXPECT_EQ(in_child([] {
              gnnmg_context* context = nullptr;
              ContextConfig config;
              config.num_threads = 1;
              if (gnnmg_context_create(GNNMG_VERSION, &config, &context) != GNNMG_OK) return 101;
              gnnmg_context_free(context);
              return 0;
            }),
            0);
}

TEST(Fork, AfterwardsTheChildIsRefusedAndTheParentUnharmed) {
  World world;
  const Sampler sampler = world.make_sampler();
  const Model model = world.make_model();
  Trainer trainer = world.make_trainer(model, sampler);
  ASSERT_OK(gnnmg_trainer_start(trainer, nullptr, nullptr, nullptr));
  const int answer = in_child([&] {
    const auto start = std::chrono::steady_clock::now();
    gnnmg_context* context = reinterpret_cast<gnnmg_context*>(1);
    if (gnnmg_context_create(GNNMG_VERSION, nullptr, &context) != GNNMG_ERR_FORKED) return 101;
    if (context != nullptr) return 102;
    int64_t count = 7;
    if (gnnmg_graph_num_nodes(world.graph, 0, &count) != GNNMG_ERR_FORKED) return 103;
    if (count != 0) return 104;
    if (gnnmg_trainer_wait(trainer, -1) != GNNMG_ERR_FORKED) return 105;
    if (std::string(gnnmg_last_error()).find("forked") == std::string::npos) return 106;
    gnnmg_trainer_cancel(trainer);
    gnnmg_trainer_free(trainer);
    gnnmg_context_free(world.context);
    if (gnnmg_version() != GNNMG_VERSION) return 107;
    if (std::chrono::steady_clock::now() - start > std::chrono::milliseconds(100)) return 108;
    return 0;
  });
  EXPECT_EQ(answer, 0);
  EXPECT_OK(gnnmg_trainer_wait(trainer, -1));
  int64_t count = 0;
  EXPECT_OK(gnnmg_graph_num_nodes(world.graph, 0, &count));
}

TEST(Fork, ARegistrationInTheChildIsReleased) {
  World world(30);
  EXPECT_EQ(in_child([&] {
              static int released = 0;
              gnnmg_sampler* sampler = nullptr;
              const gnnmg_status status = gnnmg_sampler_create_custom(
                  world.graph, nullptr, nullptr,
                  [](const gnnmg_layer_info*, const int64_t*, int64_t, gnnmg_sink*, void*) {
                    return int32_t{0};
                  },
                  nullptr, [](void*) { ++released; }, &sampler);
              return status == GNNMG_ERR_FORKED && released == 1 ? 0 : 101;
            }),
            0);
}

}  // namespace
}  // namespace gnnmg::test
