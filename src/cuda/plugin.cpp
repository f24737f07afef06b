// The only function that the plug-in exports.
#include "device/plugin.h"

#include <c10/core/DeviceType.h>

#include "cuda/device.h"
#include "cuda/nccl_table.h"
#include "cuda/tables.h"

extern "C" __attribute__((visibility("default"))) const gnnmg::device::Table*
gnnmg_cuda_device_table() noexcept {
  namespace cuda = gnnmg::cuda;
  namespace device = gnnmg::device;
  static const device::Table table{
      .size = sizeof(device::Table),
      .version = device::build_version(),
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
      .free_graph = cuda::free_graph,
      .make_event = cuda::make_event,
      .record = cuda::record,
      .reached = cuda::reached,
      .wait_event = cuda::wait_event,
      .elapsed = cuda::elapsed,
      .free_event = cuda::free_event,
      .rooms = {device::room_table(&cuda::cuda_sampling()),
                device::room_table(&cuda::cuda_features()), device::room_table(&cuda::nccl_table()),
                device::room_table(&cuda::cuda_layers_f32()),
                device::room_table(&cuda::cuda_layers_f64()),
                device::room_table(&cuda::cuda_updates_f32()),
                device::room_table(&cuda::cuda_updates_f64())},
  };
  return &table;
}
