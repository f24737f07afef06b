// Checks that the fakes are as strict as documented, and that LibTorch works on them.
#include "fake_gpu.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "base/error.h"
#include "cuda/grid/entries.h"
#include "device/owners.h"
#include "fake_queue.h"
#include "feature/device.h"
#include "late.h"
#include "nn/torch/device.h"

namespace gnnmg::fake_gpu {
namespace {

class FakeGpu : public testing::Test {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    table_ = make_table(2);
    for (int device = 0; device < 2; ++device)
      queues_[device] = table_.open_queue(device, 0, nullptr);
    table_.use(queues_[0]);
  }
  void TearDown() override {
    for (device::Queue* queue : queues_) table_.close_queue(queue);
  }
  at::Device device(int index) const { return nn::Device{&table_, index, queues_[index]}.torch(); }
  at::TensorOptions on(int index) const {
    return at::TensorOptions(at::kFloat).device(device(index));
  }

  device::Table table_;
  device::Queue* queues_[2] = {};
};

TEST_F(FakeGpu, OperatorsGiveWhatTheCpuGives) {
  const at::Tensor a = at::rand({5, 7}), b = at::rand({7, 3});
  const at::Tensor da = a.to(device(0)), db = b.to(device(0));
  EXPECT_TRUE(at::relu(at::mm(da, db) - 1).cpu().equal(at::relu(at::mm(a, b) - 1)));
  EXPECT_EQ(at::mm(da, db).device(), device(0));
  const auto [values, order] = da.flatten().sort(/*stable=*/true, 0, true);
  EXPECT_TRUE(values.cpu().equal(std::get<0>(a.flatten().sort(true, 0, true))));
  EXPECT_TRUE(at::cat({da, da.narrow(0, 1, 2)}).cpu().equal(at::cat({a, a.narrow(0, 1, 2)})));
  at::Tensor out = at::empty({5, 3}, on(0));
  at::mm_out(out, da, db);
  EXPECT_TRUE(out.cpu().equal(at::mm(a, b)));
  out.add_(1).t().mul_(2);
  EXPECT_TRUE(out.cpu().equal((at::mm(a, b) + 1) * 2));
  EXPECT_TRUE(at::arange(4, on(0).dtype(at::kLong))
                  .cpu()
                  .equal(at::arange(4, at::TensorOptions(at::kLong))));
  EXPECT_EQ(da.sum().item<float>(), a.sum().item<float>());
  EXPECT_TRUE(da.to(device(1)).cpu().equal(a));
}

TEST_F(FakeGpu, BackwardRunsOnAThreadOfTheDevice) {
  const at::Tensor a = at::rand({4, 6}), b = at::rand({6, 2});
  at::Tensor x = a.to(device(1)).set_requires_grad(true);
  at::Tensor y = a.clone().set_requires_grad(true);
  at::mm(x, b.to(device(1))).square().sum().backward();
  at::mm(y, b).square().sum().backward();
  ASSERT_EQ(x.grad().device(), device(1));
  EXPECT_TRUE(x.grad().cpu().allclose(y.grad()));
}

TEST_F(FakeGpu, MixedDevicesAreRefused) {
  const at::Tensor cpu = at::rand({3}), first = cpu.to(device(0)), second = cpu.to(device(1));
  EXPECT_THROW(first + cpu, c10::Error);
  EXPECT_THROW(first + second, c10::Error);
  EXPECT_THROW(first.index_select(0, at::zeros({1}, at::TensorOptions(at::kLong))), c10::Error);
  EXPECT_NO_THROW(first + 1);
  EXPECT_NO_THROW(first * at::zeros({}));
}

TEST_F(FakeGpu, TheHostCannotTouchItsMemory) {
  const at::Tensor t = at::zeros({8}, on(0));
  auto* data = static_cast<volatile float*>(t.mutable_data_ptr());
  EXPECT_DEATH(static_cast<void>(data[0] + 1), "the host touched memory of a device");
  void* memory = table_.allocate(1, device::Placement::kDevice, 64);
  EXPECT_DEATH(*static_cast<volatile int*>(memory) = 1, "the host touched memory of a device");
  table_.release(1, device::Placement::kDevice, memory);
}

TEST_F(FakeGpu, CopiesGoAnywhere) {
  const std::vector<int32_t> values{1, 2, 3};
  void* a = table_.allocate(0, device::Placement::kDevice, 12);
  void* b = table_.allocate(1, device::Placement::kDevice, 12);
  table_.copy(queues_[0], a, values.data(), 12);
  table_.copy(queues_[0], b, a, 12);
  std::vector<int32_t> back(3);
  table_.copy(queues_[1], back.data(), b, 12);
  EXPECT_EQ(back, values);
  table_.release(0, device::Placement::kDevice, a);
  table_.release(1, device::Placement::kDevice, b);
}

// Rows 0 and 1: each device holds one and reads the other's.
TEST_F(FakeGpu, KernelsReadPeersThatTheyWereLetRead) {
  refuse_peer(1, 0);
  EXPECT_TRUE(table_.enable_peer(0, 1));
  EXPECT_FALSE(table_.enable_peer(1, 0));
  EXPECT_FALSE(table_.enable_peer(1, 1));
  const std::vector<float> numbers{1, 2};
  const std::vector<int64_t> cached{0, 1};
  feature::DeviceStoreConfig config;
  config.table = base::Tensor::copy_of<float>(numbers);
  config.table =
      base::Tensor({config.table.data(), base::DType::kF32, {2, 1}}, config.table.owner());
  config.placement = feature::RowPlacement::kSplit;
  config.cached = cached;
  std::vector<device::Queue*> queues = {queues_[0], queues_[1]};
  std::vector<feature::DeviceStore*> stores(2);
  table_.of<feature::DeviceFeatures>()->open_split(queues, config, stores);
  void* ids[2];
  void* out[2];
  const auto gather = [&](int device) {
    table_.copy(queues_[device], ids[device], cached.data(), 16);
    feature::DeviceGather gather;
    gather.ids = ids[device];
    gather.max_count = 2;
    gather.out = out[device];
    gather.out_stride = 1;
    table_.of<feature::DeviceFeatures>()->gather(queues_[device], stores[device], gather);
    std::vector<float> back(2);
    table_.copy(queues_[device], back.data(), out[device], 8);
    return back;
  };
  for (int device = 0; device < 2; ++device) {
    ids[device] = table_.allocate(device, device::Placement::kDevice, 16);
    out[device] = table_.allocate(device, device::Placement::kDevice, 8);
  }
  EXPECT_EQ(gather(0), numbers);
  EXPECT_EQ(table_.of<feature::DeviceFeatures>()->traffic(queues_[0], stores[0]).peer_rows, 1);
  EXPECT_DEATH(gather(1), "the host touched memory of a device");
  refuse_peer(1, 0, false);
  EXPECT_TRUE(table_.enable_peer(1, 0));
  EXPECT_EQ(gather(1), numbers);
  lose(1);
  try {
    gather(0);
    ADD_FAILURE() << "nothing thrown";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.status(), base::Status::kDeviceLost);
  }
  for (feature::DeviceStore* store : stores) table_.of<feature::DeviceFeatures>()->close(store);
  find_again(1);
  for (int device = 0; device < 2; ++device) {
    table_.release(device, device::Placement::kDevice, ids[device]);
    table_.release(device, device::Placement::kDevice, out[device]);
  }
}

