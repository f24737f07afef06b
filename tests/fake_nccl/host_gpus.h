// GPUs that are not there, without LibTorch: memory is the host's, and work is over when a call
// returns. For tests of what talks to devices through base/device.h alone.
#pragma once

#include <string>

#include "base/device.h"

namespace gnnmg::fake_nccl {

// This process's GPUs, `count` of a machine's, of which the first is its `first`-th: processes with
// other ones are on other GPUs. Named once, before the table is used.
void set_host_gpus(int count, int first = 0);
void set_host_gpu(int device, const std::string& bus_id, int64_t total_memory);
// Everything on it fails from now on, but freeing.
void lose_host_gpu(int device);

const base::DeviceTable& host_gpus();
// Allocations and queues that are there now.
int live_on_host_gpus();

}  // namespace gnnmg::fake_nccl
