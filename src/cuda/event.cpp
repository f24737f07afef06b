// The events of queues: CUDA events.
#include "cuda/device.h"
#include "cuda/grid/queue_stream.h"
#include "cuda/grid/runtime.h"

namespace gnnmg::cuda {
namespace {

struct Recorded {
  Recorded(int device, bool timed)
      : event(device, timed ? cudaEventDefault : cudaEventDisableTiming) {}
  const Event event;
  // CUDA returns an error for the time of an event that was never recorded. Queries of such an
  // event and waits for it succeed at once.
  bool once = false;
};

const Recorded& of(const device::Event* event) { return *reinterpret_cast<const Recorded*>(event); }

}  // namespace

device::Event* make_event(int device, bool timed) {
  check_device(device);
  return reinterpret_cast<device::Event*>(new Recorded(device, timed));
}

void record(device::Queue* queue, device::Event* event) {
  Recorded& at = *reinterpret_cast<Recorded*>(event);
  const OnDevice on(device_of(queue));
  check_work(cudaEventRecord(at.event.get(), stream_of(queue)), "recording an event");
  at.once = true;
}

bool reached(const device::Event* event) {
  const Event& own = of(event).event;
  const OnDevice on(own.device());
  const cudaError_t state = cudaEventQuery(own.get());
  if (state == cudaErrorNotReady) {
    cudaGetLastError();  // clears the error from the thread
    return false;
  }
  check_work(state, "querying an event");
  return true;
}

void wait_event(device::Queue* queue, const device::Event* event) {
  const OnDevice on(device_of(queue));
  check_work(cudaStreamWaitEvent(stream_of(queue), of(event).event.get(), 0),
             "waiting for an event");
}

bool elapsed(const device::Event* from, const device::Event* to, double* seconds) {
  if (!of(from).once || !of(to).once) return false;
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

void free_event(device::Event* event) noexcept { delete reinterpret_cast<Recorded*>(event); }

}  // namespace gnnmg::cuda
