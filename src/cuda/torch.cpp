// Tells LibTorch about the library's queues.
#include <ATen/cuda/PeerToPeerAccess.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>

#include <mutex>
#include <string>

#include "base/error.h"
#include "cuda/device.h"
#include "cuda/grid/queue_stream.h"

namespace gnnmg::cuda {
namespace {

std::string first_line(const c10::Error& error) {
  const std::string text = error.what_without_backtrace();
  return text.substr(0, text.find('\n'));
}

}  // namespace

void use(device::Queue* queue) {
  try {
    const auto device = static_cast<c10::DeviceIndex>(device_of(queue));
    c10::cuda::set_device(device);
    c10::cuda::setCurrentCUDAStream(c10::cuda::getStreamFromExternal(stream_of(queue), device));
  } catch (const c10::Error& error) {
    base::fail(base::Status::kDeviceLost, "LibTorch cannot work on GPU ", device_of(queue), ": ",
               first_line(error));
  }
}

// LibTorch records peer access, and enables it separately for some kinds of its allocator's memory.
bool enable_peer(int device, int peer) {
  device_info(device);  // Error if it does not exist
  device_info(peer);
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  try {
    return at::cuda::get_p2p_access(static_cast<c10::DeviceIndex>(device),
                                    static_cast<c10::DeviceIndex>(peer));
  } catch (const c10::Error& error) {
    base::fail(base::Status::kUnsupported, "GPU ", device,
               " cannot get access to the memory of GPU ", peer, ": ", first_line(error));
  }
}

}  // namespace gnnmg::cuda
