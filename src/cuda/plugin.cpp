// The only function that the plug-in exports.
#include "base/plugin.h"

#include <c10/core/DeviceType.h>

#include "cuda/device.h"
#include "cuda/nccl_table.h"
#include "cuda/tables.h"

extern "C" __attribute__((visibility("default"))) const gnnmg::base::DeviceTable*
gnnmg_cuda_device_table() noexcept {
  namespace cuda = gnnmg::cuda;
  static const gnnmg::base::DeviceTable table{
      .size = sizeof(gnnmg::base::DeviceTable),
      .version = gnnmg::base::build_version(),
      .torch_device_type = static_cast<int32_t>(c10::DeviceType::CUDA),
      .num_devices = cuda::num_devices,
      .info = cuda::device_info,
      .allocate = cuda::allocate,
      .release = cuda::release,
      .pin = cuda::pin,
      .unpin = cuda::unpin,
      .enable_peer = cuda::enable_peer,
      .open_queue = cuda::open_counted_queue,
      .open_urgent_queue = cuda::open_urgent_queue,
      .close_queue = cuda::close_counted_queue,
      .copy = cuda::copy,
      .synchronize = cuda::synchronize,
      .finished = cuda::finished,
      .wait = cuda::wait,
      .use = cuda::use,
      .capture = cuda::capture,
      .replay = cuda::replay,
      .free_capture = cuda::free_capture,
      .make_mark = cuda::make_mark,
      .mark = cuda::mark,
      .reached = cuda::reached,
      .wait_mark = cuda::wait_mark,
      .elapsed = cuda::elapsed,
      .free_mark = cuda::free_mark,
      .sampling = &cuda::cuda_sampling(),
      .features = &cuda::cuda_features(),
      .nccl = &cuda::nccl_table(),
      .layers_f32 = &cuda::cuda_layers_f32(),
      .layers_f64 = &cuda::cuda_layers_f64(),
      .updates_f32 = &cuda::cuda_updates_f32(),
      .updates_f64 = &cuda::cuda_updates_f64(),
  };
  return &table;
}
