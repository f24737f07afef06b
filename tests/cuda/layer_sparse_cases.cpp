// Sparse matrices compared with the CPU's kernels.
#include "layer_cases.h"

namespace gnnmg::cuda {
namespace {

// Rows of no, few and many entries, in any order of columns, some of them repeated.
struct Sparse {
  int64_t num_rows = 0, num_columns = 0;
  Array<int64_t> indptr = {0};
  Array<int32_t> indices;
  Array<float> values;
  int64_t num_entries() const { return indptr.back(); }
};
Sparse random_sparse(Random& random, int kind) {
  constexpr int64_t kShapes[][2] = {{0, 1}, {1, 1}, {20, 300}, {33, 7}};
  Sparse a;
  a.num_rows = kShapes[kind][0];
  a.num_columns = kShapes[kind][1];
  std::uniform_real_distribution<float> value(-2, 2);
  for (int64_t r = 0; r < a.num_rows; ++r) {
    const int64_t entries = r == 4 ? 90 : random() % 6;
    for (int64_t k = 0; k < entries; ++k) {
      a.indices.push_back(static_cast<int32_t>(random() % a.num_columns));
      a.values.push_back(value(random));
    }
    a.indptr.push_back(static_cast<int64_t>(a.indices.size()));
  }
  return a;
}

template <typename T>
Array<T> as(const Array<float>& values) {
  return {values.begin(), values.end()};
}

template <typename F>
void for_sparse(Random& random, const F& f) {
  for (const auto& c : taken_combinations({4, std::ssize(kWidths), std::ssize(kLayouts)}))
    f(random_sparse(random, static_cast<int>(c[0])), static_cast<int>(c[0]), kWidths[c[1]],
      kLayouts[c[2]]);
}

// The entries by column from the device, and their memory.
struct Columns {
  Array<int32_t> indptr, rows, entries, room;
  kernels::SparseColumns columns;
  Columns(const Sparse& a, int64_t num_rows)
      : indptr(a.num_columns + 1, -5),
        rows(a.indptr[num_rows] + 1, -5),
        entries(a.indptr[num_rows] + 1, -5),
        room(3 * a.indptr[num_rows] + 1, -5),
        columns{indptr.data(), rows.data(), entries.data()} {}
};
template <typename T>
void make_columns(const DeviceLayers<T>& device, device::Queue* queue, const Sparse& a,
                  int64_t num_rows, Columns& to) {
  device.sparse_columns(queue, a.indptr.data(), a.indices.data(), num_rows, a.num_columns,
                        a.indptr[num_rows], to.room.data(), to.columns);
}

}  // namespace

template <typename T>
void check_sparse_times_dense(const DeviceLayers<T>& device, Random& random) {
  for_sparse(random, [&](const Sparse& a, int kind, int64_t width, Layout layout) {
    const Array<T> values = as<T>(a.values);
    const Grid<T> y = random_grid<T>(random, a.num_columns, width, layout);
    const kernels::SparseMatrix<T> matrix{a.indptr.data(), a.indices.data(), values.data()};
    compare<T>(
        Grid<T>(a.num_rows, width, layout), Promise::kFusedBits, 400,
        [&](const Table<T>& cpu, Grid<T>& out) {
          cpu.sparse_times_dense(matrix, y.in(), width, out.out(), 0, a.num_rows);
        },
        [&](device::Queue* queue, Grid<T>& out) {
          device.sparse_times_dense(queue, matrix, y.in(), width, out.out(), a.num_rows);
        },
        text("sparse_times_dense", width, kind, layout));
  });
}
GNNMG_INSTANTIATE_CASE(sparse_times_dense)

template <typename T>
void check_sparse_columns(const DeviceLayers<T>& device, Random& random) {
  for (int kind = 0; kind < 4; ++kind)
    for (int repeat = 0; repeat < 3; ++repeat) {
      const Sparse a = random_sparse(random, kind);
      for (int64_t num_rows : {a.num_rows, a.num_rows / 2}) {
        Columns made(a, num_rows);
        make_columns(device, running_queue(), a, num_rows, made);
        wait();
        int64_t p = 0;
        for (int64_t c = 0; c < a.num_columns; ++c) {
          EXPECT_EQ(made.indptr[c], p);
          for (int64_t r = 0; r < num_rows; ++r)
            for (int64_t k = a.indptr[r]; k < a.indptr[r + 1]; ++k) {
              if (a.indices[k] != c) continue;
              EXPECT_EQ(made.rows[p], r);
              EXPECT_EQ(made.entries[p], k);
              ++p;
            }
        }
        EXPECT_EQ(made.indptr[a.num_columns], p);
        EXPECT_EQ(p, a.indptr[num_rows]);
        EXPECT_EQ(made.rows.back(), -5);
        EXPECT_EQ(made.entries.back(), -5);
        EXPECT_EQ(made.room.back(), -5);
      }
    }
}
GNNMG_INSTANTIATE_CASE(sparse_columns)

template <typename T>
void check_sparse_transposed_times_dense(const DeviceLayers<T>& device, Random& random) {
  for_sparse(random, [&](const Sparse& a, int kind, int64_t width, Layout layout) {
    const Array<T> values = as<T>(a.values);
    const int64_t num_rows = width % 2 ? a.num_rows : a.num_rows / 2;
    const Grid<T> y = random_grid<T>(random, num_rows, width, layout);
    const kernels::SparseMatrix<T> matrix{a.indptr.data(), a.indices.data(), values.data()};
    compare<T>(
        Grid<T>(a.num_columns, width, layout), Promise::kFusedBits, 400,
        [&](const Table<T>& cpu, Grid<T>& out) {
          for (int64_t c = 0; c < a.num_columns; ++c)
            for (int64_t i = 0; i < width; ++i) out.at(c, i) = 0;
          cpu.sparse_transposed_times_dense(matrix, num_rows, y.in(), out.out(), 0, width);
        },
        [&](device::Queue* queue, Grid<T>& out) {
          Columns columns(a, num_rows);
          make_columns(device, queue, a, num_rows, columns);
          device.sparse_transposed_times_dense(queue, columns.columns, values.data(), y.in(), width,
                                               out.out(), a.num_columns);
          wait();
        },
        text("sparse_transposed_times_dense", width, kind, layout));
  });
}
GNNMG_INSTANTIATE_CASE(sparse_transposed_times_dense)

template <typename T>
void check_sparse_dropout(const DeviceLayers<T>& device, Random& random) {
  for (int kind = 0; kind < 4; ++kind)
    for (double rate : {0.0, 0.5, 0.9}) {
      const Sparse a = random_sparse(random, kind);
      const kernels::SparseMatrix<float> matrix{a.indptr.data(), a.indices.data(), a.values.data()};
      compare<T>(
          Grid<T>(1, a.num_entries()), Promise::kBits, 0,
          [&](const Table<T>& cpu, Grid<T>& out) {
            cpu.sparse_dropout(matrix, some_dropout(rate), out.at(), 0, a.num_rows);
          },
          [&](device::Queue* queue, Grid<T>& out) {
            device.sparse_dropout(queue, matrix, some_dropout(rate), out.at(), a.num_rows);
          },
          text("sparse_dropout", 0, kind, Layout::kTight));
    }
}
GNNMG_INSTANTIATE_CASE(sparse_dropout)

template <typename T>
void check_densify(const DeviceLayers<T>& device, Random& random) {
  for (int kind = 0; kind < 4; ++kind)
    for (Layout layout : kLayouts) {
      const Sparse a = random_sparse(random, kind);
      const Array<T> values = as<T>(a.values);
      compare<T>(
          Grid<T>(a.num_rows, a.num_columns, layout), Promise::kBits, 0,
          [&](const Table<T>&, Grid<T>& out) {
            for (int64_t r = 0; r < a.num_rows; ++r) {
              for (int64_t c = 0; c < a.num_columns; ++c) out.at(r, c) = 0;
              for (int64_t k = a.indptr[r]; k < a.indptr[r + 1]; ++k)
                out.at(r, a.indices[k]) += values[k];
            }
          },
          [&](device::Queue* queue, Grid<T>& out) {
            device.densify(queue, {a.indptr.data(), a.indices.data(), values.data()}, a.num_columns,
                           out.out(), a.num_rows);
          },
          text("densify", a.num_columns, kind, layout));
    }
}
GNNMG_INSTANTIATE_CASE(densify)

}  // namespace gnnmg::cuda
