// The layers' tables of the plug-in; the .cu files of this folder instantiate their parts.
#include "cuda/layer/table.h"
#include "cuda/tables.h"

namespace gnnmg::cuda {

class CudaQueue;

const nn::kernels::DeviceLayers<float>& cuda_layers_f32() {
  return layers_table<CudaQueue, float>();
}
const nn::kernels::DeviceLayers<double>& cuda_layers_f64() {
  return layers_table<CudaQueue, double>();
}

}  // namespace gnnmg::cuda
