#include "cuda/layer/stored.h"

#include "cuda/grid/cuda_queue.cuh"

namespace gnnmg::cuda {

template void add_stored<CudaQueue, float>(nn::kernels::DeviceLayers<float>&);
template void add_stored<CudaQueue, double>(nn::kernels::DeviceLayers<double>&);

}  // namespace gnnmg::cuda
