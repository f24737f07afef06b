// Information about GPUs for the host. Each suite runs on its own machine (tests/fake_machine).
#include <cstdlib>

#include "capi/support.h"

namespace gnnmg::test {
namespace {

struct Seen {
  int64_t count = -1;
  std::string why;
};

Seen see(const gnnmg_context* context) {
  Seen seen;
  const char* why = nullptr;
  EXPECT_OK(gnnmg_context_num_devices(context, &seen.count, &why));
  seen.why = why;
  int64_t again = -1;
  EXPECT_OK(gnnmg_context_num_devices(context, &again, nullptr));
  EXPECT_EQ(again, seen.count);
  return seen;
}

Context make_context() {
  Context context;
  EXPECT_OK(gnnmg_context_create(GNNMG_VERSION, nullptr, context.out()));
  return context;
}

// Without GPUs the reason is known, and everything else works.
void expect_none(const std::string& reason) {
  const Context context = make_context();
  const Seen seen = see(context);
  EXPECT_EQ(seen.count, 0);
  EXPECT_NE(seen.why.find(reason), std::string::npos) << seen.why;
  EXPECT_EQ(seen.why.find('\n'), std::string::npos) << seen.why;
  auto facts = info<gnnmg_device_info>();
  EXPECT_FAILS(gnnmg_context_get_device_info(context, 0, &facts), GNNMG_ERR_NOT_FOUND, reason);
  EXPECT_EQ(facts.total_memory, 0u);
  Graph graph;
  EXPECT_OK(gnnmg_graph_generate(context, "planted", nullptr, graph.out()));
}

TEST(NoDriver, IsTheReason) {
  const Context context = make_context();
  if (see(context).why.find("no NVIDIA driver") == std::string::npos)
    GTEST_SKIP() << "there is a driver";
  expect_none("there is no libcuda.so.1");
}

TEST(NoPlugin, IsTheReason) { expect_none("libgnnmg_cuda.so: cannot open shared object file"); }

TEST(OldPlugin, IsTheReason) { expect_none("is of version 0.0.9 with LibTorch 2.10.0"); }

TEST(StalePlugin, IsTheReason) { expect_none("interface 0123456789ab, the library of "); }

TEST(OldDriver, IsTheReason) { expect_none("the library needs one for CUDA 13"); }

TEST(NoGpu, IsTheReason) {
  ::setenv("CUDA_VISIBLE_DEVICES", "7", 1);
  expect_none("the variable CUDA_VISIBLE_DEVICES is '7'");
}

TEST(Gpus, AreListed) {
  const Context context = make_context();
  const Seen seen = see(context);
  EXPECT_EQ(seen.count, 2);
  EXPECT_EQ(seen.why, "");
  for (int64_t i = 0; i < 2; ++i) {
    auto facts = info<gnnmg_device_info>();
    ASSERT_OK(gnnmg_context_get_device_info(context, i, &facts));
    EXPECT_EQ(facts.device_type, GNNMG_DEVICE_CUDA);
    EXPECT_STREQ(facts.name, "fake GPU");
    EXPECT_EQ(facts.bus_id, "0000:0" + std::to_string(i + 1) + ":00.0");
    EXPECT_EQ(facts.total_memory, size_t{1} << 30);
    EXPECT_LE(facts.free_memory, facts.total_memory);
    EXPECT_EQ(facts.capability_major, 9);
    EXPECT_GE(facts.multiprocessors, 1);
    EXPECT_EQ(facts.driver_version, 13000);
  }
  auto facts = info<gnnmg_device_info>();
  for (const int64_t bad : {int64_t{2}, int64_t{-1}, INT64_MAX})
    EXPECT_FAILS(gnnmg_context_get_device_info(context, bad, &facts), GNNMG_ERR_NOT_FOUND,
                 "this process sees 2 GPUs, 0 to 1");
}

TEST(Gpus, AreTheSameInAnotherContext) {
  const Context first = make_context(), second = make_context();
  EXPECT_EQ(see(first).count, see(second).count);
}

}  // namespace
}  // namespace gnnmg::test
