// Keeps the host's signals away from the library's threads, and SIGPIPE away from the host: a
// handler of the host runs on a thread of the host, and a peer that closes its socket kills nobody.
// No handler is installed and none is changed.
#pragma once

#include <signal.h>

#include <mutex>
#include <thread>
#include <utility>

#include "base/thread_room.h"

namespace gnnmg::base {

// Blocks, on this thread and on those that it starts meanwhile, every signal but those of a fault
// in the thread itself (SIGSEGV and the like) and SIGPROF, which profilers send to each thread. A
// SIGPIPE that comes meanwhile is swallowed. Destroyed on the thread that made it.
class SignalGuard {
 public:
  SignalGuard() noexcept;
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

 private:
  sigset_t before_;
  bool pipe_was_pending_;
};

// A thread of the library. Throws std::system_error when there can be no more threads.
template <typename Body>
std::thread start_thread(Body&& body) {
  const SignalGuard guard;
  const std::lock_guard turn(thread_starts());
  return std::thread(std::forward<Body>(body));
}

}  // namespace gnnmg::base
