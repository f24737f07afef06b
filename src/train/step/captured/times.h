// The seconds of the parts of captured steps, from timed events in the device's queues: the host
// starts whole steps and cannot time their parts. On a device without times nothing is measured.
#pragma once

#include <array>
#include <vector>

#include "device/owners.h"
#include "train/report.h"
#include "train/step/captured/work.h"

namespace gnnmg::train {

// Use it on one rank's thread. At most two steps are in flight.
class CapturedTimes {
 public:
  // Work for a mini-batch in queues of its own.
  enum class Ahead { kSample, kGather };
  // Kinds of work in the model's queue; kRest: not counted.
  enum class Part { kRest, kWait, kCompute, kReduce, kUpdate };

  // `queue`: the model's. `most_passes`, `most_ahead`: mini-batches of a step, and those sampled
  // ahead of it. Makes all events. Errors of device::Table::make_event(), except kUnsupported.
  CapturedTimes(const device::Table& table, int device, device::Queue* queue, int64_t most_passes,
                int64_t most_ahead);
  CapturedTimes(const CapturedTimes&) = delete;
  CapturedTimes& operator=(const CapturedTimes&) = delete;

  // Runs work for the mini-batch at `place` of the ring, between two events.
  void run(Ahead kind, int64_t place, device::Queue* queue, const CapturedWork& work);
  // Starts the step of this number, in place of step - 2.
  void begin(int64_t step);
  // The step trains on the mini-batch at `place`; `bytes` were copied to the device for it.
  void trains_on(int64_t place, int64_t bytes);
  // The work put into the model's queue since the last call of begin() or end_part() is `part`.
  void end_part(Part part);
  // Bytes that were copied to the device for a step.
  int64_t bytes(int64_t step) const { return steps_[static_cast<size_t>(step) % 2].bytes; }
  // Adds the seconds of a step that is over. False, and no seconds, if the device has none.
  bool add(int64_t number, StepSeconds& seconds) const;

 private:
  // The events of one mini-batch. They are reused for others, so a reader compares the place.
  struct Interval {
    device::OwnedEvent begin, end;
    int64_t place = -1;
  };
  struct Step {
    std::vector<device::OwnedEvent> marks;
    std::vector<Part> parts;  // parts[i] ends at marks[i]
    size_t used = 0;
    std::vector<int64_t> places;
    int64_t bytes = 0;
  };
  bool measures() const { return !steps_[0].marks.empty(); }
  Interval& interval(Ahead kind, int64_t place);
  bool add_ahead(Ahead kind, int64_t place, double& seconds) const;
  bool add_parts(const Step& step, StepSeconds& seconds) const;

  const device::Table& table_;
  device::Queue* const queue_;
  std::array<std::vector<Interval>, 2> ahead_;  // [kind of work][place]
  std::array<Step, 2> steps_;
  Step* current_ = &steps_[0];
};

}  // namespace gnnmg::train
