// Devices of a test's ranks: the CPU or fake GPUs, each in its own file, so that the same cases run
// on both.
#pragma once

#include "train/job/options.h"

namespace gnnmg::test {

// Called first in each process; the devices stay until it ends.
void open_devices(const Options& options);
// For a separate process: opens the devices of its ranks and enters them in recipe and host.
// Options are those of the command line.
void place(const Options& options, Recipe& setup, Host& host);
// For a process that is a thread of this one, or trains alone: at most two ranks, except in the
// last process.
void place(int process, Recipe& setup, Host& host);
// True for fake GPUs, whose kernels and operators are slow: long tests take fewer steps.
bool slow();
// Existing allocations, queues and communicators of devices, plus broken rules; 0 on the CPU. Waits
// briefly for background work.
int64_t num_on_devices();
// Number of launches that blocked a thread (late=1).
int64_t num_held_up();
// Makes the process's first device fail for good.
void lose_device();

}  // namespace gnnmg::test
