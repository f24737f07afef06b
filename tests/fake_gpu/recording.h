// The recorded work of a device, for replays: the fake of a CUDA graph. As there, nothing runs
// during the capture, and replays read and write the memory of the capture.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "arena.h"

namespace gnnmg::fake_gpu {

class Recording {
 public:
  explicit Recording(Arena& arena) : arena_(arena) {}
  // Frees memory that was released meanwhile.
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  // Runs `work` with everything recorded, and undoes its changes to memory. Its exceptions pass
  // through.
  void capture(const std::function<void()>& work);
  void add(std::function<void()> step) { steps_.push_back(std::move(step)); }
  void keep(void* memory) { kept_.push_back(memory); }
  void replay() const {
    for (const std::function<void()>& step : steps_) step();
  }
  int64_t num_steps() const { return static_cast<int64_t>(steps_.size()); }

 private:
  Arena& arena_;
  std::vector<std::function<void()>> steps_;
  std::vector<void*> kept_;
};

}  // namespace gnnmg::fake_gpu
