// Faults of captured steps, and of the same steps without capture: devices that refuse, lack
// memory, hang or are lost, and NCCL's faults. Also the cost of a step without a fault.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "arena.h"
#include "fake_gpu.h"
#include "fake_nccl/fake_nccl.h"
#include "late.h"
#include "nn/model/model.h"
#include "train/hubs.h"
#include "train/step/captured/device_capture.h"

namespace gnnmg::test {
namespace {

using base::Status;
using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using train::Capture;

TEST(DeviceCaptureFault, ARefusalSaysSoOrIsAnError) {
  const Recipe setup = in_f64();
  const std::vector<double> expected = weights_after(setup);
  const Gpus gpus(2);
  const device::Table table = refusing(gpus);
  Host host;
  host.devices = &table;
  {
    Trial run(gpus.train(setup), host);
    run.train();
    EXPECT_LE(largest_difference(run.weights(), expected), 1e-9);
    EXPECT_THAT(lines_of(host.log),
                Contains(AllOf(HasSubstr("rank 1: steps are eager, over the shapes of captured"),
                               HasSubstr("captures nothing: this driver keeps nothing"))));
  }
  {  // no refusal without capture
    Trial run(gpus.train(uncaptured(setup)), host);
    run.train();
    EXPECT_LE(largest_difference(run.weights(), expected), 1e-9);
    EXPECT_THAT(lines_of(host.log), Each(Not(HasSubstr("captures nothing"))));
  }
  Trial run(gpus.train(captured(setup)), host);
  const Caught failure = caught([&] { run.train(); });
  EXPECT_EQ(failure.status, Status::kUnsupported) << failure.text;
  EXPECT_THAT(failure.text, HasSubstr("captures no steps: this driver keeps nothing"));
}

// If memory suffices only for unpadded mini-batches on one of the GPUs, all ranks use these and say
// so.
TEST(DeviceCaptureFault, APlanWithoutRoomForShapes) {
  Recipe setup = in_f64();
  setup.trainer.torch_threads = 1;
  setup.trainer.evaluate_every = 0;
  const Gpus gpus(2);
  const std::vector<double> expected = gpus.weights_after(unpadded(setup));
  Host host;
  host.devices = &gpus.table();
  for (const Capture capture : {Capture::kAuto, Capture::kOff}) {
    Trial run(gpus.train(with(capture, setup)), host);
    const train::MemoryPlan plan = run->memory_plan(0);
    ASSERT_GT(plan.capture, 0);
    // Part of the memory is kept free in addition to the training's.
    fake_gpu::set_memory(1, (plan.total - plan.reserve - plan.capture / 2) * 64 / 63);
    run.train();
    fake_gpu::set_memory(1, int64_t{1} << 30);
    EXPECT_EQ(run.weights(), expected);
    const std::vector<std::string> lines = lines_of(host.log);
    const std::string eager = ": steps are eager, without padding: ";
    EXPECT_THAT(lines, Contains("rank 0" + eager + "those of another rank cannot be captured"));
    EXPECT_THAT(lines, Contains(HasSubstr("rank 1" + eager + "padded they take up to ")));
  }
}

// One rank lacks memory for captured passes, at any allocation: all continue with eager steps, or
// fail if the training itself has none.
TEST(DeviceCaptureFault, WithoutMemoryForShapes) {
  Recipe small = in_f64(), hubs = hub_recipe();
  small.trainer.num_epochs = 3;
  hubs.model.dtype = base::DType::kF64;
  hubs.trainer.num_epochs = 1;
  hubs.trainer.batches_per_step = 2;
  hubs.trainer.placement.gather = true;
  for (const Recipe& setup : {small, hubs}) {
    const std::vector<double> expected = weights_after(setup);
    int eager = 0;
    for (int64_t nth = 20; nth < 300; nth += setup.trainer.num_epochs == 3 ? 29 : 61) {
      const Gpus gpus(2);
      Host host;
      host.devices = &gpus.table();
      Trial run(gpus.train(with(nth % 2 ? Capture::kOff : Capture::kAuto, setup)), host);
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
            "rank 0: steps are eager, without padding: those of another rank cannot be captured")
          ++eager;
    }
    EXPECT_GT(eager, 1);
  }
}

struct Counts {
  std::atomic<int64_t> waits{0}, allocations{0}, queues{0}, marks{0}, captures{0}, replays{0};
} counts;
const device::Table* counted = nullptr;

device::Table counting(const Gpus& gpus) {
  counted = &gpus.table();
  device::Table table = gpus.table();
  table.synchronize = [](device::Queue* queue) {
    ++counts.waits;
    counted->synchronize(queue);
  };
  table.allocate = [](int device, device::Placement placement, int64_t bytes) {
    ++counts.allocations;
    return counted->allocate(device, placement, bytes);
  };
  table.open_queue = [](int device, int most, void* stream) {
    ++counts.queues;
    return counted->open_queue(device, most, stream);
  };
  table.open_urgent_queue = [](int device) {
    ++counts.queues;
    return counted->open_urgent_queue(device);
  };
  table.make_event = [](int device, bool timed) {
    ++counts.marks;
    return counted->make_event(device, timed);
  };
  table.capture = [](device::Queue* queue, void (*work)(void*), void* context) {
    ++counts.captures;
    return counted->capture(queue, work, context);
  };
  table.replay = [](device::Queue* queue, const device::Graph* kept) {
    ++counts.replays;
    counted->replay(queue, kept);
  };
  return table;
}

// Cost of a training, and the number of operations started at once. Steps without capture make
// tensors; for them, allocations that LibTorch's cache could not serve are counted.
std::vector<int64_t> cost(const Recipe& setup, int world, std::vector<int64_t>& replays) {
  const Gpus gpus(world);
  const device::Table table = counting(gpus);
  for (std::atomic<int64_t>* count : {&counts.waits, &counts.allocations, &counts.queues,
                                      &counts.marks, &counts.captures, &counts.replays})
    *count = 0;
  const auto taken = setup.trainer.capture == Capture::kOn ? fake_gpu::num_allocations
                                                           : fake_gpu::num_without_kept;
  int64_t before = 0, taken_after = 0;
  for (int device = 0; device < world; ++device) {
    fake_gpu::forget_kept(device);
    before += taken(device);
  }
  after(setup, gpus, table);
  for (int device = 0; device < world; ++device) taken_after += taken(device);
  replays.push_back(counts.replays);
  return {counts.waits,    counts.allocations,   counts.queues,
          counts.captures, taken_after - before, counts.marks};
}

// A further step takes no device memory and does not wait for a queue.
void expect_nothing_of_a_steady_step(Capture capture) {
  Recipe setup = with(capture, {});
  setup.trainer.batch_size = 8;
  setup.trainer.num_epochs = 1;
  setup.trainer.evaluate_every = 0;
  for (const int world : {1, 2}) {
    std::vector<int64_t> replays;
    setup.dataset = make_small({.num_nodes = 1000, .num_train = 8 * 8 * world});
    const std::vector<int64_t> few = cost(setup, world, replays);
    setup.dataset = make_small({.num_nodes = 1000, .num_train = 8 * 28 * world});
    EXPECT_EQ(few, cost(setup, world, replays)) << world;
    // Queues of the model, of sampling and gathering, of copying graph and rows, and of the
    // exchange. A device has few hardware queues, and one that waits delays others that share it.
    EXPECT_EQ(few[2], world * (world == 1 ? 5 : 6)) << world;
    if (capture == Capture::kOff) {
      EXPECT_EQ(few[3], 0);
      EXPECT_GT(few[4], 0);
      EXPECT_EQ(replays[1], 0);
      continue;
    }
    // Replays of 20 more steps: sample, pass, and, with several ranks, the end of the step after
    // the exchange.
    EXPECT_EQ(replays[1] - replays[0], 20 * world * (world == 1 ? 2 : 3));
  }
}

TEST(DeviceCaptureFault, ASteadyStepAllocatesNothingAndWaitsForNothing) {
  expect_nothing_of_a_steady_step(Capture::kOn);
}

TEST(DeviceCaptureFault, ASteadyStepKernelAfterKernelAllocatesNothingAndWaitsForNothing) {
  expect_nothing_of_a_steady_step(Capture::kOff);
}

// The same for mini-batches whose passes have different shapes.
TEST(DeviceCaptureFault, NorDoesOneOfAnotherShape) {
  Recipe few = captured(hub_recipe());
  few.trainer.num_epochs = 1;
  few.trainer.batches_per_step = 1;
  Recipe more = few;
  more.trainer.num_epochs = 3;
  std::vector<int64_t> replays;
  const std::vector<int64_t> expected = cost(few, 1, replays);
  EXPECT_EQ(expected[3], 3 + 3 * 3);  // a sample per slot, and passes of three shapes
  EXPECT_EQ(cost(more, 1, replays), expected);
  EXPECT_EQ(replays[1] - replays[0], 2 * kHubBatches * 2);
  EXPECT_EQ(cost(uncaptured(more), 1, replays), cost(uncaptured(few), 1, replays));
  EXPECT_EQ(replays[3], 0);
}

// Copies to the host that arrive only when somebody waits for them: a reader without a wait gets
// the counts of another mini-batch.
struct Late {
  struct Copy {
    void* to;
    std::vector<uint8_t> bytes;
  };
  std::map<int64_t, Copy> copies;
  // Copies before later work of a queue, and before an event.
  std::map<device::Queue*, std::set<int64_t>> of;
  std::map<const device::Event*, std::set<int64_t>> at;
  int64_t taken = 0;

