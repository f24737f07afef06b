#include "device/exit.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "device/wait.h"

namespace gnnmg::device {

struct ExitGuard::Entry {
  std::function<void()> call_off;
  std::function<bool()> at_rest;
  bool called_off = false;
};

namespace {

constexpr auto kLongest = std::chrono::seconds(2);

struct Registry {
  std::mutex mutex;
  std::vector<ExitGuard::Entry*> entries;
};
// Never destroyed, because it is used until the process ends.
Registry& registry() {
  static Registry* const instance = new Registry;
  return *instance;
}

std::atomic<bool> over{false};  // true once devices may not be used any more
std::atomic<int64_t> uses{0};   // uses by all threads
constinit thread_local int64_t own_uses = 0;

// Cancels all work that is not canceled yet, and tells whether all work has ended. The lock is not
// held between polls, because running work may start or end other work.
bool at_rest() {
  std::lock_guard lock(registry().mutex);
  for (ExitGuard::Entry* entry : registry().entries)
    if (!std::exchange(entry->called_off, true)) entry->call_off();
  return std::ranges::all_of(registry().entries, [](auto* entry) { return entry->at_rest(); }) &&
         uses.load() == own_uses;
}

void end(int status, void*) {
  const auto deadline = exit_deadline();
  over = true;
  bool rest = at_rest();
  while (!rest && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    rest = at_rest();
  }
  if (!rest) {
    std::fflush(nullptr);
    _exit(status);
  }
  block_frees();
  // Uses of this thread's outer calls: the callback that exits the program never returns to them.
  uses -= std::exchange(own_uses, 0);
}

}  // namespace

std::chrono::steady_clock::time_point exit_deadline() noexcept {
  static const auto deadline = std::chrono::steady_clock::now() + kLongest;
  return deadline;
}

void watch_exit() noexcept {
  static const pid_t process = getpid();
  on_exit(
      [](int status, void* unused) {
        // A forked child has no threads of the library.
        if (getpid() == process) end(status, unused);
      },
      nullptr);
}

ExitGuard::ExitGuard(std::function<void()> call_off, std::function<bool()> at_rest)
    : entry_(new Entry{std::move(call_off), std::move(at_rest)}) {
  std::lock_guard lock(registry().mutex);
  registry().entries.push_back(entry_);
}

ExitGuard::~ExitGuard() {
  {
    std::lock_guard lock(registry().mutex);
    std::erase(registry().entries, entry_);
  }
  delete entry_;
}

Use::Use() noexcept
    : given_([] {
        ++uses;
        if (own_uses == 0 && over) {
          --uses;
          return false;
        }
        ++own_uses;
        return true;
      }()) {}

Use::~Use() {
  if (!given_ || own_uses == 0) return;
  --own_uses;
  --uses;
}

void Use::require() const {
  if (!given_)
    base::fail(base::Status::kCancelled,
               "the program ends, and GPUs are not used any more after that");
}

void free_unless_exit(std::function<void()> end) {
  const Use use;
  if (use)
    end();
  else
    (void)new std::function<void()>(std::move(end));
}

}  // namespace gnnmg::device
