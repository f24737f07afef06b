// The memory that a process can still use, of its machine or of the group that limits it.
#pragma once

#include <cstdint>
#include <string>

namespace gnnmg::base {

struct FreeMemory {
  int64_t total = 0;      // bytes of the machine, or the limit of the process's cgroup if lower
  int64_t available = 0;  // bytes without swapping; pages of files that can be dropped count
};

// Reads /proc/meminfo and the limits of cgroup v2; a limit that cannot be read does not count.
// Zeros if the system tells nothing. `root`: the folder with proc and sys, other than "/" in tests.
FreeMemory free_memory(const std::string& root = "/");

// Returns the bytes that the calling thread can allocate now: the available memory, or the rest of
// the thread's budget if it is less. INT64_MAX if neither is known. An estimate: other processes
// take memory too.
int64_t available_memory();

}  // namespace gnnmg::base
