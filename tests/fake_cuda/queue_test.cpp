// Queues of the real plug-in over a fake runtime: the device of each call, the number of
// multiprocessors of a launch, and the state after a failure.
#include <algorithm>

#include "comm/nccl/table.h"
#include "fake_cuda/support.h"
#include "train/device_updates.h"

namespace gnnmg::fake_cuda {
namespace {

using base::Status;
using device::Placement;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::SizeIs;

using Queues = FakeCuda;

TEST_F(Queues, WorkOnTheirDeviceInThreadsOfNone) {
  std::vector<char> from(100, 7), to(100);
  in_fresh_thread([&] {
    Queue queue(1), other(1);
    table().copy(queue.handle, to.data(), from.data(), 100);
    table().wait(queue.handle, other.handle);
    table().synchronize(queue.handle);
    EXPECT_TRUE(table().finished(queue.handle));
  });
  EXPECT_EQ(to, from);
  for (const char* name : {"cudaStreamSynchronize", "cudaStreamQuery", "cudaMemcpyAsync",
                           "cudaEventRecord", "cudaEventDestroy", "cudaStreamWaitEvent"})
    EXPECT_THAT(calls(name), testing::Not(IsEmpty())) << name;
  expect_on_their_devices();
  EXPECT_THAT(contexts(), ElementsAre(1));
}

// Each function alone, as the first call of its thread.
TEST_F(Queues, EachFirstCallOfAThreadIsOnTheQueuesDevice) {
  using Work = void (*)(Queue&, Queue&);
  const std::pair<const char*, Work> works[] = {
      {"synchronize", [](Queue& queue, Queue&) { table().synchronize(queue.handle); }},
      {"finished", [](Queue& queue, Queue&) { table().finished(queue.handle); }},
      {"wait", [](Queue& queue, Queue& other) { table().wait(queue.handle, other.handle); }},
  };
  Queue queue(1), other(1);
  for (const auto& [name, work] : works) {
    SCOPED_TRACE(name);
    reset();
    in_fresh_thread([&] { work(queue, other); });
    expect_on_their_devices();
    EXPECT_THAT(contexts(), ElementsAre(1));
  }
}

TEST_F(Queues, AreUsedOnTheirDevice) {
  Queue queue(1);
  reset();
  in_fresh_thread([&] {
    table().use(queue.handle);
    int device = 0;
    EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
    EXPECT_EQ(device, 1);
  });
  EXPECT_THAT(contexts(), ElementsAre(1));
}

TEST_F(Queues, AreClosedOnTheirDevice) {
  device::Queue* const queue = table().open_queue(1, 0, nullptr);
  reset();
  in_fresh_thread([&] { table().close_queue(queue); });
  EXPECT_THAT(calls("cudaStreamSynchronize"), SizeIs(1));
  EXPECT_THAT(calls("cudaEventDestroy"), SizeIs(1));
  expect_on_their_devices();
  EXPECT_THAT(contexts(), ElementsAre(1));
}

TEST_F(Queues, WaitForThoseOfAnotherDevice) {
  Queue first(0), second(1);
  reset();
  table().wait(first.handle, second.handle);
  EXPECT_THAT(calls("cudaEventRecord"), ElementsAre(Field(&Call::of, 1)));
  EXPECT_THAT(calls("cudaStreamWaitEvent"), ElementsAre(Field(&Call::of, 0)));
  expect_on_their_devices();
  reset();
  table().wait(first.handle, first.handle);
  EXPECT_THAT(calls(), IsEmpty());
}

TEST_F(Queues, LeaveTheThreadsDevice) {
  Queue queue(1);
  table().synchronize(queue.handle);
  int device = -1;
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 1) << "device 0 has no context, and would get one by being chosen";
  EXPECT_THAT(contexts(), ElementsAre(1));
  // A previous device with a context is restored.
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  table().synchronize(queue.handle);
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 0);
}

TEST_F(Queues, OutliveADriverThatTellsNothing) {
  Queue queue(1);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  fail_driver(true);
  table().synchronize(queue.handle);
  fail_driver(false);
  expect_on_their_devices();
}

TEST_F(Queues, AreBusyWithoutAnErrorLeft) {
  Queue queue(1);
  set_busy(true);
  EXPECT_FALSE(table().finished(queue.handle));
  EXPECT_EQ(error_left(), cudaSuccess);
  set_busy(false);
  EXPECT_TRUE(table().finished(queue.handle));
}

