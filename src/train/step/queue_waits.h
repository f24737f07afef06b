// How long the queue of a rank that starts its steps kernel after kernel waits for mini-batches, by
// marks in it: while the host waits for one the device may still be at the passes before, and what
// the host has got may still be in the making.
#pragma once

#include <optional>
#include <vector>

#include "base/marks.h"

namespace gnnmg::train {

// Of one rank, on its thread.
class QueueWaits {
 public:
  // For at most `most` mini-batches a step. Takes all marks. Errors as those of
  // DeviceTable::make_mark(), but for kUnsupported.
  QueueWaits(const base::DeviceTable& table, int device, base::DeviceQueue* queue, int64_t most);
  QueueWaits(const QueueWaits&) = delete;
  QueueWaits& operator=(const QueueWaits&) = delete;

  void begin_step() { used_ = 0; }
  // Before the host asks for a mini-batch.
  void begin();
  // Behind what has the queue wait for it.
  void end();
  // Seconds from begin() to end() of all mini-batches of the step, in which the queue had nothing
  // else to do; the device is through. Nothing where it does not tell them.
  std::optional<double> seconds() const;

 private:
  struct Stretch {
    base::Mark begin, end;
  };
  bool told() const { return !stretches_.empty(); }

  const base::DeviceTable& table_;
  base::DeviceQueue* const queue_;
  std::vector<Stretch> stretches_;
  size_t used_ = 0;
};

}  // namespace gnnmg::train
