// The layers' and the optimizers' tables of fake devices.
#include "cuda/layer/attention.h"
#include "cuda/layer/edges.h"
#include "cuda/layer/reductions.h"
#include "cuda/layer/rows.h"
#include "cuda/layer/stored.h"
#include "cuda/layer/weights.h"
#include "cuda/update/update.h"
#include "fake_queue.h"

namespace gnnmg::cuda {

#define GNNMG_INSTANTIATE(T)                                                               \
  template void add_attention<gnnmg::fake_gpu::FakeQueue>(nn::kernels::DeviceLayers<T>&);  \
  template void add_edges<gnnmg::fake_gpu::FakeQueue>(nn::kernels::DeviceLayers<T>&);      \
  template void add_reductions<gnnmg::fake_gpu::FakeQueue>(nn::kernels::DeviceLayers<T>&); \
  template void add_stored<gnnmg::fake_gpu::FakeQueue>(nn::kernels::DeviceLayers<T>&);     \
  template void add_weights<gnnmg::fake_gpu::FakeQueue>(nn::kernels::DeviceLayers<T>&);    \
  template void add_rows<gnnmg::fake_gpu::FakeQueue>(nn::kernels::DeviceLayers<T>&);       \
  template const train::DeviceUpdates<T>& updates_table<gnnmg::fake_gpu::FakeQueue, T>();
GNNMG_INSTANTIATE(float)
GNNMG_INSTANTIATE(double)
#undef GNNMG_INSTANTIATE

}  // namespace gnnmg::cuda
