#include "nn/ops/layer_products.h"

#include <algorithm>

#include "nn/kernels/bf16.h"
#include "nn/ops/product.h"
#include "nn/ops/tensors.h"

namespace gnnmg::nn {
namespace {

class FullForward final : public ForwardProduct {
 public:
  FullForward(const at::Tensor& weight, const Execution& execution)
      : execution_(execution), factor_(as_factor(weight.t(), execution)) {}

  at::Tensor room(int64_t count) const override {
    return scratch_tensor(execution_, {count, factor_.size(0)}, factor_.scalar_type());
  }
  void keep(const at::Tensor& rows, const at::Tensor& kept) const override { kept.copy_(rows); }
  void multiply(const at::Tensor& y, const at::Tensor& x) const override {
    nn::multiply(y, x, factor_, execution_);
  }

 private:
  const Execution& execution_;
  at::Tensor factor_;  // [in, out]
};

class FullBackward final : public BackwardProducts {
 public:
  FullBackward(const at::Tensor& weight, bool wants_x, const Execution& execution)
      : execution_(execution), factor_(wants_x ? as_factor(weight, execution) : at::Tensor()) {}

  void multiply(const at::Tensor& dz, const at::Tensor& rows, const Sum& weight,
                const Sum& x) const override {
    nn::multiply(weight.to, dz.t(), rows, execution_, weight.add);
    if (x.to.defined()) nn::multiply(x.to, dz, factor_, execution_, x.add);
  }

 private:
  const Execution& execution_;
  at::Tensor factor_;  // [out, in]
};

using kernels::Bf16;
using kernels::bf16_kernels;
using kernels::filled_depth;

// Rows that are arranged and multiplied at once: their factors fit in a core's cache. A multiple of
// kernels::kBf16Step, so that sums over rows do not depend on it.
constexpr int64_t kRows = 512;

Bf16* halves(const at::Tensor& t) {
  return reinterpret_cast<Bf16*>(t.mutable_data_ptr<at::BFloat16>());
}
const Bf16* const_halves(const at::Tensor& t) {
  return reinterpret_cast<const Bf16*>(t.const_data_ptr<at::BFloat16>());
}
kernels::Matrix<const Bf16> half_rows(const at::Tensor& t) {
  return {const_halves(t), t.stride(0)};
}

at::Tensor room_for_halves(const Execution& execution, at::IntArrayRef sizes) {
  return scratch_tensor(execution, sizes, at::kBFloat16);
}

void round_into(const at::Tensor& kept, const at::Tensor& rows) {
  bf16_kernels().round(const_matrix<float>(rows), rows.size(0), rows.size(1),
                       {halves(kept), kept.stride(0)});
}

// Returns rows [begin, begin + count) of x as a left factor; those of a room are one already.
at::Tensor left_factor(const at::Tensor& x, int64_t begin, int64_t count,
                       const Execution& execution) {
  at::Tensor rows = x.narrow(0, begin, count);
  if (x.scalar_type() == at::kBFloat16) return rows;
  at::Tensor factor = room_for_halves(execution, {count, filled_depth(x.size(1))});
  round_into(factor, rows);
  return factor;
}

// Returns the rows of a left factor, `width` columns of each, as a right factor.
at::Tensor right_factor(const at::Tensor& rows, int64_t width, const Execution& execution) {
  const int64_t depth = rows.size(0);
  at::Tensor factor = room_for_halves(execution, {kernels::packed_size(depth, width)});
  bf16_kernels().pack(half_rows(rows), depth, width, halves(factor));
  return factor;
}

// Computes result.to (+)= left right: [rows, depth] times [depth, width].
void multiply_halves(const BackwardProducts::Sum& result, const at::Tensor& left,
                     const at::Tensor& right, int64_t depth, const Execution& execution) {
  const kernels::Bf16Product product{half_rows(left), const_halves(right), matrix<float>(result.to),
                                     depth,           result.to.size(1),   result.add};
  const int64_t rows = result.to.size(0);
  constexpr int64_t kPoolRows = 96;
  if (!execution.pool) return bf16_kernels().product(product, 0, rows);
  execution.pool->parallel_for(rows, kPoolRows, [&](int64_t begin, int64_t end) {
    bf16_kernels().product(product, begin, end);
  });
}

template <typename F>
void in_blocks(int64_t rows, const F& body) {
  for (int64_t begin = 0; begin < rows; begin += kRows) body(begin, std::min(kRows, rows - begin));
}

class RoundedForward final : public ForwardProduct {
 public:
  RoundedForward(const at::Tensor& weight, const Execution& execution)
      : execution_(execution),
        in_(weight.size(1)),
        factor_(room_for_halves(execution, {kernels::packed_size(in_, weight.size(0))})) {
    const at::Tensor rows = left_factor(with_dense_rows(weight), 0, weight.size(0), execution);
    bf16_kernels().pack_transpose(half_rows(rows), in_, weight.size(0), halves(factor_));
  }

  at::Tensor room(int64_t count) const override {
    return room_for_halves(execution_, {count, filled_depth(in_)});
  }
  void keep(const at::Tensor& rows, const at::Tensor& kept) const override {
    round_into(kept, rows);
  }
  void multiply(const at::Tensor& y, const at::Tensor& x) const override {
    in_blocks(y.size(0), [&](int64_t begin, int64_t count) {
      multiply_halves({y.narrow(0, begin, count)}, left_factor(x, begin, count, execution_),
                      factor_, in_, execution_);
    });
  }

 private:
  const Execution& execution_;
  const int64_t in_;
  at::Tensor factor_;
};

class RoundedBackward final : public BackwardProducts {
 public:
  RoundedBackward(const at::Tensor& weight, bool wants_x, const Execution& execution)
      : execution_(execution), out_(weight.size(0)), in_(weight.size(1)) {
    if (!wants_x) return;
    factor_ =
        right_factor(left_factor(with_dense_rows(weight), 0, out_, execution), in_, execution);
  }

  void multiply(const at::Tensor& dz, const at::Tensor& rows, const Sum& weight,
                const Sum& x) const override {
    in_blocks(dz.size(0), [&](int64_t begin, int64_t count) {
      const at::Tensor left = left_factor(dz, begin, count, execution_);
      at::Tensor turned = room_for_halves(execution_, {out_, filled_depth(count)});
      bf16_kernels().transpose(half_rows(left), count, out_, {halves(turned), turned.stride(0)});
      multiply_halves({weight.to, weight.add || begin > 0}, turned,
                      right_factor(left_factor(rows, begin, count, execution_), in_, execution_),
                      count, execution_);
      if (x.to.defined())
        multiply_halves({x.to.narrow(0, begin, count), x.add}, left, factor_, out_, execution_);
    });
  }

 private:
  const Execution& execution_;
  const int64_t out_, in_;
  at::Tensor factor_;  // [out, in]
};

bool rounds(const at::Tensor& weight, const Execution& execution) {
  return execution.bf16 && weight.scalar_type() == at::kFloat;
}

}  // namespace

std::unique_ptr<ForwardProduct> ForwardProduct::make(const at::Tensor& weight,
                                                     const Execution& execution) {
  if (rounds(weight, execution)) return std::make_unique<RoundedForward>(weight, execution);
  return std::make_unique<FullForward>(weight, execution);
}

std::unique_ptr<BackwardProducts> BackwardProducts::make(const at::Tensor& weight, bool wants_x,
                                                         const Execution& execution) {
  if (rounds(weight, execution))
    return std::make_unique<RoundedBackward>(weight, wants_x, execution);
  return std::make_unique<FullBackward>(weight, wants_x, execution);
}

}  // namespace gnnmg::nn
