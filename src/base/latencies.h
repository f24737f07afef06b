// A histogram of the time of answers, with a fixed size.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace gnnmg::base {

// Any thread.
class Latencies {
 public:
  void add(int64_t microseconds) noexcept;
  // Seconds that a share of all answers did not take longer than, to 13 %; 0 without any.
  double quantile(double share) const noexcept;

 private:
  // Each power of two of microseconds in 8 equal steps; the first 8 are single microseconds.
  static constexpr int kSteps = 8, kBuckets = 8 * 32;
  static int bucket_of(uint64_t microseconds) noexcept;
  static uint64_t end_of(int bucket) noexcept;
  std::array<std::atomic<int64_t>, kBuckets> counts_{};
};

}  // namespace gnnmg::base
