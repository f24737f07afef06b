// Common parts of the cases of the layers' kernels: memory for kernels and tests, random blocks and
// matrices, and the comparison of a device's results with those of the CPU's kernels and of earlier
// devices.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "chosen_cases.h"
#include "devices.h"
#include "nn/kernels/device.h"
#include "nn/kernels/kernels.h"
#include "nn/kernels/segments.h"

namespace gnnmg::cuda {

namespace kernels = nn::kernels;
using kernels::DeviceLayers;
using kernels::Isa;
using kernels::Lists;
using kernels::Matrix;
using kernels::Reduce;
using kernels::Rows;
using kernels::Table;
using Random = std::mt19937;

constexpr int64_t kWidths[] = {1, 3, 4, 5, 8, 32, 100, 257};
constexpr int kBlockKinds = 4;
// Layers on the running test's device.
class Layers : public OnDevices {
 protected:
  void SetUp() override;
  void TearDown() override;
};
device::Queue* running_queue();
// Waits for the queue: before tests read or free memory that kernels use.
void wait();

// Host memory, pinned if the device is a real one, so that its address is the same for kernels and
// tests.
void* shared_memory(size_t bytes);
void give_back(void* memory, size_t bytes) noexcept;
template <typename T>
struct SharedAllocator {
  using value_type = T;
  SharedAllocator() = default;
  template <typename U>
  SharedAllocator(const SharedAllocator<U>&) noexcept {}
  T* allocate(size_t count) { return static_cast<T*>(shared_memory(count * sizeof(T))); }
  void deallocate(T* memory, size_t count) noexcept { give_back(memory, count * sizeof(T)); }
  bool operator==(const SharedAllocator&) const = default;
};
template <typename T>
using Array = std::vector<T, SharedAllocator<T>>;

// Rows at any address; rows 16 bytes apart, with room after each; contiguous rows.
enum class Layout { kOdd, kPadded, kTight };
constexpr Layout kLayouts[] = {Layout::kOdd, Layout::kPadded, Layout::kTight};

// A matrix with guards around its elements.
template <typename T>
struct Grid {
  static constexpr double kBlank = -77.25;
  int64_t rows, width, stride, offset;
  Array<T> data;

  Grid(int64_t rows, int64_t width, Layout layout = Layout::kTight)
      : rows(rows),
        width(width),
        stride(layout == Layout::kOdd      ? width + 1 + width % 2
               : layout == Layout::kPadded ? (width + 15) / 16 * 16 + 16
                                           : width),
        offset(layout == Layout::kOdd ? 1 : 0),
        data(static_cast<size_t>(offset + rows * stride + kernels::kPadding),
             static_cast<T>(kBlank)) {}
  T* at() { return data.data() + offset; }
  const T* at() const { return data.data() + offset; }
  T& at(int64_t r, int64_t c) { return at()[r * stride + c]; }
  const T& at(int64_t r, int64_t c) const { return at()[r * stride + c]; }
  Matrix<T> out() { return {at(), stride}; }
  Matrix<const T> in() const { return {at(), stride}; }
  Rows<T> source(const int64_t* ids = nullptr) const { return {at(), stride, ids}; }
};

template <typename T>
void fill_at_random(Grid<T>& grid, Random& random) {
  std::uniform_real_distribution<double> value(-2, 2);
  for (int64_t r = 0; r < grid.rows; ++r)
    for (int64_t c = 0; c < grid.width; ++c) grid.at(r, c) = static_cast<T>(value(random));
}
template <typename T>
Grid<T> random_grid(Random& random, int64_t rows, int64_t width, Layout layout = Layout::kTight) {
  Grid<T> grid(rows, width, layout);
  fill_at_random(grid, random);
  return grid;
}
// Few values, so that maxima are tied; optionally with NaNs.
template <typename T>
Grid<T> tied_grid(Random& random, int64_t rows, int64_t width, Layout layout, bool nans) {
  Grid<T> grid(rows, width, layout);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < width; ++c)
      grid.at(r, c) = nans && random() % 16 == 0
                          ? std::numeric_limits<T>::quiet_NaN()
                          : static_cast<T>(static_cast<int>(random() % 4)) - 2;
  return grid;
}

// Targets are the first sources. Isolated targets, repeated edges, self-loops, a target and a
// source that are hubs; lists by source continue with targets of other layers.
struct Block {
  int64_t num_targets, num_sources;
  Array<int32_t> indptr, indices;
  Array<int32_t> out_indptr, out_targets, positions;

  int64_t num_edges() const { return indptr.back(); }
  Lists by_target() const { return {indptr.data(), indices.data()}; }
  Lists by_source() const { return {out_indptr.data(), out_targets.data()}; }
  kernels::EdgesBySource edges_by_source() const {
    return {by_source(), positions.data(), num_targets};
  }
};
Block random_block(Random& random, int kind);

kernels::Dropout some_dropout(double rate);
// The same dropout with its key in device memory, and a wrong key in its usual place.
struct KeyInMemory {
  explicit KeyInMemory(const kernels::Dropout& from)
      : words(from.key.begin(), from.key.end()), dropout(from) {
    dropout.key = {~from.key[1], ~from.key[0]};
    dropout.device_key = words.data();
  }
  Array<uint32_t> words;
  kernels::Dropout dropout;
};

