// What was put into a device while it was captured, to be done again: the fake of a CUDA graph. As
// there, nothing of it happens while it is captured, and what is done again reads and writes the
// memory that it named then.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "arena.h"

namespace gnnmg::fake_gpu {

class Recording {
 public:
  explicit Recording(Arena& arena) : arena_(arena) {}
  // Memory that was given back meanwhile goes now.
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  // Runs `work` with everything recorded, and undoes what it has done to memory. What it throws
  // goes through.
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
