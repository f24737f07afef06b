// Fake GPUs that defer work: the table of device/table.h over the host's implementation, whose
// queues do their work at some time between its submission and a wait for it, in an order that a
// seed determines. A reader that does not wait for its input, and memory that is reused too early,
// give wrong results. A second stand-in beside tests/fake_gpu, because that one cannot defer
// kernels: LibTorch's operators use the same memory, and run when they are called.
#pragma once

#include <cstdint>

#include "device/table.h"

namespace gnnmg::lazy_gpu {

inline constexpr int kNumDevices = 2;

// Sampling, features and all device functions; no layers, no NCCL.
const device::Table& table();

// 0: all at once; 1: nothing before a wait; others: random.
void set_order(uint64_t seed);
void set_memory(int device, int64_t bytes);  // initially 1 GiB

int64_t num_live();         // allocations on devices, pinned allocations, and pinned host arrays
int64_t num_pinned();       // pinned host arrays among them
int64_t num_queues();       // open queues
int64_t num_marks();        // live events
int64_t num_allocations();  // allocations and pins since the program began
// Makes the allocation or pin after the next `after` fail, or, with `for_ever`, that one and all
// later ones; -1: none.
void fail_allocation(int64_t after, bool for_ever = false);
void refuse_peers(bool refuse);    // refuses peer access
void refuse_pinning(bool refuse);  // refuses to pin existing arrays
// Makes everything except freeing fail.
void lose(bool lost);

}  // namespace gnnmg::lazy_gpu
