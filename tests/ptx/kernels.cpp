#include "ptx/kernels.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "fake_cuda/state.h"
#include "ptx/run.h"

namespace gnnmg::ptx {
namespace {

using fake_cuda::State;
using fake_cuda::state;

struct Known {
  explicit Known(std::string text) : program(std::move(text)) {}
  Program program;
  std::mutex mutex;
  std::vector<std::string> faults;
  std::set<std::string> ran;
  std::atomic<int64_t> launches{0}, instructions{0};
};
Known* known = nullptr;

bool all_apart() {
  static const bool set = std::getenv("GNNMG_PTX_APART") != nullptr;
  return set;
}

cudaError_t fault(const std::string& what) {
  const std::lock_guard lock(known->mutex);
  known->faults.push_back(what);
  return cudaErrorLaunchFailure;
}

std::vector<Range> memory_of(int device) {
  std::vector<Range> memory;
  const std::lock_guard lock(state().mutex);
  for (const auto blocks : {&State::device_blocks, &State::pinned, &State::registered})
    for (auto& [at, block] : state().*blocks) {
      if (blocks == &State::device_blocks && block.device != device) continue;
      const auto begin = reinterpret_cast<uint64_t>(at);
      memory.push_back(
          {begin, begin + block.bytes, block.written.empty() ? nullptr : block.written.data()});
    }
  std::sort(memory.begin(), memory.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  return memory;
}

cudaError_t work(const Kernel& kernel, int device, Grid grid,
                 const std::vector<uint8_t>& parameters) {
  Running running;
  running.order = device == 0 && !all_apart() ? Order::kTogether : Order::kApart;
  running.seed = static_cast<uint64_t>(known->launches.fetch_add(1));
  running.most_instructions = int64_t{1} << 31;
  try {
    known->instructions += run(kernel, grid, parameters, memory_of(device), running);
  } catch (const Error& error) {
    return fault(error.what());
  }
  return cudaSuccess;
}

fake_cuda::Work make_work(const void* function, int device, dim3 grid, dim3 block,
                          void** arguments) {
  std::string name;
  {
    const std::lock_guard lock(state().mutex);
    name = state().functions[function];
  }
  try {
    const Kernel* const kernel = known->program.find(name);
    if (kernel == nullptr) throw Error("no kernel \"" + name + "\"");
    if (grid.y * grid.z * block.y * block.z != 1)
      throw Error(name + " is started in more than a row");
    std::vector<uint8_t> parameters(static_cast<size_t>(kernel->all_parameter_bytes));
    for (size_t i = 0; i < kernel->parameter_bytes.size(); ++i)
      std::memcpy(parameters.data() + kernel->parameter_places[i], arguments[i],
                  static_cast<size_t>(kernel->parameter_bytes[i]));
    const std::lock_guard lock(known->mutex);
    known->ran.insert(name);
    return [kernel, device, size = Grid{grid.x, static_cast<int>(block.x)},
            parameters = std::move(parameters)] { return work(*kernel, device, size, parameters); };
  } catch (const Error& error) {
    return [result = fault(error.what())] { return result; };
  }
}

}  // namespace

void run_kernels(const std::string& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  known = new Known(text.str());  // the plug-in stays open after static objects are destroyed
  state().make_work = make_work;
}

std::vector<std::string> take_faults() {
  const std::lock_guard lock(known->mutex);
  return std::exchange(known->faults, {});
}

int64_t num_launches() { return known->launches; }
int64_t num_instructions() { return known->instructions; }

std::vector<std::string> kernels_that_ran() {
  const std::lock_guard lock(known->mutex);
  return {known->ran.begin(), known->ran.end()};
}

std::vector<std::string> all_kernels() { return known->program.names(); }

}  // namespace gnnmg::ptx

using namespace gnnmg::fake_cuda;

// CUB queries this before it launches a kernel.
GNNMG_FAKE cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  *attributes = {};
  attributes->ptxVersion = attributes->binaryVersion = 90;
  attributes->maxThreadsPerBlock = 1024;
  return note(about("cudaFuncGetAttributes", -1));
}
GNNMG_FAKE cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks,
                                                                              const void*, int,
                                                                              size_t, unsigned) {
  *blocks = 2;
  return note(about("cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", -1));
}
