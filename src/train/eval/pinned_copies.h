// Copies between a device's memory and memory of the host's that is not pinned, by way of some that
// is, so that they take as long as the bus does, and nobody waits for them but as for a device.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "base/marks.h"
#include "loader/device_memory.h"
#include "nn/device.h"

namespace gnnmg::train {

// Of one queue; its thread's. Takes its memory when it is made, for that must not be while kernels
// of other ranks wait for this one; where the system pins none, copies go without. Its end waits
// for nobody: memory that a device may yet write, since it hangs, goes when it no longer can.
class PinnedCopies {
 public:
  explicit PinnedCopies(const nn::Device& device);
  ~PinnedCopies();
  PinnedCopies(const PinnedCopies&) = delete;
  PinnedCopies& operator=(const PinnedCopies&) = delete;

  // Behind what is in the queue; returns when all is here. Errors as of base::wait_for().
  void to_host(void* here, const void* there, int64_t bytes);
  // There for what comes into the queue from here on; `here` is read when it returns.
  void to_device(void* there, const void* here, int64_t bytes);

 private:
  // Two, so that the one is filled while the other is under way.
  struct Slot {
    base::Mark over;            // of what was last copied from it or to it
    uint8_t* memory = nullptr;  // pinned
    uint8_t* here = nullptr;
    int64_t bytes = 0;  // that are to go on to `here`
  };
  struct Slots {
    loader::DeviceBuffer memory;  // of both: taking it may have to wait for others' launches
    std::array<Slot, 2> each;
  };
  static bool at_rest(const base::DeviceTable& table, const Slots& slots) noexcept;
  void take();
  void wait(const Slot& slot) const;
  void bring(Slot& slot) const;

  const nn::Device device_;
  std::shared_ptr<Slots> slots_;
  bool pinned_ = false;
};

}  // namespace gnnmg::train
