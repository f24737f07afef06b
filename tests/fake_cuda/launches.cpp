// Launches of the fake runtime: finds the kernel's name for the host function that nvcc generates
// for a kernel.
#include <dlfcn.h>

#include <cstdlib>
#include <vector>

#include "fake_cuda/state.h"

using namespace gnnmg::fake_cuda;

namespace {

struct Configuration {
  dim3 grid, block;
  size_t shared;
  void* stream;
};
thread_local std::vector<Configuration> configurations;

cudaError_t launch(const char* name, const void* function, dim3 grid, dim3 block, void** arguments,
                   cudaStream_t stream) {
  Call call = about(name, device_of(stream));
  call.grid = grid.x * grid.y * grid.z;
  call.block = block.x;
  if (const cudaError_t error = note(std::move(call))) return error;
  const MakeWork make_work = state().make_work;
  if (make_work == nullptr) return cudaSuccess;
  return leave(submit(stream, make_work(function, device_of(stream), grid, block, arguments)));
}

}  // namespace

using Register = void (*)(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*,
                          dim3*, int*);

// Libraries with kernels call it when they are opened. Passes LibTorch's on to the real runtime,
// which needs them.
GNNMG_FAKE void __cudaRegisterFunction(void** binary, const char* function, char* kernel,
                                       const char* name, int threads, uint3* tid, uint3* bid,
                                       dim3* block, dim3* grid, int* warp) {
  static void* const runtime = dlopen(GNNMG_CUDART, RTLD_NOW | RTLD_LOCAL);
  static const auto real =
      runtime == nullptr ? nullptr
                         : reinterpret_cast<Register>(dlsym(runtime, "__cudaRegisterFunction"));
  if (real == nullptr) std::abort();  // the plug-in is built with it
  real(binary, function, kernel, name, threads, tid, bid, block, grid, warp);
  const std::lock_guard lock(state().mutex);
  state().functions[function] = kernel;
}
GNNMG_FAKE cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  *kernel = static_cast<cudaKernel_t>(const_cast<void*>(function));
  return cudaSuccess;
}
GNNMG_FAKE unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                                cudaStream_t stream) {
  configurations.push_back({grid, block, shared, stream});
  return 0;
}
GNNMG_FAKE cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared,
                                                  void* stream) {
  const Configuration last = configurations.back();
  configurations.pop_back();
  *grid = last.grid;
  *block = last.block;
  *shared = last.shared;
  *static_cast<void**>(stream) = last.stream;
  return cudaSuccess;
}
GNNMG_FAKE cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
                                          void** arguments, size_t, cudaStream_t stream) {
  return launch("__cudaLaunchKernel", kernel, grid, block, arguments, stream);
}
GNNMG_FAKE cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                           void** arguments) {
  return launch("cudaLaunchKernelExC", function, config->gridDim, config->blockDim, arguments,
                config->stream);
}
