#include "bench/gpu/lane.h"

#include <chrono>
#include <cmath>

namespace gnnmg::bench {

Timing timed(Lane& lane, int64_t times, const std::function<void()>& once) {
  const int most_windows = is_measurement() ? 12 : 2;
  if (!is_measurement()) times = 1;
  constexpr double kAgree = 0.02;
  Timing last;
  for (int window = 0; window < most_windows && !last.steady; ++window) {
    const auto begin = std::chrono::steady_clock::now();
    lane.start();
    for (int64_t i = 0; i < times; ++i) once();
    const double device = lane.stop() / static_cast<double>(times);
    const double wall =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() /
        static_cast<double>(times);
    const bool agree = window > 0 && std::abs(device - last.device) <= kAgree * last.device;
    last = {device, wall, agree};
  }
  return last;
}

}  // namespace gnnmg::bench
