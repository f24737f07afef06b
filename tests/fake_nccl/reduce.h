// The result of a reduction over ranks, in the order of ranks, so that all get the same bits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/tensor.h"
#include "comm/nccl/table.h"

namespace gnnmg::fake_nccl {

inline int64_t size_of(comm::nccl::Type type) {
  using comm::nccl::Type;
  switch (type) {
    case Type::kU8:
      return 1;
    case Type::kF16:
    case Type::kBF16:
      return 2;
    case Type::kI32:
    case Type::kF32:
      return 4;
    default:
      return 8;
  }
}

template <typename T, typename Load, typename Store>
void reduce_as(std::span<const uint8_t* const> inputs, uint8_t* out, int64_t count,
               comm::nccl::Reduction op, const Load& load, const Store& store) {
  using comm::nccl::Reduction;
  using V = decltype(load(T{}));
  constexpr int64_t kSize = sizeof(T);
  for (int64_t i = 0; i < count; ++i) {
    V sum{};
    for (size_t r = 0; r < inputs.size(); ++r) {
      T raw;
      std::memcpy(&raw, inputs[r] + i * kSize, kSize);
      const V value = load(raw);
      if (r == 0)
        sum = value;
      else if (op == Reduction::kMin)
        sum = std::min(sum, value);
      else if (op == Reduction::kMax)
        sum = std::max(sum, value);
      else
        sum = static_cast<V>(sum + value);
    }
    if (op == Reduction::kMean) sum = static_cast<V>(sum / static_cast<V>(inputs.size()));
    const T result = store(sum);
    std::memcpy(out + i * kSize, &result, kSize);
  }
}

// `out` must not be one of the inputs.
inline void reduce(std::span<const uint8_t* const> inputs, uint8_t* out, int64_t count,
                   comm::nccl::Type type, comm::nccl::Reduction op) {
  using comm::nccl::Type;
  const auto same = [](auto v) { return v; };
  switch (type) {
    case Type::kU8:
      return reduce_as<uint8_t>(inputs, out, count, op, same, same);
    case Type::kI32:
      return reduce_as<int32_t>(inputs, out, count, op, same, same);
    case Type::kI64:
      return reduce_as<int64_t>(inputs, out, count, op, same, same);
    case Type::kF32:
      return reduce_as<float>(inputs, out, count, op, same, same);
    case Type::kF64:
      return reduce_as<double>(inputs, out, count, op, same, same);
    case Type::kF16:
      return reduce_as<uint16_t>(inputs, out, count, op, base::f16_to_f32, base::f32_to_f16);
    case Type::kBF16:
      return reduce_as<uint16_t>(inputs, out, count, op, base::bf16_to_f32, base::f32_to_bf16);
  }
}

}  // namespace gnnmg::fake_nccl
