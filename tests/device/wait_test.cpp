// Waits for devices that finish late, or never.
#include "device/wait.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "base/background.h"
#include "base/error.h"

namespace gnnmg::device {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

// Each test has its own device, which is never freed, because a device that is quarantined is
// remembered by its address.
struct Device {
  Table table{};
};
std::atomic<bool> at_work{false};
std::atomic<bool> lost{false};
std::atomic<int> synchronized{0};

Device& make_device() {
  static auto& all = *new std::vector<Device*>;
  return *all.emplace_back(new Device);
}

class DeviceWait : public testing::Test {
 protected:
  DeviceWait() {
    at_work = lost = false;
    synchronized = 0;
    table.finished = [](Queue*) {
      if (lost) base::fail(base::Status::kDeviceLost, "it is lost");
      return !at_work;
    };
    table.synchronize = [](Queue*) { ++synchronized; };
  }
  // Returns the status of a wait with some timeout.
  base::Status wait(int64_t limit_ms, const base::CancelToken& cancel = {},
                    std::string* text = nullptr) {
    const TimeoutScope scope(limit_ms, cancel);
    try {
      wait_for(table, 3, nullptr);
    } catch (const base::Error& error) {
      if (text) *text = error.what();
      return error.status();
    }
    return base::Status::kOk;
  }
  Table& table = make_device().table;
};

TEST_F(DeviceWait, WithoutAScopeIsTheDevicesOwn) {
  wait_for(table, 3, nullptr);
  EXPECT_EQ(synchronized, 1);
  EXPECT_EQ(wait(1000), base::Status::kOk);
  EXPECT_EQ(synchronized, 1);
}

TEST_F(DeviceWait, EndsByTheLimitAndByACancel) {
  at_work = true;
  std::string text;
  EXPECT_EQ(wait(50, {}, &text), base::Status::kTimeout);
  EXPECT_EQ(text, "GPU 3 has not come to the end of its work within 0.05 s");
  const base::CancelToken cancel;
  std::thread later([&] {
    std::this_thread::sleep_for(20ms);
    cancel.cancel();
  });
  EXPECT_EQ(wait(1'000'000, cancel), base::Status::kCancelled);
  later.join();
  at_work = false;
  EXPECT_EQ(wait(1'000'000, cancel), base::Status::kCancelled);
  EXPECT_EQ(wait(1'000'000), base::Status::kOk);
  lost = true;
  EXPECT_EQ(wait(1'000'000), base::Status::kDeviceLost);
}

TEST_F(DeviceWait, ScopesNest) {
  {
    const TimeoutScope outer(100, {});
    {
      const TimeoutScope inner(200, {});
      EXPECT_EQ(TimeoutScope::current()->limit_ms(), 200);
    }
    EXPECT_EQ(TimeoutScope::current()->limit_ms(), 100);
  }
  EXPECT_EQ(TimeoutScope::current(), nullptr);
}

TEST_F(DeviceWait, DrainsInTimeOrNot) {
  EXPECT_EQ(drain_limit(10), 1s);
  EXPECT_EQ(drain_limit(3000), 3s);
  EXPECT_EQ(drain_limit(300'000), 10s);
  at_work = true;
  EXPECT_FALSE(drain(table, nullptr, 20ms));
  std::thread later([] {
    std::this_thread::sleep_for(20ms);
    at_work = false;
  });
  EXPECT_TRUE(drain(table, nullptr, 10s));
  later.join();
  lost = true;
  EXPECT_TRUE(drain(table, nullptr, 0ms));
}

TEST_F(DeviceWait, AQuarantineLasts) {
  EXPECT_FALSE(any_quarantined(table));
  check_not_quarantined(table, 3);
  quarantine(table, 3, "has not come to its end within 1 s of a test");
  quarantine(table, 3, "something else");
  EXPECT_TRUE(quarantined(table, 3));
  EXPECT_FALSE(quarantined(table, 2));
  EXPECT_TRUE(any_quarantined(table));
  std::string text;
  EXPECT_EQ(wait(1000, {}, &text), base::Status::kDeviceLost);
  EXPECT_EQ(text,
            "GPU 3 is used no more in this process: it has not come to its end within 1 s of a "
            "test; end the process, and go on in another one");
  wait_for(table, 3, nullptr);  // no timeout, as in code that frees memory
  EXPECT_EQ(synchronized, 1);
}

TEST_F(DeviceWait, AFreeThatTakesTooLongQuarantines) {
  set_drain_limit(30ms);
  wait_to_free(table, 3, nullptr);
  EXPECT_FALSE(quarantined(table, 3));
  at_work = true;
  std::atomic<bool> freed{false};
  free_in_background([&] {
    set_drain_limit(30ms);
    wait_to_free(table, 3, nullptr);
    freed = true;
  });
  const base::Deadline until = base::Deadline::after_ms(20'000);
  while (!quarantined(table, 3) && !until.passed()) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(20ms);
  EXPECT_TRUE(quarantined(table, 3));
  EXPECT_FALSE(freed);
  EXPECT_EQ(base::num_left(), 1);
  at_work = false;
  while (base::num_left() > 0 && !until.passed()) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(freed);
  EXPECT_EQ(base::num_left(), 0);
  set_drain_limit(10s);
}

}  // namespace
}  // namespace gnnmg::device
