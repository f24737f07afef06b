// GPUs that are not there and that put work off: the table of base/device.h over the host's twin,
// whose queues do what they were given at some time between being given it and somebody's waiting
// for it, in an order that a seed decides. A reader that does not wait for what it reads, and
// memory that is written again too early, show in what is read.
#pragma once

#include <cstdint>

#include "base/device.h"

namespace gnnmg::lazy_gpu {

inline constexpr int kNumDevices = 2;

// Sampling, features and all of devices; no layers, no NCCL.
const base::DeviceTable& table();

// 0: all at once; 1: nothing before somebody waits for it; others: by chance.
void set_order(uint64_t seed);
void set_memory(int device, int64_t bytes);  // 1 GiB before

int64_t num_live();  // pieces of memory, of the devices and pinned, and pinned arrays of the host's
int64_t num_pinned();       // of them: pinned arrays of the host's
int64_t num_queues();       // open
int64_t num_marks();        // not freed
int64_t num_allocations();  // and pins, since the program began
// The allocation or pin behind the next `after` fails, or, `for_ever`, that one and all others; -1:
// none.
void fail_allocation(int64_t after, bool for_ever = false);
void refuse_peers(bool refuse);    // to read each other's memory
void refuse_pinning(bool refuse);  // of arrays that are there
// Everything fails from now on, but freeing.
void lose(bool lost);

}  // namespace gnnmg::lazy_gpu
