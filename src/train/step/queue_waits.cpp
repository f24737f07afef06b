#include "train/step/queue_waits.h"

#include <algorithm>

#include "base/error.h"

namespace gnnmg::train {

QueueWaits::QueueWaits(const device::Table& table, int device, device::Queue* queue, int64_t most)
    : table_(table), queue_(queue) {
  const auto make = [&] { return device::make_owned_event(table, device, true); };
  std::vector<Interval> all;
  try {
    for (int64_t i = 0; i < most; ++i) all.push_back({make(), make()});
    intervals_ = std::move(all);
  } catch (const base::Error& error) {
    if (error.status() != base::Status::kUnsupported) throw;
  }
}

void QueueWaits::begin() {
  if (measures()) table_.record(queue_, intervals_[used_].begin.get());
}

void QueueWaits::end() {
  if (measures()) table_.record(queue_, intervals_[used_++].end.get());
}

std::optional<double> QueueWaits::seconds() const {
  if (!measures()) return std::nullopt;
  double sum = 0;
  for (size_t i = 0; i < used_; ++i) {
    double one = 0;
    if (!table_.elapsed(intervals_[i].begin.get(), intervals_[i].end.get(), &one))
      return std::nullopt;
    sum += std::max(one, 0.0);
  }
  return sum;
}

}  // namespace gnnmg::train
