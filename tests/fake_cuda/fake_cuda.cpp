#include "fake_cuda/fake_cuda.h"

#include <dlfcn.h>

#include <cstdlib>
#include <utility>

#include "base/error.h"
#include "device/plugin.h"
#include "fake_cuda/state.h"

namespace gnnmg::fake_cuda {

thread_local int current_device = 0;
namespace {
thread_local cudaError_t error_of_thread = cudaSuccess;
}

State& state() {
  static State& state = *new State;  // the plug-in stays open after static objects are destroyed
  return state;
}

const device::Table& table() {
  static const device::Plugin plugin = [] {
    // LibTorch finds it by the driver's name.
    if (dlopen(GNNMG_FAKE_DRIVER, RTLD_NOW | RTLD_GLOBAL) == nullptr)
      base::fail(base::Status::kDependency, "the pretended driver does not open: ", dlerror());
    return device::open_plugin_at(GNNMG_CUDA_PLUGIN);
  }();
  if (plugin.table == nullptr) base::fail(base::Status::kDependency, plugin.why);
  return *plugin.table;
}

void reset() {
  const std::lock_guard lock(state().mutex);
  state().calls.clear();
  state().contexts.clear();
  state().failures.clear();
  state().unpretended.clear();
  state().busy = state().driver_fails = false;
  current_device = 0;
  error_of_thread = cudaSuccess;
}

std::vector<Call> calls() {
  const std::lock_guard lock(state().mutex);
  return state().calls;
}

std::vector<Call> calls(const std::string& name) {
  std::vector<Call> found;
  for (Call& call : calls())
    if (call.name == name) found.push_back(std::move(call));
  return found;
}

std::vector<int> contexts() {
  const std::lock_guard lock(state().mutex);
  return {state().contexts.begin(), state().contexts.end()};
}

void fail(const std::string& name, cudaError_t error, int times, int after) {
  const std::lock_guard lock(state().mutex);
  state().failures[name] = {error, times, after};
}

cudaError_t error_left() { return error_of_thread; }

std::vector<std::string> unpretended() {
  const std::lock_guard lock(state().mutex);
  return state().unpretended;
}

void set_busy(bool busy) {
  const std::lock_guard lock(state().mutex);
  state().busy = busy;
}

int64_t num_device_blocks() {
  const std::lock_guard lock(state().mutex);
  return static_cast<int64_t>(state().device_blocks.size());
}

int64_t num_pinned() {
  const std::lock_guard lock(state().mutex);
  return static_cast<int64_t>(state().pinned.size() + state().registered.size());
}

void fail_driver(bool fails) {
  const std::lock_guard lock(state().mutex);
  state().driver_fails = fails;
}

cudaError_t leave(cudaError_t error) {
  if (error != cudaSuccess) error_of_thread = error;
  return error;
}

cudaError_t refusal(const char* name) {
  const std::lock_guard lock(state().mutex);
  const auto failure = state().failures.find(name);
  if (failure == state().failures.end()) return cudaSuccess;
  if (failure->second.after-- > 0) return cudaSuccess;
  const cudaError_t error = failure->second.error;
  if (--failure->second.times <= 0) state().failures.erase(failure);
  return leave(error);
}

cudaError_t note(Call call) {
  call.current = current_device;
  const cudaError_t refused = refusal(call.name.c_str());
  const std::lock_guard lock(state().mutex);
  state().contexts.insert(current_device);
  state().calls.push_back(std::move(call));
  return refused;
}

}  // namespace gnnmg::fake_cuda

using namespace gnnmg::fake_cuda;

namespace {

using TextOf = const char* (*)(cudaError_t);

TextOf text_of_runtime(const char* name) {
  void* const runtime = dlopen(GNNMG_CUDART, RTLD_NOW | RTLD_LOCAL);
  void* const found = runtime == nullptr ? nullptr : dlsym(runtime, name);
  if (found == nullptr) std::abort();  // the plug-in is built with it
  return reinterpret_cast<TextOf>(found);
}

}  // namespace

GNNMG_FAKE int gnnmg_unpretended(const char* name) {
  const std::lock_guard lock(state().mutex);
  state().unpretended.emplace_back(name);
  return leave(cudaErrorUnknown);
}

// For driver.cpp. Returns 0 for a known device.
GNNMG_FAKE int gnnmg_fake_context(int device, int* active) {
  const std::lock_guard lock(state().mutex);
  *active = state().contexts.count(device) != 0;
  return state().driver_fails ? 999 : 0;
}

GNNMG_FAKE cudaError_t cudaGetLastError() { return std::exchange(error_of_thread, cudaSuccess); }
GNNMG_FAKE cudaError_t cudaPeekAtLastError() { return error_of_thread; }

// Calls the real runtime, which needs no driver for them.
GNNMG_FAKE const char* cudaGetErrorName(cudaError_t error) {
  static const auto real = text_of_runtime("cudaGetErrorName");
  return real(error);
}
GNNMG_FAKE const char* cudaGetErrorString(cudaError_t error) {
  static const auto real = text_of_runtime("cudaGetErrorString");
  return real(error);
}
