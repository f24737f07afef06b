#include "base/signals.h"

#include <time.h>

#include <cerrno>

namespace gnnmg::base {
namespace {

bool pipe_is_pending() noexcept {
  sigset_t pending;
  return sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
}

}  // namespace

SignalGuard::SignalGuard() noexcept : pipe_was_pending_(pipe_is_pending()) {
  sigset_t blocked;
  sigfillset(&blocked);
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF})
    sigdelset(&blocked, fault);
  pthread_sigmask(SIG_BLOCK, &blocked, &before_);
}

SignalGuard::~SignalGuard() {
  const int error = errno;
  if (!pipe_was_pending_ && sigismember(&before_, SIGPIPE) == 0 && pipe_is_pending()) {
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    const timespec now{};
    while (sigtimedwait(&pipe, nullptr, &now) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = error;
}

}  // namespace gnnmg::base
