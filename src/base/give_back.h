// Functions in which the host takes something back: deleters and releases.
#pragma once

#include <functional>
#include <memory>

#include "base/log.h"

namespace gnnmg::base {

// Calls one. Nobody waits for an answer, so an exception ends here, with a word in the thread's
// log. The end of the thread inside of it passes (base/thread_end.h).
void give_back(const std::function<void()>& work);

// Where give_back() on this thread tells of exceptions from here on; null: nowhere. Returns where
// it did. The log is there until the next one is set.
Log* set_give_back_log(Log* log) noexcept;

}  // namespace gnnmg::base
