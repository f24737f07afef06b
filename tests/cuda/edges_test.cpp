// The kernels along edges with rows, and of the winners of maxima, on a device: the CPU's bits, and
// gradients compared with differences.
#include <functional>
#include <iterator>

#include "chosen_cases.h"
#include "edge_cases.h"

namespace gnnmg::cuda {
namespace {

constexpr int64_t kEdgeWidths[] = {1, 5, 16, 47, 48, 64, 140, 264};

// Rows of sources may be selected from a table.
template <typename T>
struct EdgeCase {
  const TestBlock& block;
  int64_t width, stride;
  Array<T> x, edge_rows, dy;
  Array<int64_t> ids;

  // `odd`: rows begin at any address; otherwise at multiples of 16 bytes.
  EdgeCase(const TestBlock& b, int64_t w, bool odd)
      : block(b),
        width(w),
        stride(odd ? width + 1 + width % 2 : (width + 3) / 4 * 4),
        x(numbers<T>(2 * b.sources * stride, 1)),
        edge_rows(numbers<T>(b.edges() * stride, 2, kShift)),
        dy(numbers<T>(b.targets * stride, 3)) {
    for (int64_t s = 0; s < b.sources; ++s) ids.push_back((7 * s + 3) % (2 * b.sources));
  }
  Rows<T> rows(bool of_table) const { return {x.data(), stride, of_table ? ids.data() : nullptr}; }
  Matrix<const T> edges() const { return {edge_rows.data(), stride}; }
  Matrix<const T> gradient() const { return {dy.data(), stride}; }
  Matrix<const T> sources() const { return {x.data(), stride}; }
  Array<T> over(int64_t count) const { return unwritten<T>(count * stride); }
};

// on_cpu() and on_device(queue) return the kernel's output, which must have the same bits.
template <typename V>
void expect_twins(const char* what, const std::function<V()>& on_cpu,
                  const std::function<V(device::Queue*)>& on_device) {
  const V expected = on_cpu(), found = on_device(running_queue());
  ASSERT_TRUE(same_bits(found, expected)) << what;
  expect_as_before(found);
}

template <typename T, typename F>
void for_all(const F& body) {
  std::vector<TestBlock> blocks = test_blocks();
  blocks.push_back({30, 20, 7000, 7});  // lists that several tiles share
  // If not all cases can run: each width by pieces and element by element, and each block.
  std::vector<Haves> cases;
  for (size_t b = 0; b < blocks.size(); ++b)
    for (const int64_t width : kEdgeWidths)
      for (const bool odd : {false, true})
        cases.push_back({{width, odd}, {static_cast<int64_t>(b), odd}});
  for (const size_t i : taken_of(cases)) {
    const bool odd = i % 2 != 0;
    const int64_t width = kEdgeWidths[i / 2 % std::size(kEdgeWidths)];
    const TestBlock& block = blocks[i / 2 / std::size(kEdgeWidths)];
    SCOPED_TRACE(testing::Message()
                 << "width " << width << ", " << block.edges() << " edges, rows anywhere " << odd);
    body(EdgeCase<T>(block, width, odd));
    if (testing::Test::HasFatalFailure()) return;
  }
}

class DeviceEdges : public Layers {};

template <typename T>
void check_sums(const DeviceLayers<T>& device) {
  using V = Array<T>;
  const auto& cpu = kernels::table<T>();
  for_all<T>([&](const EdgeCase<T>& c) {
    const TestBlock& block = c.block;
    for (const bool of_table : {false, true}) {
      const Rows<T> rows = c.rows(of_table);
      expect_twins<V>(
          "sums",
          [&] {
            V out = c.over(block.targets);
            cpu.relu_sum(block.by_target(), rows, c.edges(), c.width, {out.data(), c.stride}, 0,
                         block.targets);
            return out;
          },
          [&](device::Queue* queue) {
            V out = c.over(block.targets);
            device.relu_sum(queue, block.by_target(), rows, c.edges(), c.width,
                            {out.data(), c.stride}, block.targets);
            wait();
            return out;
          });
      expect_twins<V>(
          "by edges",
          [&] {
            V de = c.over(block.edges());
            cpu.relu_sum_edges(block.by_target(), rows, c.edges(), c.gradient(), c.width,
                               {de.data(), c.stride}, 0, block.targets);
            return de;
          },
          [&](device::Queue* queue) {
            V de = c.over(block.edges());
            device.relu_sum_edges(queue, block.by_target(), rows, c.edges(), c.gradient(), c.width,
                                  {de.data(), c.stride}, block.targets);
            wait();
            return de;
          });
    }
    expect_twins<V>(
        "by sources",
        [&] {
          V dx = c.over(block.sources);
          cpu.relu_sum_transposed(block.by_source(), c.sources(), c.edges(), c.gradient(), c.width,
                                  {dx.data(), c.stride}, 0, block.sources);
          return dx;
        },
        [&](device::Queue* queue) {
          V dx = c.over(block.sources);
          device.relu_sum_transposed(queue, block.by_source(), c.sources(), c.edges(), c.gradient(),
                                     c.width, {dx.data(), c.stride}, block.sources);
          wait();
          return dx;
        });
  });
}

// Numbers with many ties, and some NaNs.
template <typename T>
void check_winners(const DeviceLayers<T>& device) {
  using V = Array<T>;
  using Places = Array<int32_t>;
  const auto& cpu = kernels::table<T>();
  for_all<T>([&](EdgeCase<T> c) {
    const TestBlock& block = c.block;
    for (T& x : c.x) x = std::floor(x);
    c.x[c.x.size() / 3] = std::numeric_limits<T>::quiet_NaN();
    for (const bool of_table : {false, true}) {
      V max = c.over(block.targets);
      cpu.aggregate(Reduce::kMax, block.by_target(), c.rows(of_table), c.width,
                    {max.data(), c.stride}, 0, block.targets);
      const Matrix<const T> most{max.data(), c.stride};
      Places winner(block.targets * c.width);
      cpu.last_winner(block.by_target(), c.rows(of_table), most, c.width, winner.data(), 0,
                      block.targets);
      expect_twins<Places>(
          "winners", [&] { return winner; },
          [&](device::Queue* queue) {
            Places found(winner.size(), -7);
            device.last_winner(queue, block.by_target(), c.rows(of_table), most, c.width,
                               found.data(), block.targets);
            wait();
            return found;
          });
      expect_twins<V>(
          "what they get",
          [&] {
            V dx = c.over(block.sources);
            cpu.winner_transposed(block.by_source(), winner.data(), c.gradient(), c.width,
                                  {dx.data(), c.stride}, 0, block.sources);
            return dx;
          },
          [&](device::Queue* queue) {
            V dx = c.over(block.sources);
            device.winner_transposed(queue, block.by_source(), winner.data(), c.gradient(), c.width,
                                     {dx.data(), c.stride}, block.sources);
            wait();
            return dx;
          });
    }
  });
}

TEST_P(DeviceEdges, SumsOfReluAndTheirGradientsAreTheCpus) {
  check_sums(*table().of<nn::kernels::DeviceLayers<float>>());
  check_sums(*table().of<nn::kernels::DeviceLayers<double>>());
}

TEST_P(DeviceEdges, WinnersAndWhatTheyGetAreTheCpus) {
  check_winners(*table().of<nn::kernels::DeviceLayers<float>>());
  check_winners(*table().of<nn::kernels::DeviceLayers<double>>());
}

TEST_P(DeviceEdges, GradientsOfSumsOfReluAgreeWithDifferences) {
  const DeviceLayers<double>& device = *table().of<nn::kernels::DeviceLayers<double>>();
  for_all<double>([&](EdgeCase<double> c) {
    const TestBlock& block = c.block;
    Array<double> dx = c.over(block.sources), de = c.over(block.edges());
    device.relu_sum_transposed(running_queue(), block.by_source(), c.sources(), c.edges(),
                               c.gradient(), c.width, {dx.data(), c.stride}, block.sources);
    device.relu_sum_edges(running_queue(), block.by_target(), c.rows(false), c.edges(),
                          c.gradient(), c.width, {de.data(), c.stride}, block.targets);
    wait();
    const auto value = [&] {
      Array<double> out = c.over(block.targets);
      device.relu_sum(running_queue(), block.by_target(), c.rows(false), c.edges(), c.width,
                      {out.data(), c.stride}, block.targets);
      wait();
      return dot_of_written(out, c.dy);
    };
    expect_gradient(c.x, dx, value, "sources");
    expect_gradient(c.edge_rows, de, value, "edges");
  });
}

// A maximum without ties except between repeated edges, one of which gets the gradient.
TEST_P(DeviceEdges, GradientsOfMaximaAgreeWithDifferences) {
  const DeviceLayers<double>& device = *table().of<nn::kernels::DeviceLayers<double>>();
  for_all<double>([&](EdgeCase<double> c) {
    const TestBlock& block = c.block;
    for (size_t i = 0; i < c.x.size(); ++i) c.x[i] += 1e-4 * static_cast<double>(i % 1009);
    const auto maxima = [&] {
      Array<double> max = c.over(block.targets);
      kernels::table<double>().aggregate(Reduce::kMax, block.by_target(), c.rows(false), c.width,
                                         {max.data(), c.stride}, 0, block.targets);
      return max;
    };
    const Array<double> max = maxima();
    Array<int32_t> winner(block.targets * c.width);
    device.last_winner(running_queue(), block.by_target(), c.rows(false), {max.data(), c.stride},
                       c.width, winner.data(), block.targets);
    Array<double> dx = c.over(block.sources);
    device.winner_transposed(running_queue(), block.by_source(), winner.data(), c.gradient(),
                             c.width, {dx.data(), c.stride}, block.sources);
    wait();
    expect_gradient(c.x, dx, [&] { return dot_of_written(maxima(), c.dy); }, "sources");
  });
}

INSTANTIATE_TEST_SUITE_P(, DeviceEdges, testing::ValuesIn(test_devices()), name_of_device);

}  // namespace
}  // namespace gnnmg::cuda
