// A CUDA runtime that is only pretended, in front of the real one for the whole process: the real
// plug-in opens and runs over it, LibTorch's allocator included, on a machine without a GPU. It
// notes every call with the device of its thread, makes contexts as the real one does, and fails
// where it is told. Kernels do not run, but in tests/ptx.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/device.h"

namespace gnnmg::fake_cuda {

inline constexpr int kDevices = 2;
inline constexpr int kMultiprocessors = 16;
inline constexpr size_t kMemory = size_t{1} << 30;

struct Call {
  std::string name;
  int current = 0;     // the thread's device
  int of = -1;         // the device of the stream, event or memory that it is about; -1: of none
  unsigned flags = 0;  // of pinning and registration
  int priority = 0;    // of a stream
  unsigned grid = 0, block = 0;  // of launches
};

// The plug-in's table. Throws where it does not open.
const base::DeviceTable& table();

// Forgets calls, failures and contexts; the calling thread's device becomes 0.
void reset();
// The calls since then, by all threads, those that need no context aside.
std::vector<Call> calls();
std::vector<Call> calls(const std::string& name);
// Devices that a call has made a context on.
std::vector<int> contexts();
// The next `times` calls of a function fail, behind the first `after`.
void fail(const std::string& name, cudaError_t error, int times = 1, int after = 0);
// What the calling thread would be told by cudaPeekAtLastError().
cudaError_t error_left();
// Names of functions of the runtime that were called and are not pretended.
std::vector<std::string> unpretended();
// What cudaStreamQuery() says of streams, and cudaEventQuery() of events.
void set_busy(bool busy);
// What is allocated and was not given back: of devices, and pinned.
int64_t num_device_blocks();
int64_t num_pinned();
// cuDevicePrimaryCtxGetState() of the pretended driver, which fails from here on.
void fail_driver(bool fails);

}  // namespace gnnmg::fake_cuda
