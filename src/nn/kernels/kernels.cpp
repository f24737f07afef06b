// Selects the kernels for this machine, and computes the parameters of dropout.
#include "nn/kernels/kernels.h"

#include <cmath>

namespace gnnmg::nn::kernels {

extern const Table<float> table_generic_f32;
extern const Table<double> table_generic_f64;
#if GNNMG_X86_KERNELS
extern const Table<float> table_avx2_f32, table_avx512_f32;
extern const Table<double> table_avx2_f64, table_avx512_f64;
#endif

namespace {

bool runs(Isa isa) noexcept {
#if GNNMG_X86_KERNELS
  if (isa == Isa::kAvx2) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (isa == Isa::kAvx512)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#endif
  return isa == Isa::kGeneric;
}

template <typename T>
const Table<T>& widest() noexcept {
  for (Isa isa : {Isa::kAvx512, Isa::kAvx2})
    if (const Table<T>* table = table_for<T>(isa)) return *table;
  return *table_for<T>(Isa::kGeneric);
}

}  // namespace

template <>
const Table<float>* table_for<float>(Isa isa) noexcept {
  if (!runs(isa)) return nullptr;
#if GNNMG_X86_KERNELS
  if (isa == Isa::kAvx512) return &table_avx512_f32;
  if (isa == Isa::kAvx2) return &table_avx2_f32;
#endif
  return &table_generic_f32;
}

template <>
const Table<double>* table_for<double>(Isa isa) noexcept {
  if (!runs(isa)) return nullptr;
#if GNNMG_X86_KERNELS
  if (isa == Isa::kAvx512) return &table_avx512_f64;
  if (isa == Isa::kAvx2) return &table_avx2_f64;
#endif
  return &table_generic_f64;
}

template <>
const Table<float>& table<float>() noexcept {
  static const Table<float>& chosen = widest<float>();
  return chosen;
}

template <>
const Table<double>& table<double>() noexcept {
  static const Table<double>& chosen = widest<double>();
  return chosen;
}

template <typename T>
bool has_faster_product() noexcept {
#if GNNMG_X86_KERNELS
  static const bool faster = table<T>().product && !__builtin_cpu_is("intel");
  return faster;
#else
  return false;
#endif
}
template bool has_faster_product<float>() noexcept;
template bool has_faster_product<double>() noexcept;

Dropout make_dropout(double rate, uint64_t seed, uint64_t epoch, uint64_t batch, uint64_t layer) {
  Dropout dropout;
  if (rate <= 0) return dropout;
  dropout.key = base::stream_key(seed, base::Purpose::kDropout, epoch, batch, layer);
  const double rounded = std::fmin(std::nearbyint(rate * 65536), 65535);
  dropout.threshold = static_cast<uint32_t>(rounded);
  dropout.scale = 1 / (1 - rounded / 65536);
  return dropout;
}

}  // namespace gnnmg::nn::kernels
