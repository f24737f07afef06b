// Where the system has no more threads to give. OpenMP ends the program then: whoever has it start
// some finds out beforehand that there is room for them.
#pragma once

#include <functional>
#include <mutex>
#include <system_error>

#include "base/error.h"

namespace gnnmg::base {

// The system has no thread, lock or the like to give: kNoMemory with its errno.
Error refused_resource(const std::system_error& error);

// Held by whoever starts threads of the library's, so that nobody takes the room that was found.
std::mutex& thread_starts() noexcept;

// Runs `start`, which has `count` threads started, when the process can have so many more now;
// false where it cannot, or there is no memory to find out. Other processes of the user, and
// threads that the program starts itself meanwhile, can still take the room. `start` must not start
// threads with start_thread().
bool start_where_room(int count, const std::function<void()>& start);

}  // namespace gnnmg::base