  void take(device::Queue* queue, void* to, const void* from, int64_t bytes) {
    Copy copy{to, std::vector<uint8_t>(static_cast<size_t>(bytes))};
    counted->copy(queue, copy.bytes.data(), from, bytes);
    copies.emplace(taken, std::move(copy));
    of[queue].insert(taken++);
  }
  void bring(std::set<int64_t>& numbers) {
    for (const int64_t number : std::exchange(numbers, {}))
      if (const auto found = copies.extract(number))
        std::ranges::copy(found.mapped().bytes, static_cast<uint8_t*>(found.mapped().to));
  }
};
Late* late = nullptr;

TEST(DeviceCaptureFault, CountsThatComeLate) {
  Recipe setup = hub_recipe();
  setup.model.dtype = base::DType::kF64;
  setup.trainer.batches_per_step = 1;
  const std::vector<double> expected = weights_after(setup);
  const Gpus gpus(1);
  counted = &gpus.table();
  Late copies;
  late = &copies;
  device::Table table = refusing(gpus);  // so that copies are not captured
  table.copy = [](device::Queue* queue, void* to, const void* from, int64_t bytes) {
    if (fake_gpu::device_of(to) >= 0)
      counted->copy(queue, to, from, bytes);
    else
      late->take(queue, to, from, bytes);
  };
  table.wait = [](device::Queue* queue, device::Queue* other) {
    const std::set<int64_t> before = late->of[other];
    late->of[queue].insert(before.begin(), before.end());
    counted->wait(queue, other);
  };
  table.record = [](device::Queue* queue, device::Event* mark) {
    late->at[mark] = late->of[queue];
    counted->record(queue, mark);
  };
  table.wait_event = [](device::Queue* queue, const device::Event* mark) {
    const std::set<int64_t> before = late->at[mark];
    late->of[queue].insert(before.begin(), before.end());
    counted->wait_event(queue, mark);
  };
  table.reached = [](const device::Event* mark) {
    late->bring(late->at[mark]);
    return counted->reached(mark);
  };
  table.finished = [](device::Queue* queue) {
    late->bring(late->of[queue]);
    return counted->finished(queue);
  };
  table.synchronize = [](device::Queue* queue) {
    late->bring(late->of[queue]);
    counted->synchronize(queue);
  };
  EXPECT_LE(largest_difference(after(setup, gpus, table), expected), 1e-9);
  EXPECT_GT(copies.taken, 4 * kHubBatches * setup.trainer.num_epochs);
  gpus.expect_clean();
}

TEST(DeviceCaptureFault, ALostDeviceAndAStop) {
  Recipe setup = captured(hub_recipe());
  setup.trainer.num_epochs = 1'000'000;
  setup.trainer.evaluate_every = 0;
  const Gpus gpus(2);
  Host host;
  host.devices = &gpus.table();
  {
    Trial run(gpus.train(setup), host);
    run->start();
    while (run->progress().epoch < 2 && run->busy())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
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

// GPUs that finish work when it is started, or GPUs with delayed work, so that exchanges are in
// flight while the host continues. The latter still run single kernels at once.
class Machine {
 public:
  Machine(int count, bool late) : gpus_(count) {
    if (!late) return;
    late_.emplace(gpus_.table());
    fake_nccl::put_off_operations(fake_gpu::Late::put);
  }
  const device::Table& table() const { return late_ ? late_->table() : gpus_.table(); }
  Recipe train(Recipe setup) const { return gpus_.train(std::move(setup)); }
  void expect_clean() const {
    gpus_.expect_clean();
    if (late_ && gpus_.count() > 1) {
      EXPECT_GT(late_->num_put_off(), 0);
    }
  }

 private:
  const Gpus gpus_;
  std::optional<fake_gpu::Late> late_;
};

enum class How { kAtOnce, kLate, kKernelAfterKernel };

class DeviceCaptureLate : public testing::TestWithParam<How> {
 protected:
  static bool late() { return GetParam() == How::kLate; }
  static Recipe started(const Recipe& setup) {
    return GetParam() == How::kKernelAfterKernel ? uncaptured(setup) : captured(setup);
  }
};
std::string name_of(const testing::TestParamInfo<How>& how) {
  constexpr const char* kNames[] = {"AtOnce", "Late", "KernelAfterKernel"};
  return kNames[static_cast<size_t>(how.param)];
}
INSTANTIATE_TEST_SUITE_P(Work, DeviceCaptureLate,
                         testing::Values(How::kAtOnce, How::kLate, How::kKernelAfterKernel),
                         name_of);

// Weights and position agree wherever a step is canceled: the result is that of an undisturbed
// training.
TEST_P(DeviceCaptureLate, CalledOffInTheMiddle) {
  Recipe setup = in_f64();
  setup.trainer.num_epochs = 20;
  setup.trainer.evaluate_every = 0;
  const std::vector<double> expected = weights_after(setup);
  for (const int world : {1, 2})
    for (const bool cancel : {false, true}) {
      const Machine gpus(world, late());
      Host host;
      host.devices = &gpus.table();
      {
        Trial run(gpus.train(started(setup)), host);
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

// The device does not finish a step. The host, which waits for it one step later, notices a cancel;
// with several ranks the deadline ends the wait.
TEST(DeviceCaptureFault, AStepThatDoesNotEnd) {
  Recipe setup = captured(in_f64());
  setup.trainer.num_epochs = 200;
  setup.trainer.evaluate_every = 0;
  setup.trainer.deadline_ms = 400;
  for (const int world : {1, 2}) {
    const Gpus gpus(world);
    counted = &gpus.table();
    device::Table table = gpus.table();
    table.finished = [](device::Queue* queue) { return !stuck && counted->finished(queue); };
    table.reached = [](const device::Event* mark) { return !stuck && counted->reached(mark); };
    Host host;
    host.devices = &table;
    Trial run(gpus.train(setup), host);
    run->start();
    while (run->progress().epoch < 1 && run->busy())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
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

std::atomic<bool> strikes{false};
std::atomic<int> unlucky{0};
std::atomic<device::Queue*> struck{nullptr};  // queue of the failing rank

// A rank that fails outside NCCL ends its exchange at once, on every rank: nobody waits on an idle
// device for ranks that have left.
TEST_P(DeviceCaptureLate, AFailureElsewhereLeavesNoExchange) {
  for (const int device : {0, 1}) {
    const Machine gpus(2, late());
    counted = &gpus.table();
    device::Table table = gpus.table();
    unlucky = device;
    struck = nullptr;
    table.open_urgent_queue = [](int on) {
      device::Queue* const queue = counted->open_urgent_queue(on);
      device::Queue* none = nullptr;
      if (on == unlucky) struck.compare_exchange_strong(none, queue);
      return queue;
    };
    table.copy = [](device::Queue* queue, void* to, const void* from, int64_t bytes) {
      // A copy to the host after the step's exchange, which is in flight.
      if (queue == struck && fake_gpu::device_of(to) < 0 && strikes.exchange(false))
        base::fail(Status::kInternal, "a copy that nobody expected to fail");
      counted->copy(queue, to, from, bytes);
    };
    Host host;
    host.devices = &table;
    Recipe setup = started(in_f64());
    setup.trainer.num_epochs = 1'000'000;
    setup.trainer.evaluate_every = 0;
    {
      Trial run(gpus.train(setup), host);
      run->start();
      while (run->progress().epoch < 2 && run->busy())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      strikes = true;
      while (run->progress().state != train::TrainerState::kFailed && run->busy())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      // The host has not noticed it yet; then it releases all ranks.
      EXPECT_EQ(fake_nccl::count().aborted, 2) << "GPU " << device << " failed";
      const Caught failure = caught([&] { run->wait({}); });
      EXPECT_EQ(failure.status, Status::kInternal) << failure.text;
      EXPECT_THAT(failure.text, HasSubstr("a copy that nobody expected to fail"));
      EXPECT_EQ(run->step({}, nullptr), Status::kOk);
    }
    gpus.expect_clean();
  }
}

// NCCL fails, hangs or loses a peer in a call of a captured step: every rank reports it, and the
// next start continues from the last step that the first rank has read.
TEST_P(DeviceCaptureLate, FaultsOfNccl) {
  using comm::nccl::Result;
  using fake_nccl::Fault;
  Recipe setup = in_f64();
  setup.trainer.num_epochs = 10;
  setup.trainer.evaluate_every = 0;
  const std::vector<double> expected = weights_after(setup);
  int rank = 0;
  const bool few = GetParam() == How::kKernelAfterKernel;
  for (const int world : few ? std::vector{2, 4} : std::vector{2, 4, 8})
    for (const Fault::Kind kind :
         {Fault::kFails, Fault::kPollFails, Fault::kHangs, Fault::kBreaks}) {
      rank = (rank + world / 2 + 1) % world;
      SCOPED_TRACE(testing::Message() << "kind " << kind << " on rank " << rank << " of " << world);
      const Machine gpus(world, late());
      fake_nccl::plan({kind, rank, 40, Result::kRemoteError});
      Host host;
      host.devices = &gpus.table();
      {
        setup.trainer.deadline_ms = 200 * world;
        Trial run(gpus.train(started(setup)), host);
        const Caught failure = caught([&] { run.train(); });
        EXPECT_THAT(failure.status,
                    AnyOf(Status::kPeerLost, Status::kTimeout, Status::kAborted, Status::kInternal))
            << failure.text;
        EXPECT_EQ(fake_nccl::count().aborted, world);
        EXPECT_GT(run->progress().epoch, 0);
        run.train();
        EXPECT_LE(largest_difference(run.weights(), expected), 1e-9);
      }
      gpus.expect_clean();
    }
}

}  // namespace
}  // namespace gnnmg::test
