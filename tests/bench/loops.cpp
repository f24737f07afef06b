// Loops of one to thousands of microseconds, in turns: on the calling thread, always on all threads
// of a pool, and on those that for_ranges() chooses.
//
//   bench_loops [<threads>]
//
// Prints for each length of a loop the mean and the median time on one thread, and for the other
// ways how many times as fast they were.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <vector>

#include "base/thread_pool.h"
#include "nn/torch/intraop.h"
#include "nn/torch/parallel.h"

namespace gnnmg {
namespace {

constexpr int64_t kRanges = 16;
constexpr double kGap = 30e-6;  // seconds of other work between two loops

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double spin(int64_t rounds) {
  double x = 1;
  for (int64_t i = 0; i < rounds; ++i) x = x * 1.0000001 + 1e-9;
  return x;
}

class Work {
 public:
  void of(double seconds) {
    if (spin(static_cast<int64_t>(seconds * per_second_)) < 0) std::abort();  // uses the result
  }

 private:
  static double rounds_per_second() {
    constexpr int64_t kRounds = 100'000;
    double best = 1;
    for (int i = 0; i < 50; ++i) {
      const double start = now();
      if (spin(kRounds) < 0) std::abort();
      best = std::min(best, now() - start);
    }
    return kRounds / best;
  }
  const double per_second_ = rounds_per_second();
};

void measure(double seconds, base::ThreadPool& pool, Work& work) {
  using Body = std::function<void(int64_t, int64_t)>;
  const Body body = [&](int64_t begin, int64_t end) {
    for (; begin < end; ++begin) work.of(seconds / kRanges);
  };
  const std::array<std::function<void()>, 3> ways{
      [&] {
        for (int64_t i = 0; i < kRanges; ++i) body(i, i + 1);
      },
      [&] { pool.parallel_for(kRanges, 1, body); },
      [&] { nn::for_ranges(nullptr, kRanges, 1, body); }};
  std::array<std::vector<double>, 3> times;
  const int rounds = static_cast<int>(std::clamp(0.3 / seconds, 60.0, 2000.0));
  for (int round = 0; round < rounds; ++round) {
    for (size_t way = 0; way < ways.size(); ++way) {
      work.of(kGap);
      const double start = now();
      ways[way]();
      times[way].push_back(now() - start);
    }
  }
  const auto mean = [&](int way) {
    return std::accumulate(times[way].begin(), times[way].end(), 0.0) / rounds;
  };
  const auto median = [&](int way) {
    std::ranges::nth_element(times[way], times[way].begin() + rounds / 2);
    return times[way][rounds / 2];
  };
  std::printf(
      "%6.0f us: one thread mean %7.0f median %7.0f; always all: mean %.2f median %.2f;"
      " chosen: mean %.2f median %.2f\n",
      1e6 * seconds, 1e6 * mean(0), 1e6 * median(0), mean(0) / mean(1), median(0) / median(1),
      mean(0) / mean(2), median(0) / median(2));
  std::fflush(stdout);
}

void run(int threads) {
  nn::set_intraop_threads(threads);
  nn::set_loop_threads(threads);
  const nn::IntraopScope scope(nn::Loops::kMany);
  base::ThreadPool pool(threads);
  Work work;
  for (const double seconds : {20e-6, 50e-6, 100e-6, 200e-6, 400e-6, 700e-6, 1e-3, 2e-3, 5e-3})
    measure(seconds, pool, work);
}

}  // namespace
}  // namespace gnnmg

int main(int argc, char** argv) {
  gnnmg::run(argc > 1 ? std::atoi(argv[1]) : 2);
  return 0;
}
