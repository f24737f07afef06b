#include "cuda/update/update.h"

#include "cuda/grid/cuda_queue.cuh"
#include "cuda/tables.h"

namespace gnnmg::cuda {

const train::DeviceUpdates<float>& cuda_updates_f32() { return updates_table<CudaQueue, float>(); }
const train::DeviceUpdates<double>& cuda_updates_f64() {
  return updates_table<CudaQueue, double>();
}

}  // namespace gnnmg::cuda
