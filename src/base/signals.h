// Keeps the host's signals away from the library's threads, and SIGPIPE away from the host. Signal
// handlers of the host run on threads of the host, and a peer that closes its socket ends no
// program. No handler is installed or changed.
#pragma once

#include <signal.h>

namespace gnnmg::base {

// While it lives, blocks all signals on this thread, and on threads that it starts, except those
// for faults of the thread itself (SIGSEGV and the like) and SIGPROF, which profilers send to each
// thread. A SIGPIPE that arrives meanwhile is dropped. Destroy it on the thread that made it.
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

}  // namespace gnnmg::base
