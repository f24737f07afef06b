// Errors of the CUDA runtime as ours. A device that failed stays failed: what is said then is
// Error(kDeviceLost), on this and on every later call.
#pragma once

#include <cuda_runtime_api.h>

namespace gnnmg::cuda {

// `what` is what was being done, as in "copying".
void check(cudaError_t error, const char* what);

}  // namespace gnnmg::cuda
