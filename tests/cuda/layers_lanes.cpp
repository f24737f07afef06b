// The layers' and the optimizers' tables of the host's implementation with separate lanes.
#include "lane_queue.h"
//
#include "cuda/layer/attention.h"
#include "cuda/layer/edges.h"
#include "cuda/layer/reductions.h"
#include "cuda/layer/rows.h"
#include "cuda/layer/stored.h"
#include "cuda/layer/weights.h"
#include "cuda/update/update.h"

namespace gnnmg::cuda {

#define GNNMG_INSTANTIATE(T)                                              \
  template void add_attention<LaneQueue>(nn::kernels::DeviceLayers<T>&);  \
  template void add_edges<LaneQueue>(nn::kernels::DeviceLayers<T>&);      \
  template void add_reductions<LaneQueue>(nn::kernels::DeviceLayers<T>&); \
  template void add_stored<LaneQueue>(nn::kernels::DeviceLayers<T>&);     \
  template void add_weights<LaneQueue>(nn::kernels::DeviceLayers<T>&);    \
  template void add_rows<LaneQueue>(nn::kernels::DeviceLayers<T>&);       \
  template const train::DeviceUpdates<T>& updates_table<LaneQueue, T>();
GNNMG_INSTANTIATE(float)
GNNMG_INSTANTIATE(double)
#undef GNNMG_INSTANTIATE

}  // namespace gnnmg::cuda
