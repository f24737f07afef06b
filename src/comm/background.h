// Runs calls that cannot be canceled (a name lookup, a rendezvous inside LibTorch) on a thread of
// their own; the caller abandons the thread when it can wait no longer.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>

#include "comm/collectives.h"

namespace gnnmg::comm {

// Runs `work` on a new thread and returns true once it has ended. Returns false if `over` becomes
// true first: `work` then goes on alone, and pending_reapers() counts it until it ends. Calls
// `over` every few milliseconds. `work` must own everything that it shares with the caller.
bool run_in_background(std::function<void()> work, const std::function<bool()>& over);

// Returns the result of `work`, which must own everything that it uses. Rethrows its exceptions;
// Error(kTimeout) or Error(kCancelled) naming `what` if `wait` ends first.
template <typename T>
T in_background(const std::string& what, const Wait& wait,
                std::function<std::unique_ptr<T>()> work) {
  struct Shared {
    std::unique_ptr<T> result;
    std::exception_ptr error;
  };
  auto shared = std::make_shared<Shared>();
  const bool ended = run_in_background(
      [shared, work = std::move(work)] {
        try {
          shared->result = work();
        } catch (...) {
          shared->error = std::current_exception();
        }
      },
      [&] { return wait.cancel.cancelled() || wait.deadline.passed(); });
  if (!ended) {
    wait.cancel.check(what);
    base::fail(base::Status::kTimeout, what, ": no answer within the deadline");
  }
  if (shared->error) std::rethrow_exception(shared->error);
  return std::move(*shared->result);
}

// Number of abandoned threads that still run.
int pending_background() noexcept;

}  // namespace gnnmg::comm
