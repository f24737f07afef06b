// The end of a program: running work is canceled and awaited, and no device is touched afterwards.
// Each case is a program of its own.
#include "device/exit.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"

namespace gnnmg::device {
namespace {

using testing::ExitedWithCode;

constexpr int kChosen = 7;

void say(const std::string& text) {
  if (write(STDERR_FILENO, text.data(), text.size()) < 0) std::abort();
}

// Runs like the destructor of the earliest static object: after the end of devices.
void say_what_is_left() {
  const Use use;
  say(use ? "after: devices" : "after: none");
}

// Never destroyed, like device memory at exit.
void guard(std::function<void()> call_off, std::function<bool()> at_rest) {
  static auto& all = *new std::vector<ExitGuard*>;
  static auto& mutex = *new std::mutex;
  auto* const made = new ExitGuard(std::move(call_off), std::move(at_rest));
  const std::lock_guard lock(mutex);
  all.push_back(made);
}

class ProgramExit : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(ProgramExit, CallsOffAndWaits) {
  EXPECT_EXIT(
      {
        std::atexit(say_what_is_left);
        static std::atomic<int> asked{0};
        guard([] { say("first "); }, [] { return ++asked > 5; });
        guard([] { say("second "); }, [] { return asked > 5; });
        watch_exit();
        std::exit(kChosen);
      },
      ExitedWithCode(kChosen), "^first second after: none$");
}

TEST_F(ProgramExit, CallsOffWhatBeginsMeanwhile) {
  EXPECT_EXIT(
      {
        std::atexit(say_what_is_left);
        static std::atomic<bool> begun{false};
        static std::atomic<bool> called_off{false};
        std::thread([] {
          const Use use;
          while (!begun) std::this_thread::yield();
          guard([] { called_off = true; }, [] { return called_off.load(); });
        }).detach();
        guard([] { begun = true; }, [] { return called_off.load(); });
        watch_exit();
        std::exit(kChosen);
      },
      ExitedWithCode(kChosen), "^after: none$");
}

TEST_F(ProgramExit, EndsThereWhereWorkDoesNotRest) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EXIT(
      {
        std::atexit(say_what_is_left);
        guard([] {}, [] { return false; });
        watch_exit();
        static char buffer[64];
        std::setvbuf(stderr, buffer, _IOFBF, sizeof buffer);
        std::fputs("written out", stderr);
        std::exit(kChosen);
      },
      ExitedWithCode(kChosen), "^written out$");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST_F(ProgramExit, WaitsForUsesOfOtherThreadsAndNotItsOwn) {
  EXPECT_EXIT(
      {
        std::atexit(say_what_is_left);
        static std::atomic<bool> begun{false};
        std::thread([] {
          const Use use;
          begun = true;
          std::this_thread::sleep_for(std::chrono::milliseconds(200));
          const Use within;
          say(within ? "within " : "refused ");
        }).detach();
        while (!begun) std::this_thread::yield();
        watch_exit();
        const Use own;  // an outer call around the callback that exits the program
        std::exit(kChosen);
      },
      ExitedWithCode(kChosen), "^within after: none$");
}

TEST_F(ProgramExit, RefusesWithAnError) {
  EXPECT_EXIT(
      {
        std::atexit([] {
          try {
            Use().require();
          } catch (const base::Error& error) {
            say(error.what());
          }
        });
        watch_exit();
        std::exit(kChosen);
      },
      ExitedWithCode(kChosen), "^the program ends, and GPUs are not used any more after that$");
  const Use use;
  EXPECT_TRUE(use);
  EXPECT_NO_THROW(use.require());
}

}  // namespace
}  // namespace gnnmg::device
