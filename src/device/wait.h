// The library's policy for a GPU that does not answer: waits have a deadline, so that neither an
// endless kernel nor a hung driver blocks a caller longer than it accepts, and a hung device is
// quarantined. train/ranks/rank_ends.h applies it to the ranks of a trainer.
//
// A device is running, failed or quarantined. Failed: the driver reports it as lost, or a call on
// it has failed; its work ends, and its memory can be freed. Quarantined: it has not finished its
// work within the drain limit. From then on every call gets Error(kDeviceLost) with the reason, and
// nothing of the device is freed unless its work ends after all: the system takes the memory back
// with the process.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "base/cancel.h"
#include "device/table.h"

namespace gnnmg::device {

// Sets the timeout and the cancel token of this thread's waits for devices while it lives. Without
// one a wait for a device has no timeout, as in code that frees memory that the device uses.
class TimeoutScope {
 public:
  TimeoutScope(int64_t limit_ms, base::CancelToken cancel);
  ~TimeoutScope();
  TimeoutScope(const TimeoutScope&) = delete;
  TimeoutScope& operator=(const TimeoutScope&) = delete;

  int64_t limit_ms() const { return limit_ms_; }
  const base::CancelToken& cancel() const { return cancel_; }
  static const TimeoutScope* current() noexcept;  // the innermost one of this thread, or null

 private:
  const int64_t limit_ms_;
  const base::CancelToken cancel_;
  const TimeoutScope* const outer_;
};

// Waits until the queue is empty, as Table::synchronize() does. Error(kTimeout) or kCancelled
// according to the thread's TimeoutScope, kDeviceLost at once for a quarantined device.
void wait_for(const Table& table, int device, Queue* queue);

// Time for a device to finish after its work is canceled, for callers whose normal timeout is
// `limit_ms`: 1 to 10 s.
std::chrono::milliseconds drain_limit(int64_t limit_ms) noexcept;
// False if the queue is still busy after `limit`. A device that reports another error counts as
// idle.
bool drain(const Table& table, Queue* queue, std::chrono::milliseconds limit);

// Call before freeing memory that the device uses. Waits for the queue. After the drain limit of
// the thread (10 s by default) the device is quarantined, and the thread waits on, so that nothing
// is freed.
void wait_to_free(const Table& table, int device, Queue* queue) noexcept;
void set_drain_limit(std::chrono::milliseconds limit) noexcept;
// Called when the program exits: threads in wait_to_free(), now or later, block for good.
void block_frees() noexcept;
// Runs `end`, which frees device objects and throws nothing, on a thread that nobody waits for
// (base/background.h counts it); without a thread, on the caller's. Once the program exits, `end`
// is leaked. Throws std::bad_alloc.
void free_in_background(std::function<void()> end);

// Quarantines a device of the table. `why`: "has not come to its end within 10 s of ..."; the first
// reason is kept.
void quarantine(const Table& table, int device, const std::string& why);
bool quarantined(const Table& table, int device) noexcept;
bool any_quarantined(const Table& table) noexcept;
// Throws Error(kDeviceLost) with the reason if the device is quarantined.
void check_not_quarantined(const Table& table, int device);

}  // namespace gnnmg::device
