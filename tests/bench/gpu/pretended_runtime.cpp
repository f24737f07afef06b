// The target of counted calls in the test: copies that do nothing, and memory whose first byte
// tells its kind.
#include <cuda_runtime_api.h>

extern "C" cudaError_t cudaMemcpyAsync(void*, const void*, size_t, cudaMemcpyKind, cudaStream_t) {
  return cudaErrorNotReady;  // the caller must receive this
}

extern "C" cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* found, const void* memory) {
  const char kind = *static_cast<const char*>(memory);
  if (kind == '?') return cudaErrorInvalidValue;
  found->type = kind == 'd'   ? cudaMemoryTypeDevice
                : kind == 'p' ? cudaMemoryTypeHost
                              : cudaMemoryTypeUnregistered;
  return cudaSuccess;
}
