// The devices of the tables' cases: the host's implementation in several orders in cuda_table_test
// (devices_host.cpp), the one with separate lanes in cuda_lanes_test (devices_lanes.cpp), every
// real GPU in gpu_table_test (devices_gpu.cpp).
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "device/plugin.h"
#include "device/table.h"

namespace gnnmg::cuda {

struct TestDevice {
  const device::Table* table;
  int device;
  std::string name;
};

// Returns one device without a table if there is no GPU; its cases are skipped.
std::vector<TestDevice> test_devices();
// True if a case takes seconds: then only some of similar cases run (chosen_cases.h).
bool is_slow();

// Device memory for the duration of a test.
template <typename T>
class DeviceArray {
 public:
  DeviceArray(const TestDevice& on, device::Queue* queue, int64_t count)
      : on_(on), queue_(queue), count_(count) {
    data_ = static_cast<T*>(
        on.table->allocate(on.device, device::Placement::kDevice, count * sizeof(T)));
  }
  DeviceArray(const TestDevice& on, device::Queue* queue, const std::vector<T>& values)
      : DeviceArray(on, queue, static_cast<int64_t>(values.size())) {
    on.table->copy(queue, data_, values.data(), count_ * sizeof(T));
    on.table->synchronize(queue);  // the host's vector may be freed
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { on_.table->release(on_.device, device::Placement::kDevice, data_); }
  T* data() const { return data_; }
  std::vector<T> read() const {
    std::vector<T> values(count_);
    on_.table->copy(queue_, values.data(), data_, count_ * sizeof(T));
    on_.table->synchronize(queue_);
    return values;
  }

 private:
  const TestDevice& on_;
  device::Queue* queue_;
  int64_t count_;
  T* data_;
};

// A case for every device: TEST_P(OnDevices, ...) with device() and queue().
class OnDevices : public testing::TestWithParam<TestDevice> {
 protected:
  void SetUp() override {
    if (GetParam().table == nullptr)
      GTEST_SKIP() << (GetParam().name == "NoDriver" ? "no driver, hence no GPU" : "no GPU");
    queue_ = table().open_queue(GetParam().device, 0, nullptr);
  }
  void TearDown() override {
    if (queue_ != nullptr) table().close_queue(queue_);
  }
  const TestDevice& device() const { return GetParam(); }
  const device::Table& table() const { return *GetParam().table; }
  device::Queue* queue() const { return queue_; }

 private:
  device::Queue* queue_ = nullptr;
};

inline std::string name_of_device(const testing::TestParamInfo<TestDevice>& info) {
  return info.param.name;
}

}  // namespace gnnmg::cuda
