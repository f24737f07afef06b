// The operations after a product, row by row: bias, relu, dropout, and their gradients. Bitwise
// equal to the CPU's, except sums of columns, which are computed in parts.
#pragma once

#include "cuda/layer/dropout.h"
#include "cuda/layer/row.h"

namespace gnnmg::cuda {

// A lane takes the columns that share a block of random words: base, base + 16, ..., of the group.
template <typename T>
struct Finish {
  nn::kernels::Matrix<const T> x;
  int64_t width;
  Divisor groups;
  const T* bias;
  bool relu;
  DropoutBits bits;
  T scale;
  nn::kernels::Matrix<T> y;

  template <typename Tile>
  GNNMG_BOTH void operator()(const Tile& tile, int64_t item) const {
    const int64_t row = groups(item), group = item - row * groups.by;
    tile.each([&](int lane) {
      const int64_t base = group * kDropoutGroup + lane;
      if (base >= width) return;
      T values[kSharing];
      for (int h = 0; h < kSharing; ++h) {
        const int64_t c = base + h * kBlocksAGroup;
        if (c < width) values[h] = row_of(x, row)[c];
      }
      DropoutBits::Block block{};
      if (bits.active())
        block = bits.draw(row, static_cast<uint32_t>(group * kBlocksAGroup + lane));
      for (int h = 0; h < kSharing; ++h) {
        const int64_t c = base + h * kBlocksAGroup;
        if (c >= width) continue;
        T value = bias ? values[h] + bias[c] : values[h];
        if (relu) value = value > 0 || value != value ? value : T{0};
        if (bits.active()) value = block.half_word(h) >= bits.threshold ? value * scale : T{0};
        row_of(y, row)[c] = value;
      }
    });
  }
};

inline int64_t dropout_groups(int64_t width) { return (width + kDropoutGroup - 1) / kDropoutGroup; }
template <typename Queue, typename Kernel>
void by_dropout_groups(device::Queue* queue, int64_t rows, int64_t width, const Kernel& kernel) {
  if (width <= 8)
    queue_of<Queue>(queue).template tiles<8>(rows * dropout_groups(width), kernel);
  else
    queue_of<Queue>(queue).template tiles<16>(rows * dropout_groups(width), kernel);
}

template <typename Queue, typename T>
void finish(device::Queue* queue, nn::kernels::Matrix<const T> x, int64_t width, const T* bias,
            bool relu, const nn::kernels::Dropout& dropout, nn::kernels::Matrix<T> y,
            int64_t rows) {
  by_dropout_groups<Queue>(queue, rows, width,
                           Finish<T>{x, width, Divisor(dropout_groups(width)), bias, relu,
                                     bits_of(dropout), static_cast<T>(dropout.scale), y});
}

// Item: a group of columns of a run of rows.
template <typename T>
struct FinishBackward {
  nn::kernels::Matrix<const T> dy, y;
  int64_t width;
  Divisor groups;
  int64_t rows, run_rows;
  bool relu;
  DropoutBits bits;
  T scale;
  nn::kernels::Matrix<T> dx;
  T* parts;  // [width, num_parts], or null
  int64_t num_parts;

  template <typename Tile>
  GNNMG_BOTH void operator()(const Tile& tile, int64_t item) const {
    const int64_t part = groups(item), group = item - part * groups.by;
    const int64_t first = part * run_rows, last = least(rows, first + run_rows);
    tile.each([&](int lane) {
      const int64_t base = group * kDropoutGroup + lane;
      if (base >= width) return;
      T sums[kSharing] = {};
      for (int64_t row = first; row < last; ++row) {
        T values[kSharing], outputs[kSharing];
        for (int h = 0; h < kSharing; ++h) {
          const int64_t c = base + h * kBlocksAGroup;
          if (c < width) values[h] = row_of(dy, row)[c];
          if (c < width && relu) outputs[h] = row_of(y, row)[c];
        }
        // After a ReLU the output shows which values were kept: no bits are drawn again.
        DropoutBits::Block block{};
        if (bits.active())
          block = bits.draw(row, static_cast<uint32_t>(group * kBlocksAGroup + lane));
        for (int h = 0; h < kSharing; ++h) {
          const int64_t c = base + h * kBlocksAGroup;
          if (c >= width) continue;
          T value = values[h] * scale;
          if (relu) value = outputs[h] > 0 ? value : T{0};
          if (bits.active()) value = block.half_word(h) >= bits.threshold ? value : T{0};
          row_of(dx, row)[c] = value;
          sums[h] = added(sums[h], value);
        }
      }
      if (!parts) return;
      for (int h = 0; h < kSharing; ++h) {
        const int64_t c = base + h * kBlocksAGroup;
        if (c < width) parts[c * num_parts + part] = sums[h];
      }
    });
  }
};

// Item: a column, whose parts are contiguous.
template <typename T>
struct SumParts {
  const T* parts;
  int64_t num_parts;
  T* sums;

