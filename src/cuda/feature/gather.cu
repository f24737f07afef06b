#include "cuda/feature/entries.h"
#include "cuda/grid/cuda_queue.cuh"
#include "cuda/tables.h"

namespace gnnmg::cuda {

const feature::DeviceFeatures& cuda_features() { return features_table<CudaQueue>(); }

}  // namespace gnnmg::cuda
