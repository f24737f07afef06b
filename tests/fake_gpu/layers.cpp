// The layers' and the optimizers' tables of fake devices.
#include "cuda/layer/attention.h"
#include "cuda/layer/edges.h"
#include "cuda/layer/reductions.h"
#include "cuda/layer/rows.h"
#include "cuda/layer/stored.h"
#include "cuda/layer/table.h"
#include "cuda/layer/weights.h"
#include "cuda/update/table.h"
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

namespace gnnmg::fake_gpu {
namespace {

void add_tables(device::Table& table) {
  table.set(&cuda::layers_table<FakeQueue, float>());
  table.set(&cuda::layers_table<FakeQueue, double>());
  table.set(&cuda::updates_table<FakeQueue, float>());
  table.set(&cuda::updates_table<FakeQueue, double>());
}
[[maybe_unused]] const bool linked = set_torch_half({set_torch_device, add_tables});

}  // namespace
}  // namespace gnnmg::fake_gpu
