#include "cuda/grid/cuda_queue.cuh"
#include "cuda/sample/entries.h"
#include "cuda/tables.h"

namespace gnnmg::cuda {

const sample::DeviceSampling& cuda_sampling() { return sampling_table<CudaQueue>(); }

}  // namespace gnnmg::cuda
