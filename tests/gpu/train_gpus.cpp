// This machine's GPUs and NCCL for trainers.
#include <chrono>
#include <cstdint>
#include <thread>

#include "base/background.h"
#include "nn/kernels/device.h"
#include "train/device_fixture.h"
#include "train/ranks/device.h"

namespace gnnmg::test {

using device::Placement;

Gpus::Gpus(int wanted) : gpus_(test_gpus(wanted)) {}

void Gpus::expect_clean() const {
  for (int i = 0; i < 10'000 && base::num_left() > 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(base::num_left(), 0);
}

FullGpu::FullGpu(const Gpus& gpus, int device, int64_t left)
    : table_(gpus.table()), device_(device) {
  constexpr int64_t kLeast = int64_t{2} << 20;  // the smallest unit of CUDA's allocations
  train::empty_cache(table_);
  for (int64_t size = table_.info(device).free_memory - left; size >= kLeast;) {
    if (table_.info(device).free_memory - left < size) {
      size /= 2;
      continue;
    }
    try {
      taken_.push_back(table_.allocate(device, Placement::kDevice, size));
    } catch (const base::Error& error) {
      EXPECT_EQ(error.status(), base::Status::kNoMemory) << error.what();
      size /= 2;
    }
  }
}

FullGpu::~FullGpu() {
  for (void* memory : taken_) table_.release(device_, Placement::kDevice, memory);
  train::empty_cache(table_);
}

// Makes a kernel read an unmapped address.
void break_gpu(const Gpus& gpus, int device) {
  constexpr int64_t kRows = 4, kWidth = 4;
  const device::Table& table = gpus.table();
  device::Queue* const queue = table.open_queue(device, 0, nullptr);
  auto* const out = static_cast<float*>(
      table.allocate(device, Placement::kDevice, kRows * kWidth * sizeof(float)));
  const nn::kernels::StoredRows nowhere{.data = reinterpret_cast<const void*>(uintptr_t{1} << 20),
                                        .stride = kWidth};
  EXPECT_EQ(caught([&] {
              table.of<nn::kernels::DeviceLayers<float>>()->gather_rows(queue, nowhere, kWidth,
                                                                        {out, kWidth}, kRows);
              table.synchronize(queue);
            }).status,
            base::Status::kDeviceLost);
  table.release(device, Placement::kDevice, out);
  table.close_queue(queue);
}

}  // namespace gnnmg::test
