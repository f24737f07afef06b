// Where the time of captured steps goes, by marks in the device's queues: the host starts the steps
// and sees nothing of their parts. Apart from the steps, which go on without it on a device that
// tells no times.
#pragma once

#include <array>
#include <vector>

#include "base/marks.h"
#include "train/job/job.h"
#include "train/step/captured/work.h"

namespace gnnmg::train {

// Of one rank, on its thread. Two steps are under way at most.
class CapturedTimes {
 public:
  // What is done for a mini-batch in queues of its own.
  enum class Ahead { kSample, kGather };
  // What a stretch of the model's queue is; kRest: nothing that is told.
  enum class Part { kRest, kWait, kCompute, kReduce, kUpdate };

  // `queue`: the model's. `most_passes`, `most_ahead`: mini-batches of a step, and those that are
  // sampled beyond it. Takes all marks. Errors as those of DeviceTable::make_mark(), but for
  // kUnsupported.
  CapturedTimes(const base::DeviceTable& table, int device, base::DeviceQueue* queue,
                int64_t most_passes, int64_t most_ahead);
  CapturedTimes(const CapturedTimes&) = delete;
  CapturedTimes& operator=(const CapturedTimes&) = delete;

  // Runs work for the mini-batch at `place` of the ring, between marks.
  void run(Ahead what, int64_t place, base::DeviceQueue* queue, const CapturedWork& work);
  // The step of this number is the one that is started; what was told of the second before goes.
  void begin(int64_t step);
  // It trains on the mini-batch at `place`, of which so many bytes were copied to the device.
  void trains_on(int64_t place, int64_t bytes);
  // What came into the model's queue since the last of begin() and behind() is `part`.
  void behind(Part part);
  // Adds the seconds and bytes of a step that is over. False, and no seconds, where the device does
  // not tell them.
  bool add(int64_t step, EpochSums& sums) const;

 private:
  // Of one mini-batch: who reads them asks for its place, as they are used again for another.
  struct Stretch {
    base::Mark begin, end;
    int64_t place = -1;
  };
  struct Step {
    std::vector<base::Mark> marks;
    std::vector<Part> parts;  // in front of each
    size_t used = 0;
    std::vector<int64_t> places;
    int64_t bytes = 0;
  };
  bool told() const { return !steps_[0].marks.empty(); }
  Stretch& stretch(Ahead what, int64_t place);
  bool add_ahead(Ahead what, int64_t place, double& seconds) const;
  bool add_parts(const Step& step, EpochSums& sums) const;

  const base::DeviceTable& table_;
  base::DeviceQueue* const queue_;
  std::array<std::vector<Stretch>, 2> ahead_;  // by what it is, then by place
  std::array<Step, 2> steps_;
  Step* current_ = &steps_[0];
};

}  // namespace gnnmg::train
