// What kernels may use on a GPU and in host tests alike: the mark of a function for both, the
// atomics on integers, and 16 bytes at once. There are no atomics on floating-point numbers, so
// that every result can be repeated.
#pragma once

#include <atomic>
#include <cstdint>

#ifdef __CUDACC__
#define GNNMG_BOTH __host__ __device__ __forceinline__
#else
#define GNNMG_BOTH inline
#endif
// What tests do in front of an atomic on the host, where others may come between.
#ifndef GNNMG_BEFORE_ATOMIC
#define GNNMG_BEFORE_ATOMIC()
#endif
// Before a loop whose arrays are to stay in registers.
#ifdef __CUDA_ARCH__
#define GNNMG_UNROLL _Pragma("unroll")
#else
#define GNNMG_UNROLL
#endif

namespace gnnmg::cuda {

// 16 bytes, at an address that is a multiple of 16. A plain copy is four accesses for nvcc: what
// wants one instruction says so (feature/rows.h).
struct alignas(16) Line {
  uint32_t words[4];
};

template <typename T>
GNNMG_BOTH T least(T a, T b) {
  return b < a ? b : a;
}
template <typename T>
GNNMG_BOTH T greatest(T a, T b) {
  return a < b ? b : a;
}

// What is there while other lanes change it: one access of 8 bytes, and no later one finds older
// contents than this one did.
GNNMG_BOTH uint64_t load_atomically(uint64_t* at) {
#ifdef __CUDA_ARCH__
  uint64_t value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
               : "=l"(value)
               : "l"(__cvta_generic_to_global(at))
               : "memory");
  return value;
#else
  GNNMG_BEFORE_ATOMIC();
  return std::atomic_ref<uint64_t>(*at).load(std::memory_order_relaxed);
#endif
}

// Stores the smaller of *at and `value` there; returns what was there.
GNNMG_BOTH uint64_t atomic_min(uint64_t* at, uint64_t value) {
#ifdef __CUDA_ARCH__
  return atomicMin(reinterpret_cast<unsigned long long*>(at),
                   static_cast<unsigned long long>(value));
#else
  GNNMG_BEFORE_ATOMIC();
  std::atomic_ref<uint64_t> cell(*at);
  uint64_t old = cell.load(std::memory_order_relaxed);
  while (value < old && !cell.compare_exchange_weak(old, value, std::memory_order_relaxed)) {
  }
  return old;
#endif
}

// Stores `desired` if *at is `expected`; returns what was there.
GNNMG_BOTH uint64_t atomic_compare_exchange(uint64_t* at, uint64_t expected, uint64_t desired) {
#ifdef __CUDA_ARCH__
  return atomicCAS(reinterpret_cast<unsigned long long*>(at),
                   static_cast<unsigned long long>(expected),
                   static_cast<unsigned long long>(desired));
#else
  GNNMG_BEFORE_ATOMIC();
  std::atomic_ref<uint64_t>(*at).compare_exchange_strong(expected, desired,
                                                         std::memory_order_relaxed);
  return expected;
#endif
}

// Adds to *at; returns what was there.
GNNMG_BOTH int32_t atomic_add(int32_t* at, int32_t value) {
#ifdef __CUDA_ARCH__
  return atomicAdd(at, value);
#else
  GNNMG_BEFORE_ATOMIC();
  return std::atomic_ref<int32_t>(*at).fetch_add(value, std::memory_order_relaxed);
#endif
}
GNNMG_BOTH uint64_t atomic_add(uint64_t* at, uint64_t value) {
#ifdef __CUDA_ARCH__
  return atomicAdd(reinterpret_cast<unsigned long long*>(at),
                   static_cast<unsigned long long>(value));
#else
  GNNMG_BEFORE_ATOMIC();
  return std::atomic_ref<uint64_t>(*at).fetch_add(value, std::memory_order_relaxed);
#endif
}

// Number of set bits, and the place of the lowest one (32 where there is none).
GNNMG_BOTH int count_bits(uint32_t bits) {
#ifdef __CUDA_ARCH__
  return __popc(bits);
#else
  return __builtin_popcount(bits);
#endif
}
GNNMG_BOTH int lowest_bit(uint32_t bits) {
#ifdef __CUDA_ARCH__
  return bits ? __ffs(static_cast<int>(bits)) - 1 : 32;
#else
  return bits ? __builtin_ctz(bits) : 32;
#endif
}

}  // namespace gnnmg::cuda
