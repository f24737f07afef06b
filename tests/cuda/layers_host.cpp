// The layers' and the optimizers' tables of the host's implementation.
#include "cuda/layer/attention.h"
#include "cuda/layer/edges.h"
#include "cuda/layer/reductions.h"
#include "cuda/layer/rows.h"
#include "cuda/layer/stored.h"
#include "cuda/layer/weights.h"
#include "cuda/update/update.h"
#include "host_queue.h"

namespace gnnmg::cuda {

#define GNNMG_INSTANTIATE(T)                                              \
  template void add_attention<HostQueue>(nn::kernels::DeviceLayers<T>&);  \
  template void add_edges<HostQueue>(nn::kernels::DeviceLayers<T>&);      \
  template void add_reductions<HostQueue>(nn::kernels::DeviceLayers<T>&); \
  template void add_stored<HostQueue>(nn::kernels::DeviceLayers<T>&);     \
  template void add_weights<HostQueue>(nn::kernels::DeviceLayers<T>&);    \
  template void add_rows<HostQueue>(nn::kernels::DeviceLayers<T>&);       \
  template const train::DeviceUpdates<T>& updates_table<HostQueue, T>();
GNNMG_INSTANTIATE(float)
GNNMG_INSTANTIATE(double)
#undef GNNMG_INSTANTIATE

}  // namespace gnnmg::cuda
