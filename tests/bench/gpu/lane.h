// The differences between a GPU and the fake one that tests the benchmark's own code: the table, a
// clock in the queue, and counts of the host's waits and memory calls. Implemented by lane_cuda.cpp
// and lane_fake.cpp; the fake one's times mean nothing.
#pragma once

#include <cstdint>
#include <functional>

#include "device/table.h"

namespace gnnmg::bench {

// Error(kDependency) with the reason if there is no GPU. Call before anything of LibTorch.
const device::Table& gpu_table();
bool is_measurement();  // false on the fake one

// A queue of GPU 0, with events around the timed work.
class Lane {
 public:
  // `max_multiprocessors`: limit for a kernel; 0: no limit.
  explicit Lane(int max_multiprocessors = 0);
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  device::Queue* queue() const { return queue_; }
  void start();
  double stop();  // seconds since start() by the device's clock; waits

 private:
  struct Clock;
  Clock* clock_;
  device::Queue* queue_;
};

// Counts of this process, LibTorch included, since it began.
struct Calls {
  int64_t waits = 0;        // waits for a stream, an event, the device or a copy
  int64_t allocations = 0;  // allocations and frees of device or pinned memory
  int64_t pageable = 0;     // copies of pageable memory in a queue, for which the host waits
};
Calls calls();

struct Timing {
  double device = 0, wall = 0;  // seconds of one call
  bool steady = false;          // two consecutive windows agreed within 2 %
};
// Runs windows of `times` calls of `once`, which puts work into the lane's queue, until two agree;
// returns the last of them. Runs two single calls on the fake GPU.
Timing timed(Lane& lane, int64_t times, const std::function<void()>& once);

}  // namespace gnnmg::bench
