// Destroys objects that have threads without making a host thread wait, and counts the threads that
// do so and the threads of jobs, so that the end of the process does not overtake them.
#pragma once

#include <functional>
#include <memory>

#include "capi/object.h"

namespace gnnmg::capi {

// Destroys the object on a thread of the library. Waits only for an object that is idle: its
// references to the host's memory are in the host's queue when the call ends, unless the machine is
// too busy for that.
void reap(std::shared_ptr<Object> object, bool idle = false) noexcept;

// Waits until all objects given to reap() are destroyed, at most 10 s.
void wait_for_reaped() noexcept;

// Runs the work of a job, which throws nothing, on a thread of its own. Error(kNoMemory) if the
// system has no more threads.
void run_job(std::function<void()> work);

}  // namespace gnnmg::capi
