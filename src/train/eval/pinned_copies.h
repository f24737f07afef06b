// Copies between a device's memory and pageable memory of the host, through a pinned staging
// buffer, at the speed of the bus, and with the deadlines of waits for a device.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "device/owners.h"
#include "nn/torch/device.h"

namespace gnnmg::train {

// Use it on the thread of one queue. Its memory is taken when it is made, because kernels of other
// ranks must not wait for this rank meanwhile. If the system pins no memory, copies do without. The
// destructor never waits: memory that a hung device may still write is freed once it cannot.
class PinnedCopies {
 public:
  explicit PinnedCopies(const nn::Device& device);
  ~PinnedCopies();
  PinnedCopies(const PinnedCopies&) = delete;
  PinnedCopies& operator=(const PinnedCopies&) = delete;

  // Copies after the work in the queue; returns when all is here. Errors of device::wait_for().
  void to_host(void* here, const void* there, int64_t bytes);
  // Copies for later work in the queue. `here` may be freed after the return.
  void to_device(void* there, const void* here, int64_t bytes);

 private:
  // Two, so that the one is filled while the other is under way.
  struct Slot {
    device::OwnedEvent over;    // event after the last copy from it or to it
    uint8_t* memory = nullptr;  // pinned
    uint8_t* here = nullptr;
    int64_t bytes = 0;  // still to be copied to `here`
  };
  struct Slots {
    device::Buffer memory;  // holds both slots, so other ranks' launches are waited for once
    std::array<Slot, 2> each;
  };
  static bool idle(const device::Table& table, const Slots& slots) noexcept;
  void take();
  void wait(const Slot& slot) const;
  void bring(Slot& slot) const;

  const nn::Device device_;
  std::shared_ptr<Slots> slots_;
  bool pinned_ = false;
};

}  // namespace gnnmg::train
