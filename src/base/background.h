// The only place that starts threads of the library. All of them have the host's signals blocked
// (base/signals.h) and start one at a time (base/thread_room.h). docs/architecture.md lists them.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "base/signals.h"
#include "base/thread_room.h"

namespace gnnmg::base {

// Starts a thread that its caller joins, such as a worker of a pool. Throws std::system_error if
// the system has no more threads.
template <typename Body>
std::thread start_thread(Body&& body) {
  const SignalGuard guard;
  const std::lock_guard turn(thread_starts());
  return std::thread(std::forward<Body>(body));
}

// Work on a thread of its own, which charges its memory to the budget of the starting thread. One
// thread at a time uses the object.
class Background {
 public:
  // Error(kNoMemory) if the system has no more threads.
  explicit Background(std::function<void()> work);
  Background(Background&&) noexcept = default;
  ~Background();  // waits for the end of the work and drops its exception

  // True if the work has ended and its captures are destroyed; waits up to `most`.
  bool over(std::chrono::milliseconds most = {}) const;
  // Waits for the end of the work. Returns false without waiting longer once stop() is true, which
  // is called every few milliseconds.
  bool over_unless(const std::function<bool()>& stop) const;
  // Waits for the end of the work and rethrows its exception.
  void finish();
  // Stops using the thread, which goes on alone. The work must own everything that it uses.
  void leave() noexcept;

 private:
  struct State;
  std::shared_ptr<State> state_;
  std::thread thread_;
};

// Starts work that nobody waits for, and that owns everything that it uses. Error(kNoMemory).
void leave_in_background(std::function<void()> work);

// Number of threads that were left and have not ended.
int num_left() noexcept;

}  // namespace gnnmg::base
