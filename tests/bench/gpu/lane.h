// What differs between a GPU and the fake one on which the benchmark's own code is tried: its
// table, a clock in its queue, and how often the host waited for it or asked it for memory.
// lane_cuda.cpp and lane_fake.cpp; the fake one's times mean nothing.
#pragma once

#include <cstdint>
#include <functional>

#include "base/device.h"

namespace gnnmg::bench {

// Error(kDependency) with the reason where there is no GPU. Called before anything of LibTorch's.
const base::DeviceTable& gpu_table();
bool is_measurement();  // false on the fake one

// A queue of GPU 0, with events around what it is timed for.
class Lane {
 public:
  // A kernel takes at most so many multiprocessors; 0: all.
  explicit Lane(int max_multiprocessors = 0);
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  base::DeviceQueue* queue() const { return queue_; }
  void start();
  double stop();  // seconds since start() by the device's clock; waits

 private:
  struct Clock;
  Clock* clock_;
  base::DeviceQueue* queue_;
};

// Of this process, LibTorch included, since it began.
struct Calls {
  int64_t waits = 0;        // for a stream, an event, the device or a copy
  int64_t allocations = 0;  // of the device's memory or of pinned memory, and frees
  int64_t pageable = 0;  // copies in a queue of memory that is not pinned, for which the host waits
};
Calls calls();

struct Timing {
  double device = 0, wall = 0;  // seconds of one time
  bool steady = false;          // two windows in a row agreed within 2 %
};
// Windows of `times` calls of `once`, which puts work into the lane's queue, until two agree; the
// last of them. Twice one call where it is no measurement.
Timing timed(Lane& lane, int64_t times, const std::function<void()>& once);

}  // namespace gnnmg::bench
