// Waits for devices with a deadline, so that neither an endless kernel nor a hung driver blocks a
// caller longer than it accepts. A device that is still busy after the longest possible wait is
// given up: the process stops using it, as if it were lost. Memory that the device uses is kept
// until its work ends, or until the process does.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <string>

#include "base/cancel.h"
#include "base/device.h"

namespace gnnmg::base {

// Sets the timeout and the cancel token of this thread's waits for devices while it lives. Without
// one a wait for a device has no timeout, as in code that frees memory that the device uses.
class DevicePatience {
 public:
  DevicePatience(int64_t limit_ms, CancelToken cancel);
  ~DevicePatience();
  DevicePatience(const DevicePatience&) = delete;
  DevicePatience& operator=(const DevicePatience&) = delete;

  int64_t limit_ms() const { return limit_ms_; }
  const CancelToken& cancel() const { return cancel_; }
  static const DevicePatience* current() noexcept;  // the innermost one of this thread, or null

 private:
  const int64_t limit_ms_;
  const CancelToken cancel_;
  const DevicePatience* const outer_;
};

// Waits until the queue is empty, as DeviceTable::synchronize() does. Error(kTimeout) or kCancelled
// according to the thread's DevicePatience, kDeviceLost at once for a device that is given up.
void wait_for(const DeviceTable& table, int device, DeviceQueue* queue);

// Drain timeout after work is canceled, for callers whose normal timeout is `limit_ms`: 1 to 10 s.
std::chrono::milliseconds time_to_rest(int64_t limit_ms) noexcept;
// False if the queue is still busy after `limit`. A device that reports another error counts as
// idle.
bool comes_to_rest(const DeviceTable& table, DeviceQueue* queue, std::chrono::milliseconds limit);

// Call before freeing memory that the device uses. Waits for the queue. After the drain timeout of
// the thread (10 s by default) it gives the device up and keeps waiting.
void wait_to_free(const DeviceTable& table, int device, DeviceQueue* queue) noexcept;
void set_time_to_rest(std::chrono::milliseconds time) noexcept;
// Called when the program exits: threads in wait_to_free(), now or later, block for good.
void wait_for_ever() noexcept;

// Gives a device of the table up for good. `why`: "has not come to its end within 10 s of ..."; the
// first reason is kept.
void give_up(const DeviceTable& table, int device, const std::string& why);
bool given_up(const DeviceTable& table, int device) noexcept;
bool any_given_up(const DeviceTable& table) noexcept;
// Throws Error(kDeviceLost) if the device is given up.
void check_not_given_up(const DeviceTable& table, int device);

// Runs `end` on a thread of its own. `end` throws nothing and may block on a hung device; the
// thread keeps running after the caller has stopped waiting and ends with the process. Memory that
// it allocates is charged to the budget of the calling thread.
std::shared_future<void> end_in_background(std::function<void()> end);
// Number of end_in_background() calls that have not finished.
int pending_ends() noexcept;

}  // namespace gnnmg::base