TEST_F(FakeGpu, MemoryEndsAndIsCounted) {
  const int64_t live = num_live(0);
  set_memory(0, live_bytes(0) + 4096);
  EXPECT_THROW(at::zeros({2048}, on(0)), c10::OutOfMemoryError);
  EXPECT_NO_THROW(at::zeros({1024}, on(0)));
  fail_allocation(0, 1);
  EXPECT_NO_THROW(at::empty({8}, on(0)));
  EXPECT_THROW(at::empty({8}, on(0)), c10::OutOfMemoryError);
  EXPECT_NO_THROW(at::empty({8}, on(0)));
  set_memory(0, int64_t{1} << 30);
  EXPECT_EQ(num_live(0), live);
}

TEST_F(FakeGpu, TensorsOfTheSameSizeTakeNothingThatIsNotKept) {
  const auto make = [&](int64_t count) { return at::empty({count}, on(0)); };
  const auto taken = [](const auto& f) {
    const int64_t before = num_without_kept(0);
    f();
    return num_without_kept(0) - before;
  };
  forget_kept(0);
  EXPECT_EQ(taken([&] { make(1000), make(1000); }), 2);  // live at the same time
  EXPECT_EQ(taken([&] { make(1000), make(1000); }), 0);
  EXPECT_EQ(taken([&] { make(5000); }), 1);
  EXPECT_EQ(taken([&] {
              void* bytes = table_.allocate(0, device::Placement::kDevice, 5000 * 4);
              table_.release(0, device::Placement::kDevice, bytes);
            }),
            0);  // no tensor
  forget_kept(0);
  EXPECT_EQ(taken([&] { make(5000); }), 1);
}

TEST_F(FakeGpu, ALostDeviceFailsAndFrees) {
  {
    const at::Tensor t = at::zeros({8}, on(1)), other = at::zeros({8}, on(0));
    lose(1);
    EXPECT_THROW(t.add_(1), c10::Error);
    EXPECT_THROW(table_.synchronize(queues_[1]), base::Error);
    EXPECT_NO_THROW(other.add_(1));
  }
  find_again(1);
  EXPECT_NO_THROW(at::zeros({8}, on(1)));
}

