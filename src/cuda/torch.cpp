// What LibTorch is told of our queues.
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>

#include <string>

#include "base/error.h"
#include "cuda/device.h"
#include "cuda/grid/queue_stream.h"

namespace gnnmg::cuda {

void use(base::DeviceQueue* queue) {
  try {
    const auto device = static_cast<c10::DeviceIndex>(device_of(queue));
    c10::cuda::set_device(device);
    c10::cuda::setCurrentCUDAStream(c10::cuda::getStreamFromExternal(stream_of(queue), device));
  } catch (const c10::Error& error) {
    const std::string text = error.what_without_backtrace();
    base::fail(base::Status::kDeviceLost, "LibTorch cannot work on GPU ", device_of(queue), ": ",
               text.substr(0, text.find('\n')));
  }
}

}  // namespace gnnmg::cuda
