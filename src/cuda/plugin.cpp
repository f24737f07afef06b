// The one function that the plug-in exports.
#include "base/plugin.h"

#include "cuda/device.h"

extern "C" __attribute__((visibility("default"))) const gnnmg::base::DeviceTable*
gnnmg_cuda_device_table() noexcept {
  namespace cuda = gnnmg::cuda;
  static const gnnmg::base::DeviceTable table{
      .size = sizeof(gnnmg::base::DeviceTable),
      .version = gnnmg::base::build_version(),
      .num_devices = cuda::num_devices,
      .info = cuda::device_info,
      .allocate = cuda::allocate,
      .release = cuda::release,
      .pin = cuda::pin,
      .unpin = cuda::unpin,
      .open_queue = cuda::open_queue,
      .close_queue = cuda::close_queue,
      .copy = cuda::copy,
      .synchronize = cuda::synchronize,
      .finished = cuda::finished,
      .sampling = nullptr,
      .features = nullptr,
      .layers_f32 = nullptr,
      .layers_f64 = nullptr,
  };
  return &table;
}
