#include "cuda/layer/edges.h"

#include "cuda/grid/cuda_queue.cuh"

namespace gnnmg::cuda {

template void add_edges<CudaQueue, float>(nn::kernels::DeviceLayers<float>&);
template void add_edges<CudaQueue, double>(nn::kernels::DeviceLayers<double>&);

}  // namespace gnnmg::cuda
