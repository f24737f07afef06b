#include "fake_nccl/host_gpus.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/error.h"

namespace gnnmg::fake_nccl {
namespace {

using base::Status;

constexpr int kMost = 64;

struct Gpu {
  char bus_id[16] = {};
  int64_t total_memory = int64_t{1} << 34;
  std::atomic<bool> lost{false};
};

struct Gpus {
  int count = 0;
  std::array<Gpu, kMost> each;
  std::atomic<int> live{0};
};
Gpus& gpus() {
  static Gpus gpus;
  return gpus;
}

Gpu& use(int device) {
  if (device < 0 || device >= gpus().count)
    base::fail(Status::kNotFound, "there is no GPU ", device, ", expected 0 to ", gpus().count - 1);
  Gpu& gpu = gpus().each[static_cast<size_t>(device)];
  if (gpu.lost) base::fail(Status::kDeviceLost, "device ", device, " fell off the bus");
  return gpu;
}

struct Queue {
  int device = 0;
};
int device_of(base::DeviceQueue* queue) { return reinterpret_cast<Queue*>(queue)->device; }

base::DeviceInfo info(int device) {
  const Gpu& gpu = use(device);
  base::DeviceInfo info{};
  std::snprintf(info.name, sizeof info.name, "Host GPU");
  std::memcpy(info.bus_id, gpu.bus_id, sizeof info.bus_id);
  info.total_memory = info.free_memory = gpu.total_memory;
  info.major = 8;
  info.multiprocessors = 1;
  return info;
}

void* allocate(int device, base::Placement, int64_t bytes) {
  use(device);
  const size_t rounded = (static_cast<size_t>(bytes) + 255) / 256 * 256;
  void* memory = std::aligned_alloc(256, std::max<size_t>(rounded, 256));
  if (!memory) base::fail(Status::kNoMemory, "no memory for ", bytes, " bytes");
  std::memset(memory, 0xA5, rounded);
  ++gpus().live;
  return memory;
}
void release(int, base::Placement, void* memory) noexcept {
  if (!memory) return;
  std::free(memory);
  --gpus().live;
}
base::DeviceQueue* open_queue(int device, int, void*) {
  use(device);
  ++gpus().live;
  return reinterpret_cast<base::DeviceQueue*>(new Queue{device});
}
void close_queue(base::DeviceQueue* queue) noexcept {
  delete reinterpret_cast<Queue*>(queue);
  --gpus().live;
}
void copy(base::DeviceQueue* queue, void* to, const void* from, int64_t bytes) {
  use(device_of(queue));
  if (bytes > 0) std::memmove(to, from, static_cast<size_t>(bytes));
}

}  // namespace

void set_host_gpus(int count, int first) {
  gpus().count = std::min(count, kMost);
  gpus().live = 0;
  for (int d = 0; d < gpus().count; ++d) {
    Gpu& gpu = gpus().each[static_cast<size_t>(d)];
    std::snprintf(gpu.bus_id, sizeof gpu.bus_id, "0000:%02x:00.0",
                  static_cast<unsigned>(16 + first + d) & 0xFF);
    gpu.total_memory = int64_t{1} << 34;
    gpu.lost = false;
  }
}

void set_host_gpu(int device, const std::string& bus_id, int64_t total_memory) {
  Gpu& gpu = gpus().each.at(static_cast<size_t>(device));
  std::snprintf(gpu.bus_id, sizeof gpu.bus_id, "%s", bus_id.c_str());
  gpu.total_memory = total_memory;
}

void lose_host_gpu(int device) { gpus().each.at(static_cast<size_t>(device)).lost = true; }

int live_on_host_gpus() { return gpus().live; }

const base::DeviceTable& host_gpus() {
  static const base::DeviceTable table = [] {
    base::DeviceTable t{};
    t.size = sizeof t;
    t.version = "host";
    t.num_devices = [] { return gpus().count; };
    t.info = info;
    t.allocate = allocate;
    t.release = release;
    t.pin = [](void* memory, int64_t) { return memory; };
    t.unpin = [](void*) noexcept {};
    t.open_queue = open_queue;
    t.close_queue = close_queue;
    t.copy = copy;
    t.synchronize = [](base::DeviceQueue* queue) { use(device_of(queue)); };
    t.finished = [](base::DeviceQueue* queue) {
      use(device_of(queue));
      return true;
    };
    t.wait = [](base::DeviceQueue* queue, base::DeviceQueue* other) {
      use(device_of(queue));
      use(device_of(other));
    };
    t.use = [](base::DeviceQueue* queue) { use(device_of(queue)); };
    return t;
  }();
  return table;
}

}  // namespace gnnmg::fake_nccl
