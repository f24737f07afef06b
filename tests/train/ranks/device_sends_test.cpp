// The host's copies in each step, on fake GPUs with delayed work: pinned memory is not written
// again before its copy is done.
#include "train/ranks/sends.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "fake_gpu.h"
#include "fake_queue.h"
#include "late.h"

namespace gnnmg::test {
namespace {

using device::Placement;
using fake_gpu::FakeQueue;

const device::Table* below = nullptr;
int64_t pageable = 0, pinned = 0;  // copies

class DeviceSends : public testing::Test {
 protected:
  DeviceSends() : own_(fake_gpu::make_table(1)), late_(own_), table_(late_.table()) {
    below = &late_.table();
    pageable = pinned = 0;
    table_.copy = [](device::Queue* queue, void* to, const void* from, int64_t bytes) {
      ++(FakeQueue::is_pinned(from) ? pinned : pageable);
      below->copy(queue, to, from, bytes);
    };
    device_.table = &table_;
    device_.queue = table_.open_queue(0, 0, &stream_);
    table_.use(device_.queue);
  }
  ~DeviceSends() override {
    fake_gpu::refuse_pinning(false);
    table_.close_queue(device_.queue);
  }

  int stream_ = 0;
  const device::Table own_;
  const fake_gpu::Late late_;
  device::Table table_;
  nn::Device device_;
};

constexpr auto kPieces = static_cast<int64_t>(train::Sends::kPieces);

TEST_F(DeviceSends, AreNotWrittenOverBeforeTheyAreThere) {
  train::Sends sends(device_);
  std::vector<at::Tensor> there;
  std::atomic<bool> over{false};
  fake_gpu::Late::put(&stream_, [&] { return over.load(); });
  for (int64_t i = 0; i < kPieces + 3; ++i) there.push_back(sends.put(at::full({20'000}, i)));
  EXPECT_FALSE(table_.finished(device_.queue));  // nobody has waited
  EXPECT_EQ(pinned, kPieces);
  EXPECT_EQ(pageable, 3);
  over = true;
  table_.synchronize(device_.queue);
  for (int64_t i = 0; i < kPieces + 3; ++i)
    EXPECT_TRUE(there[i].cpu().equal(at::full({20'000}, i))) << i;
}

TEST_F(DeviceSends, TakeNothingInTheLongRun) {
  static int64_t taken;
  taken = 0;
  table_.allocate = [](int device, Placement placement, int64_t bytes) {
    taken += placement == Placement::kPinned ? 1 : 0;
    return below->allocate(device, placement, bytes);
  };
  {
    train::Sends sends(device_);
    EXPECT_EQ(taken, 0);
    for (int64_t i = 0; i < 10 * kPieces; ++i) {
      // A view with strides.
      const at::Tensor host = at::arange(40'000 - i).slice(0, 0, 40'000 - i, 2);
      EXPECT_TRUE(sends.put(host).cpu().equal(host));
    }
    EXPECT_EQ(taken, kPieces);
    EXPECT_EQ(pageable, 0);
    for (const int64_t rows : {0, 1, 1000}) {  // 0: no rows
      const at::Tensor host = at::full({rows, 4}, rows);
      EXPECT_TRUE(sends.put(host).cpu().equal(host));
    }
    EXPECT_EQ(pinned, 10 * kPieces);
    fake_gpu::refuse_pinning(true);
    const at::Tensor larger = at::arange(50'000);
    EXPECT_TRUE(sends.put(larger).cpu().equal(larger));
    EXPECT_EQ(pageable, 1);
  }
  EXPECT_EQ(fake_gpu::num_live(0), 0);
}

}  // namespace
}  // namespace gnnmg::test
