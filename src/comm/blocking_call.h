// Runs calls that cannot be canceled (a name lookup, a rendezvous inside LibTorch) on a thread of
// their own, which is left when the caller can wait no longer.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/background.h"
#include "base/error.h"
#include "comm/collectives.h"

namespace gnnmg::comm {

// Returns the result of `work`, which must own everything that it uses. Rethrows its exceptions;
// Error(kTimeout) or Error(kCancelled) naming `what` if `wait` ends first.
template <typename T>
T blocking_call(const std::string& what, const Wait& wait,
                std::function<std::unique_ptr<T>()> work) {
  const auto result = std::make_shared<std::unique_ptr<T>>();
  base::Background call([result, work = std::move(work)] { *result = work(); });
  if (!call.over_unless([&] { return wait.cancel.cancelled() || wait.deadline.passed(); })) {
    call.leave();
    wait.cancel.check(what);
    base::fail(base::Status::kTimeout, what, ": no answer within the deadline");
  }
  call.finish();
  return std::move(**result);
}

}  // namespace gnnmg::comm
