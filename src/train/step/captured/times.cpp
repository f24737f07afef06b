#include "train/step/captured/times.h"

#include "base/error.h"

namespace gnnmg::train {

namespace {

// Events of a pass: before it, after its wait, after it. Events of a step: at its beginning, after
// the work before its passes, after the work that follows them, before the exchange, after it, and
// after the update.
constexpr int64_t kMarksOfPass = 3, kMarksOfStep = 6;

}  // namespace

CapturedTimes::CapturedTimes(const device::Table& table, int device, device::Queue* queue,
                             int64_t most_passes, int64_t most_ahead)
    : table_(table), queue_(queue) {
  for (Step& step : steps_) step.places.reserve(static_cast<size_t>(most_passes));
  const auto make = [&] { return device::make_owned_event(table, device, true); };
  try {
    // Unread are the events of two steps, and of the mini-batches ahead of them.
    for (auto& list : ahead_)
      for (int64_t i = 0; i < 2 * most_passes + most_ahead; ++i)
        list.push_back({make(), make(), -1});
    std::array<std::vector<device::OwnedEvent>, 2> marks;
    for (auto& list : marks)
      for (int64_t i = 0; i < kMarksOfPass * most_passes + kMarksOfStep; ++i)
        list.push_back(make());
    for (size_t i = 0; i < steps_.size(); ++i) {
      steps_[i].parts.resize(marks[i].size());
      steps_[i].marks = std::move(marks[i]);
    }
  } catch (const base::Error& error) {
    if (error.status() != base::Status::kUnsupported) throw;
  }
}

CapturedTimes::Interval& CapturedTimes::interval(Ahead kind, int64_t place) {
  std::vector<Interval>& list = ahead_[static_cast<size_t>(kind)];
  return list[static_cast<size_t>(place) % list.size()];
}

void CapturedTimes::run(Ahead kind, int64_t place, device::Queue* queue, const CapturedWork& work) {
  if (!measures()) return work.run();
  Interval& at = interval(kind, place);
  at.place = -1;
  table_.record(queue, at.begin.get());
  work.run();
  table_.record(queue, at.end.get());
  at.place = place;
}

void CapturedTimes::begin(int64_t step) {
  current_ = &steps_[static_cast<size_t>(step) % 2];
  current_->used = 0;
  current_->places.clear();
  current_->bytes = 0;
  end_part(Part::kRest);
}

void CapturedTimes::trains_on(int64_t place, int64_t bytes) {
  current_->places.push_back(place);
  current_->bytes += bytes;
}

void CapturedTimes::end_part(Part part) {
  if (!measures()) return;
  Step& step = *current_;
  table_.record(queue_, step.marks[step.used].get());
  step.parts[step.used++] = part;
}

bool CapturedTimes::add_ahead(Ahead kind, int64_t place, double& seconds) const {
  const std::vector<Interval>& list = ahead_[static_cast<size_t>(kind)];
  const Interval& at = list[static_cast<size_t>(place) % list.size()];
  if (at.place != place) return true;  // no such work, as where nothing is gathered
  double one = 0;
  if (!table_.elapsed(at.begin.get(), at.end.get(), &one)) return false;
  seconds += one;
  return true;
}

bool CapturedTimes::add_parts(const Step& step, StepSeconds& seconds) const {
  for (size_t i = 1; i < step.used; ++i) {
    if (step.parts[i] == Part::kRest) continue;
    double one = 0;
    if (!table_.elapsed(step.marks[i - 1].get(), step.marks[i].get(), &one)) return false;
    switch (step.parts[i]) {
      case Part::kRest:
        break;
      case Part::kWait:
        seconds.wait_seconds += one;
        break;
      case Part::kCompute:
        seconds.compute_seconds += one;
        break;
      case Part::kReduce:
        seconds.reduce_seconds += one;
        break;
      case Part::kUpdate:
        seconds.optimizer_seconds += one;
        break;
    }
  }
  return true;
}

bool CapturedTimes::add(int64_t number, StepSeconds& seconds) const {
  const Step& step = steps_[static_cast<size_t>(number) % 2];
  if (!measures()) return false;
  StepSeconds made = seconds;
  for (const int64_t place : step.places)
    if (!add_ahead(Ahead::kSample, place, made.sample_seconds) ||
        !add_ahead(Ahead::kGather, place, made.gather_seconds))
      return false;
  if (!add_parts(step, made)) return false;
  seconds = made;
  return true;
}

}  // namespace gnnmg::train
