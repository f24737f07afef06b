#include "train/step/captured/wait.h"

#include <thread>

#include "base/error.h"
#include "device/wait.h"

namespace gnnmg::train {

// Error if an exchange hangs or has lost a rank.
void StepWait::until(const std::function<bool()>& over, const comm::Wait& wait) const {
  if (comm_.world_size() > 1) return comm_.queued()->await(over, wait);
  for (int turn = 0; !over(); ++turn) {
    wait.cancel.check("training");
    if (wait.deadline.passed() && !over())
      base::fail(base::Status::kTimeout, "GPU ", device_.index,
                 " has not come to the end of a step within ",
                 static_cast<double>(deadline_ms_) / 1000, " s");
    if (turn < 100)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

void StepWait::for_queue(device::Queue* queue, const comm::Wait& wait) const {
  until([&] { return device_.table->finished(queue); }, wait);
}

void StepWait::for_event(const device::OwnedEvent& event, const comm::Wait& wait) const {
  until([&] { return device_.table->reached(event.get()); }, wait);
}

void StepWait::drain(const comm::Wait& wait) const {
  try {
    return for_queue(device_.queue, wait);
  } catch (const base::Error& error) {
    if (error.status() == base::Status::kDeviceLost) throw;
  }
  if (!device::drain(*device_.table, device_.queue, device::drain_limit(deadline_ms_)))
    base::fail(base::Status::kTimeout, "the device is still at a step that was called off");
}

}  // namespace gnnmg::train
