// Calls that cannot be called off (a look-up of a name, a rendezvous inside LibTorch) run on a
// thread of their own, which is left to itself when the caller can wait no longer.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>

#include "comm/collectives.h"

namespace gnnmg::comm {

// Runs `work` on a new thread; true when it has ended, false when `over` became true first: then it
// goes on alone and is counted by pending_reapers() until it ends. `over` is asked every few
// milliseconds. What `work` shares with the caller must be owned by it.
bool run_in_background(std::function<void()> work, const std::function<bool()>& over);

// The result of `work`, which must own all that it uses. Rethrows what it throws; Error(kTimeout)
// or Error(kCancelled) naming `what` when `wait` is over first.
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

// Threads that go on alone.
int pending_background() noexcept;

}  // namespace gnnmg::comm
