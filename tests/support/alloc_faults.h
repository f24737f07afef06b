// Faults of memory: while an AllocationFaults lives, allocations of the whole program are counted,
// and those that the plan names fail. For programs that link gnnmg_test_alloc.
//
// Without sanitizers this covers malloc, its relatives and operator new in every library of the
// process. Under a sanitizer, whose allocator must stay, it covers operator new everywhere and
// malloc where the rooms themselves call it.
#pragma once

#include <cstdint>
#include <functional>

#include "base/error.h"

namespace gnnmg::test {

struct AllocationPlan {
  int64_t fail_at = 0;    // the n-th allocation fails, from 1; 0: none
  bool for_ever = false;  // and all after it
  // Smaller ones, in bytes, are not counted and never fail: what LibTorch does not survive are
  // failures of its own bookkeeping.
  int64_t at_least = 0;
  // Those of the thread that makes the faults alone are counted and fail: the others, LibTorch's
  // among them, go on as ever.
  bool here = false;
};

// One at a time in a process. All threads are counted, unless the plan says otherwise.
class AllocationFaults {
 public:
  explicit AllocationFaults(const AllocationPlan& plan = {});
  ~AllocationFaults();
  AllocationFaults(const AllocationFaults&) = delete;
  AllocationFaults& operator=(const AllocationFaults&) = delete;

  int64_t count() const;  // allocations since construction
  bool struck() const;    // whether `fail_at` was reached
  // The most bytes that were held at once beyond those held at construction, and those held now.
  int64_t peak_bytes() const;
  int64_t held_bytes() const;
};

// Runs `body` with the n-th allocation failing, n = first, first + step, ... until a run meets no
// fault. A run that meets one must end well or throw Error(kNoMemory) or std::bad_alloc; anything
// else is thrown on. Each must leave no memory held, where `body` keeps none on success. Throws
// std::runtime_error naming n otherwise. Returns the number of runs that met a fault. `at_least` as
// in the plan.
int64_t fail_each_allocation(const std::function<void()>& body, bool for_ever = false,
                             int64_t first = 1, int64_t step = 1, int64_t at_least = 0);

}  // namespace gnnmg::test