// A kernel's guarantee for its bits: those of every CPU kernel; those of CPU kernels with
// multiply-adds, else equal except for rounding; equal except for rounding.
enum class Promise { kBits, kFusedBits, kRounding };

// Slow devices are compared with one instruction set: the others give the same bits, or have the
// same guarantee.
inline std::vector<Isa> instruction_sets() {
  if (is_slow()) return {Isa::kGeneric};
  std::vector<Isa> sets;
  for (Isa isa : {Isa::kGeneric, Isa::kAvx2, Isa::kAvx512})
    if (kernels::table_for<float>(isa)) sets.push_back(isa);
  return sets;
}

template <typename T>
bool same_bits(const Array<T>& a, const Array<T>& b) {
  if (a.size() == b.size() &&
      (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0))
    return true;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] != a[i] && b[i] != b[i]) continue;
    if (std::memcmp(&a[i], &b[i], sizeof(T)) != 0) return false;
  }
  return a.size() == b.size();
}
// `sum`: the sum of magnitudes that scales the tolerance for rounding.
template <typename T>
double worst_difference(const Array<T>& a, const Array<T>& b, double sum) {
  double worst = a.size() == b.size() ? 0 : HUGE_VAL;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (a[i] != a[i] && b[i] != b[i]) continue;
    const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    const double unit = std::numeric_limits<T>::epsilon() * (sum + std::abs(a[i]));
    if (!(difference <= HUGE_VAL) || difference / unit > worst) worst = difference / unit;
  }
  return worst;
}

// Records this device's results, in the order of calls, and requires the same bits of later
// devices.
void expect_as_before(const void* data, size_t bytes);
template <typename T>
void expect_as_before(Array<T> data) {
  for (T& value : data)
    if (value != value) value = std::numeric_limits<T>::quiet_NaN();  // NaNs compare equal
  expect_as_before(data.data(), data.size() * sizeof(T));
}

inline bool adds_up_fused(Isa isa) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static_cast<void>(isa);
  return false;  // sanitizers' code between product and sum keeps compilers from fusing them
#else
  return isa != Isa::kGeneric;
#endif
}

// Runs cpu(table, out) for every instruction set and device(queue, out), each on a copy of `blank`.
template <typename T, typename Cpu, typename Device>
void compare(const Grid<T>& blank, Promise promise, double sum, const Cpu& cpu,
             const Device& device, const std::string& where) {
  SCOPED_TRACE(where);
  Grid<T> got = blank;
  device(running_queue(), got);
  wait();
  expect_as_before<T>(got.data);
  for (Isa isa : instruction_sets()) {
    Grid<T> expected = blank;
    cpu(*kernels::table_for<T>(isa), expected);
    if (promise == Promise::kBits || (promise == Promise::kFusedBits && adds_up_fused(isa)))
      ASSERT_TRUE(same_bits(got.data, expected.data))
          << "bits differ from those of instruction set " << static_cast<int>(isa) << " by "
          << worst_difference(got.data, expected.data, sum);
    else
      ASSERT_LE(worst_difference(got.data, expected.data, sum), 8)
          << "instruction set " << static_cast<int>(isa);
  }
}

inline std::string text(const char* what, int64_t width, int kind, Layout layout) {
  return std::string(what) + ", width " + std::to_string(width) + ", block " +
         std::to_string(kind) + ", layout " + std::to_string(static_cast<int>(layout));
}

// Calls f(block, kind, width, layout) for all selected combinations.
template <typename F>
void for_blocks(Random& random, const F& f) {
  for (const auto& c : taken_combinations({kBlockKinds, std::ssize(kWidths), std::ssize(kLayouts)}))
    f(random_block(random, static_cast<int>(c[0])), static_cast<int>(c[0]), kWidths[c[1]],
      kLayouts[c[2]]);
}

// The members of the table that the layer_*_cases.cpp files check, each by a function of this name,
// which layer_test.cpp calls for both types.
// clang-format off: it joins a few more of the lines each time.
#define GNNMG_LAYER_CASES(X)       \
  X(aggregate)                     \
  X(aggregate_stored)              \
  X(gather_rows)                   \
  X(aggregate_transposed)          \
  X(mean_scale)                    \
  X(max_share)                     \
  X(max_transposed)                \
  X(sparse_times_dense)            \
  X(sparse_columns)                \
  X(sparse_transposed_times_dense) \
  X(sparse_dropout)                \
  X(densify)                       \
  X(finish)                        \
  X(finish_backward)               \
  X(column_sums)                   \
  X(normalize)                     \
  X(normalize_backward)            \
  X(weighted_sum)                  \
  X(weighted_transposed)           \
  X(edge_dots)                     \
  X(row_dots)                      \
  X(softmax)                       \
  X(softmax_backward)              \
  X(reduce_segments)               \
  X(spread_segments)               \
  X(segment_max_backward)
// clang-format on
#define GNNMG_DECLARE(name) \
  template <typename T>     \
  void check_##name(const DeviceLayers<T>& device, Random& random);
GNNMG_LAYER_CASES(GNNMG_DECLARE)
GNNMG_DECLARE(dropout_keys)  // concerns no single member
#undef GNNMG_DECLARE
#define GNNMG_INSTANTIATE_CASE(name)                                      \
  template void check_##name<float>(const DeviceLayers<float>&, Random&); \
  template void check_##name<double>(const DeviceLayers<double>&, Random&);

}  // namespace gnnmg::cuda
