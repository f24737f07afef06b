// Memory faults: while an AllocationFaults lives, allocations of the whole program are counted, and
// the planned ones fail. For programs that link gnnmg_test_alloc.
//
// Without sanitizers this covers malloc, its relatives and operator new in every library of the
// process. Under a sanitizer, whose allocator must stay, it covers operator new everywhere and
// malloc in the rooms' own calls.
#pragma once

#include <cstdint>
#include <functional>

#include "base/error.h"

namespace gnnmg::test {

struct AllocationPlan {
  int64_t fail_at = 0;    // the n-th allocation fails, from 1; 0: none
  bool for_ever = false;  // and all later ones
  // Smaller allocations, in bytes, are not counted and never fail, because LibTorch does not
  // survive failures of its own bookkeeping.
  int64_t at_least = 0;
  // Only allocations of the thread that makes the faults are counted and fail; those of other
  // threads, including LibTorch's, succeed.
  bool here = false;
};

// One at a time in a process. Counts all threads, unless the plan says otherwise.
class AllocationFaults {
 public:
  explicit AllocationFaults(const AllocationPlan& plan = {});
  ~AllocationFaults();
  AllocationFaults(const AllocationFaults&) = delete;
  AllocationFaults& operator=(const AllocationFaults&) = delete;

  int64_t count() const;  // allocations since construction
  bool struck() const;    // true if `fail_at` was reached
  // The largest number of bytes held at once, and the number held now, beyond those held at
  // construction.
  int64_t peak_bytes() const;
  int64_t held_bytes() const;
};

// Runs `body` with the n-th allocation failing, n = first, first + step, ... until a run meets no
// fault. A run with a fault must succeed or throw Error(kNoMemory) or std::bad_alloc; other
// exceptions are rethrown. No run may leak memory, if `body` keeps none on success; otherwise
// throws std::runtime_error with n. Returns the number of runs with a fault. `at_least` as in the
// plan.
int64_t fail_each_allocation(const std::function<void()>& body, bool for_ever = false,
                             int64_t first = 1, int64_t step = 1, int64_t at_least = 0);

}  // namespace gnnmg::test
