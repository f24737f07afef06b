// Fake GPUs that work later than they are told, so that the host runs ahead of them as it does of
// real ones: what stands in a queue behind work that is not over is put off, and a thread does it.
// So for copies, waits, marks and what was captured; kernels and operators that are started one by
// one are done at once all the same, so that these have to find their queue empty, or wait for that
// (Launches).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/device.h"

namespace gnnmg::fake_gpu {

// What becomes of a kernel or an operator that is started behind work that is not over.
enum class Launches : uint8_t {
  kAtOnce,  // it is done at once
  // The thread that starts it is held up until the work is over, as by a driver whose launch queue
  // is full; so it is by more than kMostPutOff pieces of other work.
  kHoldUp,
};
inline constexpr size_t kMostPutOff = 64;

// One at a time. What uses its table is gone when it goes.
class Late {
 public:
  explicit Late(const base::DeviceTable& table, Launches launches = Launches::kAtOnce);
  ~Late();
  Late(const Late&) = delete;
  Late& operator=(const Late&) = delete;

  const base::DeviceTable& table() const;
  // Puts work into the queue that was opened with the stream: it is called again and again, on the
  // thread, until it says that it is done.
  static void put(void* stream, std::function<bool()> work);
  // From here on nothing that stands in the device's queues comes to its end, until it goes on: as
  // behind a kernel that never ends. Of all queues of the device from the `first`-th on, counted
  // from 0 as they were opened. `silent`: who asks whether a queue is finished gets no answer
  // either, as of a driver that hangs.
  void hang(int device, int first = 0, bool silent = false);
  void go_on(int device);
  // How often a thread has been held up by a launch.
  int64_t num_held_up() const;
  // How often what was captured had to wait.
  int64_t num_put_off() const;

  class World;

 private:
  std::unique_ptr<World> world_;
};

}  // namespace gnnmg::fake_gpu
