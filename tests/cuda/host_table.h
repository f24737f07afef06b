// The table of device/table.h filled with the host's implementation: one "GPU" whose memory is the
// host's. The same cases run on real GPUs (tests/gpu).
#pragma once

#include <chrono>
#include <cstdio>
#include <memory>

#include "cuda/grid/entries.h"
#include "device/plugin.h"
#include "device/table.h"
#include "host_queue.h"

namespace gnnmg::cuda {

// `Seed`: the order of items in its queues, which are HostQueue or similar.
template <uint32_t Seed, typename Queue = HostQueue>
struct HostTable {
  static HostMemory& memory() {
    static HostMemory memory;
    return memory;
  }
  static void check_device(int device) {
    if (device != 0)
      base::fail(base::Status::kNotFound, "there is no GPU ", device, ", expected 0 to 0");
  }
  // The device has done all work so far.
  using Mark = std::chrono::steady_clock::time_point;
  static void fill_marks(device::Table& table) {
    table.make_event = [](int device, bool) {
      check_device(device);
      return reinterpret_cast<device::Event*>(new Mark);
    };
    table.record = [](device::Queue*, device::Event* mark) {
      *reinterpret_cast<Mark*>(mark) = std::chrono::steady_clock::now();
    };
    table.reached = [](const device::Event*) { return true; };
    table.wait_event = [](device::Queue*, const device::Event*) {};
    table.elapsed = [](const device::Event* from, const device::Event* to, double* seconds) {
      const Mark begin = *reinterpret_cast<const Mark*>(from),
                 end = *reinterpret_cast<const Mark*>(to);
      *seconds = std::chrono::duration<double>(end - begin).count();
      return begin != Mark() && end != Mark();
    };
    table.free_event = [](device::Event* mark) noexcept { delete reinterpret_cast<Mark*>(mark); };
  }
  // All functions except the rooms' tables.
  static device::Table make() {
    device::Table table{};
    table.size = sizeof(device::Table);
    table.version = device::build_version();
    table.torch_device_type = 0;  // the CPU
    table.num_devices = [] { return 1; };
    table.info = [](int device) {
      check_device(device);
      device::Info info{};
      std::snprintf(info.name, sizeof info.name, "host's twin");
      std::snprintf(info.bus_id, sizeof info.bus_id, "0000:00:00.0");
      info.total_memory = info.free_memory = int64_t{1} << 34;
      info.major = 8;
      info.multiprocessors = 1;
      return info;
    };
    table.allocate = [](int device, device::Placement, int64_t bytes) {
      check_device(device);
      if (bytes > int64_t{1} << 34)
        base::fail(base::Status::kNoMemory, "GPU 0 has no ", bytes, " bytes");
      return memory().allocate(bytes, "a buffer");
    };
    table.release = [](int, device::Placement, void* address) noexcept {
      if (address != nullptr) memory().release(address);
    };
    table.pin = [](void* address, int64_t bytes) {
      return memory().adopt(address, bytes, "an array of the host's");
    };
    table.unpin = [](void* address) noexcept { memory().give_back(address); };
    table.enable_peer = [](int, int) { return false; };  // there is one device
    table.open_queue = [](int device, int, void*) {
      check_device(device);
      return handle_of(*new Queue(Seed));
    };
    table.open_urgent_queue = [](int device) {
      check_device(device);
      return handle_of(*new Queue(Seed));
    };
    table.close_queue = [](device::Queue* queue) noexcept { delete &queue_of<Queue>(queue); };
    table.copy = [](device::Queue* queue, void* to, const void* from, int64_t bytes) {
      queue_of<Queue>(queue).copy(to, from, bytes);
    };
    table.synchronize = [](device::Queue* queue) { queue_of<Queue>(queue).synchronize(); };
    table.finished = [](device::Queue*) { return true; };
    // All work is done when a function returns.
    table.wait = [](device::Queue*, device::Queue*) {};
    table.use = [](device::Queue*) {};
    table.capture = [](device::Queue* queue, void (*work)(void*), void* user) {
      auto steps =
          std::make_unique<HostQueue::Steps>(queue_of<Queue>(queue).capture([&] { work(user); }));
      return reinterpret_cast<device::Graph*>(steps.release());
    };
    table.replay = [](device::Queue*, const device::Graph* kept) {
      for (const auto& step : *reinterpret_cast<const HostQueue::Steps*>(kept)) step();
    };
    table.free_graph = [](device::Graph* kept) noexcept {
      delete reinterpret_cast<HostQueue::Steps*>(kept);
    };
    fill_marks(table);
    return table;
  }
};

}  // namespace gnnmg::cuda
