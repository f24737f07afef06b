// The common vocabulary of kernels on a GPU and in host tests: the attribute of functions for both,
// atomics on integers, and 16-byte copies. There are no atomics on floating-point numbers, so that
// every result can be repeated.
#pragma once

#include <atomic>
#include <cstdint>

#ifdef __CUDACC__
#define GNNMG_BOTH __host__ __device__ __forceinline__
#else
#define GNNMG_BOTH inline
#endif
// Hook for tests before an atomic on the host, for interleavings.
#ifndef GNNMG_BEFORE_ATOMIC
#define GNNMG_BEFORE_ATOMIC()
#endif
// Precedes a loop whose arrays should stay in registers.
#ifdef __CUDA_ARCH__
#define GNNMG_UNROLL _Pragma("unroll")
#else
#define GNNMG_UNROLL
#endif

namespace gnnmg::cuda {

// 16 bytes, at an address that is a multiple of 16. nvcc compiles a plain copy to four accesses;
// code that needs one instruction requests it explicitly (feature/rows.h).
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

// Reads a value that other lanes may change: one access of 8 bytes; later reads never see an older
// value.
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

// Stores the smaller of *at and `value` there; returns the old value.
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

// Stores `desired` if *at is `expected`; returns the old value.
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

// Adds to *at; returns the old value.
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

// Return the number of set bits, and the position of the lowest one (32 if none is set).
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
