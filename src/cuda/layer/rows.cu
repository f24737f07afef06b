#include "cuda/layer/rows.h"

#include "cuda/grid/cuda_queue.cuh"

namespace gnnmg::cuda {

template void add_rows<CudaQueue, float>(nn::kernels::DeviceLayers<float>&);
template void add_rows<CudaQueue, double>(nn::kernels::DeviceLayers<double>&);

}  // namespace gnnmg::cuda
