// Walks the table of a GPU's functions for the layers: every member exists, and gives the results
// of the CPU's kernel.
#include "layer_cases.h"

namespace gnnmg::cuda {
namespace {

// Number of members for attention and edges, whose cases are in other files.
constexpr size_t kCasesElsewhere = 9;
#define GNNMG_COUNT(name) +1
static_assert(sizeof(DeviceLayers<float>) ==
                  (kCasesElsewhere GNNMG_LAYER_CASES(GNNMG_COUNT)) * sizeof(void*),
              "a member of the table has no case: add it to GNNMG_LAYER_CASES");

#define GNNMG_TEST_CASE(name)                                                  \
  TEST_P(Layers, name) {                                                       \
    Random random(20);                                                         \
    ASSERT_NE(table().of<nn::kernels::DeviceLayers<float>>(), nullptr);        \
    ASSERT_NE(table().of<nn::kernels::DeviceLayers<float>>()->name, nullptr);  \
    check_##name(*table().of<nn::kernels::DeviceLayers<float>>(), random);     \
    ASSERT_NE(table().of<nn::kernels::DeviceLayers<double>>(), nullptr);       \
    ASSERT_NE(table().of<nn::kernels::DeviceLayers<double>>()->name, nullptr); \
    check_##name(*table().of<nn::kernels::DeviceLayers<double>>(), random);    \
  }
GNNMG_LAYER_CASES(GNNMG_TEST_CASE)

TEST_P(Layers, dropout_keys) {
  Random random(20);
  check_dropout_keys(*table().of<nn::kernels::DeviceLayers<float>>(), random);
  check_dropout_keys(*table().of<nn::kernels::DeviceLayers<double>>(), random);
}

// Dot products do not depend on the alignment of rows.
TEST_P(Layers, DotsAreTheSameBitsInEveryLayout) {
  ASSERT_NE(table().of<nn::kernels::DeviceLayers<float>>(), nullptr);
  for (int64_t channels : {8, 32, 64, 256}) {
    std::vector<Array<float>> results;
    for (Layout layout : kLayouts) {
      Random random(11);
      const Grid<float> x = random_grid<float>(random, 9, channels, layout);
      const Grid<float> y = random_grid<float>(random, 9, channels, layout);
      Grid<float> dots(1, 9);
      table().of<nn::kernels::DeviceLayers<float>>()->row_dots(queue(), x.in(), y.in(), 1, channels,
                                                               dots.at(), 9);
      wait();
      results.push_back(dots.data);
    }
    EXPECT_TRUE(same_bits(results[0], results[1]));
    EXPECT_TRUE(same_bits(results[0], results[2]));
  }
}

INSTANTIATE_TEST_SUITE_P(, Layers, testing::ValuesIn(test_devices()), name_of_device);

}  // namespace
}  // namespace gnnmg::cuda
