// What the pretended runtime knows, for its files alone.
#pragma once

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
};

struct State {
  std::mutex mutex;
  std::vector<Call> calls;
  std::set<int> contexts;
  std::map<std::string, Failure> failures;
  std::vector<std::string> unpretended;
  std::map<char*, Block> device_blocks, pinned, registered;
  bool busy = false, driver_fails = false;
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

}  // namespace gnnmg::fake_cuda
