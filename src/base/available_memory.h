// The memory that the process can still take.
#pragma once

#include <cstdint>

namespace gnnmg::base {

// Returns the bytes that the calling thread can allocate now: the smallest of the system's
// available memory, the rest of the limits of the process's control groups (version 2), and the
// rest of the thread's budget. INT64_MAX if none of the three is known. An estimate: other
// processes take memory too.
int64_t available_memory();

}  // namespace gnnmg::base
