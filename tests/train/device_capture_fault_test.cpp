// Captured steps that go wrong: devices that refuse, lack memory, hang or are lost, NCCL's faults;
// and what a step costs that goes well.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "fake_gpu.h"
#include "fake_nccl/fake_nccl.h"
#include "nn/model.h"
#include "train/device_capture.h"

namespace gnnmg::test {
namespace {

using base::Status;
using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;
using train::Capture;

TEST(DeviceCaptureFault, ARefusalSaysSoOrIsAnError) {
  const Recipe setup = in_f64();
  const std::vector<double> expected = weights_after(setup);
  const Gpus gpus(2);
  const base::DeviceTable table = refusing(gpus);
  Host host;
  host.devices = &table;
  {
    Trial run(gpus.train(setup), host);
    run.train();
    EXPECT_LE(largest_difference(run.weights(), expected), 1e-9);
    EXPECT_THAT(lines_of(host.log),
                Contains(AllOf(HasSubstr("rank 1: steps are started kernel after kernel"),
                               HasSubstr("this driver keeps nothing"))));
  }
  Trial run(gpus.train(captured(setup)), host);
  const Caught failure = caught([&] { run.train(); });
  EXPECT_EQ(failure.status, Status::kUnsupported) << failure.text;
  EXPECT_THAT(failure.text, HasSubstr("captures no steps: this driver keeps nothing"));
}

// One rank lacks memory for passes over bounds, at any allocation: all go on with eager steps, or
// are told where the training itself has none.
TEST(DeviceCaptureFault, WithoutMemoryForBounds) {
  Recipe setup = in_f64();
  setup.trainer.num_epochs = 3;
  const std::vector<double> expected = weights_after(setup);
  int eager = 0;
  for (int64_t nth = 20; nth < 300; nth += 28) {
    const Gpus gpus(2);
    Host host;
    host.devices = &gpus.table();
    Trial run(gpus.train(setup), host);
    fake_gpu::fail_allocation(1, nth);
    const Caught failure = caught([&] { run.train(); });
    fake_gpu::fail_allocation(1, -1);
    if (failure.status != Status::kOk) {
      EXPECT_EQ(failure.status, Status::kNoMemory) << failure.text;
      run.train();
    }
    EXPECT_LE(largest_difference(run.weights(), expected), 1e-9) << nth;
    for (const std::string& line : lines_of(host.log))
      if (line ==
          "rank 0: steps are eager, kernel after kernel: those of another rank cannot be "
          "captured")
        ++eager;
  }
  EXPECT_GT(eager, 1);
}

struct Counts {
  std::atomic<int64_t> waits{0}, allocations{0}, queues{0}, captures{0}, replays{0};
} counts;
const base::DeviceTable* counted = nullptr;

base::DeviceTable counting(const Gpus& gpus) {
  counted = &gpus.table();
  base::DeviceTable table = gpus.table();
  table.synchronize = [](base::DeviceQueue* queue) {
    ++counts.waits;
    counted->synchronize(queue);
  };
  table.allocate = [](int device, base::Placement placement, int64_t bytes) {
    ++counts.allocations;
    return counted->allocate(device, placement, bytes);
  };
  table.open_queue = [](int device, int most, void* stream) {
    ++counts.queues;
    return counted->open_queue(device, most, stream);
  };
  table.capture = [](base::DeviceQueue* queue, void (*work)(void*), void* context) {
    ++counts.captures;
    return counted->capture(queue, work, context);
  };
  table.replay = [](base::DeviceQueue* queue, const base::DeviceReplay* kept) {
    ++counts.replays;
    counted->replay(queue, kept);
  };
  return table;
}

// Of one more step: nothing of the device's memory, and no wait of the host's for a queue.
TEST(DeviceCaptureFault, ASteadyStepAllocatesNothingAndWaitsForNothing) {
  const auto cost = [](int world, int64_t num_train, std::vector<int64_t>& replays) {
    Recipe setup = captured({});
    setup.dataset = make_small({.num_nodes = 1000, .num_train = num_train});
    setup.trainer.batch_size = 8;
    setup.trainer.num_epochs = 1;
    setup.trainer.evaluate_every = 0;
    const Gpus gpus(world);
    const base::DeviceTable table = counting(gpus);
    counts.waits = counts.allocations = counts.queues = counts.captures = counts.replays = 0;
    int64_t before = 0, behind = 0;
    for (int device = 0; device < world; ++device) before += fake_gpu::num_allocations(device);
    after(setup, gpus, table);
    for (int device = 0; device < world; ++device) behind += fake_gpu::num_allocations(device);
    replays.push_back(counts.replays);
    return std::vector<int64_t>{counts.waits, counts.allocations, counts.queues, counts.captures,
                                behind - before};
  };
  for (const int world : {1, 2}) {
    std::vector<int64_t> replays;
    const std::vector<int64_t> few = cost(world, 8 * 4 * world, replays);
    EXPECT_EQ(few, cost(world, 8 * 24 * world, replays)) << world;
    // Of 20 steps more: sample and pass, and the end of several ranks' step behind the exchange.
    EXPECT_EQ(replays[1] - replays[0], 20 * world * (world == 1 ? 2 : 3));
  }
}

TEST(DeviceCaptureFault, ALostDeviceAndAStop) {
  Recipe setup = captured({});
  setup.trainer.num_epochs = 1'000'000;
  setup.trainer.evaluate_every = 0;
  const Gpus gpus(2);
  Host host;
  host.devices = &gpus.table();
  {
    Trial run(gpus.train(setup), host);
    run->start();
    while (run->progress().epoch < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    run->stop();
    EXPECT_TRUE(run->wait({}));
    EXPECT_FALSE(run->progress().epoch >= 1'000'000);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(run->step({}, nullptr), Status::kOk);
  }
  {
    Trial run(gpus.train(setup), host);
    EXPECT_EQ(run->step({}, nullptr), Status::kOk);
    fake_gpu::lose(1);
    const Caught failure = caught([&] { run->step({}, nullptr); });
    EXPECT_EQ(failure.status, Status::kDeviceLost) << failure.text;
    fake_gpu::find_again(1);
  }
}

// Weights and position belong together wherever a step is called off: what follows is the training
// that nothing happened to.
TEST(DeviceCaptureFault, CalledOffInTheMiddle) {
  Recipe setup = in_f64();
  setup.trainer.num_epochs = 20;
  setup.trainer.evaluate_every = 0;
  const std::vector<double> expected = weights_after(setup);
  for (const int world : {1, 2})
    for (const bool cancel : {false, true}) {
      const Gpus gpus(world);
      Host host;
      host.devices = &gpus.table();
      {
        Trial run(gpus.train(captured(setup)), host);
        for (int round = 0; round < 3; ++round) {
          run->start();
          const int64_t until = run->progress().epoch + 3;
          while (run->progress().epoch < until && run->busy())
            std::this_thread::sleep_for(std::chrono::microseconds(300));
          if (cancel)
            run->cancel();
          else
            run->stop();
          caught([&] { run->wait({}); });
        }
        run.train();
        EXPECT_LE(largest_difference(run.weights(), expected), 1e-9) << world << cancel;
      }
      gpus.expect_clean();
    }
}

std::atomic<bool> stuck{false};

// The device does not come to the end of a step: the host, which asks for it one step late, hears a
// cancel, and of several ranks the deadline ends it.
TEST(DeviceCaptureFault, AStepThatDoesNotEnd) {
  Recipe setup = captured(in_f64());
  setup.trainer.num_epochs = 200;
  setup.trainer.evaluate_every = 0;
  setup.trainer.deadline_ms = 400;
  for (const int world : {1, 2}) {
    const Gpus gpus(world);
    counted = &gpus.table();
    base::DeviceTable table = gpus.table();
    table.finished = [](base::DeviceQueue* queue) { return !stuck && counted->finished(queue); };
    Host host;
    host.devices = &table;
    Trial run(gpus.train(setup), host);
    run->start();
    while (run->progress().epoch < 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    stuck = true;
    std::thread later([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      if (world == 1) run->cancel();
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
      stuck = false;
    });
    const Caught failure = caught([&] { run->wait({}); });
    later.join();
    EXPECT_EQ(failure.status, world == 1 ? Status::kCancelled : Status::kTimeout) << failure.text;
    const int64_t epoch = run->progress().epoch;
    EXPECT_LT(epoch, 200);
    EXPECT_EQ(run->step({}, nullptr), Status::kOk);
    EXPECT_GE(run->progress().epoch, epoch);
  }
}

// NCCL fails, hangs or loses a peer at a call of a captured step: told on every rank, and the next
// start goes on from the step that the first rank has read.
TEST(DeviceCaptureFault, FaultsOfNccl) {
  using comm::nccl::Result;
  using fake_nccl::Fault;
  Recipe setup = in_f64();
  setup.trainer.num_epochs = 10;
  setup.trainer.evaluate_every = 0;
  setup.trainer.deadline_ms = 400;
  const std::vector<double> expected = weights_after(setup);
  int rank = 0;
  for (const Fault::Kind kind : {Fault::kFails, Fault::kPollFails, Fault::kHangs, Fault::kBreaks}) {
    rank = 1 - rank;
    const Gpus gpus(2);
    fake_nccl::plan({kind, rank, 40, Result::kRemoteError});
    Host host;
    host.devices = &gpus.table();
    {
      Trial run(gpus.train(captured(setup)), host);
      const Caught failure = caught([&] { run.train(); });
      EXPECT_THAT(failure.status,
                  AnyOf(Status::kPeerLost, Status::kTimeout, Status::kAborted, Status::kInternal))
          << failure.text;
      EXPECT_GT(run->progress().epoch, 0);
      run.train();
      EXPECT_LE(largest_difference(run.weights(), expected), 1e-9) << kind << " on " << rank;
    }
    gpus.expect_clean();
  }
}

}  // namespace
}  // namespace gnnmg::test
