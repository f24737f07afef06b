// GPUs that are not there, for tests of everything above the plug-in: the table of base/device.h
// over the host's twin, and LibTorch's device type PrivateUse1 on the same memory. They are strict:
// - memory of a device can be touched while a kernel, a copy or an operator runs, and else kills;
// - an operator that mixes a device's tensors with the CPU's, but for 0-dim ones, or with another
//   device's fails as it does on CUDA;
// - a gather may read memory of the devices that enable_peer() has let it, and fails once one of
//   these is lost; nothing else may touch another device's memory;
// - backward passes run on LibTorch's threads for devices;
// - what touches a device when the program ends, behind the end of LibTorch's CUDA half, kills.
// Work is over when a call returns, so that a queue which should wait for another is not found out.
// Linking this makes LibTorch know the devices, before it is used.
#pragma once

#include <cstdint>

#include "base/device.h"

namespace gnnmg::fake_gpu {

// Devices 0 to num_devices - 1, at most 8, of 1 GiB each. Tables live as long as the program. What
// the table has no fake of here is null: comm/nccl, which fake_nccl/fake_nccl.h makes over it.
base::DeviceTable make_table(int num_devices);

// This process sees those of the machine from the `first`-th on, counted from 0: the same ones as
// other processes that say so.
void set_first_on_bus(int first);

void set_memory(int device, int64_t bytes);
int64_t live_bytes(int device);
int64_t peak_bytes(int device);  // the most that was live since the last reset_peak()
void reset_peak(int device);
int64_t num_live(int device);         // allocations
int64_t num_allocations(int device);  // since the program began
// Of those, tensors for which LibTorch would have asked the device, were it to give what it keeps
// for the same size alone; and forgets what it keeps.
int64_t num_without_kept(int device);
void forget_kept(int device);
// Copies between the host's memory and a device's since the program began, by queues and by
// LibTorch.
struct Copies {
  int64_t to_device = 0, to_host = 0;  // how many
  int64_t bytes_to_device = 0, bytes_to_host = 0;
};
Copies copies(int device);
// The allocation behind the next `after` fails, LibTorch's too, or, `for_ever`, that one and all
// others; -1: none.
void fail_allocation(int device, int64_t after, bool for_ever = false);
// Everything on it fails from now on, but freeing.
void lose(int device);
void find_again(int device);
// Kernels of `device` cannot be let read memory of `peer`; what they may already stays.
void refuse_peer(int device, int peer, bool refuse = true);
// Is called before memory of a device is taken, tensors' included, and before memory of the host's
// is pinned or given back, on the thread that does it: calls of CUDA that may wait for kernels of
// all devices. Null: nobody.
void watch_memory(void (*watch)(const char* what));
// The next calls that pin memory of the host's are refused.
void refuse_pinning(bool refuse);

}  // namespace gnnmg::fake_gpu
