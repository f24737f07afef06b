#include "cuda/layer/attention.h"

#include "cuda/grid/cuda_queue.cuh"

namespace gnnmg::cuda {

template void add_attention<CudaQueue, float>(nn::kernels::DeviceLayers<float>&);
template void add_attention<CudaQueue, double>(nn::kernels::DeviceLayers<double>&);

}  // namespace gnnmg::cuda
