// Fake GPUs without LibTorch: memory is the host's, and work is done when a call returns. For tests
// of code that uses devices only through base/device.h.
#pragma once

#include <string>

#include "base/device.h"

namespace gnnmg::fake_nccl {

// Sets this process's GPUs: `count` of the machine's, from number `first` on; processes with other
// numbers have other GPUs. Call once, before the table is used.
void set_host_gpus(int count, int first = 0);
void set_host_gpu(int device, const std::string& bus_id, int64_t total_memory);
// Makes everything on it fail, except freeing.
void lose_host_gpu(int device);

const base::DeviceTable& host_gpus();
// Number of live allocations and queues.
int live_on_host_gpus();

}  // namespace gnnmg::fake_nccl
