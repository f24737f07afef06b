// One kernel, by CUDA alone: a tool that refuses this refuses the machine and not the library.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void add_one(int* value) { *value += 1; }

int main() {
  int* value = nullptr;
  int found = 0;
  cudaError_t error = cudaMalloc(&value, sizeof *value);
  if (error == cudaSuccess) error = cudaMemset(value, 0, sizeof *value);
  if (error == cudaSuccess) add_one<<<1, 1>>>(value);
  if (error == cudaSuccess) error = cudaMemcpy(&found, value, sizeof found, cudaMemcpyDefault);
  cudaFree(value);
  if (error == cudaErrorInsufficientDriver || error == cudaErrorNoDevice) {
    std::puts("skipped: no driver, hence no GPU");
    return 77;
  }
  std::printf("%s: %d\n", cudaGetErrorString(error), found);
  return error != cudaSuccess || found != 1;
}
