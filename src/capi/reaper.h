// Ends objects that have threads of their own without making a host thread wait for it, and counts
// the library's background threads, so that the end of the process does not overtake them.
#pragma once

#include <functional>
#include <memory>

#include "capi/object.h"

namespace gnnmg::capi {

// Destroys the object on a thread of the library's. Never waits, except for an idle one: then the
// host's objects that it drops are in its queue when the call ends, unless the machine is too busy
// for that.
void reap(std::shared_ptr<Object> object, bool idle = false) noexcept;

// Waits until all objects given to reap() so far are destroyed, for a while at most.
void wait_for_reaped() noexcept;

// Runs `work`, which throws nothing, on a thread of its own. Error(kNoMemory) when the system has
// none.
void run_in_background(std::function<void()> work);

}  // namespace gnnmg::capi
