// Devices, their memory and queues: the functions of the table of device/table.h.
#pragma once

#include "device/table.h"

namespace gnnmg::cuda {

int num_devices();
void check_device(int device);  // Error(kNotFound) if the device does not exist
device::Info device_info(int device);
void* allocate(int device, device::Placement placement, int64_t bytes);
void release(int device, device::Placement placement, void* memory) noexcept;
void* pin(void* memory, int64_t bytes);
void unpin(void* memory) noexcept;
device::Queue* open_queue(int device, int max_multiprocessors, void* stream);
device::Queue* open_urgent_queue(int device);
void close_queue(device::Queue* queue) noexcept;
void copy(device::Queue* queue, void* to, const void* from, int64_t bytes);
void synchronize(device::Queue* queue);
bool finished(device::Queue* queue);
void wait(device::Queue* queue, device::Queue* other);

// given_streams.cpp: these two. LibTorch's data for a caller's stream is freed with the last queue
// of the stream.
device::Queue* open_counted_queue(int device, int max_multiprocessors, void* stream);
void close_counted_queue(device::Queue* queue) noexcept;

// torch.cpp
void use(device::Queue* queue);
bool enable_peer(int device, int peer);

// capture.cpp
device::Graph* capture(device::Queue* queue, void (*work)(void*), void* context);
void replay(device::Queue* queue, const device::Graph* kept);
void free_graph(device::Graph* kept) noexcept;

// event.cpp
device::Event* make_event(int device, bool timed);
void record(device::Queue* queue, device::Event* event);
bool reached(const device::Event* event);
void wait_event(device::Queue* queue, const device::Event* event);
bool elapsed(const device::Event* from, const device::Event* to, double* seconds);
void free_event(device::Event* event) noexcept;

}  // namespace gnnmg::cuda
