// The events of queues: CUDA events.
#include "cuda/device.h"
#include "cuda/grid/queue_stream.h"
#include "cuda/grid/runtime.h"

namespace gnnmg::cuda {
namespace {

struct Mark {
  Mark(int device, bool timed) : event(device, timed ? cudaEventDefault : cudaEventDisableTiming) {}
  const Event event;
  // CUDA returns an error for the time of an event that was never recorded. Queries of such an
  // event and waits for it succeed at once.
  bool put = false;
};

const Mark& of(const base::DeviceMark* mark) { return *reinterpret_cast<const Mark*>(mark); }

}  // namespace

base::DeviceMark* make_mark(int device, bool timed) {
  check_device(device);
  return reinterpret_cast<base::DeviceMark*>(new Mark(device, timed));
}

void mark(base::DeviceQueue* queue, base::DeviceMark* place) {
  Mark& at = *reinterpret_cast<Mark*>(place);
  const OnDevice on(device_of(queue));
  check_work(cudaEventRecord(at.event.get(), stream_of(queue)), "marking a place in a queue");
  at.put = true;
}

bool reached(const base::DeviceMark* mark) {
  const Event& event = of(mark).event;
  const OnDevice on(event.device());
  const cudaError_t state = cudaEventQuery(event.get());
  if (state == cudaErrorNotReady) {
    cudaGetLastError();  // clears the error from the thread
    return false;
  }
  check_work(state, "querying an event");
  return true;
}

void wait_mark(base::DeviceQueue* queue, const base::DeviceMark* mark) {
  const OnDevice on(device_of(queue));
  check_work(cudaStreamWaitEvent(stream_of(queue), of(mark).event.get(), 0),
             "waiting for an event");
}

bool elapsed(const base::DeviceMark* from, const base::DeviceMark* to, double* seconds) {
  if (!of(from).put || !of(to).put) return false;
  const OnDevice on(of(from).event.device());
  float milliseconds = 0;
  const cudaError_t state =
      cudaEventElapsedTime(&milliseconds, of(from).event.get(), of(to).event.get());
  if (state == cudaErrorNotReady) {
    cudaGetLastError();  // clears the error from the thread
    return false;
  }
  check_work(state, "measuring the time between two events");
  *seconds = 1e-3 * static_cast<double>(milliseconds);
  return true;
}

void free_mark(base::DeviceMark* mark) noexcept { delete reinterpret_cast<Mark*>(mark); }

}  // namespace gnnmg::cuda
