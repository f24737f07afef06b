// The CUDA runtime with the library's conventions: errors are base::Error, and the caller's current
// device does not change.
#pragma once

#include <cuda_runtime_api.h>

namespace gnnmg::cuda {

// `what` names the operation, as in "copying". Errors of a failed device, which stays failed, are
// Error(kDeviceLost), on this and every later call.
void check(cudaError_t error, const char* what);
// The same for work in a queue: an error that the device does not exist or is not available then
// means that it is lost.
void check_work(cudaError_t error, const char* what);
// True if the error leaves the device unusable for the rest of the process.
bool is_loss(cudaError_t error);
// Ignores an error that cannot be reported, as in destructors, and clears it from the thread.
inline void ignore(cudaError_t error) {
  if (error != cudaSuccess) cudaGetLastError();
}

// Makes a device current on the calling thread, and restores the previous one. Restoring a device
// that was never used creates a context of several hundred megabytes: a thread that works for one
// device first makes it current by cudaSetDevice(). Every call of the runtime that needs a context
// is inside such a scope, even if a stream or an event determines the device: a thread's device is
// initially 0, and the runtime would create a context for it.
class OnDevice {
 public:
  explicit OnDevice(int device);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = -1;  // -1: nothing to restore
};

// The priority of a queue's kernels on a device.
enum class Urgency { kLast, kFirst };

// Returns the argument of cudaStreamCreateWithPriority() on the thread's current device.
int priority_of(Urgency urgency);

// A stream, a caller's or its own. Own streams are never destroyed but reused: LibTorch's cache
// keeps memory by stream, and the memory of a destroyed stream would be lost.
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

// An event in a stream, with a time if requested.
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
