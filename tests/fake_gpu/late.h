// Fake GPUs that work later than they are told, so that the host runs ahead of them as it does of
// real ones: what stands in a queue behind work that is not over is put off, and a thread does it.
// So for copies, waits and what was captured; kernels and operators that are started one by one are
// done at once all the same, so that these have to find their queue empty.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/device.h"

namespace gnnmg::fake_gpu {

// One at a time. What uses its table is gone when it goes.
class Late {
 public:
  explicit Late(const base::DeviceTable& table);
  ~Late();
  Late(const Late&) = delete;
  Late& operator=(const Late&) = delete;

  const base::DeviceTable& table() const;
  // Puts work into the queue that was opened with the stream: it is called again and again, on the
  // thread, until it says that it is done.
  static void put(void* stream, std::function<bool()> work);
  // How often what was captured had to wait.
  int64_t num_put_off() const;

  class World;

 private:
  std::unique_ptr<World> world_;
};

}  // namespace gnnmg::fake_gpu