  template <typename Tile>
  GNNMG_BOTH void operator()(const Tile& tile, int64_t column) const {
    const T* of_column = parts + column * num_parts;
    const auto shares = tile.template make<T>([&](int lane) {
      T sum = 0;
      in_order(
          int64_t{0}, (num_parts - lane + Tile::kLanes - 1) / Tile::kLanes,
          [&](int64_t i) { return of_column + lane + i * Tile::kLanes; },
          [](const T* from) { return *from; }, [&](T value, int64_t) { sum += value; });
      return sum;
    });
    const T sum = tile.sum(shares);
    tile.each([&](int lane) {
      if (lane == 0) sums[column] = sum;
    });
  }
};

template <typename Queue, typename T>
void finish_backward(device::Queue* queue, nn::kernels::Matrix<const T> dy,
                     nn::kernels::Matrix<const T> y, int64_t width, bool relu,
                     const nn::kernels::Dropout& dropout, nn::kernels::Matrix<T> dx,
                     T* bias_gradient, T* parts, int64_t rows) {
  const int64_t run_rows = bias_gradient ? nn::kernels::part_rows(rows) : 1;
  const int64_t runs = (rows + run_rows - 1) / run_rows;
  FinishBackward<T> kernel{dy,
                           y,
                           width,
                           Divisor(dropout_groups(width)),
                           rows,
                           run_rows,
                           relu,
                           bits_of(dropout),
                           static_cast<T>(dropout.scale),
                           dx,
                           bias_gradient ? parts : nullptr,
                           runs};
  if (relu) kernel.bits.threshold = 0;
  by_dropout_groups<Queue>(queue, runs, width, kernel);
  if (bias_gradient)
    queue_of<Queue>(queue).template tiles<32>(width, SumParts<T>{parts, runs, bias_gradient});
}

template <typename T>
struct ColumnParts {
  static constexpr int kPiece = kLineOf<T>;
  nn::kernels::Matrix<const T> x;
  int64_t rows, run_rows, num_parts;
  T* parts;

  template <int V>
  GNNMG_BOTH void run(int64_t part, int64_t column) const {
    const int64_t first = part * run_rows;
    Piece<T, V> sum = filled<V>(T{0});
    in_order(
        first, least(rows, first + run_rows), [&](int64_t r) { return row_of(x, r) + column; },
        LoadPiece<V>{},
        [&](const Piece<T, V>& row, int64_t) {
          for (int i = 0; i < V; ++i) sum[i] += row[i];
        });
    for (int i = 0; i < V; ++i) parts[(column + i) * num_parts + part] = sum[i];
  }
};

template <typename Queue, typename T>
void column_sums(device::Queue* queue, nn::kernels::Matrix<const T> x, int64_t width, T* sums,
                 T* parts, int64_t rows) {
  const int64_t count = nn::kernels::num_parts(rows);
  by_pieces<Queue>(queue, count, width, has_lines(x),
                   ColumnParts<T>{x, rows, nn::kernels::part_rows(rows), count, parts});
  queue_of<Queue>(queue).template tiles<32>(width, SumParts<T>{parts, count, sums});
}

}  // namespace gnnmg::cuda
