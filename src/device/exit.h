// Ends running work when the host's program exits. LibTorch makes static objects on first use, and
// its CUDA half is opened while the program runs: both end before the library's static objects, and
// a thread that still computes then crashes the program. So work is canceled and awaited before,
// and all device memory that is freed later is leaked: the system reclaims it with the process.
#pragma once

#include <chrono>
#include <functional>

namespace gnnmg::device {

// The deadline of all waits at exit together. The first call starts the time, so only exit code may
// call it.
std::chrono::steady_clock::time_point exit_deadline() noexcept;

// Registers an exit handler that runs before the destructors of all static objects that exist now.
// Static objects are destroyed in reverse order of construction, and LibTorch constructs some of
// its own on first use. Call this after such a first use; each call costs a few bytes.
void watch_exit() noexcept;

// Represents running work. Work with a guard is canceled when the program exits.
class ExitGuard {
 public:
  // `call_off` asks the work to end; `at_rest` tells whether it has ended. The thread that exits
  // calls both, possibly inside a callback of the host, in the order in which the guards were made.
  // If work does not end in time, the process is ended there, with the exit code that the program
  // has chosen and with its files flushed.
  ExitGuard(std::function<void()> call_off, std::function<bool()> at_rest);
  ~ExitGuard();
  ExitGuard(const ExitGuard&) = delete;
  ExitGuard& operator=(const ExitGuard&) = delete;

  struct Entry;

 private:
  Entry* const entry_;
};

// Permission of a thread to use devices: while one exists, the exit of the program waits for it.
// For threads without an ExitGuard. Nested uses of one thread are always permitted.
class Use {
 public:
  Use() noexcept;
  ~Use();
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

  // False once the program exits: then the thread touches no device and leaks device memory.
  explicit operator bool() const noexcept { return given_; }
  // Throws Error(kCancelled) if the use is not permitted.
  void require() const;

 private:
  const bool given_;
};

// Runs `end`, which frees memory or queues of devices; leaks it once the program exits.
void free_unless_exit(std::function<void()> end);

}  // namespace gnnmg::device
