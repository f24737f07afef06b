#include "cuda/layer/reductions.h"

#include "cuda/grid/cuda_queue.cuh"

namespace gnnmg::cuda {

template void add_reductions<CudaQueue, float>(nn::kernels::DeviceLayers<float>&);
template void add_reductions<CudaQueue, double>(nn::kernels::DeviceLayers<double>&);

}  // namespace gnnmg::cuda
