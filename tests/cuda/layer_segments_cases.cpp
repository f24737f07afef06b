// Reductions over runs of rows, and their gradients, compared with the CPU's.
#include "layer_cases.h"

namespace gnnmg::cuda {
namespace {

constexpr Reduce kReductions[] = {Reduce::kSum, Reduce::kMean, Reduce::kMax};

// Calls f(pointers, width, layout), for runs of no, one, few and many rows.
template <typename F>
void for_runs(Random& random, const F& f) {
  for (int kind = 0; kind < 3; ++kind)
    for (int64_t width : kWidths)
      for (Layout layout : kLayouts) {
        Array<int64_t> pointers = {0};
        if (kind == 1) pointers = {0, 0};
        if (kind == 2) {
          for (int64_t rows : {3, 0, 1, 90, 4, 5, 0})
            pointers.push_back(pointers.back() + rows + (rows > 1 ? random() % 3 : 0));
        }
        f(pointers, kind, width, layout);
      }
}

}  // namespace

template <typename T>
void check_reduce_segments(const DeviceLayers<T>& device, Random& random) {
  for_runs(random, [&](const Array<int64_t>& pointers, int kind, int64_t width, Layout layout) {
    const auto runs = static_cast<int64_t>(pointers.size()) - 1;
    for (Reduce reduce : kReductions) {
      const Grid<T> x = reduce == Reduce::kMax
                            ? tied_grid<T>(random, pointers.back(), width, layout, width % 2)
                            : random_grid<T>(random, pointers.back(), width, layout);
      compare<T>(
          Grid<T>(runs, width, layout), Promise::kBits, 0,
          [&](const Table<T>&, Grid<T>& out) {
            kernels::reduce_segments<T>(reduce, pointers.data(), x.in(), width, out.out(), 0, runs);
          },
          [&](device::Queue* queue, Grid<T>& out) {
            device.reduce_segments(queue, reduce, pointers.data(), x.in(), width, out.out(), runs);
          },
          text("reduce_segments", width, kind, layout));
    }
  });
}
GNNMG_INSTANTIATE_CASE(reduce_segments)

template <typename T>
void check_spread_segments(const DeviceLayers<T>& device, Random& random) {
  for_runs(random, [&](const Array<int64_t>& pointers, int kind, int64_t width, Layout layout) {
    const auto runs = static_cast<int64_t>(pointers.size()) - 1;
    const Grid<T> dy = random_grid<T>(random, runs, width, layout);
    for (Reduce reduce : {Reduce::kSum, Reduce::kMean})
      compare<T>(
          Grid<T>(pointers.back(), width, layout), Promise::kBits, 0,
          [&](const Table<T>&, Grid<T>& dx) {
            kernels::spread_segments<T>(reduce, pointers.data(), dy.in(), width, dx.out(), 0, runs);
          },
          [&](device::Queue* queue, Grid<T>& dx) {
            device.spread_segments(queue, reduce, pointers.data(), dy.in(), width, dx.out(), runs);
          },
          text("spread_segments", width, kind, layout));
  });
}
GNNMG_INSTANTIATE_CASE(spread_segments)

template <typename T>
void check_segment_max_backward(const DeviceLayers<T>& device, Random& random) {
  for_runs(random, [&](const Array<int64_t>& pointers, int kind, int64_t width, Layout layout) {
    const auto runs = static_cast<int64_t>(pointers.size()) - 1;
    const Grid<T> x = tied_grid<T>(random, pointers.back(), width, layout, width % 2);
    const Grid<T> dy = random_grid<T>(random, runs, width, layout);
    Grid<T> max(runs, width, layout);
    kernels::reduce_segments<T>(Reduce::kMax, pointers.data(), x.in(), width, max.out(), 0, runs);
    for (bool first_of_tied : {false, true})
      compare<T>(
          Grid<T>(pointers.back(), width, layout), Promise::kBits, 0,
          [&](const Table<T>&, Grid<T>& dx) {
            kernels::segment_max_backward<T>(first_of_tied, pointers.data(), x.in(), max.in(),
                                             dy.in(), width, dx.out(), 0, runs);
          },
          [&](device::Queue* queue, Grid<T>& dx) {
            device.segment_max_backward(queue, first_of_tied, pointers.data(), x.in(), max.in(),
                                        dy.in(), width, dx.out(), runs);
          },
          text("segment_max_backward", width, kind, layout));
  });
}
GNNMG_INSTANTIATE_CASE(segment_max_backward)

}  // namespace gnnmg::cuda
