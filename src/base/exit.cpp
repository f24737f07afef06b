#include "base/exit.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/device_wait.h"
#include "base/error.h"

namespace gnnmg::base {

struct ExitGuard::Entry {
  std::function<void()> call_off;
  std::function<bool()> at_rest;
  bool on_devices;
  bool called_off = false;
};

namespace {

constexpr auto kLongest = std::chrono::seconds(2);

struct Registry {
  std::mutex mutex;
  std::vector<ExitGuard::Entry*> entries;
};
// Never destroyed: it is used while all else is.
Registry& registry() {
  static Registry* const instance = new Registry;
  return *instance;
}

std::atomic<bool> over{false};  // for devices
std::atomic<int64_t> uses{0};   // of all threads
constinit thread_local int64_t own_uses = 0;

struct Rest {
  bool all = true, devices = true;
};

// Calls off what has not been yet. What is at work may make or end other work meanwhile, for which
// it needs the registry.
Rest look() {
  Rest rest;
  {
    std::lock_guard lock(registry().mutex);
    for (ExitGuard::Entry* entry : registry().entries)
      if (!std::exchange(entry->called_off, true)) entry->call_off();
    for (ExitGuard::Entry* entry : registry().entries) {
      if (entry->at_rest()) continue;
      rest.all = false;
      if (entry->on_devices) rest.devices = false;
    }
  }
  if (uses.load() != own_uses) rest.all = rest.devices = false;
  return rest;
}

void end(int status, void*) {
  const auto deadline = exit_deadline();
  over = true;
  Rest rest = look();
  while (!rest.all && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    rest = look();
  }
  if (!rest.devices) {
    std::fflush(nullptr);
    _exit(status);
  }
  wait_for_ever();
  // Of calls around the callback that ends the program, which are never gone on with.
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
        if (getpid() == process) end(status, unused);  // a child has none of the threads
      },
      nullptr);
}

ExitGuard::ExitGuard(std::function<void()> call_off, std::function<bool()> at_rest, bool on_devices)
    : entry_(new Entry{std::move(call_off), std::move(at_rest), on_devices}) {
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

DeviceUse::DeviceUse() noexcept
    : given_([] {
        ++uses;
        if (own_uses == 0 && over) {
          --uses;
          return false;
        }
        ++own_uses;
        return true;
      }()) {}

DeviceUse::~DeviceUse() {
  if (!given_ || own_uses == 0) return;
  --own_uses;
  --uses;
}

void DeviceUse::require() const {
  if (!given_)
    fail(Status::kCancelled, "the program ends, and GPUs are not used any more behind that");
}

}  // namespace gnnmg::base
