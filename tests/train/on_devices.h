// What the ranks of a test's processes compute on: the CPU or fake GPUs, a file each, so that the
// same cases are run on both.
#pragma once

#include "train/options.h"

namespace gnnmg::test {

// First of all in a process of its own: what stays until it ends.
void open_devices(const Options& options);
// A process of its own: opens devices for its ranks, if it is on some, and has the recipe name them
// and the host know them. Options are told where they are read.
void place(const Options& options, Recipe& setup, Host& host);
// A process that is a thread of this one, or trains alone: it has at most two ranks, or is the last
// one.
void place(int process, Recipe& setup, Host& host);
// True for fake GPUs, whose kernels and operators are slow: what takes long takes fewer steps
// there.
bool slow();
// Allocations, queues, communicators of devices that are there, and rules that were broken; 0 on
// the CPU. Waits a moment for what ends in the background.
int64_t num_on_devices();
// How often a launch has held up a thread (late=1).
int64_t num_held_up();
// As if the process's first one had fallen off the bus.
void lose_device();

}  // namespace gnnmg::test
