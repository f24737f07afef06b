// Fake GPUs for tests of all rooms above the plug-in: the table of device/table.h over the host's
// implementation, and LibTorch's device type PrivateUse1 on the same memory. They are strict:
// - device memory may be touched only while a kernel, a copy or an operator runs; otherwise the
//   program ends;
// - an operator that mixes a device's tensors with the CPU's, except 0-dim ones, or with another
//   device's, fails as it does on CUDA;
// - a gather may read memory of the devices that enable_peer() has allowed, and fails once one of
//   these is lost; nothing else may touch another device's memory;
// - backward passes run on LibTorch's threads for devices;
// - at exit, touching a device after the end of LibTorch's CUDA half ends the program.
// Work is done when a call returns, so a missing wait between queues is not detected; late.h has
// devices that work later, or hang. Programs that link the target gnnmg_fake_gpu make LibTorch know
// the devices before it is used; gnnmg_fake_devices is free of LibTorch, and its tables have no
// functions of layers and optimizers.
#pragma once

#include <cstdint>
#include <string>

#include "device/table.h"

namespace gnnmg::fake_gpu {

// Devices 0 to num_devices - 1, at most 8, of 1 GiB each. NCCL's functions are not in the table;
// fake_nccl/fake_nccl.h makes them over it.
device::Table make_table(int num_devices);

// Sets the number of devices in devices(), finds lost ones again, and gives all their memory and
// bus ids; call it while nobody uses them. `first`: as in set_first_on_bus().
void set_devices(int num_devices, int first = 0);
const device::Table& devices();
// True for the device's own memory.
bool holds(int device, const void* memory);
int64_t num_held();  // live allocations, also of pinned memory, and open queues of all devices

// This process sees the machine's devices from number `first` on, counted from 0; processes with
// equal numbers have the same devices.
void set_first_on_bus(int first);

// The id of a device in place of "0000:01:00.0" for the first on the bus and so on.
void set_bus_id(int device, const std::string& id);
void set_memory(int device, int64_t bytes);
int64_t live_bytes(int device);
int64_t peak_bytes(int device);  // the largest number of live bytes since the last reset_peak()
void reset_peak(int device);
int64_t num_live(int device);         // live allocations
int64_t num_allocations(int device);  // since the program began
// The number of those tensors for which LibTorch would have asked the device if its cache served
// only equal sizes; then forgets the cache.
int64_t num_without_kept(int device);
void forget_kept(int device);
// Copies between host and device memory since the program began, by queues and by LibTorch.
struct Copies {
  int64_t to_device = 0, to_host = 0;  // numbers of copies
  int64_t bytes_to_device = 0, bytes_to_host = 0;
};
Copies copies(int device);
// Makes the allocation after the next `after` fail, including LibTorch's, or, with `for_ever`, that
// one and all later ones; -1: none.
void fail_allocation(int device, int64_t after, bool for_ever = false);
// Makes everything on it fail, except freeing; lose_at(): at its n-th use from now, from 1.
void lose(int device);
void lose_at(int device, int64_t use);
int64_t num_uses(int device);  // number until now
void find_again(int device);
// Refuses access of `device` to the memory of `peer`; access that exists already stays.
void refuse_peer(int device, int peer, bool refuse = true);
// Sets a callback before device memory is taken, including tensors', and before host memory is
// pinned or unpinned, on the calling thread: calls of CUDA that may wait for kernels of all
// devices. Null: none.
void watch_memory(void (*watch)(const char* what));
// Refuses the next calls that pin host memory.
void refuse_pinning(bool refuse);

}  // namespace gnnmg::fake_gpu
