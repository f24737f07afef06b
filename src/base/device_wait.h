// The host's waits for devices, which end: a kernel that never does, or a driver that answers no
// more, holds up nobody for longer than he means to wait. A device that has not come to its end in
// a wait that could not be longer is given up: it is used no more in this process, as one that is
// lost, and what lies there stays until it has come to its end, or until the process has.
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

// While it lives, this is how long the thread waits for a device at a time, and who may call that
// off. A thread without one waits for as long as it takes: one that frees what the device uses.
class DevicePatience {
 public:
  DevicePatience(int64_t limit_ms, CancelToken cancel);
  ~DevicePatience();
  DevicePatience(const DevicePatience&) = delete;
  DevicePatience& operator=(const DevicePatience&) = delete;

  int64_t limit_ms() const { return limit_ms_; }
  const CancelToken& cancel() const { return cancel_; }
  static const DevicePatience* current() noexcept;  // of this thread; null: none

 private:
  const int64_t limit_ms_;
  const CancelToken cancel_;
  const DevicePatience* const outer_;
};

// Returns when all that is in the queue is over, as DeviceTable::synchronize() does.
// Error(kTimeout) or kCancelled by the thread's patience, kDeviceLost at once for a device that is
// given up.
void wait_for(const DeviceTable& table, int device, DeviceQueue* queue);

// How long a device may take to come to its end when its work is called off, by those who wait for
// `limit_ms` otherwise: 1 to 10 s.
std::chrono::milliseconds time_to_rest(int64_t limit_ms) noexcept;
// False where the queue is not through by then. What else is wrong with the device counts for none
// of its work.
bool comes_to_rest(const DeviceTable& table, DeviceQueue* queue, std::chrono::milliseconds limit);

// Before what the device uses is freed: waits for as long as it takes, and gives the device up when
// that is longer than the thread's time to rest (10 s unless it has set another).
void wait_to_free(const DeviceTable& table, int device, DeviceQueue* queue) noexcept;
void set_time_to_rest(std::chrono::milliseconds time) noexcept;
// The program ends: whoever waits to free, or comes to it, stays where it is.
void wait_for_ever() noexcept;

// Of a table's device, for good. `why`: "has not come to its end within 10 s of ..."; the first
// stays.
void give_up(const DeviceTable& table, int device, const std::string& why);
bool given_up(const DeviceTable& table, int device) noexcept;
bool any_given_up(const DeviceTable& table) noexcept;
// Error(kDeviceLost) for one that is.
void check_not_given_up(const DeviceTable& table, int device);

// Does what may have to wait for a device that never comes to its end, and throws nothing, on a
// thread of its own, which goes on when the caller has stopped waiting for it, and ends with the
// process. What it charges counts for the budget of the calling thread.
std::shared_future<void> end_in_background(std::function<void()> end);
// Of those, how many are not through.
int pending_ends() noexcept;

}  // namespace gnnmg::base
