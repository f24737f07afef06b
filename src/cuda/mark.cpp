// Points in queues that have a time: CUDA events.
#include "cuda/device.h"
#include "cuda/grid/queue_stream.h"
#include "cuda/grid/runtime.h"

namespace gnnmg::cuda {
namespace {

struct Mark {
  explicit Mark(int device) : event(device, cudaEventDefault) {}
  const Event event;
  bool put = false;  // CUDA takes an event that never was for an error
};

const Mark& of(const base::DeviceMark* mark) { return *reinterpret_cast<const Mark*>(mark); }

}  // namespace

base::DeviceMark* make_mark(int device) {
  check_device(device);
  return reinterpret_cast<base::DeviceMark*>(new Mark(device));
}

void mark(base::DeviceQueue* queue, base::DeviceMark* place) {
  Mark& at = *reinterpret_cast<Mark*>(place);
  const OnDevice on(device_of(queue));
  check(cudaEventRecord(at.event.get(), stream_of(queue)), "marking a place in a queue");
  at.put = true;
}

bool elapsed(const base::DeviceMark* from, const base::DeviceMark* to, double* seconds) {
  if (!of(from).put || !of(to).put) return false;
  const OnDevice on(of(from).event.device());
  float milliseconds = 0;
  const cudaError_t state =
      cudaEventElapsedTime(&milliseconds, of(from).event.get(), of(to).event.get());
  if (state == cudaErrorNotReady) {
    cudaGetLastError();  // for nobody else to find
    return false;
  }
  check(state, "asking for the time between two marks");
  *seconds = 1e-3 * static_cast<double>(milliseconds);
  return true;
}

void free_mark(base::DeviceMark* mark) noexcept { delete reinterpret_cast<Mark*>(mark); }

}  // namespace gnnmg::cuda
