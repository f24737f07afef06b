#include "nn/ops/product.h"

#include <ATen/ops/mm.h>

#include "nn/ops/tensors.h"

namespace gnnmg::nn {
namespace {

// Deeper products would need more of the cache for the columns of b than there may be.
constexpr int64_t kMostDepth = 2048;
constexpr int64_t kPoolRows = 96;  // rows in one range: whole tiles of every height

template <typename T>
bool own(int64_t depth, int64_t width) {
  return kernels::has_faster_product<T>() && depth <= kMostDepth &&
         width * static_cast<int64_t>(sizeof(T)) >= 64;
}

}  // namespace

void multiply(at::Tensor to, const at::Tensor& a, const at::Tensor& b, const Execution& execution,
              bool add) {
  if (execution.device && execution.bf16 && to.scalar_type() == at::kFloat) {
    const at::Tensor product = at::mm(a.to(at::kBFloat16), b.to(at::kBFloat16));
    if (add)
      to.add_(product);
    else
      to.copy_(product);
    return;
  }
  const bool done = !execution.device && visit_type(to.scalar_type(), [&]<typename T>() {
    const int64_t rows = to.size(0), width = to.size(1), depth = a.size(1);
    if (!own<T>(depth, width) || b.stride(1) != 1) return false;
    kernels::ProductOf<T> product;
    product.a = a.const_data_ptr<T>();
    product.a_row = a.stride(0);
    product.a_column = a.stride(1);
    product.b = const_matrix<T>(b);
    product.c = matrix<T>(to);
    product.depth = depth;
    product.width = width;
    product.add = add;
    const auto rows_of = [&](int64_t begin, int64_t end) {
      kernels::table<T>().product(product, begin, end);
    };
    if (execution.pool)
      execution.pool->parallel_for(rows, kPoolRows, rows_of);
    else
      rows_of(0, rows);
    return true;
  });
  if (done) return;
  if (add)
    to.addmm_(a, b);
  else
    at::mm_out(to, a, b);
}

at::Tensor as_factor(const at::Tensor& b, const Execution& execution) {
  const bool copies = !execution.device && visit_type(b.scalar_type(), [&]<typename T>() {
    return own<T>(b.size(0), b.size(1)) && b.stride(1) != 1;
  });
  if (!copies) return b;
  at::Tensor rows = scratch_tensor(execution, b.sizes(), b.scalar_type());
  return rows.copy_(b);
}

}  // namespace gnnmg::nn