TEST_F(FakeGpu, WhatIsCapturedIsDoneAgainOnTheSameMemory) {
  FakeQueue queue(0);
  at::Tensor x = at::full({3}, 2.0, on(0)), sum = at::zeros({3}, on(0));
  at::Tensor weight = at::full({3}, 5.0, on(0)).set_requires_grad(true);
  weight.mutable_grad() = at::zeros({3}, on(0));
  const auto recording = queue.capture([&] {
    sum.add_((x * 10).to(at::kDouble).to(at::kFloat).relu());  // includes copies
    queue.fill(x.mutable_data_ptr(), 0, 4);
    (weight * x).square().sum().backward();
  });
  EXPECT_TRUE(sum.cpu().equal(at::zeros({3})));  // nothing has run
  EXPECT_TRUE(weight.grad().cpu().equal(at::zeros({3})));
  const int64_t live = num_live(0);
  recording->replay();
  EXPECT_TRUE(sum.cpu().equal(at::full({3}, 20.0)));
  x.fill_(3);  // replays read it again
  recording->replay();
  EXPECT_TRUE(sum.cpu().equal(at::full({3}, 50.0)));
  EXPECT_TRUE(weight.grad().cpu().equal(at::tensor({0.f, 40.f + 90.f, 40.f + 90.f})));
  EXPECT_EQ(num_live(0), live);
  EXPECT_GT(recording->num_steps(), 5);
}

TEST_F(FakeGpu, TheTableCapturesAndDoesAgain) {
  at::Tensor x = at::full({3}, 2.0, on(1));
  struct Work {
    const device::Table& table;
    device::Queue* queue;
    at::Tensor x, copy;
    void* pinned;
    int calls;
    static void run(void* context) {
      Work& work = *static_cast<Work*>(context);
      ++work.calls;
      work.x.add_(1);
      work.table.copy(work.queue, work.copy.mutable_data_ptr(), work.x.const_data_ptr(), 12);
      work.table.copy(work.queue, work.pinned, work.copy.const_data_ptr(), 12);
    }
  };
  void* pinned = table_.allocate(1, device::Placement::kPinned, 12);
  std::memset(pinned, 0, 12);
  table_.use(queues_[1]);
  Work work{table_, queues_[1], x, at::zeros({3}, on(1)), pinned, 0};
  device::Graph* kept = table_.capture(queues_[1], Work::run, &work);
  const float* seen = static_cast<const float*>(pinned);
  EXPECT_TRUE(x.cpu().equal(at::full({3}, 2.0)));
  const int64_t allocations = num_allocations(1);
  for (int i = 1; i <= 3; ++i) {
    table_.replay(queues_[1], kept);
    EXPECT_EQ(seen[2], 2.0f + static_cast<float>(i));
  }
  EXPECT_EQ(num_allocations(1), allocations);
  EXPECT_EQ(work.calls, 1);
  lose(1);
  EXPECT_THROW(table_.replay(queues_[1], kept), base::Error);
  find_again(1);
  table_.free_graph(kept);
  // The exception passes through, and the device is unchanged.
  const auto failing = [](void*) { base::fail(base::Status::kRange, "for a test"); };
  EXPECT_THROW(table_.capture(queues_[1], failing, nullptr), base::Error);
  EXPECT_TRUE(x.cpu().equal(at::full({3}, 5.0)));
  table_.release(1, device::Placement::kPinned, pinned);
}

TEST_F(FakeGpu, WhatWaitsCannotBeCaptured) {
  FakeQueue queue(0);
  const at::Tensor x = at::zeros({3}, on(0));
  float value = 0;
  EXPECT_THROW(queue.capture([&] { static_cast<void>(x.sum().item<float>()); }), c10::Error);
  EXPECT_THROW(queue.capture([&] { static_cast<void>(x.cpu()); }), c10::Error);
  EXPECT_THROW(queue.capture([&] { queue.synchronize(); }), base::Error);
  EXPECT_THROW(queue.capture([&] { queue.copy(&value, x.const_data_ptr(), 4); }), base::Error);
  const device::OwnedEvent mark = device::make_owned_event(table_, 0);
  device::Queue* const handle = cuda::handle_of(queue);
  EXPECT_THROW(queue.capture([&] { table_.record(handle, mark.get()); }), base::Error);
  EXPECT_THROW(queue.capture([&] { table_.wait_event(handle, mark.get()); }), base::Error);
  EXPECT_THROW(queue.capture([&] { table_.reached(mark.get()); }), base::Error);
  EXPECT_EQ(x.sum().item<float>(), 0);
}

