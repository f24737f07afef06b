// What happens to ranks at work when the host's program ends. LibTorch's static objects are
// destroyed then, and a rank that still computes would crash the program on its way out; so the
// ranks are called off first.
#pragma once

#include <chrono>
#include <functional>

namespace gnnmg::train {

// How long the end of the program waits for what is at work, all that waits counted together: from
// the first call on, so it is for the end only.
std::chrono::steady_clock::time_point exit_deadline() noexcept;

// Something at work. While it lives, it is called off when the program exits.
class ExitGuard {
 public:
  // `call_off` asks for the end of the work, `at_rest` tells whether it has come. Both
  // are called on the thread that ends the program, maybe from within a callback of the host.
  ExitGuard(std::function<void()> call_off, std::function<bool()> at_rest);
  ~ExitGuard();
  ExitGuard(const ExitGuard&) = delete;
  ExitGuard& operator=(const ExitGuard&) = delete;

  // Puts the calling off in front of the destruction of all that was made until now. Objects are
  // destroyed in the reverse order of their making, and LibTorch makes some of its own on first
  // use; so this is called behind the first uses. Only the first few calls in a process do
  // anything.
  static void renew() noexcept;

  struct Entry;

 private:
  Entry* const entry_;
};

}  // namespace gnnmg::train
