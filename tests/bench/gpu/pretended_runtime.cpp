// What the count of calls goes on to in its test: copies of nothing, and memory whose first byte
// says what it is.
#include <cuda_runtime_api.h>

extern "C" cudaError_t cudaMemcpyAsync(void*, const void*, size_t, cudaMemcpyKind, cudaStream_t) {
  return cudaErrorNotReady;  // which the caller has to be told
}

extern "C" cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* found, const void* memory) {
  const char kind = *static_cast<const char*>(memory);
  if (kind == '?') return cudaErrorInvalidValue;
  found->type = kind == 'd'   ? cudaMemoryTypeDevice
                : kind == 'p' ? cudaMemoryTypeHost
                              : cudaMemoryTypeUnregistered;
  return cudaSuccess;
}