TEST_F(FakeGpu, ThreadsHaveDevicesOfTheirOwn) {
  std::vector<std::thread> threads;
  std::vector<float> sums(2);
  for (int index = 0; index < 2; ++index)
    threads.emplace_back([&, index] {
      table_.use(queues_[index]);
      at::Tensor t = at::zeros({64}, on(index));
      for (int i = 0; i < 50; ++i) t.add_(index + 1);
      sums[index] = t.sum().item<float>();
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sums, (std::vector<float>{3200, 6400}));
}

// After unfinished work, copies, waits and replays are deferred, in order. The source of a copy in
// host memory is read at once, and a copy to the host waits.
TEST_F(FakeGpu, WorkIsPutOff) {
  const Late late(table_);
  const device::Table& table = late.table();
  int streams[2] = {};
  device::Queue* queues[2];
  for (int i = 0; i < 2; ++i) queues[i] = table.open_queue(0, 0, &streams[i]);
  const at::Tensor x = at::zeros({1}, on(0)), y = at::zeros({1}, on(0));
  float lent = 3;
  table.copy(queues[0], x.mutable_data_ptr(), &lent, 4);  // the queue is empty
  EXPECT_EQ(x.cpu().item<float>(), 3);
  EXPECT_TRUE(table.finished(queues[0]));

  struct Doubling {
    at::Tensor x;
  } doubling{x};
  table.use(queues[0]);
  device::Graph* const kept = table.capture(
      queues[0], [](void* context) { static_cast<Doubling*>(context)->x.mul_(2); }, &doubling);
  std::atomic<bool> over{false};
  Late::put(&streams[0], [&] { return over.load(); });
  lent = 5;
  table.copy(queues[0], x.mutable_data_ptr(), &lent, 4);
  lent = 7;
  table.replay(queues[0], kept);
  table.wait(queues[1], queues[0]);
  table.copy(queues[1], y.mutable_data_ptr(), x.const_data_ptr(), 4);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  for (device::Queue* queue : queues) EXPECT_FALSE(table.finished(queue));
  EXPECT_EQ(x.cpu().item<float>(), 3);
  EXPECT_EQ(late.num_put_off(), 1);
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    over = true;
  });
  float found = 0;
  table.copy(queues[1], &found, y.const_data_ptr(), 4);
  EXPECT_EQ(found, 10);
  later.join();
  table.synchronize(queues[0]);
  for (device::Queue* queue : queues) table.close_queue(queue);
  table.free_graph(kept);
  table_.use(queues_[0]);
}

// The same for events: one after unfinished work is not reached, and queues that wait for it are
// deferred.
TEST_F(FakeGpu, MarksAreReachedLate) {
  Late late(table_);
  const device::Table& table = late.table();
  int stream = 0;
  device::Queue* const queue = table.open_queue(0, 0, &stream);
  device::Queue* const other = table.open_queue(0, 0, nullptr);
  const at::Tensor x = at::zeros({1}, on(0)), y = at::zeros({1}, on(0));
  device::OwnedEvent mark = device::make_owned_event(table, 0);
  EXPECT_TRUE(table.reached(mark.get()));
  table.record(queue, mark.get());
  EXPECT_TRUE(table.reached(mark.get()));  // the queue is empty

  std::atomic<bool> over{false};
  Late::put(&stream, [&] { return over.load(); });
  EXPECT_TRUE(table.reached(mark.get()));  // recorded before that work
  float lent = 5;
  table.copy(queue, x.mutable_data_ptr(), &lent, 4);
  table.record(queue, mark.get());
  table.wait_event(other, mark.get());
  table.copy(other, y.mutable_data_ptr(), x.const_data_ptr(), 4);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_FALSE(table.reached(mark.get()));
  EXPECT_FALSE(table.finished(other));
  device::Queue* const third = table.open_queue(0, 0, nullptr);
  table.record(third, mark.get());  // replaces the old record
  EXPECT_TRUE(table.reached(mark.get()));
  EXPECT_FALSE(table.finished(other)) << "it waits for where the mark was";
  table.record(queue, mark.get());
  mark.reset();  // the device has not reached it yet
  over = true;
  table.synchronize(other);
  EXPECT_EQ(y.cpu().item<float>(), 5);

  late.hang(0);
  device::OwnedEvent later = device::make_owned_event(table, 0);
  table.record(queue, later.get());
  EXPECT_FALSE(table.reached(later.get()));
  late.go_on(0);
  table.synchronize(queue);
  EXPECT_TRUE(table.reached(later.get()));
  lose(0);
  EXPECT_THROW(table.reached(later.get()), base::Error);
  find_again(0);
  later.reset();
  for (device::Queue* each : {queue, other, third}) table.close_queue(each);
}

}  // namespace
}  // namespace gnnmg::fake_gpu
