// The state of the fake runtime, for its files only.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "fake_cuda/fake_cuda.h"

// For functions that replace the runtime's.
#define GNNMG_FAKE extern "C" __attribute__((visibility("default")))

namespace gnnmg::fake_cuda {

struct Failure {
  cudaError_t error;
  int times, after;
};
struct Block {
  int device;
  size_t bytes;
  // 1 for each written byte; empty if nobody records them
  std::vector<uint8_t> written{};
};

// Work of a stream, which may be replayed.
using Work = std::function<cudaError_t()>;
// Makes the work of a launch, with a copy of its arguments.
using MakeWork = Work (*)(const void* function, int device, dim3 grid, dim3 block,
                          void** arguments);

struct State {
  std::mutex mutex;
  std::vector<Call> calls;
  std::set<int> contexts;
  std::map<std::string, Failure> failures;
  std::vector<std::string> unpretended;
  std::map<char*, Block> device_blocks, pinned, registered;
  bool busy = false, driver_fails = false;
  MakeWork make_work = nullptr;  // null: kernels do nothing, and written bytes are not recorded
  std::map<const void*, std::string> functions;  // kernel names by their host functions
};
State& state();

extern thread_local int current_device;

// `device`: the device of the call's object; -1: none.
inline Call about(const char* name, int device, unsigned flags = 0) {
  Call call;
  call.name = name;
  call.of = device;
  call.flags = flags;
  return call;
}
// Records a call that needs a context, and creates one on the thread's device. Returns the
// requested error, else cudaSuccess.
cudaError_t note(Call call);
// The same for a call that needs none.
cudaError_t refusal(const char* name);
// Leaves an error in the thread.
cudaError_t leave(cudaError_t error);

int device_of(cudaStream_t stream);  // -1: none
// Runs the work, or keeps it if the stream is being captured.
cudaError_t submit(cudaStream_t stream, Work work);
// Marks device memory as written; if `from` is device memory too, only the bytes that were written
// there.
void note_written(void* to, size_t bytes, const void* from = nullptr);

}  // namespace gnnmg::fake_cuda