TEST_F(Queues, AreClosedOnADeviceThatIsLost) {
  device::Queue* const queue = table().open_queue(1, 0, nullptr);
  fail("cudaStreamSynchronize", cudaErrorIllegalAddress, 1 << 30);
  fail("cudaEventDestroy", cudaErrorIllegalAddress, 1 << 30);
  table().close_queue(queue);
  EXPECT_EQ(error_left(), cudaSuccess);
  device::Queue* const other = [] {
    reset();
    return table().open_queue(1, 0, nullptr);
  }();
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  fail("cudaSetDevice", cudaErrorIllegalAddress, 1 << 30);
  table().close_queue(other);
  EXPECT_EQ(error_left(), cudaSuccess);
}

TEST_F(Queues, UseTheirStreamsAgain) {
  { const Queue queue(1); }
  reset();
  { const Queue queue(1); }
  EXPECT_THAT(calls("cudaStreamCreateWithPriority"), IsEmpty());
  EXPECT_THAT(calls("cudaStreamDestroy"), IsEmpty());
}

// Urgent queues have the higher priority, which is the lower number. Streams are reused by queues
// of their priority.
TEST_F(Queues, ThatAreUrgentGoFirst) {
  const auto made = [](int count, bool urgent) {
    reset();
    std::vector<device::Queue*> queues;
    for (int i = 0; i < count; ++i)
      queues.push_back(urgent ? table().open_urgent_queue(1) : table().open_queue(1, 0, nullptr));
    for (device::Queue* const queue : queues) table().close_queue(queue);
    std::vector<int> priorities;
    for (const Call& call : calls("cudaStreamCreateWithPriority"))
      priorities.push_back(call.priority);
    return priorities;
  };
  EXPECT_THAT(made(20, false), Each(0));  // some existed before
  EXPECT_THAT(made(1, true), ElementsAre(-5));
  EXPECT_THAT(made(3, true), ElementsAre(-5, -5));
  EXPECT_THAT(made(20, false), IsEmpty());
  EXPECT_THAT(made(21, false), ElementsAre(0));
  reset();
  table().of<comm::nccl::Table>()->close_stream(1, table().of<comm::nccl::Table>()->open_stream(1));
  EXPECT_THAT(calls("cudaStreamCreateWithPriority"), ElementsAre(Field(&Call::priority, -5)));
}

TEST_F(Queues, UrgentOnesAreOpenedOnTheirDevice) {
  reset();
  device::Queue* queue = nullptr;
  in_fresh_thread([&] { queue = table().open_urgent_queue(1); });
  expect_on_their_devices();
  EXPECT_THAT(contexts(), ElementsAre(1));
  table().close_queue(queue);
}

TEST_F(Queues, HaveMarksOnTheirDevice) {
  Queue queue(1);
  device::Event *from = nullptr, *to = nullptr;
  double seconds = 0;
  reset();
  in_fresh_thread([&] {
    from = table().make_event(1, true);
    to = table().make_event(1, true);
    EXPECT_FALSE(table().elapsed(from, to, &seconds)) << "they were put nowhere";
  });
  EXPECT_THAT(calls("cudaEventElapsedTime"), IsEmpty());
  in_fresh_thread([&] {
    table().record(queue.handle, from);
    table().record(queue.handle, to);
  });
  in_fresh_thread([&] {
    fail("cudaEventElapsedTime", cudaErrorNotReady);
    EXPECT_FALSE(table().elapsed(from, to, &seconds));
    EXPECT_EQ(error_left(), cudaSuccess);
  });
  in_fresh_thread([&] {
    EXPECT_TRUE(table().elapsed(from, to, &seconds));
    EXPECT_EQ(seconds, 0.5);
  });
  in_fresh_thread([&] { table().free_event(from); });
  in_fresh_thread([&] {
    fail("cudaEventDestroy", cudaErrorIllegalAddress);
    table().free_event(to);
    EXPECT_EQ(error_left(), cudaSuccess);
  });
  EXPECT_THAT(calls("cudaEventDestroy"), SizeIs(2));
  expect_on_their_devices();
  EXPECT_THAT(contexts(), ElementsAre(1));
}

