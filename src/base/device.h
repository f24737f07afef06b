// What a GPU does for the library: tables of functions that the plug-in libgnnmg_cuda.so fills. One
// table a room, declared in that room's device.h beside what the CPU does; here are devices, their
// memory and their queues. Nothing above the plug-in names CUDA, and no class changes its shape
// with it.
//
// Every function throws base::Error unless it is noexcept. kDeviceLost: the device failed, and
// stays failed; releasing still works.
#pragma once

#include <cstdint>

namespace gnnmg::sample {
struct DeviceSampling;  // sample/device.h
}
namespace gnnmg::feature {
struct DeviceFeatures;  // feature/device.h
}
namespace gnnmg::comm::nccl {
struct Table;  // comm/nccl/table.h
}
namespace gnnmg::nn::kernels {
template <typename T>
struct DeviceLayers;  // nn/kernels/device.h
}
namespace gnnmg::train {
template <typename T>
struct DeviceUpdates;  // train/device_updates.h
}

namespace gnnmg::base {

struct DeviceInfo {
  char name[128];        // "NVIDIA H100 80GB HBM3"
  char bus_id[16];       // "0000:19:00.0", the same in every process
  int64_t total_memory;  // bytes
  int64_t free_memory;   // bytes, now
  int32_t major, minor;  // compute capability
  int32_t multiprocessors;
  int32_t driver_version;  // 13000: CUDA 13.0
  int32_t runtime_version;
};

// Where a buffer lies: in the device's own memory, or in the host's, pinned, where kernels read it
// over the bus.
enum class Placement : int32_t { kDevice = 0, kPinned = 1 };

// Work of one device in order; a CUDA stream in the plug-in. One thread at a time.
struct DeviceQueue;
// Work that was kept, to be done again and again; a CUDA graph in the plug-in.
struct DeviceReplay;
// A point in a queue's work, which others ask and wait for, and which may have a time when the
// device has come to it; a CUDA event in the plug-in. Whoever needs no more than that takes no
// queue: a device has few of its own, and what shares one of these waits for each other.
struct DeviceMark;

struct DeviceTable {
  int64_t size;         // sizeof(DeviceTable), by which a plug-in of another build is known
  const char* version;  // as build_version() of base/plugin.h
  // LibTorch's number for devices of this kind (c10::DeviceType): 1 is CUDA. Device `index` of the
  // table is device `index` of LibTorch's.
  int32_t torch_device_type;

  // Devices that this process sees. Error(kDependency) without a driver, or with one too old.
  int (*num_devices)();
  DeviceInfo (*info)(int device);

  // Aligned to 256 bytes, never null. Error(kNoMemory) that names the size and what is free.
  void* (*allocate)(int device, Placement placement, int64_t bytes);
  // Waits for nothing: what uses the memory is over.
  void (*release)(int device, Placement placement, void* memory) noexcept;

  // Makes memory of the host's readable by kernels of every device where it lies, in the context of
  // the calling thread's, and takes that back; returns its address for kernels. May be called
  // several times for memory, which stays pinned until as many unpin(); what its owner has pinned
  // by himself is left to him. Error(kNoMemory) or kUnsupported when the system refuses to pin it,
  // kInvalidArgument when a part of it is pinned.
  void* (*pin)(void* memory, int64_t bytes);
  void (*unpin)(void* memory) noexcept;

  // Lets kernels of `device` read what lies in the memory of `peer`, now and later. False where the
  // machine has no way for that between the two. Again: nothing more happens. Any thread.
  bool (*enable_peer)(int device, int peer);

  // `max_multiprocessors`: how many of the device's a kernel of ours may take at a time; 0: all.
  // `stream`: a CUDA stream of the caller's that outlives the queue, or null: one of the queue's
  // own.
  DeviceQueue* (*open_queue)(int device, int max_multiprocessors, void* stream);
  // One of its own, without such a bound, for what others wait for: where a device has to choose,
  // its kernels begin before those of queues that open_queue() made, which may go on meanwhile.
  DeviceQueue* (*open_urgent_queue)(int device);
  // Waits for what is in it.
  void (*close_queue)(DeviceQueue* queue) noexcept;
  // In order with the queue; either side may be memory of the host's, pinned or not.
  void (*copy)(DeviceQueue* queue, void* to, const void* from, int64_t bytes);
  void (*synchronize)(DeviceQueue* queue);
  // Whether all of it is over; does not wait. Any thread, also beside one that works with it.
  bool (*finished)(DeviceQueue* queue);
  // What comes into `queue` from here on waits for what is in `other` now, of any device; the
  // calling thread does not.
  void (*wait)(DeviceQueue* queue, DeviceQueue* other);
  // LibTorch's work of the calling thread for the queue's device goes into this queue from here on,
  // until another queue is named; the device becomes the thread's own.
  void (*use)(DeviceQueue* queue);

  // Calls work(context) and keeps what that puts into the queue, LibTorch's work of all threads
  // included, of which nothing happens now: the memory that it names, pinned or the device's, has
  // to stay, and what LibTorch takes meanwhile belongs to what is kept. Done again, it reads that
  // memory as it is then. The queue is in use (use()), and the work has run once before, so that
  // what libraries make at their first call is there. What waits for the device, pageable memory
  // or other queues cannot be kept: Error(kUnsupported) with what went wrong. What `work` throws
  // goes through. Waits for the queue.
  DeviceReplay* (*capture)(DeviceQueue* queue, void (*work)(void* context), void* context);
  // Puts it into the queue. Neither waits nor allocates.
  void (*replay)(DeviceQueue* queue, const DeviceReplay* kept);
  // What was put into queues of it is over.
  void (*free_capture)(DeviceReplay* kept) noexcept;

  // For queues of `device`, put nowhere yet. `timed`: elapsed() takes it; Error(kUnsupported) where
  // the device tells no times.
  DeviceMark* (*make_mark)(int device, bool timed);
  // Puts it behind what is in the queue now, and not where it was before. Not within capture().
  // Neither waits nor allocates. One thread at a time puts a mark or has queues wait for it.
  void (*mark)(DeviceQueue* queue, DeviceMark* mark);
  // Whether the device has come to where it is now; true where it was put nowhere. Does not wait.
  // Any thread, also beside one that puts it.
  bool (*reached)(const DeviceMark* mark);
  // What comes into `queue` from here on, of any device, waits until the mark is reached where it
  // is now, wherever it is put later; the calling thread does not. Nothing where it was put
  // nowhere. Not within capture(). Neither waits nor allocates.
  void (*wait_mark)(DeviceQueue* queue, const DeviceMark* mark);
  // Seconds from one to the other, both timed and of any queues of one device; below 0 where `to`
  // was first. False while the device has not come to both, or one was put nowhere. Does not wait.
  bool (*elapsed)(const DeviceMark* from, const DeviceMark* to, double* seconds);
  // The device may have yet to come to it; what waits for it goes on waiting.
  void (*free_mark)(DeviceMark* mark) noexcept;

  const sample::DeviceSampling* sampling;
  const feature::DeviceFeatures* features;
  const comm::nccl::Table* nccl;
  const nn::kernels::DeviceLayers<float>* layers_f32;
  const nn::kernels::DeviceLayers<double>* layers_f64;
  const train::DeviceUpdates<float>* updates_f32;
  const train::DeviceUpdates<double>* updates_f64;
};

}  // namespace gnnmg::base
