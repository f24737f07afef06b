// Fake GPUs and the fake NCCL for trainers.
#include <chrono>
#include <thread>

#include "base/background.h"
#include "fake_gpu.h"
#include "fake_nccl/fake_nccl.h"
#include "train/device_fixture.h"

namespace gnnmg::test {

// Communicators name the table that they were made with.
Gpus::Gpus(int wanted) : gpus_(test_gpus(wanted)) {
  fake_nccl::reset();
  for (int device = 0; device < gpus_.count; ++device) {
    fake_gpu::find_again(device);
    fake_gpu::fail_allocation(device, -1);
  }
  gpus_.table->set<comm::nccl::Table>(&fake_nccl::table(*gpus_.table));
}

void Gpus::expect_clean() const {
  for (int i = 0; i < 2000 && base::num_left() > 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(base::num_left(), 0);
  const fake_nccl::Count count = fake_nccl::count();
  EXPECT_EQ(count.made, count.aborted + count.destroyed);
  EXPECT_EQ(count.streams, 0);
  EXPECT_THAT(fake_nccl::violations(), testing::IsEmpty());
  for (int device = 0; device < gpus_.count; ++device)
    EXPECT_EQ(fake_gpu::num_live(device), 0) << "GPU " << device;
}

FullGpu::FullGpu(const Gpus& gpus, int device, int64_t left)
    : table_(gpus.table()), device_(device), size_(table_.info(device).total_memory) {
  fake_gpu::set_memory(device, fake_gpu::live_bytes(device) + left);
}
FullGpu::~FullGpu() { fake_gpu::set_memory(device_, size_); }

void break_gpu(const Gpus&, int device) { fake_gpu::lose(device); }

}  // namespace gnnmg::test
