// Operations row by row, compared with the CPU's kernels.
#include "layer_cases.h"

namespace gnnmg::cuda {
namespace {

constexpr int64_t kRowCounts[] = {0, 1, 15, 70};
constexpr double kRates[] = {0, 0.3, 0.9};

// Calls f(rows, width, layout).
template <typename F>
void for_shapes(const F& f) {
  for (const auto& c :
       taken_combinations({std::ssize(kRowCounts), std::ssize(kWidths), std::ssize(kLayouts)}))
    f(kRowCounts[c[0]], kWidths[c[1]], kLayouts[c[2]]);
}

}  // namespace

template <typename T>
void check_finish(const DeviceLayers<T>& device, Random& random) {
  for_shapes([&](int64_t rows, int64_t width, Layout layout) {
    Grid<T> x = random_grid<T>(random, rows, width, layout);
    if (rows > 1) x.at(1, 0) = std::numeric_limits<T>::quiet_NaN();
    const Grid<T> bias = random_grid<T>(random, 1, width);
    for (int choice = 0; choice < 12; ++choice) {
      const bool relu = choice % 2, with_bias = choice / 2 % 2;
      const kernels::Dropout dropout = some_dropout(kRates[choice / 4]);
      const T* shift = with_bias ? bias.at() : nullptr;
      compare<T>(
          Grid<T>(rows, width, layout), Promise::kBits, 0,
          [&](const Table<T>& cpu, Grid<T>& y) {
            cpu.finish(x.in(), width, shift, relu, dropout, y.out(), 0, rows);
          },
          [&](device::Queue* queue, Grid<T>& y) {
            device.finish(queue, x.in(), width, shift, relu, dropout, y.out(), rows);
          },
          text("finish", width, choice, layout));
      // x and y share memory.
      compare<T>(
          x, Promise::kBits, 0,
          [&](const Table<T>& cpu, Grid<T>& y) {
            cpu.finish(y.in(), width, shift, relu, dropout, y.out(), 0, rows);
          },
          [&](device::Queue* queue, Grid<T>& y) {
            device.finish(queue, y.in(), width, shift, relu, dropout, y.out(), rows);
          },
          text("finish in place", width, choice, layout));
    }
  });
}
GNNMG_INSTANTIATE_CASE(finish)

template <typename T>
void check_finish_backward(const DeviceLayers<T>& device, Random& random) {
  for_shapes([&](int64_t rows, int64_t width, Layout layout) {
    const Grid<T> dy = random_grid<T>(random, rows, width, layout);
    const Grid<T> y = random_grid<T>(random, rows, width, layout);
    for (int choice = 0; choice < 6; ++choice) {
      const bool relu = choice % 2;
      const kernels::Dropout dropout = some_dropout(kRates[choice / 2]);
      const Matrix<const T> output = relu ? y.in() : Matrix<const T>{};
      for (bool with_bias : {false, true})
        compare<T>(
            dy, Promise::kBits, 0,  // output replaces the input
            [&](const Table<T>& cpu, Grid<T>& dx) {
              cpu.finish_backward(dx.in(), output, width, relu, dropout, dx.out(), nullptr, 0,
                                  rows);
            },
            [&](device::Queue* queue, Grid<T>& dx) {
              Array<T> bias(width), parts(width * kernels::num_parts(rows));
              device.finish_backward(queue, dx.in(), output, width, relu, dropout, dx.out(),
                                     with_bias ? bias.data() : nullptr,
                                     with_bias ? parts.data() : nullptr, rows);
              wait();
            },
            text("finish_backward", width, choice, layout));
      compare<T>(
          Grid<T>(1, width), Promise::kRounding, 20 * 2.0 * static_cast<double>(rows),
          [&](const Table<T>& cpu, Grid<T>& sums) {
            Grid<T> dx(rows, width, layout);
            std::fill_n(sums.at(), width, T{0});
            cpu.finish_backward(dy.in(), output, width, relu, dropout, dx.out(), sums.at(), 0,
                                rows);
          },
          [&](device::Queue* queue, Grid<T>& sums) {
            Grid<T> dx(rows, width, layout);
            Array<T> parts(width * kernels::num_parts(rows));
            device.finish_backward(queue, dy.in(), output, width, relu, dropout, dx.out(),
                                   sums.at(), parts.data(), rows);
            wait();
          },
          text("bias gradient", width, choice, layout));
    }
  });
}
GNNMG_INSTANTIATE_CASE(finish_backward)

template <typename T>
void check_column_sums(const DeviceLayers<T>& device, Random& random) {
  const auto check = [&](int64_t rows, int64_t width, Layout layout) {
    const Grid<T> x = random_grid<T>(random, rows, width, layout);
    compare<T>(
        Grid<T>(1, width), Promise::kRounding, 2.0 * static_cast<double>(rows),
        [&](const Table<T>& cpu, Grid<T>& sums) {
          cpu.column_sums(x.in(), width, sums.at(), 0, rows);
        },
        [&](device::Queue* queue, Grid<T>& sums) {
          Array<T> parts(width * kernels::num_parts(rows));
          device.column_sums(queue, x.in(), width, sums.at(), parts.data(), rows);
          wait();
        },
        text("column_sums", width, static_cast<int>(rows), layout));
  };
  for_shapes(check);
  check(20011, 5, Layout::kTight);  // more rows than parts of the least size hold
}
GNNMG_INSTANTIATE_CASE(column_sums)

namespace {

template <typename T>
Grid<T> rows_of_lengths(Random& random, int64_t rows, int64_t width, Layout layout) {
  Grid<T> x = random_grid<T>(random, rows, width, layout);
  for (int64_t c = 0; c < width && rows > 2; ++c) {
    x.at(0, c) = 0;
    x.at(1, c) *= static_cast<T>(1e-14);
  }
  if (rows > 3) x.at(3, 0) = std::numeric_limits<T>::quiet_NaN();
  return x;
}

}  // namespace

template <typename T>
void check_normalize(const DeviceLayers<T>& device, Random& random) {
  for_shapes([&](int64_t rows, int64_t width, Layout layout) {
    const Grid<T> x = rows_of_lengths<T>(random, rows, width, layout);
    compare<T>(
        Grid<T>(rows, width, layout), Promise::kRounding, 4,
        [&](const Table<T>& cpu, Grid<T>& y) {
          Grid<T> norms(1, rows);
          cpu.normalize(x.in(), width, y.out(), norms.at(), 0, rows);
        },
        [&](device::Queue* queue, Grid<T>& y) {
          Grid<T> norms(1, rows);
          device.normalize(queue, x.in(), width, y.out(), norms.at(), rows);
          wait();
        },
        text("normalize", width, static_cast<int>(rows), layout));
    compare<T>(
        Grid<T>(1, rows), Promise::kRounding, 40,
        [&](const Table<T>& cpu, Grid<T>& norms) {
          Grid<T> y(rows, width, layout);
          cpu.normalize(x.in(), width, y.out(), norms.at(), 0, rows);
        },
        [&](device::Queue* queue, Grid<T>& norms) {
          Grid<T> y(rows, width, layout);
          device.normalize(queue, x.in(), width, y.out(), norms.at(), rows);
          wait();
        },
        text("norms", width, static_cast<int>(rows), layout));
  });
}
GNNMG_INSTANTIATE_CASE(normalize)

template <typename T>
void check_normalize_backward(const DeviceLayers<T>& device, Random& random) {
  for_shapes([&](int64_t rows, int64_t width, Layout layout) {
    const Grid<T> x = rows_of_lengths<T>(random, rows, width, layout);
    Grid<T> dy = random_grid<T>(random, rows, width, layout);
    // Clamped rows multiply by 1e12: their gradients are small here, so that the other rows
    // determine the scale.
    for (int64_t r = 0; r < std::min<int64_t>(rows, 2); ++r)
      for (int64_t c = 0; c < width && rows > 2; ++c) dy.at(r, c) *= static_cast<T>(1e-12);
    Grid<T> y(rows, width, layout), norms(1, rows);
    kernels::table<T>().normalize(x.in(), width, y.out(), norms.at(), 0, rows);
    // Short rows have large gradients.
    double shortest = 1;
    for (int64_t r = 0; r < rows; ++r)
      if (norms.at(0, r) >= T(1e-12)) shortest = std::min(shortest, double{norms.at(0, r)});
    compare<T>(
        Grid<T>(rows, width, layout), Promise::kRounding, 600 / shortest,
        [&](const Table<T>& cpu, Grid<T>& dx) {
          cpu.normalize_backward(dy.in(), y.in(), norms.at(), width, dx.out(), 0, rows);
        },
        [&](device::Queue* queue, Grid<T>& dx) {
          device.normalize_backward(queue, dy.in(), y.in(), norms.at(), width, dx.out(), rows);
        },
        text("normalize_backward", width, static_cast<int>(rows), layout));
  });
}
GNNMG_INSTANTIATE_CASE(normalize_backward)

}  // namespace gnnmg::cuda
