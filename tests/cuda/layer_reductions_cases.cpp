// Sums, means and maxima of rows, and their gradients, compared with the CPU's kernels.
#include "base/tensor.h"
#include "layer_cases.h"

namespace gnnmg::cuda {
namespace {

constexpr Reduce kReductions[] = {Reduce::kSum, Reduce::kMean, Reduce::kMax};

Array<int64_t> random_ids(Random& random, int64_t count, int64_t rows) {
  Array<int64_t> ids(count);
  for (int64_t& id : ids) id = random() % rows;
  return ids;
}

}  // namespace

template <typename T>
void check_aggregate(const DeviceLayers<T>& device, Random& random) {
  for_blocks(random, [&](const Block& block, int kind, int64_t width, Layout layout) {
    for (Reduce reduce : kReductions)
      for (bool with_ids : {false, true}) {
        const Grid<T> x = reduce == Reduce::kMax ? tied_grid<T>(random, 50, width, layout, with_ids)
                                                 : random_grid<T>(random, 50, width, layout);
        const Array<int64_t> ids = random_ids(random, block.num_sources, 50);
        const Rows<T> rows = x.source(with_ids ? ids.data() : nullptr);
        compare<T>(
            Grid<T>(block.num_targets, width, layout), Promise::kBits, 100,
            [&](const Table<T>& cpu, Grid<T>& out) {
              cpu.aggregate(reduce, block.by_target(), rows, width, out.out(), 0,
                            block.num_targets);
            },
            [&](device::Queue* queue, Grid<T>& out) {
              device.aggregate(queue, reduce, block.by_target(), rows, width, out.out(),
                               block.num_targets);
            },
            text("aggregate", width, kind, layout));
      }
  });
}
GNNMG_INSTANTIATE_CASE(aggregate)

namespace {

// Tables of every element type, with the same rows widened to T, including numbers that are not
// finite.
template <typename T, typename F>
void for_stored(Random& random, int64_t rows, int64_t width, Layout layout, const F& f) {
  const Array<int64_t> ids = random_ids(random, 30, rows);
  const auto with = [&](base::DType dtype, auto element, auto widen) {
    Grid<T> wide(rows, width, layout);
    Array<decltype(element)> stored(wide.data.size());
    for (size_t i = 0; i < stored.size(); ++i) {
      stored[i] = widen.store(random);
      wide.data[i] = static_cast<T>(widen.load(stored[i]));
    }
    f(kernels::StoredRows{stored.data() + wide.offset, dtype, wide.stride, ids.data()},
      wide.source(ids.data()));
  };
  struct Plain {
    double store(Random& r) const { return std::uniform_real_distribution<double>(-2, 2)(r); }
    double load(double x) const { return x; }
  };
  struct Single {
    float store(Random& r) const { return std::uniform_real_distribution<float>(-2, 2)(r); }
    float load(float x) const { return x; }
  };
  struct Half16 {
    uint16_t store(Random& r) const { return static_cast<uint16_t>(r()); }
    float load(uint16_t x) const { return base::f16_to_f32(x); }
  };
  struct Brain16 {
    // Exponents for which sums stay finite in f32.
    uint16_t store(Random& r) const { return static_cast<uint16_t>(r() & 0xBFFFu); }
    float load(uint16_t x) const { return base::bf16_to_f32(x); }
  };
  with(base::DType::kF64, double{}, Plain{});
  with(base::DType::kF32, float{}, Single{});
  with(base::DType::kF16, uint16_t{}, Half16{});
  with(base::DType::kBF16, uint16_t{}, Brain16{});
}

}  // namespace

template <typename T>
void check_aggregate_stored(const DeviceLayers<T>& device, Random& random) {
  Block block = random_block(random, 3);
  for (int32_t& index : block.indices) index %= 30;
  for (int64_t width : kWidths)
    for (Layout layout : kLayouts)
      for_stored<T>(random, 40, width, layout, [&](const kernels::StoredRows& stored, Rows<T> x) {
        for (Reduce reduce : kReductions)
          compare<T>(
              Grid<T>(block.num_targets, width, layout), Promise::kBits, 0,
              [&](const Table<T>& cpu, Grid<T>& out) {
                cpu.aggregate(reduce, block.by_target(), x, width, out.out(), 0, block.num_targets);
              },
              [&](device::Queue* queue, Grid<T>& out) {
                device.aggregate_stored(queue, reduce, block.by_target(), stored, width, out.out(),
                                        block.num_targets);
              },
              text(base::dtype_name(stored.dtype), width, 3, layout));
      });
  Grid<T> out(1, 1);
  try {
    device.aggregate_stored(running_queue(), Reduce::kSum, block.by_target(),
                            {out.at(), base::DType::kI64, 1, nullptr}, 1, out.out(), 1);
    FAIL() << "expected an error";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.status(), base::Status::kInvalidArgument);
    EXPECT_STREQ(error.what(),
                 "rows of a table of i64 cannot be read by layers; expected f32, f64, f16 or bf16");
  }
}
GNNMG_INSTANTIATE_CASE(aggregate_stored)

