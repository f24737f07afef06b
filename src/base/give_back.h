// Calls of the host's deleters and release functions.
#pragma once

#include <functional>
#include <memory>

#include "base/log.h"

namespace gnnmg::base {

// Calls `work`, a deleter or release function of the host. An exception ends here, because no
// caller waits for it, and leaves a message in the thread's log. The end of the thread inside
// `work` passes through (base/thread_end.h).
void give_back(const std::function<void()>& work);

// Sets the log for exceptions in give_back() on this thread; null: no log. Returns the previous
// one. The caller keeps the log alive until another one is set.
Log* set_give_back_log(Log* log) noexcept;

}  // namespace gnnmg::base
