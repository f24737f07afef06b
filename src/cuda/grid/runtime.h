// The CUDA runtime as we want it: errors are base::Error, and the caller's device stays as it was.
#pragma once

#include <cuda_runtime_api.h>

namespace gnnmg::cuda {

// `what` is what was being done, as in "copying". A device that failed stays failed: what is said
// then is Error(kDeviceLost), on this and on every later call.
void check(cudaError_t error, const char* what);
// The same for work in a queue: that no such device is there, or that it is not available, says of
// one that was that it is lost.
void check_work(cudaError_t error, const char* what);
// Whether it leaves the device unusable for the rest of the process.
bool is_loss(cudaError_t error);
// For what cannot be told, as in destructors: leaves nothing in the thread for the next to find.
inline void ignore(cudaError_t error) {
  if (error != cudaSuccess) cudaGetLastError();
}

// Makes a device the calling thread's, and puts the one of before back. A device that was never
// used gets a context by that, of some hundred megabytes: a thread that works for one device makes
// it its own first, by cudaSetDevice(). Every call of the runtime that needs a context stands
// behind one of these, also where a stream or an event says the device: a thread's device is 0
// until it is told, and the runtime gives that one a context.
class OnDevice {
 public:
  explicit OnDevice(int device);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = -1;  // -1: nothing to put back
};

// Whose kernels a device begins first where it has to choose.
enum class Urgency { kLast, kFirst };

// What cudaStreamCreateWithPriority() takes for it on the thread's device.
int priority_of(Urgency urgency);

// A stream, a caller's or one of its own. Those of its own are never destroyed but used again:
// LibTorch's cache keeps memory by stream, and what lies there for one that is gone serves nobody.
class Stream {
 public:
  Stream(int device, cudaStream_t given);
  Stream(int device, Urgency urgency);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  void take(Urgency urgency);
  int device_;
  cudaStream_t stream_ = nullptr;
  bool own_ = false;
  Urgency urgency_ = Urgency::kLast;
};

// A place in a stream; with a time where it is asked for.
class Event {
 public:
  explicit Event(int device, unsigned flags = cudaEventDisableTiming);
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  cudaEvent_t get() const { return event_; }
  int device() const { return device_; }

 private:
  int device_;
  cudaEvent_t event_ = nullptr;
};

}  // namespace gnnmg::cuda
