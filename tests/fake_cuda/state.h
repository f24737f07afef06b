// What the pretended runtime knows, for its files alone.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "fake_cuda/fake_cuda.h"

// For the functions that stand in front of the runtime's.
#define GNNMG_FAKE extern "C" __attribute__((visibility("default")))

namespace gnnmg::fake_cuda {

struct Failure {
  cudaError_t error;
  int times, after;
};
struct Block {
  int device;
  size_t bytes;
  // 1 for each byte that something was written to; empty where nobody keeps that.
  std::vector<uint8_t> written{};
};

// Work of a stream, which may be done again.
using Work = std::function<cudaError_t()>;
// What a launch comes to, with a copy of its arguments.
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
  MakeWork make_work = nullptr;  // null: kernels do nothing, and nobody keeps what was written
  std::map<const void*, std::string> functions;  // of the host, and the kernels that they start
};
State& state();

extern thread_local int current_device;

// `device`: of what it is about; -1: of none.
inline Call about(const char* name, int device, unsigned flags = 0) {
  Call call;
  call.name = name;
  call.of = device;
  call.flags = flags;
  return call;
}
// Notes a call that needs a context, and makes the one of the thread's device. What it is told to
// fail with, else cudaSuccess.
cudaError_t note(Call call);
// The same for a call that needs none.
cudaError_t refusal(const char* name);
// Leaves an error in the thread.
cudaError_t leave(cudaError_t error);

int device_of(cudaStream_t stream);  // -1: of none
// Does it, or keeps it where the stream is captured.
cudaError_t submit(cudaStream_t stream, Work work);
// Something is written there, as far as it is a device's memory: where `from` is one's as well, so
// much of it as was written there.
void note_written(void* to, size_t bytes, const void* from = nullptr);

}  // namespace gnnmg::fake_cuda
