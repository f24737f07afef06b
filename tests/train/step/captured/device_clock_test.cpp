// Times of captured steps by a clock of the test that every replay advances by a second: each
// mini-batch and step is counted once, whatever happens in between.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "fake_gpu.h"
#include "support/temp_dir.h"
#include "train/step/captured/device_capture.h"

namespace gnnmg::test {
namespace {

using base::Status;

constexpr double kWait = 1.0 / 64;  // time that a queue waits for another

thread_local double now = 0;            // one per rank's thread
std::atomic<int64_t> made{0}, live{0};  // events
std::atomic<int64_t> lost_at{-1};       // number of recorded events before it
const device::Table* below = nullptr;

// Wraps an event of the inner table, for waits.
struct Mark {
  double time = -1;
  device::Event* below = nullptr;
};
Mark& of(device::Event* mark) { return *reinterpret_cast<Mark*>(mark); }
const Mark& of(const device::Event* mark) { return *reinterpret_cast<const Mark*>(mark); }
double time_of(const device::Event* mark) { return of(mark).time; }

device::Event* make_event(int device, bool timed) {
  return reinterpret_cast<device::Event*>(new Mark{-1, below->make_event(device, timed)});
}
void free_event(device::Event* mark) noexcept {
  below->free_event(of(mark).below);
  delete &of(mark);
}

device::Table clocked(const Gpus& gpus) {
  below = &gpus.table();
  device::Table table = gpus.table();
  table.make_event = [](int device, bool timed) {
    ++made;
    ++live;
    return make_event(device, timed);
  };
  table.record = [](device::Queue* queue, device::Event* mark) {
    if (lost_at >= 0 && lost_at-- == 0) {
      fake_gpu::lose(0);
      below->synchronize(queue);
    }
    of(mark).time = now;
    below->record(queue, of(mark).below);
  };
  table.reached = [](const device::Event* mark) { return below->reached(of(mark).below); };
  table.wait_event = [](device::Queue* queue, const device::Event* mark) {
    now += kWait;
    below->wait_event(queue, of(mark).below);
  };
  table.elapsed = [](const device::Event* from, const device::Event* to, double* seconds) {
    *seconds = time_of(to) - time_of(from);
    return time_of(from) >= 0 && time_of(to) >= 0;
  };
  table.free_event = [](device::Event* mark) noexcept {
    --live;
    free_event(mark);
  };
  table.replay = [](device::Queue* queue, const device::Graph* kept) {
    now += 1;
    below->replay(queue, kept);
  };
  table.wait = [](device::Queue* queue, device::Queue* other) {
    now += kWait;
    below->wait(queue, other);
  };
  return table;
}

struct Expected {
  double sample, gather, compute, optimizer;
  double passes;
};

void expect_times(const train::RankTimes& rank, const Expected& expected) {
  SCOPED_TRACE(testing::Message() << "rank " << rank.rank << ", epoch " << rank.epoch);
  EXPECT_EQ(rank.sample_seconds, expected.sample);
  EXPECT_EQ(rank.gather_seconds, expected.gather);
  // The sampling queue's time for the previous pass is reported after the pass's own.
  EXPECT_EQ(rank.compute_seconds, expected.compute + expected.passes * kWait);
  EXPECT_EQ(rank.optimizer_seconds, expected.optimizer);
  EXPECT_EQ(rank.wait_seconds, expected.passes * 2 * kWait);  // sample and rows
  EXPECT_LT(rank.seconds,
            rank.compute_seconds);  // measured by the host's clock, which is far slower
  EXPECT_EQ(rank.idle_seconds, 0);
}

std::vector<train::EpochReport> reports_of(const Recipe& setup, const Gpus& gpus,
                                           const device::Table& table) {
  Host host;
  host.devices = &table;
  std::vector<train::EpochReport> reports;
  Trial run(gpus.train(setup), host);
  collect(run, reports);
  run.train();
  return reports;
}

// Five mini-batches per epoch.
Recipe five() {
  Recipe setup = captured(in_f64());
  setup.trainer.batches_per_step = 1;
  setup.trainer.num_epochs = 4;
  setup.trainer.evaluate_every = 0;
  return setup;
}

TEST(DeviceClock, EachMiniBatchAndStepOnce) {
  struct Case {
    int world;
    int64_t batches_per_step;
    std::vector<Expected> ranks;
  };
  const Case cases[] = {
      {1, 1, {{5, 0, 5, 0, 5}}},                                  // the update is in the pass
      {1, 4, {{5, 0, 2 + 5, 2, 5}}},                              // two steps begin; updates
      {2, 2, {{3, 0, 3, 3, 3}, {2, 0, 2 + 1, 3, 3}}},             // one step without a mini-batch
      {2, 5, {{3, 0, 1 + 3 + 1, 1, 3}, {2, 0, 1 + 2 + 1, 1, 2}}}  // beginning and end around passes
  };
  for (const Case& c : cases)
    for (const bool gather : {false, true}) {
      SCOPED_TRACE(testing::Message() << c.world << " ranks, " << c.batches_per_step << " a step");
      Recipe setup = five();
      setup.trainer.batches_per_step = c.batches_per_step;
      setup.trainer.placement.gather = gather;
      const Gpus gpus(c.world);
      const device::Table table = clocked(gpus);
      made = 0;
      const std::vector<train::EpochReport> reports = reports_of(setup, gpus, table);
      EXPECT_EQ(reports.size(), 4u);
      for (const train::EpochReport& report : reports)
        for (size_t rank = 0; rank < c.ranks.size(); ++rank) {
          Expected expected = c.ranks[rank];
          if (gather) expected.gather = expected.sample;
          expect_times(report.ranks[rank], expected);
        }
      EXPECT_EQ(live, 0);
      const int64_t marks = made;
      setup.trainer.num_epochs = 1;
      made = 0;
      reports_of(setup, gpus, table);
      EXPECT_EQ(made, marks);  // a longer training needs no more
    }
}

TEST(DeviceClock, SingleStepsACheckpointAndARollBack) {
  const Gpus gpus(1);
  const device::Table table = clocked(gpus);
  Host host;
  host.devices = &table;
  Recipe setup = gpus.train(five());
  setup.trainer.num_epochs = 20;
  const TempDir folder;
  {
    Trial run(setup, host);
    for (int i = 0; i < 2; ++i) ASSERT_EQ(run->step({}, nullptr), Status::kOk);
    expect_times(run->rank_times()[0], {2, 0, 2, 0, 2});
    run->save(folder.file("two"));
  }
  {
    Trial run(setup, host);
    run->load(folder.file("two"));
    ASSERT_EQ(run->step({}, nullptr), Status::kOk);
    expect_times(run->rank_times()[0], {3, 0, 3, 0, 3});
  }
  std::vector<train::EpochReport> reports;
  Trial run(setup, host);
  collect(run, reports);
  for (int round = 1; round <= 6; ++round) {
    std::atomic<bool> over{false};
    std::thread canceller([&] {
      while (!over && run->progress().epoch < 2 * round)
        std::this_thread::sleep_for(std::chrono::microseconds(300));
      run->cancel();
    });
    caught([&] { run.train(); });
    over = true;
    canceller.join();
  }
  run.train();
  EXPECT_GE(reports.size(), 20u - 6u);  // a cancel may come before a report
  for (const train::EpochReport& report : reports) expect_times(report.ranks[0], {5, 0, 5, 0, 5});
}

// Without events all time counts as the pass.
TEST(DeviceClock, ADeviceThatTellsNoTimes) {
  const std::vector<double> expected = Gpus(1).weights_after(five());
  for (const bool makes : {false, true}) {
    const Gpus gpus(1);
    device::Table table = clocked(gpus);
    made = 0;
    if (makes)
      table.elapsed = [](const device::Event*, const device::Event*, double*) { return false; };
    else
      table.make_event = [](int device, bool timed) {
        if (timed && ++made == 7) base::fail(Status::kUnsupported, "no times here");
        ++live;
        return make_event(device, timed);
      };
    for (const train::EpochReport& report : reports_of(five(), gpus, table)) {
      const train::RankTimes& rank = report.ranks[0];
      EXPECT_GT(rank.seconds, 0);
      EXPECT_EQ(rank.compute_seconds, rank.seconds);
      EXPECT_EQ(rank.sample_seconds + rank.wait_seconds + rank.optimizer_seconds, 0);
      EXPECT_EQ(rank.idle_seconds, 0);
      EXPECT_GT(rank.bus_bytes, 0);
    }
    EXPECT_EQ(after(five(), gpus, table), expected);
    EXPECT_EQ(live, 0);
    gpus.expect_clean();
  }
}

TEST(DeviceClock, ADeviceThatIsLostAtAMark) {
  for (const int world : {1, 2})
    for (const int64_t nth : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 17, 31, 64}) {
      const Gpus gpus(world);
      const device::Table table = clocked(gpus);
      Recipe setup = five();
      setup.trainer.batches_per_step = 0;
      Host host;
      host.devices = &table;
      {
        Trial run(gpus.train(setup), host);
        lost_at = nth;
        const Caught failure = caught([&] { run.train(); });
        lost_at = -1;
        EXPECT_EQ(failure.status, Status::kDeviceLost) << world << ", mark " << nth;
        fake_gpu::find_again(0);
      }
      EXPECT_EQ(live, 0);
    }
}

}  // namespace
}  // namespace gnnmg::test