// Converts every 16-bit number as base does.
template <typename T>
void check_gather_rows(const DeviceLayers<T>& device, Random& random) {
  for (int64_t width : kWidths)
    for (Layout layout : kLayouts)
      for_stored<T>(random, 40, width, layout, [&](const kernels::StoredRows& stored, Rows<T> x) {
        compare<T>(
            Grid<T>(30, width, layout), Promise::kBits, 0,
            [&](const Table<T>&, Grid<T>& out) {
              for (int64_t r = 0; r < 30; ++r)
                for (int64_t c = 0; c < width; ++c) out.at(r, c) = x.data[x.ids[r] * x.stride + c];
            },
            [&](device::Queue* queue, Grid<T>& out) {
              device.gather_rows(queue, stored, width, out.out(), 30);
            },
            text(base::dtype_name(stored.dtype), width, 0, layout));
      });
  Array<uint16_t> all(65536);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
  for (base::DType dtype : {base::DType::kF16, base::DType::kBF16}) {
    Grid<T> out(256, 256);
    device.gather_rows(running_queue(), {all.data(), dtype, 256, nullptr}, 256, out.out(), 256);
    wait();
    for (size_t i = 0; i < all.size(); ++i) {
      const float value =
          dtype == base::DType::kF16 ? base::f16_to_f32(all[i]) : base::bf16_to_f32(all[i]);
      const T expected = static_cast<T>(value), got = out.data[i];
      ASSERT_TRUE(expected == got ? std::signbit(expected) == std::signbit(got)
                                  : expected != expected && got != got)
          << base::dtype_name(dtype) << " " << i;
    }
  }
}
GNNMG_INSTANTIATE_CASE(gather_rows)

template <typename T>
void check_mean_scale(const DeviceLayers<T>& device, Random& random) {
  for (int kind = 0; kind < kBlockKinds; ++kind) {
    const Block block = random_block(random, kind);
    compare<T>(
        Grid<T>(1, block.num_targets), Promise::kBits, 0,
        [&](const Table<T>&, Grid<T>& out) {
          for (int64_t t = 0; t < block.num_targets; ++t)
            out.at(0, t) =
                T{1} / static_cast<T>(std::max(1, block.indptr[t + 1] - block.indptr[t]));
        },
        [&](device::Queue* queue, Grid<T>& out) {
          device.mean_scale(queue, block.by_target(), out.at(), block.num_targets);
        },
        text("mean_scale", 0, kind, Layout::kTight));
  }
}
GNNMG_INSTANTIATE_CASE(mean_scale)

template <typename T>
void check_max_share(const DeviceLayers<T>& device, Random& random) {
  for_blocks(random, [&](const Block& block, int kind, int64_t width, Layout layout) {
    const bool nans = kind == 3;
    const Grid<T> x = tied_grid<T>(random, 50, width, layout, nans);
    const Grid<T> gradient = random_grid<T>(random, block.num_targets, width, layout);
    const Array<int64_t> ids = random_ids(random, block.num_sources, 50);
    const Rows<T> rows = x.source(width % 2 ? ids.data() : nullptr);
    Grid<T> max(block.num_targets, width, layout);
    kernels::table<T>().aggregate(Reduce::kMax, block.by_target(), rows, width, max.out(), 0,
                                  block.num_targets);
    compare<T>(
        Grid<T>(block.num_targets, width, layout), Promise::kBits, 0,
        [&](const Table<T>& cpu, Grid<T>& out) {
          cpu.max_share(block.by_target(), rows, max.in(), gradient.in(), width, out.out(), 0,
                        block.num_targets);
        },
        [&](device::Queue* queue, Grid<T>& out) {
          device.max_share(queue, block.by_target(), rows, max.in(), gradient.in(), width,
                           out.out(), block.num_targets);
        },
        text("max_share", width, kind, layout));
  });
}
GNNMG_INSTANTIATE_CASE(max_share)

template <typename T>
void check_max_transposed(const DeviceLayers<T>& device, Random& random) {
  for_blocks(random, [&](const Block& block, int kind, int64_t width, Layout layout) {
    const Grid<T> x = tied_grid<T>(random, block.num_sources, width, layout, kind == 3);
    const Grid<T> share = random_grid<T>(random, block.num_targets, width, layout);
    const Grid<T> self = random_grid<T>(random, block.num_targets, width, layout);
    Grid<T> max(block.num_targets, width, layout);
    kernels::table<T>().aggregate(Reduce::kMax, block.by_target(), x.source(), width, max.out(), 0,
                                  block.num_targets);
    for (bool with_self : {false, true}) {
      const Matrix<const T> own = with_self ? self.in() : Matrix<const T>{};
      compare<T>(
          Grid<T>(block.num_sources, width, layout), Promise::kBits, 0,
          [&](const Table<T>& cpu, Grid<T>& out) {
            cpu.max_transposed(block.by_source(), block.num_targets, x.in(), max.in(), share.in(),
                               own, width, out.out(), 0, block.num_sources);
          },
          [&](device::Queue* queue, Grid<T>& out) {
            device.max_transposed(queue, block.by_source(), block.num_targets, x.in(), max.in(),
                                  share.in(), own, width, out.out(), block.num_sources);
          },
          text("max_transposed", width, kind, layout));
    }
  });
}
GNNMG_INSTANTIATE_CASE(max_transposed)

}  // namespace gnnmg::cuda
