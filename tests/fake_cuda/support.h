// Common parts of the tests of the plug-in over a fake runtime.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "fake_cuda/fake_cuda.h"

namespace gnnmg::fake_cuda {

inline void PrintTo(const Call& call, std::ostream* out) {
  *out << call.name << " about device " << call.of << " by a thread of device " << call.current;
}

struct Queue {
  explicit Queue(int device, int max_multiprocessors = 0)
      : handle(table().open_queue(device, max_multiprocessors, nullptr)) {}
  ~Queue() { table().close_queue(handle); }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  device::Queue* const handle;
};

inline std::pair<base::Status, std::string> failure_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const base::Error& error) {
    return {error.status(), error.what()};
  }
  return {base::Status::kOk, ""};
}

// Runs on a thread that has never set a device.
inline void in_fresh_thread(const std::function<void()>& f) { std::thread(f).join(); }

class FakeCuda : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    table();
    // LibTorch's one-time setup on its own choice of device.
    reset();
    for (int device = 0; device < kDevices; ++device) {
      void* const memory = table().allocate(device, device::Placement::kDevice, 1);
      table().release(device, device::Placement::kDevice, memory);
      const Queue queue(device);
      table().use(queue.handle);
    }
    EXPECT_THAT(unpretended(), testing::IsEmpty());
  }
  void SetUp() override { reset(); }
  void TearDown() override {
    EXPECT_THAT(unpretended(), testing::IsEmpty()) << "these are called and not pretended";
    EXPECT_EQ(error_left(), cudaSuccess) << "an error stays in the thread for the next to find";
  }
  // Checks that there were calls for objects of a device, and that each was made with that device
  // current.
  static void expect_on_their_devices() {
    EXPECT_THAT(calls(), testing::Not(testing::IsEmpty()));
    for (const Call& call : calls()) {
      if (call.of < 0) continue;
      EXPECT_EQ(call.current, call.of) << testing::PrintToString(call);
    }
  }
};

}  // namespace gnnmg::fake_cuda
