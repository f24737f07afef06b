// Devices, their memory and queues: the functions of the table of base/device.h.
#pragma once

#include "base/device.h"

namespace gnnmg::cuda {

int num_devices();
void check_device(int device);  // Error(kNotFound) if the device does not exist
base::DeviceInfo device_info(int device);
void* allocate(int device, base::Placement placement, int64_t bytes);
void release(int device, base::Placement placement, void* memory) noexcept;
void* pin(void* memory, int64_t bytes);
void unpin(void* memory) noexcept;
base::DeviceQueue* open_queue(int device, int max_multiprocessors, void* stream);
base::DeviceQueue* open_urgent_queue(int device);
void close_queue(base::DeviceQueue* queue) noexcept;
void copy(base::DeviceQueue* queue, void* to, const void* from, int64_t bytes);
void synchronize(base::DeviceQueue* queue);
bool finished(base::DeviceQueue* queue);
void wait(base::DeviceQueue* queue, base::DeviceQueue* other);

// given_streams.cpp: these two. LibTorch's data for a caller's stream is freed with the last queue
// of the stream.
base::DeviceQueue* open_counted_queue(int device, int max_multiprocessors, void* stream);
void close_counted_queue(base::DeviceQueue* queue) noexcept;

// torch.cpp
void use(base::DeviceQueue* queue);
bool enable_peer(int device, int peer);

// capture.cpp
base::DeviceReplay* capture(base::DeviceQueue* queue, void (*work)(void*), void* context);
void replay(base::DeviceQueue* queue, const base::DeviceReplay* kept);
void free_capture(base::DeviceReplay* kept) noexcept;

// mark.cpp
base::DeviceMark* make_mark(int device, bool timed);
void mark(base::DeviceQueue* queue, base::DeviceMark* mark);
bool reached(const base::DeviceMark* mark);
void wait_mark(base::DeviceQueue* queue, const base::DeviceMark* mark);
bool elapsed(const base::DeviceMark* from, const base::DeviceMark* to, double* seconds);
void free_mark(base::DeviceMark* mark) noexcept;

}  // namespace gnnmg::cuda
