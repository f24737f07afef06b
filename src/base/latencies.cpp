#include "base/latencies.h"

#include <algorithm>
#include <bit>

namespace gnnmg::base {

int Latencies::bucket_of(uint64_t microseconds) noexcept {
  if (microseconds < kSteps) return static_cast<int>(microseconds);
  const int octave = std::bit_width(microseconds) - 4;  // 0 for 8 to 15
  const int step = static_cast<int>(microseconds >> octave) - kSteps;
  return std::min(kSteps * (octave + 1) + step, kBuckets - 1);
}

uint64_t Latencies::end_of(int bucket) noexcept {
  if (bucket < kSteps) return static_cast<uint64_t>(bucket) + 1;
  const int octave = bucket / kSteps - 1, step = bucket % kSteps;
  return static_cast<uint64_t>(kSteps + step + 1) << octave;
}

void Latencies::add(int64_t microseconds) noexcept {
  const auto value = static_cast<uint64_t>(std::max<int64_t>(0, microseconds));
  counts_[bucket_of(value)].fetch_add(1, std::memory_order_relaxed);
}

double Latencies::quantile(double share) const noexcept {
  std::array<int64_t, kBuckets> counts;
  int64_t total = 0;
  for (int i = 0; i < kBuckets; ++i) {
    counts[i] = counts_[i].load(std::memory_order_relaxed);
    total += counts[i];
  }
  int64_t below = 0;
  for (int i = 0; i < kBuckets; ++i) {
    below += counts[i];
    if (below > 0 && static_cast<double>(below) >= share * static_cast<double>(total))
      return static_cast<double>(end_of(i)) * 1e-6;
  }
  return 0;
}

}  // namespace gnnmg::base
