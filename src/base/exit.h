// What happens to work on devices when the host's program ends. LibTorch's CUDA half is opened
// while the program runs, so its static objects are destroyed before the library's: whatever
// touches a device behind that crashes the program on its way out. So what is at work is called off
// and waited for in front of it, and from then on what lies on devices is kept as it is, by
// whomever it is given up: the system takes it back with the process.
#pragma once

#include <chrono>
#include <functional>

namespace gnnmg::base {

// How long the end of the program waits for what is at work, all that waits counted together: from
// the first call on, so it is for the end only.
std::chrono::steady_clock::time_point exit_deadline() noexcept;

// The end of the program comes in front of the destruction of all static objects that were made
// until now. Objects are destroyed in the reverse order of their making, and LibTorch makes some of
// its own on first use; so this is called behind the first uses, and costs a few bytes each time.
void watch_exit() noexcept;

// Something at work. While it lives, it is called off when the program exits.
class ExitGuard {
 public:
  // `call_off` asks for the end of the work, `at_rest` tells whether it has come. Both are called
  // on the thread that ends the program, maybe from within a callback of the host; those of what
  // was made first come first. Work on devices that does not come to rest in time ends the process
  // there, with the exit code that the program has chosen and its files written out.
  ExitGuard(std::function<void()> call_off, std::function<bool()> at_rest, bool on_devices);
  ~ExitGuard();
  ExitGuard(const ExitGuard&) = delete;
  ExitGuard& operator=(const ExitGuard&) = delete;

  struct Entry;

 private:
  Entry* const entry_;
};

// A thread's share in the time in which devices may be used: while one lives, the end of the
// program waits for it. For threads that no ExitGuard speaks for. Within a share of the same thread
// there is always another one.
class DeviceUse {
 public:
  DeviceUse() noexcept;
  ~DeviceUse();
  DeviceUse(const DeviceUse&) = delete;
  DeviceUse& operator=(const DeviceUse&) = delete;

  // False once the program ends: then no device is touched, and what lies on one stays there.
  explicit operator bool() const noexcept { return given_; }
  // Error(kCancelled) where there is none.
  void require() const;

 private:
  const bool given_;
};

}  // namespace gnnmg::base
