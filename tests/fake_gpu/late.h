// Fake GPUs that work later than requested, so that the host runs ahead of them as of real ones:
// work that follows unfinished work in a queue is deferred, and a thread runs it. This applies to
// copies, waits, events and replays; kernels and operators that are started one by one still run at
// once, so their queue must be empty, or they wait for that (Launches).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "device/table.h"

namespace gnnmg::fake_gpu {

// The treatment of a kernel or an operator that is started after unfinished work.
enum class Launches : uint8_t {
  kAtOnce,  // runs it at once
  // Blocks the starting thread until the work is done, like a driver with a full launch queue,
  // which more than kMostPutOff pieces of other work also cause.
  kHoldUp,
};
inline constexpr size_t kMostPutOff = 64;

// One at a time. All users of its table must be gone when it is destroyed.
class Late {
 public:
  explicit Late(const device::Table& table, Launches launches = Launches::kAtOnce);
  ~Late();
  Late(const Late&) = delete;
  Late& operator=(const Late&) = delete;

  const device::Table& table() const;
  // Submits work to the queue that was opened with the stream: its thread calls it repeatedly until
  // it returns true.
  static void put(void* stream, std::function<bool()> work);
  // Stops the device's queues until go_on(), as after a kernel that never ends: all queues from
  // number `first` on, counted from 0 as they were opened. `silent`: queries whether a queue is
  // finished do not return either, as with a driver that hangs.
  void hang(int device, int first = 0, bool silent = false);
  void go_on(int device);
  // True if one of the device's queues has unfinished work.
  bool busy(int device) const;
  // Number of launches that blocked a thread.
  int64_t num_held_up() const;
  // Number of replays that had to wait.
  int64_t num_put_off() const;

  class World;

 private:
  std::unique_ptr<World> world_;
};

}  // namespace gnnmg::fake_gpu
