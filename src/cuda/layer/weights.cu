#include "cuda/layer/weights.h"

#include "cuda/grid/cuda_queue.cuh"

namespace gnnmg::cuda {

template void add_weights<CudaQueue, float>(nn::kernels::DeviceLayers<float>&);
template void add_weights<CudaQueue, double>(nn::kernels::DeviceLayers<double>&);

}  // namespace gnnmg::cuda