// Each call alone in its thread, on the device of its event or queue.
TEST_F(Queues, HaveMarksThatAreAskedAndWaitedFor) {
  Queue queue(1), other(0);
  device::Event* mark = nullptr;
  reset();
  in_fresh_thread([&] { mark = table().make_event(1, false); });
  EXPECT_THAT(calls("cudaEventCreateWithFlags"),
              ElementsAre(Field(&Call::flags, unsigned{cudaEventDisableTiming})));
  in_fresh_thread([&] { EXPECT_TRUE(table().reached(mark)) << "it was put nowhere"; });
  in_fresh_thread([&] { table().record(queue.handle, mark); });
  in_fresh_thread([&] {
    set_busy(true);
    EXPECT_FALSE(table().reached(mark));
    EXPECT_EQ(error_left(), cudaSuccess);
    set_busy(false);
    EXPECT_TRUE(table().reached(mark));
  });
  in_fresh_thread([&] { table().wait_event(queue.handle, mark); });
  expect_on_their_devices();
  EXPECT_THAT(contexts(), ElementsAre(1));
  reset();
  in_fresh_thread([&] { table().wait_event(other.handle, mark); });
  EXPECT_THAT(calls("cudaStreamWaitEvent"), ElementsAre(Field(&Call::of, 0)));
  EXPECT_THAT(calls("cudaEventRecord"), IsEmpty());
  expect_on_their_devices();
  fail("cudaEventQuery", cudaErrorIllegalAddress);
  EXPECT_EQ(failure_of([&] { table().reached(mark); }).first, Status::kDeviceLost);
  fail("cudaStreamWaitEvent", cudaErrorIllegalAddress);
  EXPECT_EQ(failure_of([&] { table().wait_event(queue.handle, mark); }).first, Status::kDeviceLost);
  fail("cudaEventRecord", cudaErrorIllegalAddress);
  EXPECT_EQ(failure_of([&] { table().record(queue.handle, mark); }).first, Status::kDeviceLost);
  table().free_event(mark);
  EXPECT_EQ(error_left(), cudaSuccess);
  reset();
  table().free_event(table().make_event(1, true));
  EXPECT_THAT(calls("cudaEventCreateWithFlags"),
              ElementsAre(Field(&Call::flags, unsigned{cudaEventDefault})));
}

TEST_F(Queues, OfNcclAreClosedOnTheirDevice) {
  void* stream = nullptr;
  in_fresh_thread([&] { stream = table().of<comm::nccl::Table>()->open_stream(1); });
  in_fresh_thread([&] {
    fail("cudaStreamDestroy", cudaErrorIllegalAddress);
    table().of<comm::nccl::Table>()->close_stream(1, stream);
    EXPECT_EQ(error_left(), cudaSuccess);
    table().of<comm::nccl::Table>()->close_stream(1, stream);
  });
  EXPECT_THAT(calls("cudaStreamDestroy"), SizeIs(2));
  expect_on_their_devices();
  EXPECT_THAT(contexts(), ElementsAre(1));
}

// Launches of the kernels that scale gradients; none of them runs.
std::vector<Call> launches(int max_multiprocessors, int64_t count) {
  const Queue queue(1, max_multiprocessors);
  reset();
  float gradient = 0;
  double part = 0;
  train::UpdateNumbers numbers;
  table().of<train::DeviceUpdates<float>>()->scale(queue.handle, &gradient, count, &numbers, &part);
  return calls("cudaLaunchKernelExC");
}

TEST_F(Queues, TakeAsManyMultiprocessorsAsTheyMay) {
  constexpr int64_t kMany = int64_t{1} << 40;
  const auto most = [](const std::vector<Call>& calls) {
    unsigned most = 0;
    for (const Call& call : calls) most = std::max(most, call.grid);
    return most;
  };
  for (const int bound : {1, 3, kMultiprocessors}) {
    const std::vector<Call> made = launches(bound, kMany);
    EXPECT_EQ(most(made), static_cast<unsigned>(bound));
    EXPECT_THAT(made, Each(Field(&Call::of, 1)));
    expect_on_their_devices();
  }
  EXPECT_EQ(most(launches(100, kMany)), static_cast<unsigned>(kMultiprocessors))
      << "there are no more";
  EXPECT_GT(most(launches(0, kMany)), static_cast<unsigned>(kMultiprocessors)) << "no bound";
  EXPECT_EQ(most(launches(3, 1)), 1u) << "one item takes one block";
}

TEST_F(Queues, SayWhichGpusThereAre) {
  EXPECT_EQ(table().num_devices(), kDevices);
  EXPECT_STREQ(table().info(1).bus_id, "0000:01:00.0");
  EXPECT_EQ(failure_of([] { table().open_queue(kDevices, 0, nullptr); }),
            std::pair(Status::kNotFound, std::string("there is no GPU 2, expected 0 to 1")));
  fail("cudaGetDeviceCount", cudaErrorNoDevice);
  EXPECT_EQ(table().num_devices(), 0);
  fail("cudaGetDeviceCount", cudaErrorNoDevice);
  EXPECT_EQ(failure_of([] { table().info(0); }),
            std::pair(Status::kNotFound,
                      std::string("there is no GPU 0, expected none: this process sees no GPU")));
}

}  // namespace
}  // namespace gnnmg::fake_cuda
