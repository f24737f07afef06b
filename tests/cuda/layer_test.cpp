// Walks the table of what a GPU does for the layers: every member is there, and does what the CPU's
// kernel does.
#include "cuda/layer/reductions.h"
#include "cuda/layer/rows.h"
#include "cuda/layer/stored.h"
#include "cuda/layer/weights.h"
#include "layer_cases.h"

namespace gnnmg::cuda {
namespace {

// Attention and functions of edges: their cases stand in files of their own.
constexpr size_t kCasesElsewhere = 9;
#define GNNMG_COUNT(name) +1
static_assert(sizeof(DeviceLayers<float>) ==
                  (kCasesElsewhere GNNMG_LAYER_CASES(GNNMG_COUNT)) * sizeof(void*),
              "a member of the table has no case: add it to GNNMG_LAYER_CASES");

#define GNNMG_TEST_CASE(name)                                               \
  TEST(DeviceLayers, name) {                                                \
    Random random(20);                                                      \
    const DeviceLayers<float>& of_f32 = layers_table<HostQueue, float>();   \
    ASSERT_NE(of_f32.name, nullptr);                                        \
    check_##name<float>(of_f32, random);                                    \
    const DeviceLayers<double>& of_f64 = layers_table<HostQueue, double>(); \
    ASSERT_NE(of_f64.name, nullptr);                                        \
    check_##name<double>(of_f64, random);                                   \
  }
GNNMG_LAYER_CASES(GNNMG_TEST_CASE)

}  // namespace

template const DeviceLayers<float>& layers_table<HostQueue, float>();
template const DeviceLayers<double>& layers_table<HostQueue, double>();

}  // namespace gnnmg::cuda
