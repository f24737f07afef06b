// The table of functions for GPUs, filled by the plug-in libgnnmg_cuda.so: devices, their memory,
// queues, events and graphs. Each upper room declares a table of its own in its device.h, next to
// the CPU's functions, and finds it here by its type. No code outside the plug-in names CUDA, and
// no class changes its layout with it.
//
// Every function throws base::Error unless it is noexcept. kDeviceLost: the device has failed
// permanently; memory and queues can still be released.
#pragma once

#include <cstdint>
#include <cstring>

namespace gnnmg::device {

struct Info {
  char name[128];        // "NVIDIA H100 80GB HBM3"
  char bus_id[16];       // "0000:19:00.0", the same in every process
  int64_t total_memory;  // bytes
  int64_t free_memory;   // bytes, now
  int32_t major, minor;  // compute capability
  int32_t multiprocessors;
  int32_t driver_version;  // 13000: CUDA 13.0
  int32_t runtime_version;
};

// The location of a buffer: device memory, or pinned host memory, which kernels read over the bus.
enum class Placement : int32_t { kDevice = 0, kPinned = 1 };

// An ordered queue of work on one device; in the plug-in a CUDA stream. One thread at a time.
struct Queue;
// Captured work that can be replayed; in the plug-in an executable CUDA graph.
struct Graph;
// A point in a queue's work that others query and wait for, with an optional time; in the plug-in a
// CUDA event. Prefer it to a queue where a point is enough: a device has few hardware queues, and
// queues that share one wait for each other.
struct Event;

// The table of functions of an upper room. Its type T has the name: T::kTable.
struct RoomTable {
  const char* name = nullptr;
  const void* functions = nullptr;
};
template <typename T>
RoomTable room_table(const T* functions) {
  return {T::kTable, functions};
}

struct Table {
  int64_t size;         // sizeof(Table); detects a plug-in of another build
  const char* version;  // the same text as build_version() in device/plugin.h
  // LibTorch's number for devices of this kind (c10::DeviceType); 1 is CUDA. Device `index` of the
  // table is device `index` of LibTorch.
  int32_t torch_device_type;

  // Number of devices that this process sees. Error(kDependency) if there is no driver or if it is
  // too old.
  int (*num_devices)();
  Info (*info)(int device);

  // Returns memory aligned to 256 bytes, never null. Error(kNoMemory) names the size and the free
  // memory.
  void* (*allocate)(int device, Placement placement, int64_t bytes);
  // Does not wait. The caller makes sure that no work uses the memory any more.
  void (*release)(int device, Placement placement, void* memory) noexcept;

  // Pins host memory in place, so that kernels of every device can read it, in the context of the
  // calling thread's device; unpin() undoes that. Returns the address for kernels. Calls for the
  // same memory are counted: it stays pinned until as many calls of unpin(). Memory that its owner
  // has pinned stays pinned after unpin(). Error(kNoMemory) or kUnsupported if the system refuses,
  // kInvalidArgument if only a part of the range is pinned.
  void* (*pin)(void* memory, int64_t bytes);
  void (*unpin)(void* memory) noexcept;

  // Lets kernels of `device` read the memory of `peer`, including memory that is allocated later.
  // Returns false if the machine has no path between the two. Further calls have no effect. Any
  // thread.
  bool (*enable_peer)(int device, int peer);

  // `max_multiprocessors`: the most multiprocessors that a kernel of the library takes at a time;
  // 0: all. `stream`: the caller's CUDA stream, which must outlive the queue; null: the queue makes
  // its own.
  Queue* (*open_queue)(int device, int max_multiprocessors, void* stream);
  // A queue with a stream of its own, no bound on multiprocessors and a high priority, for work
  // that others wait for: the device starts its kernels before those of queues from open_queue().
  // Kernels that run already go on.
  Queue* (*open_urgent_queue)(int device);
  // Waits for the work in the queue.
  void (*close_queue)(Queue* queue) noexcept;
  // Copies in the order of the queue. Both sides may be device memory or host memory, pinned or
  // not.
  void (*copy)(Queue* queue, void* to, const void* from, int64_t bytes);
  void (*synchronize)(Queue* queue);
  // True if all work in the queue is done. Does not wait. Any thread, including while another
  // thread uses the queue.
  bool (*finished)(Queue* queue);
  // Work that enters `queue` after this call waits for the work that is in `other` now; the queues
  // may be of different devices. The calling thread does not wait.
  void (*wait)(Queue* queue, Queue* other);
  // Makes this queue the current stream of the calling thread for LibTorch's work on the queue's
  // device, until another queue is used, and makes the device the thread's current device.
  void (*use)(Queue* queue);

  // Calls work(context) and captures the work that it puts into the queue, including LibTorch's
  // work from all threads; none of it runs now. The pinned and device memory that the work refers
  // to must stay; LibTorch's allocations during the capture belong to the captured work. A replay
  // reads this memory as it is then. The queue must be in use (use()), and `work` must have run
  // once before, so that libraries have done their first-call setup. Work that waits for the device
  // or uses pageable memory or other queues cannot be captured: Error(kUnsupported) with the
  // reason. Exceptions of `work` pass through. Waits for the queue.
  Graph* (*capture)(Queue* queue, void (*work)(void* context), void* context);
  // Puts captured work into the queue. Neither waits nor allocates.
  void (*replay)(Queue* queue, const Graph* kept);
  // Replays that are still in queues must have ended.
  void (*free_graph)(Graph* kept) noexcept;

  // Makes an event for queues of `device`, not recorded yet. `timed`: elapsed() accepts it;
  // Error(kUnsupported) if the device cannot measure times.
  Event* (*make_event)(int device, bool timed);
  // Records the event after the work that is in the queue now; an earlier record is lost. Not
  // within capture(). Neither waits nor allocates. One thread at a time records an event or makes
  // queues wait for it.
  void (*record)(Queue* queue, Event* event);
  // True if the device has reached the last record of the event, or if it was never recorded. Does
  // not wait. Any thread, including while another thread records it.
  bool (*reached)(const Event* event);
  // Work that enters `queue` after this call waits for the last record of the event, even if it is
  // recorded again later. The queue may be of any device. The calling thread does not wait. Does
  // nothing if the event was never recorded. Not within capture(). Neither waits nor allocates.
  void (*wait_event)(Queue* queue, const Event* event);
  // Writes the seconds from one event to another, both timed and recorded in queues of one device;
  // negative if `to` came first. Returns false if the device has not reached both, or if one was
  // never recorded. Does not wait.
  bool (*elapsed)(const Event* from, const Event* to, double* seconds);
  // The event may still be pending; queues that wait for it go on waiting.
  void (*free_event)(Event* event) noexcept;

  // The rooms' tables in any order; the rest is empty. Read by of().
  static constexpr int kMostRooms = 8;
  RoomTable rooms[kMostRooms];

  // Returns the table of type T, null if there is none.
  template <typename T>
  const T* of() const noexcept {
    for (const RoomTable& room : rooms)
      if (room.name && std::strcmp(room.name, T::kTable) == 0)
        return static_cast<const T*>(room.functions);
    return nullptr;
  }
  // Sets the table of type T; null removes it.
  template <typename T>
  void set(const T* functions) noexcept {
    for (RoomTable& room : rooms)
      if (!room.name || std::strcmp(room.name, T::kTable) == 0) {
        room = room_table(functions);
        return;
      }
  }
};

}  // namespace gnnmg::device
