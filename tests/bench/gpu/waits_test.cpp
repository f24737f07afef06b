// The count of a training's waits, on a device whose state the test determines.
#include "bench/gpu/waits.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace gnnmg::bench {
namespace {

// State by number: whether an event is reached, or a queue is done.
bool marks[4], queues[2];

const device::Event* mark(size_t i) { return reinterpret_cast<const device::Event*>(&marks[i]); }
device::Queue* queue(size_t i) { return reinterpret_cast<device::Queue*>(&queues[i]); }

const device::Table& device() {
  static const device::Table made = [] {
    device::Table table{};
    table.use = [](device::Queue*) {};
    table.close_queue = [](device::Queue*) noexcept {};
    table.reached = [](const device::Event* asked) {
      return *reinterpret_cast<const bool*>(asked);
    };
    table.finished = [](device::Queue* asked) { return *reinterpret_cast<bool*>(asked); };
    return table;
  }();
  static const device::Table& table = watched(made);
  return table;
}

// Returns the counts of `work`, run on a separate thread.
template <typename F>
Waits of(const F& work) {
  const Waits before = waits();
  std::thread(work).join();
  const Waits after = waits();
  return {after.asked - before.asked, after.waitings - before.waitings,
          after.stalls - before.stalls, after.seconds - before.seconds,
          after.stalled_seconds - before.stalled_seconds};
}

void ask(size_t i, bool reached) {
  marks[i] = reached;
  EXPECT_EQ(device().reached(mark(i)), reached);
}

TEST(Waits, WhatIsReachedAlreadyIsNoWaiting) {
  const Waits found = of([] {
    device().use(queue(0));
    for (size_t i = 0; i < 4; ++i) ask(i, true);
  });
  EXPECT_EQ(found.asked, 0);
  EXPECT_EQ(found.waitings, 0);
}

// The host waits for the step before the last, and the last is still to be done.
TEST(Waits, ForOlderWorkTheDeviceGoesOn) {
  const Waits found = of([] {
    device().use(queue(0));
    queues[0] = false;
    ask(0, false);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ask(0, false);
    ask(0, true);
  });
  EXPECT_EQ(found.asked, 2);
  EXPECT_EQ(found.waitings, 1);
  EXPECT_GE(found.seconds, 0.02);
  EXPECT_EQ(found.stalls, 0);
  EXPECT_EQ(found.stalled_seconds, 0);
}

TEST(Waits, ForTheNewestWorkTheDeviceStands) {
  const Waits found = of([] {
    device().use(queue(0));
    ask(0, false);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    queues[0] = true;
    ask(0, true);
    // A wait for the queue itself.
    queues[0] = false;
    EXPECT_FALSE(device().finished(queue(0)));
    queues[0] = true;
    EXPECT_TRUE(device().finished(queue(0)));
  });
  EXPECT_EQ(found.asked, 2);
  EXPECT_EQ(found.waitings, 2);
  EXPECT_EQ(found.stalls, 2);
  EXPECT_GE(found.stalled_seconds, 0.02);
}

// Another queue's work, such as sampling ahead, does not matter while the thread's own queue is
// busy.
TEST(Waits, OfAnotherQueue) {
  const Waits found = of([] {
    device().use(queue(0));
    queues[0] = false;
    queues[1] = false;
    EXPECT_FALSE(device().finished(queue(1)));
    queues[1] = true;
    EXPECT_TRUE(device().finished(queue(1)));
  });
  EXPECT_EQ(found.waitings, 1);
  EXPECT_EQ(found.stalls, 0);
}

TEST(Waits, WhatIsAskedOnceIsNotWaitedFor) {
  const Waits found = of([] {
    device().use(queue(0));
    queues[0] = true;
    ask(0, false);
    ask(1, false);
    ask(1, true);
    ask(0, true);
  });
  EXPECT_EQ(found.asked, 2);
  EXPECT_EQ(found.waitings, 1);
}

TEST(Waits, ThreadsWithoutAQueueAreNotCounted) {
  const Waits found = of([] {
    ask(0, false);
    ask(0, true);
    device().use(queue(0));
    device().close_queue(queue(0));
    ask(0, false);
    ask(0, true);
  });
  EXPECT_EQ(found.asked, 0);
  EXPECT_EQ(found.waitings, 0);
}

}  // namespace
}  // namespace gnnmg::bench
