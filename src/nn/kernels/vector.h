// Vectors of GNNMG_VECTOR_BYTES bytes, the basis of the kernels' code. Included by code that is
// compiled once for each instruction set; everything is internal to the including file.
#pragma once

#include <cstdint>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace gnnmg::nn::kernels {
namespace {

template <typename T>
struct VectorOf {
  typedef T type __attribute__((vector_size(GNNMG_VECTOR_BYTES)));
};
template <typename T>
using Vector = typename VectorOf<T>::type;
template <typename T>
constexpr int kLanes = GNNMG_VECTOR_BYTES / sizeof(T);

template <typename T>
inline Vector<T> load(const T* p) {
  Vector<T> v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
template <typename T>
inline void store(T* p, Vector<T> v) {
  __builtin_memcpy(p, &v, sizeof v);
}
template <typename T>
inline Vector<T> splat(T value) {
  return Vector<T>{} + value;
}

}  // namespace
}  // namespace gnnmg::nn::kernels
