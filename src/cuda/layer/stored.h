// Operations that read a table of features directly, whatever its elements.
#pragma once

#include "base/error.h"
#include "cuda/layer/reduce.h"
#include "cuda/layer/table.h"

namespace gnnmg::cuda {

// Calls use(rows) with rows of the table's element type.
template <typename Use>
void with_rows(const nn::kernels::StoredRows& x, const Use& use) {
  const auto as = [&]<typename E>(const E* data) {
    use(nn::kernels::Rows<E>{data, x.stride, x.ids});
  };
  switch (x.dtype) {
    case base::DType::kF32:
      return as(static_cast<const float*>(x.data));
    case base::DType::kF64:
      return as(static_cast<const double*>(x.data));
    case base::DType::kF16:
      return as(static_cast<const Half*>(x.data));
    case base::DType::kBF16:
      return as(static_cast<const BrainFloat*>(x.data));
    default:
      base::fail(base::Status::kInvalidArgument, "rows of a table of ", base::dtype_name(x.dtype),
                 " cannot be read by layers; expected f32, f64, f16 or bf16");
  }
}

template <typename Queue, typename T>
void aggregate_stored(device::Queue* queue, nn::kernels::Reduce reduce, nn::kernels::Lists lists,
                      const nn::kernels::StoredRows& x, int64_t width, nn::kernels::Matrix<T> out,
                      int64_t rows) {
  with_rows(x, [&]<typename E>(const nn::kernels::Rows<E>& from) {
    aggregate_of<Queue, T, E>(queue, reduce, lists, from, width, out, rows);
  });
}

template <typename T, typename E>
struct GatherRows {
  static constexpr int kPiece = kLineOf<T>;
  nn::kernels::Rows<E> x;
  nn::kernels::Matrix<T> out;

  template <int V>
  GNNMG_BOTH void run(int64_t r, int64_t column) const {
    const Piece<E, V> from = load<V>(row_of(x, r) + column);
    Piece<T, V> to;
    for (int i = 0; i < V; ++i) to[i] = element_as<T>(from[i]);
    store<V>(row_of(out, r) + column, to);
  }
};

template <typename Queue, typename T>
void gather_rows(device::Queue* queue, const nn::kernels::StoredRows& x, int64_t width,
                 nn::kernels::Matrix<T> out, int64_t rows) {
  with_rows(x, [&]<typename E>(const nn::kernels::Rows<E>& from) {
    by_pieces<Queue>(queue, rows, width, has_pieces<kLineOf<T>>(from) && has_lines(out),
                     GatherRows<T, E>{from, out});
  });
}

template <typename Queue, typename T>
void add_stored(nn::kernels::DeviceLayers<T>& table) {
  table.aggregate_stored = aggregate_stored<Queue, T>;
  table.gather_rows = gather_rows<Queue, T>;
}

}  // namespace gnnmg::cuda
