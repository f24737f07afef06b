// Selects the products in bf16 for this machine.
#include "nn/kernels/bf16.h"

#if GNNMG_X86_KERNELS
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace gnnmg::nn::kernels {

extern const Bf16Kernels bf16_generic;
#if GNNMG_X86_KERNELS
extern const Bf16Kernels bf16_avx2, bf16_avx512, bf16_avx512bf16, bf16_amx;
#endif

namespace {

#if GNNMG_X86_KERNELS
bool has_avx512bf16() noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return table_for<float>(Isa::kAvx512) && __get_cpuid_count(7, 1, &a, &b, &c, &d) &&
         (a & (1u << 5));
}

// The system saves the tile registers of a process only after a request.
bool has_amx() noexcept {
  constexpr unsigned kBf16 = 1u << 22, kTile = 1u << 24;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!has_avx512bf16() || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  if ((d & (kBf16 | kTile)) != (kBf16 | kTile)) return false;
#if defined(__linux__)
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}
#endif

// Intel's processors start the dot product of AVX512-BF16 half as often as a multiplication of f32,
// and it is slower there than two of them.
bool prefers_f32() noexcept {
#if GNNMG_X86_KERNELS
  return __builtin_cpu_is("intel");
#else
  return false;
#endif
}

const Bf16Kernels& fastest() noexcept {
  const Bf16Isa vectors = prefers_f32() ? Bf16Isa::kAvx512 : Bf16Isa::kAvx512Bf16;
  for (const Bf16Isa isa : {Bf16Isa::kAmx, vectors, Bf16Isa::kAvx512, Bf16Isa::kAvx2})
    if (const Bf16Kernels* kernels = bf16_kernels_for(isa)) return *kernels;
  return bf16_generic;
}

}  // namespace

const Bf16Kernels* bf16_kernels_for(Bf16Isa isa) noexcept {
#if GNNMG_X86_KERNELS
  static const bool amx = has_amx();
  switch (isa) {
    case Bf16Isa::kAmx:
      return amx ? &bf16_amx : nullptr;
    case Bf16Isa::kAvx512Bf16:
      return has_avx512bf16() ? &bf16_avx512bf16 : nullptr;
    case Bf16Isa::kAvx512:
      return table_for<float>(Isa::kAvx512) ? &bf16_avx512 : nullptr;
    case Bf16Isa::kAvx2:
      return table_for<float>(Isa::kAvx2) ? &bf16_avx2 : nullptr;
    case Bf16Isa::kGeneric:
      break;
  }
#endif
  return isa == Bf16Isa::kGeneric ? &bf16_generic : nullptr;
}

const Bf16Kernels& bf16_kernels() noexcept {
  static const Bf16Kernels& chosen = fastest();
  return chosen;
}

}  // namespace gnnmg::nn::kernels
