// Lists that the tiles of a block share, compared with the CPU's kernels, with numbers whose sums
// are exact in any order; and the same bits on every device for other numbers.
#include <compare>
#include <cstdint>
#include <vector>

#include "cuda/layer/row.h"
#include "layer_cases.h"

namespace gnnmg::cuda {
namespace {

constexpr int64_t kSources = 40, kTargets = 7;
constexpr int64_t kListWidths[] = {1, 4, 32, 50, 64, 200};

// Targets 1 and 4 have 1025 and 5000 edges, others as many as one tile walks, few or none; source 3
// has half of them.
Block hub_block(Random& random) {
  Block block;
  block.num_targets = kTargets;
  block.num_sources = kSources;
  block.indptr = {0};
  std::vector<std::vector<std::pair<int32_t, int32_t>>> by_source(kSources);
  int32_t t = 0;
  for (const int64_t degree : {7, 1025, 0, 1024, 5000, 1, 1023}) {
    for (int64_t k = 0; k < degree; ++k) {
      const auto source = static_cast<int32_t>(random() % 2 ? 3 : random() % kSources);
      by_source[source].push_back({t, static_cast<int32_t>(block.indices.size())});
      block.indices.push_back(source);
    }
    block.indptr.push_back(static_cast<int32_t>(block.indices.size()));
    ++t;
  }
  block.out_indptr = {0};
  for (auto& list : by_source) {
    for (int32_t k = 0; k < 5; ++k) list.push_back({kTargets + k, 0});  // targets of other layers
    for (const auto& [target, position] : list) {
      block.out_targets.push_back(target);
      block.positions.push_back(position);
    }
    block.out_indptr.push_back(static_cast<int32_t>(block.out_targets.size()));
  }
  return block;
}

template <typename T>
Grid<T> whole_numbers(Random& random, int64_t rows, int64_t width, bool exact) {
  return exact ? tied_grid<T>(random, rows, width, Layout::kTight, false)
               : random_grid<T>(random, rows, width);
}

// Calls f(block, width, exact, promise, sum).
template <typename F>
void for_hubs(Random& random, const F& f) {
  const Block block = hub_block(random);
  for (const int64_t width : kListWidths)
    for (const bool exact : {true, false})
      f(block, width, exact, exact ? Promise::kBits : Promise::kRounding);
}
constexpr double kSum = 1e6;  // both sides round at every term

template <typename T>
void check_aggregates(const DeviceLayers<T>& device, Random& random) {
  for_hubs(random, [&](const Block& block, int64_t width, bool exact, Promise promise) {
    for (const Reduce reduce : {Reduce::kSum, Reduce::kMean, Reduce::kMax}) {
      Grid<T> x = whole_numbers<T>(random, kSources, width, exact);
      if (reduce == Reduce::kMax) x.at(7, 0) = std::numeric_limits<T>::quiet_NaN();
      compare<T>(
          Grid<T>(kTargets, width), reduce == Reduce::kMax ? Promise::kBits : promise, kSum,
          [&](const Table<T>& cpu, Grid<T>& out) {
            cpu.aggregate(reduce, block.by_target(), x.source(), width, out.out(), 0, kTargets);
          },
          [&](device::Queue* queue, Grid<T>& out) {
            device.aggregate(queue, reduce, block.by_target(), x.source(), width, out.out(),
                             kTargets);
          },
          text("aggregate", width, exact, Layout::kTight));
    }
    const Grid<T> y = whole_numbers<T>(random, kTargets, width, exact);
    const Array<T> halves(kTargets, static_cast<T>(0.5));
    const T* scale = width % 3 == 0 ? nullptr : halves.data();
    compare<T>(
        Grid<T>(kSources, width), promise, kSum,
        [&](const Table<T>& cpu, Grid<T>& out) {
          cpu.aggregate_transposed(block.by_source(), kTargets, scale, y.in(), y.in(), width,
                                   out.out(), 0, kSources);
        },
        [&](device::Queue* queue, Grid<T>& out) {
          device.aggregate_transposed(queue, block.by_source(), kTargets, scale, y.in(), y.in(),
                                      width, out.out(), kSources);
        },
        text("aggregate_transposed", width, exact, Layout::kTight));
  });
}

template <typename T>
void check_maxima(const DeviceLayers<T>& device, Random& random) {
  for_hubs(random, [&](const Block& block, int64_t width, bool exact, Promise promise) {
    if (!exact) return;
    const Grid<T> x = whole_numbers<T>(random, kSources, width, true);
    const Grid<T> gradient = random_grid<T>(random, kTargets, width);
    const Grid<T> whole = whole_numbers<T>(random, kTargets, width, true);
    Grid<T> max(kTargets, width);
    kernels::table<T>().aggregate(Reduce::kMax, block.by_target(), x.source(), width, max.out(), 0,
                                  kTargets);
    compare<T>(
        Grid<T>(kTargets, width), promise, kSum,
        [&](const Table<T>& cpu, Grid<T>& out) {
          cpu.max_share(block.by_target(), x.source(), max.in(), gradient.in(), width, out.out(), 0,
                        kTargets);
        },
        [&](device::Queue* queue, Grid<T>& out) {
          device.max_share(queue, block.by_target(), x.source(), max.in(), gradient.in(), width,
                           out.out(), kTargets);
        },
        text("max_share", width, exact, Layout::kTight));
    compare<T>(
        Grid<T>(kSources, width), promise, kSum,
        [&](const Table<T>& cpu, Grid<T>& out) {
          cpu.max_transposed(block.by_source(), kTargets, x.in(), max.in(), whole.in(), whole.in(),
                             width, out.out(), 0, kSources);
        },
        [&](device::Queue* queue, Grid<T>& out) {
          device.max_transposed(queue, block.by_source(), kTargets, x.in(), max.in(), whole.in(),
                                whole.in(), width, out.out(), kSources);
        },
        text("max_transposed", width, exact, Layout::kTight));
  });
}

template <typename T>
void check_segments(const DeviceLayers<T>& device, Random& random) {
  for_hubs(random, [&](const Block& block, int64_t width, bool exact, Promise promise) {
    const Array<int64_t> pointers(block.indptr.begin(), block.indptr.end());
    const int64_t rows = pointers.back();
    const Grid<T> x = whole_numbers<T>(random, rows, width, exact);
    for (const Reduce reduce : {Reduce::kSum, Reduce::kMean, Reduce::kMax}) {
      compare<T>(
          Grid<T>(kTargets, width), reduce == Reduce::kMax ? Promise::kBits : promise, kSum,
          [&](const Table<T>&, Grid<T>& out) {
            kernels::reduce_segments<T>(reduce, pointers.data(), x.in(), width, out.out(), 0,
                                        kTargets);
          },
          [&](device::Queue* queue, Grid<T>& out) {
            device.reduce_segments(queue, reduce, pointers.data(), x.in(), width, out.out(),
                                   kTargets);
          },
          text("reduce_segments", width, exact, Layout::kTight));
      if (reduce == Reduce::kMax) continue;
      const Grid<T> dy = random_grid<T>(random, kTargets, width);
      compare<T>(
          Grid<T>(rows, width), Promise::kBits, kSum,
          [&](const Table<T>&, Grid<T>& out) {
            kernels::spread_segments<T>(reduce, pointers.data(), dy.in(), width, out.out(), 0,
                                        kTargets);
          },
          [&](device::Queue* queue, Grid<T>& out) {
            device.spread_segments(queue, reduce, pointers.data(), dy.in(), width, out.out(),
                                   kTargets);
          },
          text("spread_segments", width, exact, Layout::kTight));
    }
  });
}

template <typename T>
void check_segment_maxima(const DeviceLayers<T>& device, Random& random) {
  const Block block = hub_block(random);
  const Array<int64_t> pointers(block.indptr.begin(), block.indptr.end());
  const int64_t rows = pointers.back();
  for (const int64_t width : kListWidths)
    for (const bool first_of_tied : {false, true}) {
      // Ties in all runs of a list; in column 0 one in the last run alone, and NaN elsewhere.
      Grid<T> x = tied_grid<T>(random, rows, width, Layout::kTight, width % 2);
      x.at(pointers[5] - 1, 0) = 9;
      if (width > 1) x.at(pointers[1] + 700, 1) = std::numeric_limits<T>::quiet_NaN();
      const Grid<T> dy = random_grid<T>(random, kTargets, width);
      Grid<T> max(kTargets, width);
      kernels::reduce_segments<T>(Reduce::kMax, pointers.data(), x.in(), width, max.out(), 0,
                                  kTargets);
      compare<T>(
          Grid<T>(rows, width), Promise::kBits, 0,
          [&](const Table<T>&, Grid<T>& dx) {
            kernels::segment_max_backward<T>(first_of_tied, pointers.data(), x.in(), max.in(),
                                             dy.in(), width, dx.out(), 0, kTargets);
          },
          [&](device::Queue* queue, Grid<T>& dx) {
            device.segment_max_backward(queue, first_of_tied, pointers.data(), x.in(), max.in(),
                                        dy.in(), width, dx.out(), kTargets);
          },
          text("segment_max_backward", width, first_of_tied, Layout::kTight));
    }
}

template <typename T>
void check_softmax(const DeviceLayers<T>& device, Random& random) {
  const Block block = hub_block(random);
  for (const int64_t heads : {1, 3, 8, 17}) {
    const int64_t width = block.num_edges() * heads;
    Grid<T> scores = random_grid<T>(random, 1, width);
    for (int64_t i = 0; i < width; ++i) scores.at(0, i) *= 30;
    if (heads == 3) {
      scores.at(0, block.indptr[1] * heads + 1) = -std::numeric_limits<T>::infinity();
      scores.at(0, (block.indptr[4] + 4000) * heads) = std::numeric_limits<T>::quiet_NaN();
    }
    for (const bool in_place : {false, true})
      compare<T>(
          in_place ? scores : Grid<T>(1, width), Promise::kRounding, 80,
          [&](const Table<T>& cpu, Grid<T>& out) {
            cpu.softmax(block.by_target(), in_place ? out.at() : scores.at(), heads, out.at(), 0,
                        kTargets);
          },
          [&](device::Queue* queue, Grid<T>& out) {
            device.softmax(queue, block.by_target(), in_place ? out.at() : scores.at(), heads,
                           out.at(), kTargets);
          },
          text("softmax", heads, in_place, Layout::kTight));
    const Grid<T> gradient = random_grid<T>(random, 1, width);
    Grid<T> out(1, width);
    kernels::table<T>().softmax(block.by_target(), scores.at(), heads, out.at(), 0, kTargets);
    compare<T>(
        Grid<T>(1, width), Promise::kRounding, 80,
        [&](const Table<T>& cpu, Grid<T>& to) {
          cpu.softmax_backward(block.by_target(), out.at(), gradient.at(), heads, to.at(), 0,
                               kTargets);
        },
        [&](device::Queue* queue, Grid<T>& to) {
          device.softmax_backward(queue, block.by_target(), out.at(), gradient.at(), heads, to.at(),
                                  kTargets);
        },
        text("softmax_backward", heads, 0, Layout::kTight));
  }
}

template <typename T>
void check_edge_dots(const DeviceLayers<T>& device, Random& random) {
  const Block block = hub_block(random);
  const std::pair<int64_t, int64_t> shapes[] = {{1, 1},  {1, 32},  {3, 5},
                                                {2, 33}, {3, 100}, {1, 200}};
  for (const auto& [heads, channels] : shapes) {
    const int64_t width = heads * channels;
    const Grid<T> x = random_grid<T>(random, kSources, width);
    const Grid<T> y = random_grid<T>(random, kTargets, width);
    const kernels::WeightedLists<T> lists{block.by_target(), nullptr, nullptr, 0, heads, channels};
    compare<T>(
        Grid<T>(1, block.num_edges() * heads), Promise::kRounding,
        4.0 * static_cast<double>(channels),
        [&](const Table<T>& cpu, Grid<T>& dots) {
          cpu.edge_dots(lists, x.source(), y.in(), dots.at(), 0, kTargets);
        },
        [&](device::Queue* queue, Grid<T>& dots) {
          device.edge_dots(queue, lists, x.source(), y.in(), dots.at(), kTargets);
        },
        text("edge_dots", width, static_cast<int>(heads), Layout::kTight));
  }
}

// A 32-bit number that reports overflow of its sums.
struct Checked {
  Checked(int32_t number) : value(number) {}
  Checked& operator+=(Checked more) {
    const int64_t sum = int64_t{value} + more.value;
    EXPECT_LE(sum, INT32_MAX) << value << " + " << more.value;
    value = static_cast<int32_t>(sum);
    return *this;
  }
  Checked& operator-=(Checked less) {
    value -= less.value;
    return *this;
  }
  friend Checked operator+(Checked a, Checked b) { return a += b; }
  friend Checked operator-(Checked a, Checked b) { return a -= b; }
  friend std::strong_ordering operator<=>(Checked, Checked) = default;
  friend bool operator==(Checked, Checked) = default;
  int32_t value;
};

// Lists may end at the largest edge number.
TEST(ListsInOrder, GoUpToTheLastNumberAndNotBeyond) {
  for (int32_t before = 0; before < 3; ++before)
    for (int32_t count = 0; count < 3 * kTogether + 2; ++count) {
      const int32_t last = INT32_MAX - before, first = last - count;
      std::vector<int32_t> used;
      in_order(
          Checked(first), Checked(last), [](Checked e) { return e.value; },
          [](int32_t found) { return found; },
          [&](int32_t found, Checked e) {
            EXPECT_EQ(found, e.value);
            used.push_back(found);
          });
      ASSERT_EQ(used.size(), static_cast<size_t>(count));
      for (int32_t i = 0; i < count; ++i) EXPECT_EQ(used[i], first + i);
    }
}

class DeviceLongLists : public Layers {};

#define GNNMG_LONG_LISTS(name)                                      \
  TEST_P(DeviceLongLists, name) {                                   \
    Random random(5);                                               \
    name(*table().of<nn::kernels::DeviceLayers<float>>(), random);  \
    name(*table().of<nn::kernels::DeviceLayers<double>>(), random); \
  }
GNNMG_LONG_LISTS(check_aggregates)
GNNMG_LONG_LISTS(check_maxima)
GNNMG_LONG_LISTS(check_segments)
GNNMG_LONG_LISTS(check_segment_maxima)
GNNMG_LONG_LISTS(check_softmax)
GNNMG_LONG_LISTS(check_edge_dots)

INSTANTIATE_TEST_SUITE_P(, DeviceLongLists, testing::ValuesIn(test_devices()), name_of_device);

}  // namespace
}  // namespace gnnmg::cuda
