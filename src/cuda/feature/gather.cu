// The feature stores' entries on a GPU.
#include "cuda/feature/entries.h"
#include "cuda/grid/cuda_queue.cuh"

namespace gnnmg::cuda {

template const feature::DeviceFeatures& features_table<CudaQueue>();

}  // namespace gnnmg::cuda
