// Idle time of a GPU, measured on fake ones whose queues take the time that the test sets,
// independent of the host: passes, and samples made there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "train/step/captured/device_capture.h"

namespace gnnmg::test {
namespace {

// Durations of work in all queues, in the seconds of now().
struct Pace {
  double pass = 0, sample = 0;
  bool eager = false;  // every second timed event follows a pass
  std::mutex mutex;
  std::map<const device::Queue*, double> busy_until;
  std::map<const device::Queue*, int64_t> marks;
  std::set<const device::Queue*> trains;

  double end_of(const device::Queue* queue) { return std::max(now(), busy_until[queue]); }
};
Pace* pace = nullptr;
const device::Table* below = nullptr;

// Wraps an event of the inner table, for waits.
struct Mark {
  bool timed = false;
  double time = -1;
  device::Event* below = nullptr;
};
Mark& of(device::Event* mark) { return *reinterpret_cast<Mark*>(mark); }
const Mark& of(const device::Event* mark) { return *reinterpret_cast<const Mark*>(mark); }
double time_of(const device::Event* mark) { return of(mark).time; }

device::Event* make_event(int device, bool timed) {
  return reinterpret_cast<device::Event*>(new Mark{timed, -1, below->make_event(device, timed)});
}
void free_event(device::Event* mark) noexcept {
  below->free_event(of(mark).below);
  delete &of(mark);
}

void sleep_for(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

device::Table paced(const Gpus& gpus, Pace& by) {
  pace = &by;
  below = &gpus.table();
  device::Table table = gpus.table();
  table.use = [](device::Queue* queue) {  // LibTorch uses only training queues
    {
      const std::lock_guard lock(pace->mutex);
      pace->trains.insert(queue);
    }
    below->use(queue);
  };
  table.close_queue = [](device::Queue* queue) noexcept {
    {
      const std::lock_guard lock(pace->mutex);
      pace->busy_until.erase(queue);
      pace->marks.erase(queue);
      pace->trains.erase(queue);
    }
    below->close_queue(queue);
  };
  table.replay = [](device::Queue* queue, const device::Graph* kept) {
    {
      const std::lock_guard lock(pace->mutex);
      pace->busy_until[queue] =
          pace->end_of(queue) + (pace->trains.contains(queue) ? pace->pass : pace->sample);
    }
    below->replay(queue, kept);
  };
  table.wait = [](device::Queue* queue, device::Queue* other) {
    {
      const std::lock_guard lock(pace->mutex);
      pace->busy_until[queue] = std::max(pace->busy_until[queue], pace->busy_until[other]);
    }
    below->wait(queue, other);
  };
  table.synchronize = [](device::Queue* queue) {
    double end = 0;
    {
      const std::lock_guard lock(pace->mutex);
      end = pace->busy_until[queue];
    }
    while (now() < end) sleep_for(end - now());
    below->synchronize(queue);
  };
  table.finished = [](device::Queue* queue) {
    const bool finished = below->finished(queue);
    const std::lock_guard lock(pace->mutex);
    return finished && now() >= pace->busy_until[queue];
  };
  table.make_event = make_event;
  table.record = [](device::Queue* queue, device::Event* mark) {
    const std::lock_guard lock(pace->mutex);
    const double at = of(mark).time = pace->end_of(queue);
    below->record(queue, of(mark).below);
    if (pace->eager && of(mark).timed && ++pace->marks[queue] % 2 == 0)
      pace->busy_until[queue] = at + pace->pass;
  };
  table.reached = [](const device::Event* mark) {
    const bool reached = below->reached(of(mark).below);
    const std::lock_guard lock(pace->mutex);
    return reached && now() >= time_of(mark);
  };
  table.wait_event = [](device::Queue* queue, const device::Event* mark) {
    {
      const std::lock_guard lock(pace->mutex);
      pace->busy_until[queue] = std::max(pace->busy_until[queue], time_of(mark));
    }
    below->wait_event(queue, of(mark).below);
  };
  table.elapsed = [](const device::Event* from, const device::Event* to, double* seconds) {
    *seconds = time_of(to) - time_of(from);
    return time_of(from) >= 0 && time_of(to) >= 0 && time_of(to) <= now();
  };
  table.free_event = free_event;
  return table;
}

// Five mini-batches per epoch.
Recipe five() {
  Recipe setup = in_f64();
  setup.trainer.batches_per_step = 1;
  setup.trainer.num_epochs = 3;
  setup.trainer.evaluate_every = 0;
  return setup;
}

// A sampler that sleeps; steps cannot be captured with it.
Recipe eager(double sample) {
  Recipe setup = five();
  watch(setup, [sample](const sample::BatchKey&, const base::CancelToken&) { sleep_for(sample); });
  return setup;
}

// Times of each rank in the second epoch, when everything runs at its pace.
std::vector<train::RankTimes> times_of(const Recipe& setup, int world, double pass, double sample) {
  Pace by;
  by.pass = pass;
  by.sample = sample;
  by.eager = setup.wrap_sampler != nullptr;
  const Gpus gpus(world);
  const device::Table table = paced(gpus, by);
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

// True if `right` holds for the times of `measure` in one of a few tries: a host without CPU time
// counts as idle.
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
        // With one mini-batch less, this rank waits for the other.
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

// The host waits for each mini-batch, the GPU only for the first of a step.
TEST(DeviceIdle, MiniBatchesThatAreMadeWhileTheStepIsUnderWay) {
  Recipe setup = eager(0.8 * kLong);
  setup.trainer.batches_per_step = 5;
  EXPECT_TRUE(in_a_few_tries([&] { return times_of(setup, 1, kLong, 0); },
                             [](const std::vector<train::RankTimes>& ranks) {
                               return ranks[0].compute_seconds >= 4.9 * kLong &&
                                      ranks[0].wait_seconds < 2 * kLong;
                             }));
}

// The strict exchange waits for each pass.
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
