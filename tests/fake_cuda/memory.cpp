// Memory of the fake runtime: all of it is host memory.
#include <cstdlib>

#include "fake_cuda/state.h"

using namespace gnnmg::fake_cuda;

namespace {

using Blocks = std::map<char*, Block> State::*;

// Returns the device of a block of memory; -1: none.
int of(Blocks blocks, const void* memory) {
  const std::lock_guard lock(state().mutex);
  const auto& kept = state().*blocks;
  const auto found = kept.find(static_cast<char*>(const_cast<void*>(memory)));
  return found == kept.end() ? -1 : found->second.device;
}
void add(Blocks blocks, void* memory, size_t bytes) {
  const std::lock_guard lock(state().mutex);
  Block& block = (state().*blocks)[static_cast<char*>(memory)] = {current_device, bytes};
  if (blocks == &State::device_blocks && state().make_work != nullptr) block.written.resize(bytes);
}

cudaError_t allocate(const Call& call, Blocks blocks, void** memory, size_t bytes) {
  if (const cudaError_t error = note(call)) return error;
  if (bytes > kMemory) return leave(cudaErrorMemoryAllocation);
  *memory = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
  if (*memory == nullptr) return leave(cudaErrorMemoryAllocation);
  add(blocks, *memory, bytes);
  return cudaSuccess;
}
cudaError_t take_out(const char* name, Blocks blocks, void* memory) {
  const int device = of(blocks, memory);
  if (const cudaError_t error = note(about(name, device))) return error;
  if (device < 0) return leave(cudaErrorInvalidValue);
  const std::lock_guard lock(state().mutex);
  (state().*blocks).erase(static_cast<char*>(memory));
  return cudaSuccess;
}
cudaError_t release(const char* name, Blocks blocks, void* memory) {
  const cudaError_t error = take_out(name, blocks, memory);
  if (error == cudaSuccess) std::free(memory);
  return error;
}

}  // namespace

void gnnmg::fake_cuda::note_written(void* to, size_t bytes, const void* from) {
  const std::lock_guard lock(state().mutex);
  const auto of = [](const void* memory) -> uint8_t* {
    auto* const at = static_cast<char*>(const_cast<void*>(memory));
    auto block = state().device_blocks.upper_bound(at);
    if (block == state().device_blocks.begin()) return nullptr;
    --block;
    const auto place = static_cast<size_t>(at - block->first);
    return place < block->second.written.size() ? block->second.written.data() + place : nullptr;
  };
  uint8_t* const written = of(to);
  const uint8_t* const known = from == nullptr ? nullptr : of(from);
  if (written == nullptr) return;
  for (size_t i = 0; i < bytes; ++i) written[i] = known == nullptr ? 1 : known[i];
}

GNNMG_FAKE cudaError_t cudaMemGetInfo(size_t* available, size_t* total) {
  *available = kMemory / 2;
  *total = kMemory;
  return note(about("cudaMemGetInfo", -1));
}
GNNMG_FAKE cudaError_t cudaMalloc(void** memory, size_t bytes) {
  return allocate(about("cudaMalloc", -1), &State::device_blocks, memory, bytes);
}
GNNMG_FAKE cudaError_t cudaFree(void* memory) {
  return release("cudaFree", &State::device_blocks, memory);
}
GNNMG_FAKE cudaError_t cudaHostAlloc(void** memory, size_t bytes, unsigned flags) {
  return allocate(about("cudaHostAlloc", -1, flags), &State::pinned, memory, bytes);
}
GNNMG_FAKE cudaError_t cudaFreeHost(void* memory) {
  return release("cudaFreeHost", &State::pinned, memory);
}
GNNMG_FAKE cudaError_t cudaHostRegister(void* memory, size_t bytes, unsigned flags) {
  if (const cudaError_t error = note(about("cudaHostRegister", -1, flags))) return error;
  add(&State::registered, memory, bytes);
  return cudaSuccess;
}
GNNMG_FAKE cudaError_t cudaHostUnregister(void* memory) {
  return take_out("cudaHostUnregister", &State::registered, memory);
}
GNNMG_FAKE cudaError_t cudaHostGetDevicePointer(void** address, void* memory, unsigned) {
  *address = memory;
  return note(about("cudaHostGetDevicePointer", of(&State::registered, memory)));
}
GNNMG_FAKE cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* found, const void* memory) {
  *found = {};
  {
    const std::lock_guard lock(state().mutex);
    auto* const at = static_cast<char*>(const_cast<void*>(memory));
    const auto& kept = state().registered;
    auto block = kept.upper_bound(at);
    bool inside = block != kept.begin();
    if (inside) {
      --block;
      inside = at < block->first + block->second.bytes;
    }
    found->type = inside ? cudaMemoryTypeHost : cudaMemoryTypeUnregistered;
    if (inside) found->devicePointer = found->hostPointer = at;
  }
  return note(about("cudaPointerGetAttributes", -1));
}
