// When a GPU has nothing to do, on fake ones whose queues take as long as the test says, whatever
// the host does meanwhile: passes, and samples that are made there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "train/device_capture.h"

namespace gnnmg::test {
namespace {

// Of all queues. Seconds are now()'s.
struct Pace {
  double pass = 0, sample = 0;
  bool eager = false;  // a pass stands behind every second timed mark
  std::mutex mutex;
  std::map<const base::DeviceQueue*, double> busy_until;
  std::map<const base::DeviceQueue*, int64_t> marks;
  std::set<const base::DeviceQueue*> trains;

  double end_of(const base::DeviceQueue* queue) { return std::max(now(), busy_until[queue]); }
};
Pace* pace = nullptr;
const base::DeviceTable* below = nullptr;

// Over one of the table below, for who waits for it.
struct Mark {
  bool timed = false;
  double time = -1;
  base::DeviceMark* below = nullptr;
};
Mark& of(base::DeviceMark* mark) { return *reinterpret_cast<Mark*>(mark); }
const Mark& of(const base::DeviceMark* mark) { return *reinterpret_cast<const Mark*>(mark); }
double time_of(const base::DeviceMark* mark) { return of(mark).time; }

base::DeviceMark* make_mark(int device, bool timed) {
  return reinterpret_cast<base::DeviceMark*>(new Mark{timed, -1, below->make_mark(device, timed)});
}
void free_mark(base::DeviceMark* mark) noexcept {
  below->free_mark(of(mark).below);
  delete &of(mark);
}

void sleep_for(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

base::DeviceTable paced(const Gpus& gpus, Pace& by) {
  pace = &by;
  below = &gpus.table();
  base::DeviceTable table = gpus.table();
  table.use = [](base::DeviceQueue* queue) {  // LibTorch works in those that train alone
    {
      const std::lock_guard lock(pace->mutex);
      pace->trains.insert(queue);
    }
    below->use(queue);
  };
  table.close_queue = [](base::DeviceQueue* queue) noexcept {
    {
      const std::lock_guard lock(pace->mutex);
      pace->busy_until.erase(queue);
      pace->marks.erase(queue);
      pace->trains.erase(queue);
    }
    below->close_queue(queue);
  };
  table.replay = [](base::DeviceQueue* queue, const base::DeviceReplay* kept) {
    {
      const std::lock_guard lock(pace->mutex);
      pace->busy_until[queue] =
          pace->end_of(queue) + (pace->trains.contains(queue) ? pace->pass : pace->sample);
    }
    below->replay(queue, kept);
  };
  table.wait = [](base::DeviceQueue* queue, base::DeviceQueue* other) {
    {
      const std::lock_guard lock(pace->mutex);
      pace->busy_until[queue] = std::max(pace->busy_until[queue], pace->busy_until[other]);
    }
    below->wait(queue, other);
  };
  table.synchronize = [](base::DeviceQueue* queue) {
    double end = 0;
    {
      const std::lock_guard lock(pace->mutex);
      end = pace->busy_until[queue];
    }
    while (now() < end) sleep_for(end - now());
    below->synchronize(queue);
  };
  table.finished = [](base::DeviceQueue* queue) {
    const bool finished = below->finished(queue);
    const std::lock_guard lock(pace->mutex);
    return finished && now() >= pace->busy_until[queue];
  };
  table.make_mark = make_mark;
  table.mark = [](base::DeviceQueue* queue, base::DeviceMark* mark) {
    const std::lock_guard lock(pace->mutex);
    const double at = of(mark).time = pace->end_of(queue);
    below->mark(queue, of(mark).below);
    if (pace->eager && of(mark).timed && ++pace->marks[queue] % 2 == 0)
      pace->busy_until[queue] = at + pace->pass;
  };
  table.reached = [](const base::DeviceMark* mark) {
    const bool reached = below->reached(of(mark).below);
    const std::lock_guard lock(pace->mutex);
    return reached && now() >= time_of(mark);
  };
  table.wait_mark = [](base::DeviceQueue* queue, const base::DeviceMark* mark) {
    {
      const std::lock_guard lock(pace->mutex);
      pace->busy_until[queue] = std::max(pace->busy_until[queue], time_of(mark));
    }
    below->wait_mark(queue, of(mark).below);
  };
  table.elapsed = [](const base::DeviceMark* from, const base::DeviceMark* to, double* seconds) {
    *seconds = time_of(to) - time_of(from);
    return time_of(from) >= 0 && time_of(to) >= 0 && time_of(to) <= now();
  };
  table.free_mark = free_mark;
  return table;
}

// Five mini-batches an epoch.
Recipe five() {
  Recipe setup = in_f64();
  setup.trainer.batches_per_step = 1;
  setup.trainer.num_epochs = 3;
  setup.trainer.evaluate_every = 0;
  return setup;
}

// Its sampler sleeps, which no step can be captured with.
Recipe eager(double sample) {
  Recipe setup = five();
  watch(setup, [sample](const sample::BatchKey&, const base::CancelToken&) { sleep_for(sample); });
  return setup;
}

// What each rank tells of the second epoch, when all is at its pace.
std::vector<train::RankTimes> times_of(const Recipe& setup, int world, double pass, double sample) {
  Pace by;
  by.pass = pass;
  by.sample = sample;
  by.eager = setup.wrap_sampler != nullptr;
  const Gpus gpus(world);
  const base::DeviceTable table = paced(gpus, by);
  std::vector<train::EpochReport> reports;
  {
    Host host;
    host.devices = &table;
    Trial run(gpus.train(setup), host);
    collect(run, reports);
    run.train();
  }
  for (const train::EpochReport& report : reports)
    for (const train::RankTimes& rank : report.ranks) {
      const double busy = rank.compute_seconds + rank.reduce_seconds + rank.optimizer_seconds;
      EXPECT_GE(rank.idle_seconds, 0);
      EXPECT_NEAR(busy + rank.idle_seconds, rank.seconds, 1e-3 * rank.seconds + 1e-4);
      EXPECT_LE(rank.wait_seconds, rank.idle_seconds + 1e-3 * rank.seconds + 1e-4);
    }
  return reports.at(1).ranks;
}

constexpr double kLong = 0.05, kShort = 0.001;

// Whether `right` comes to be true of the times that `measure` gives. A host that is held off the
// CPU is idle for that long, so it has a few tries.
bool in_a_few_tries(const std::function<std::vector<train::RankTimes>()>& measure,
                    const std::function<bool(const std::vector<train::RankTimes>&)>& right) {
  for (int round = 0; round < 6; ++round)
    if (right(measure())) return true;
  return false;
}

TEST(DeviceIdle, ALoaderThatIsSlow) {
  for (const int world : {1, 2})
    for (const bool captures : {false, true}) {
      SCOPED_TRACE(testing::Message() << world << " ranks, captured " << captures);
      Recipe setup = captures ? captured(five()) : eager(kLong);
      setup.trainer.batches_per_step = world;
      const auto right = [&](const std::vector<train::RankTimes>& ranks) {
        const bool waits = ranks[0].idle_seconds > kLong &&
                           ranks[0].idle_seconds > ranks[0].compute_seconds &&
                           ranks[0].wait_seconds > ranks[0].idle_seconds / 2;
        // With a mini-batch less it is the one that waits for the other.
        return waits && (world == 1 || (ranks[1].reduce_seconds > ranks[1].compute_seconds &&
                                        ranks[1].idle_seconds < ranks[0].idle_seconds));
      };
      EXPECT_TRUE(in_a_few_tries([&] { return times_of(setup, world, kShort, kLong); }, right));
    }
}

TEST(DeviceIdle, ALoaderThatIsFast) {
  for (const int world : {1, 2})
    for (const bool captures : {false, true}) {
      SCOPED_TRACE(testing::Message() << world << " ranks, captured " << captures);
      Recipe setup = captures ? captured(five()) : eager(0);
      setup.trainer.batches_per_step = world;
      const auto right = [](const std::vector<train::RankTimes>& ranks) {
        return std::ranges::all_of(ranks, [](const train::RankTimes& rank) {
          return rank.compute_seconds > 2 * kLong && rank.idle_seconds < rank.compute_seconds / 2;
        });
      };
      EXPECT_TRUE(in_a_few_tries([&] { return times_of(setup, world, kLong, kShort); }, right));
    }
}

// The host waits for each mini-batch, the GPU for the step's first alone.
TEST(DeviceIdle, MiniBatchesThatAreMadeWhileTheStepIsUnderWay) {
  Recipe setup = eager(0.8 * kLong);
  setup.trainer.batches_per_step = 5;
  EXPECT_TRUE(in_a_few_tries([&] { return times_of(setup, 1, kLong, 0); },
                             [](const std::vector<train::RankTimes>& ranks) {
                               return ranks[0].compute_seconds >= 4.9 * kLong &&
                                      ranks[0].wait_seconds < 2 * kLong;
                             }));
}

// Its exchange waits for each pass.
TEST(DeviceIdle, PassesOfStrictModeAreNoAllReduce) {
  Recipe setup = eager(0);
  setup.trainer.batches_per_step = 5;
  setup.trainer.deterministic = true;
  EXPECT_TRUE(in_a_few_tries([&] { return times_of(setup, 1, kLong, 0); },
                             [](const std::vector<train::RankTimes>& ranks) {
                               return ranks[0].compute_seconds >= 4.9 * kLong &&
                                      ranks[0].reduce_seconds < kLong &&
                                      ranks[0].idle_seconds < 2 * kLong;
                             }));
}

}  // namespace
}  // namespace gnnmg::test
