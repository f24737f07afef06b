// Checks for the system's limit of threads. OpenMP ends the program when it meets the limit, so
// code that makes OpenMP start threads checks first.
#pragma once

#include <functional>
#include <mutex>
#include <system_error>

#include "base/error.h"

namespace gnnmg::base {

// Error for a system that refuses a thread, lock or the like: kNoMemory with its errno.
Error refused_resource(const std::system_error& error);

// Held while threads of the library are started, so that nobody else takes the room that was found.
std::mutex& thread_starts() noexcept;

// Runs `start`, which starts `count` threads, if the process can have that many more now. Returns
// false if it cannot, or if there is no memory for the check. Other processes of the user, and
// threads that the program starts meanwhile, can still take the room. `start` must not call
// start_thread().
bool start_where_room(int count, const std::function<void()>& start);

}  // namespace gnnmg::base
