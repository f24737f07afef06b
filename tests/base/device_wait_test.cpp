// Waits for devices that finish late, or never.
#include "base/device_wait.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "base/error.h"

namespace gnnmg::base {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

// Each test has its own device, which is never freed, because a device that is given up is
// remembered by its address.
struct Device {
  DeviceTable table{};
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
    table.finished = [](DeviceQueue*) {
      if (lost) fail(Status::kDeviceLost, "it is lost");
      return !at_work;
    };
    table.synchronize = [](DeviceQueue*) { ++synchronized; };
  }
  // Returns the status of a wait with some timeout.
  Status wait(int64_t limit_ms, const CancelToken& cancel = {}, std::string* text = nullptr) {
    const DevicePatience patience(limit_ms, cancel);
    try {
      wait_for(table, 3, nullptr);
    } catch (const Error& error) {
      if (text) *text = error.what();
      return error.status();
    }
    return Status::kOk;
  }
  DeviceTable& table = make_device().table;
};

TEST_F(DeviceWait, WithoutPatienceIsTheDevicesOwn) {
  wait_for(table, 3, nullptr);
  EXPECT_EQ(synchronized, 1);
  EXPECT_EQ(wait(1000), Status::kOk);
  EXPECT_EQ(synchronized, 1);
}

TEST_F(DeviceWait, EndsByTheLimitAndByACancel) {
  at_work = true;
  std::string text;
  EXPECT_EQ(wait(50, {}, &text), Status::kTimeout);
  EXPECT_EQ(text, "GPU 3 has not come to the end of its work within 0.05 s");
  const CancelToken cancel;
  std::thread later([&] {
    std::this_thread::sleep_for(20ms);
    cancel.cancel();
  });
  EXPECT_EQ(wait(1'000'000, cancel), Status::kCancelled);
  later.join();
  at_work = false;
  EXPECT_EQ(wait(1'000'000, cancel), Status::kCancelled);
  EXPECT_EQ(wait(1'000'000), Status::kOk);
  lost = true;
  EXPECT_EQ(wait(1'000'000), Status::kDeviceLost);
}

TEST_F(DeviceWait, PatienceEndsWithItsScope) {
  {
    const DevicePatience outer(100, {});
    {
      const DevicePatience inner(200, {});
      EXPECT_EQ(DevicePatience::current()->limit_ms(), 200);
    }
    EXPECT_EQ(DevicePatience::current()->limit_ms(), 100);
  }
  EXPECT_EQ(DevicePatience::current(), nullptr);
}

TEST_F(DeviceWait, ComesToRestInTimeOrNot) {
  EXPECT_EQ(time_to_rest(10), 1s);
  EXPECT_EQ(time_to_rest(3000), 3s);
  EXPECT_EQ(time_to_rest(300'000), 10s);
  at_work = true;
  EXPECT_FALSE(comes_to_rest(table, nullptr, 20ms));
  std::thread later([] {
    std::this_thread::sleep_for(20ms);
    at_work = false;
  });
  EXPECT_TRUE(comes_to_rest(table, nullptr, 10s));
  later.join();
  lost = true;
  EXPECT_TRUE(comes_to_rest(table, nullptr, 0ms));
}

TEST_F(DeviceWait, OneThatIsGivenUpStaysSo) {
  EXPECT_FALSE(any_given_up(table));
  check_not_given_up(table, 3);
  give_up(table, 3, "has not come to its end within 1 s of a test");
  give_up(table, 3, "something else");
  EXPECT_TRUE(given_up(table, 3));
  EXPECT_FALSE(given_up(table, 2));
  EXPECT_TRUE(any_given_up(table));
  std::string text;
  EXPECT_EQ(wait(1000, {}, &text), Status::kDeviceLost);
  EXPECT_EQ(text,
            "GPU 3 is used no more in this process: it has not come to its end within 1 s of a "
            "test; end the process, and go on in another one");
  wait_for(table, 3, nullptr);  // no timeout, as in code that frees memory
  EXPECT_EQ(synchronized, 1);
}

TEST_F(DeviceWait, WhoFreesWaitsAndGivesUp) {
  set_time_to_rest(30ms);
  wait_to_free(table, 3, nullptr);
  EXPECT_FALSE(given_up(table, 3));
  at_work = true;
  std::atomic<bool> freed{false};
  const std::shared_future<void> over = end_in_background([&] {
    set_time_to_rest(30ms);
    wait_to_free(table, 3, nullptr);
    freed = true;
  });
  const Deadline until = Deadline::after_ms(20'000);
  while (!given_up(table, 3) && !until.passed()) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(over.wait_for(100ms), std::future_status::timeout);
  EXPECT_TRUE(given_up(table, 3));
  EXPECT_FALSE(freed);
  EXPECT_EQ(pending_ends(), 1);
  at_work = false;
  over.wait();
  EXPECT_TRUE(freed);
  EXPECT_EQ(pending_ends(), 0);
  set_time_to_rest(10s);
}

TEST_F(DeviceWait, WhatEndsInTheBackgroundLetsGo) {
  const auto held = std::make_shared<int>(1);
  end_in_background([held] {}).wait();
  EXPECT_EQ(held.use_count(), 1);
}

}  // namespace
}  // namespace gnnmg::base
