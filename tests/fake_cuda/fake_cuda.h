// A fake CUDA runtime that replaces the real one for the whole process: the real plug-in opens and
// runs over it, including LibTorch's allocator, on a machine without a GPU. It records every call
// with the current device of its thread, creates contexts as the real one does, and fails on
// request. Kernels do not run, except in tests/ptx. tests/fake_gpu cannot replace it, because it
// takes the place of the plug-in, whose code is under test here.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <vector>

#include "device/table.h"

namespace gnnmg::fake_cuda {

inline constexpr int kDevices = 2;
inline constexpr int kMultiprocessors = 16;
inline constexpr size_t kMemory = size_t{1} << 30;

struct Call {
  std::string name;
  int current = 0;               // the thread's current device
  int of = -1;                   // device of the call's stream, event or memory; -1: none
  unsigned flags = 0;            // flags of pinning and registration
  int priority = 0;              // priority of a stream
  unsigned grid = 0, block = 0;  // sizes of launches
};

// Returns the plug-in's table. Throws if it does not open.
const device::Table& table();

// Forgets calls, failures and contexts, and makes device 0 current on the calling thread.
void reset();
// Returns the calls since then by all threads, except those that need no context.
std::vector<Call> calls();
std::vector<Call> calls(const std::string& name);
// Devices on which a call has created a context.
std::vector<int> contexts();
// Makes the next `times` calls of a function fail, after the first `after`.
void fail(const std::string& name, cudaError_t error, int times = 1, int after = 0);
// Returns the result of cudaPeekAtLastError() for the calling thread.
cudaError_t error_left();
// Names of functions of the runtime that were called and have no fake.
std::vector<std::string> unpretended();
// Sets the results of cudaStreamQuery() and cudaEventQuery().
void set_busy(bool busy);
// Live device allocations, and pinned ones.
int64_t num_device_blocks();
int64_t num_pinned();
// Makes cuDevicePrimaryCtxGetState() of the fake driver fail.
void fail_driver(bool fails);

}  // namespace gnnmg::fake_cuda
