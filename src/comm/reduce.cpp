#include "comm/reduce.h"

#include <algorithm>
#include <type_traits>

namespace gnnmg::comm {
namespace {

// Adds without undefined behavior: integers wrap.
template <typename T>
T sum(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using Wrapping = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Wrapping>(a) + static_cast<Wrapping>(b));
  } else {
    return a + b;
  }
}

// `Number` reads and writes elements of type Number::Stored.
template <typename Number, typename Combine>
void fold(std::span<void* const> parts, int64_t count, const Combine& combine) {
  using Stored = typename Number::Stored;
  auto* const __restrict to = static_cast<Stored*>(parts[0]);
  for (void* const part : parts.subspan(1)) {
    const auto* const __restrict from = static_cast<const Stored*>(part);
    for (int64_t i = 0; i < count; ++i)
      to[i] = Number::write(combine(Number::read(to[i]), Number::read(from[i])));
  }
}

template <typename Number>
void reduce(ReduceOp op, std::span<void* const> parts, int64_t count) {
  using Stored = typename Number::Stored;
  using T = decltype(Number::read(Stored{}));
  if (op == ReduceOp::kMin)
    return fold<Number>(parts, count, [](T a, T b) { return std::min(a, b); });
  if (op == ReduceOp::kMax)
    return fold<Number>(parts, count, [](T a, T b) { return std::max(a, b); });
  fold<Number>(parts, count, sum<T>);
  if (op != ReduceOp::kMean) return;
  const T world = static_cast<T>(parts.size());
  auto* const to = static_cast<Stored*>(parts[0]);
  for (int64_t i = 0; i < count; ++i) to[i] = Number::write(Number::read(to[i]) / world);
}

template <typename T>
struct Plain {
  using Stored = T;
  static T read(T value) { return value; }
  static T write(T value) { return value; }
};

struct Half {
  using Stored = uint16_t;
  static float read(uint16_t bits) { return base::f16_to_f32(bits); }
  static uint16_t write(float value) { return base::f32_to_f16(value); }
};

struct BrainFloat {
  using Stored = uint16_t;
  static float read(uint16_t bits) { return base::bf16_to_f32(bits); }
  static uint16_t write(float value) { return base::f32_to_bf16(value); }
};

}  // namespace

void reduce_in_order(base::DType dtype, ReduceOp op, std::span<void* const> parts, int64_t count) {
  switch (dtype) {
    case base::DType::kF32:
      return reduce<Plain<float>>(op, parts, count);
    case base::DType::kF64:
      return reduce<Plain<double>>(op, parts, count);
    case base::DType::kF16:
      return reduce<Half>(op, parts, count);
    case base::DType::kBF16:
      return reduce<BrainFloat>(op, parts, count);
    case base::DType::kI64:
      return reduce<Plain<int64_t>>(op, parts, count);
    case base::DType::kI32:
      return reduce<Plain<int32_t>>(op, parts, count);
    case base::DType::kU8:
    case base::DType::kBool:
      return reduce<Plain<uint8_t>>(op, parts, count);
  }
}

}  // namespace gnnmg::comm
