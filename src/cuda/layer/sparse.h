// Sparse matrices of features: their products with dense ones, dropout of their values, and their
// entries by column, for gradients.
#pragma once

#include "cuda/layer/dropout.h"
#include "cuda/layer/weighted.h"

namespace gnnmg::cuda {

template <typename Queue, typename T>
void sparse_times_dense(device::Queue* queue, nn::kernels::SparseMatrix<T> a,
                        nn::kernels::Matrix<const T> y, int64_t width, nn::kernels::Matrix<T> out,
                        int64_t rows) {
  ListSum<T, int64_t> sum = sum_of_lists<T>(a.indptr, a.indices, {y.data, y.stride, nullptr}, out);
  sum.weights = a.values;
  list_sum<Queue>(queue, sum, width, rows);
}

template <typename Queue, typename T>
void sparse_transposed_times_dense(device::Queue* queue, nn::kernels::SparseColumns columns,
                                   const T* values, nn::kernels::Matrix<const T> y, int64_t width,
                                   nn::kernels::Matrix<T> out, int64_t rows) {
  ListSum<T, int32_t> sum =
      sum_of_lists<T, int32_t>(columns.indptr, columns.rows, {y.data, y.stride, nullptr}, out);
  sum.weights = values;
  sum.positions = columns.entries;
  list_sum<Queue>(queue, sum, width, rows);
}

// keys[k] = column of entry k, places[k] = k.
struct ColumnKeys {
  const int32_t* indices;
  uint32_t* keys;
  int32_t* places;
  GNNMG_BOTH void operator()(int64_t k) const {
    keys[k] = static_cast<uint32_t>(indices[k]);
    places[k] = static_cast<int32_t>(k);
  }
};
// indptr[c] = number of keys below c.
struct ColumnStarts {
  const uint32_t* keys;  // sorted
  int64_t num_entries;
  int32_t* indptr;
  GNNMG_BOTH void operator()(int64_t c) const {
    int64_t low = 0, high = num_entries;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (keys[middle] < static_cast<uint64_t>(c))
        low = middle + 1;
      else
        high = middle;
    }
    indptr[c] = static_cast<int32_t>(low);
  }
};
struct RowsOfEntries {
  const int64_t* indptr;
  int32_t* row_of_entry;
  template <typename Tile>
  GNNMG_BOTH void operator()(const Tile& tile, int64_t r) const {
    tile.each_of(indptr[r], indptr[r + 1],
                 [&](int64_t k) { row_of_entry[k] = static_cast<int32_t>(r); });
  }
};
struct PickRows {
  const int32_t *row_of_entry, *entries;
  int32_t* rows;
  GNNMG_BOTH void operator()(int64_t p) const { rows[p] = row_of_entry[entries[p]]; }
};

template <typename Queue>
void sparse_columns(device::Queue* handle, const int64_t* indptr, const int32_t* indices,
                    int64_t num_rows, int64_t num_columns, int64_t num_entries, int32_t* room,
                    nn::kernels::SparseColumns columns) {
  Queue& queue = queue_of<Queue>(handle);
  int32_t* places = room + num_entries;
  uint32_t* keys = reinterpret_cast<uint32_t*>(room);
  uint32_t* sorted_keys = reinterpret_cast<uint32_t*>(room + 2 * num_entries);
  int bits = 1;
  while (bits < 32 && (num_columns - 1) >> bits != 0) ++bits;
  queue.each(num_entries, ColumnKeys{indices, keys, places});
  if (num_entries > 0) queue.sort(keys, sorted_keys, places, columns.entries, num_entries, bits);
  queue.each(num_columns + 1, ColumnStarts{sorted_keys, num_entries, columns.indptr});
  // Positions are sorted; then the row of each entry replaces them.
  queue.template tiles<8>(num_rows, RowsOfEntries{indptr, places});
  queue.each(num_entries, PickRows{places, columns.entries, columns.rows});
}

template <typename T>
struct SparseDropout {
  nn::kernels::SparseMatrix<float> a;
  DropoutBits bits;
  T scale;
  T* out;
  template <typename Tile>
  GNNMG_BOTH void operator()(const Tile& tile, int64_t r) const {
    tile.each_of(a.indptr[r], a.indptr[r + 1], [&](int64_t k) {
      out[k] = bits.keeps(r, static_cast<uint32_t>(a.indices[k]))
                   ? static_cast<T>(a.values[k]) * scale
                   : T{0};
    });
  }
};

template <typename Queue, typename T>
void sparse_dropout(device::Queue* queue, nn::kernels::SparseMatrix<float> a,
                    const nn::kernels::Dropout& dropout, T* out, int64_t rows) {
  queue_of<Queue>(queue).template tiles<8>(
      rows, SparseDropout<T>{a, bits_of(dropout), static_cast<T>(dropout.scale), out});
}

// A lane takes the columns equal to its number modulo the tile's lanes, so that entries at the same
// position are added in order.
template <typename T>
struct Densify {
  nn::kernels::SparseMatrix<T> a;
  int64_t width;
  nn::kernels::Matrix<T> out;
  template <typename Tile>
  GNNMG_BOTH void operator()(const Tile& tile, int64_t r) const {
    T* to = row_of(out, r);
    tile.each([&](int lane) {
      for (int64_t c = lane; c < width; c += Tile::kLanes) to[c] = 0;
      for (int64_t k = a.indptr[r]; k < a.indptr[r + 1]; ++k)
        if (a.indices[k] % Tile::kLanes == lane) to[a.indices[k]] += a.values[k];
    });
  }
};

template <typename Queue, typename T>
void densify(device::Queue* queue, nn::kernels::SparseMatrix<T> a, int64_t width,
             nn::kernels::Matrix<T> out, int64_t rows) {
  queue_of<Queue>(queue).template tiles<32>(rows, Densify<T>{a, width, out});
}

}  // namespace gnnmg::cuda
