// The replaced allocator is in the same file as its switch, so that a program that uses the switch
// always gets the allocator.
#include "support/alloc_faults.h"

#include <malloc.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>

namespace {

std::atomic<bool> counting{false};
std::atomic<bool> was_struck{false};
std::atomic<int64_t> calls{0}, held{0}, peak{0};
std::atomic<int64_t> first_failure{0}, smallest{0};
std::atomic<bool> fails_for_ever{false};
std::atomic<bool> here_alone{false};
constinit thread_local bool is_here = false;

bool strikes(size_t size) {
  if (!counting.load(std::memory_order_acquire) || static_cast<int64_t>(size) < smallest)
    return false;
  if (here_alone && !is_here) return false;
  const int64_t n = ++calls;
  const int64_t first = first_failure;
  if (first == 0 || n < first || (n > first && !fails_for_ever)) return false;
  was_struck = true;
  errno = ENOMEM;
  return true;
}

void* taken(void* block) {
  if (!block || !counting.load(std::memory_order_relaxed)) return block;
  const int64_t now = held += static_cast<int64_t>(malloc_usable_size(block));
  int64_t most = peak;
  while (now > most && !peak.compare_exchange_weak(most, now)) {
  }
  return block;
}

void* given_back(void* block) {
  if (block && counting.load(std::memory_order_relaxed))
    held -= static_cast<int64_t>(malloc_usable_size(block));
  return block;
}

}  // namespace

extern "C" {
#ifdef GNNMG_SANITIZED
#define HOOK(name) __wrap_##name
#define SYSTEM(name) __real_##name
#else
#define HOOK(name) name
#define SYSTEM(name) __libc_##name
void* __libc_memalign(size_t alignment, size_t size);
#endif
void SYSTEM(free)(void* block);
void* SYSTEM(malloc)(size_t size);
void* SYSTEM(calloc)(size_t count, size_t size);
void* SYSTEM(realloc)(void* block, size_t size);

void* HOOK(malloc)(size_t size) noexcept {
  return strikes(size) ? nullptr : taken(SYSTEM(malloc)(size));
}

void* HOOK(calloc)(size_t count, size_t size) noexcept {
  return strikes(count * size) ? nullptr : taken(SYSTEM(calloc)(count, size));
}

void* HOOK(realloc)(void* block, size_t size) noexcept {
  if (strikes(size)) return nullptr;
  given_back(block);
  void* moved = SYSTEM(realloc)(block, size);
  if (!moved && size) taken(block);
  return taken(moved);
}

void HOOK(free)(void* block) noexcept { SYSTEM(free)(given_back(block)); }

#ifdef GNNMG_SANITIZED
void* __real_aligned_alloc(size_t alignment, size_t size);
void* __wrap_aligned_alloc(size_t alignment, size_t size) noexcept {
  return strikes(size) ? nullptr : taken(__real_aligned_alloc(alignment, size));
}
#else
void* aligned_alloc(size_t alignment, size_t size) noexcept {
  return strikes(size) ? nullptr : taken(__libc_memalign(alignment, size));
}

int posix_memalign(void** out, size_t alignment, size_t size) noexcept {
  if (strikes(size)) return ENOMEM;
  void* block = taken(__libc_memalign(alignment, size));
  if (!block) return ENOMEM;
  *out = block;
  return 0;
}
#endif
}

// Forms of operator new to which the others fall back. A sanitizer's own nothrow form, which the
// standard library's sorts use for their buffer, would not fall back.
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return std::malloc(size ? size : 1);
}
void* operator new(size_t size) {
  if (void* block = operator new(size, std::nothrow)) return block;
  throw std::bad_alloc();
}
void* operator new(size_t size, std::align_val_t alignment) {
  const size_t a = static_cast<size_t>(alignment);
  if (void* block = std::aligned_alloc(a, (size + a - 1) / a * a)) return block;
  throw std::bad_alloc();
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, size_t) noexcept { std::free(block); }
void operator delete(void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete(void* block, size_t, std::align_val_t) noexcept { std::free(block); }

namespace gnnmg::test {

AllocationFaults::AllocationFaults(const AllocationPlan& plan) {
  if (counting) throw std::logic_error("one AllocationFaults at a time");
  calls = held = peak = 0;
  was_struck = false;
  first_failure = plan.fail_at;
  smallest = plan.at_least;
  fails_for_ever = plan.for_ever;
  here_alone = plan.here;
  is_here = true;
  counting.store(true, std::memory_order_release);
}

AllocationFaults::~AllocationFaults() {
  counting = false;
  is_here = false;
}

int64_t AllocationFaults::count() const { return calls; }
bool AllocationFaults::struck() const { return was_struck; }
int64_t AllocationFaults::peak_bytes() const { return peak; }
int64_t AllocationFaults::held_bytes() const { return held; }

int64_t fail_each_allocation(const std::function<void()>& body, bool for_ever, int64_t first,
                             int64_t step, int64_t at_least) {
  body();  // one-time initialization of the process
  int64_t runs = 0;
  for (int64_t n = first;; n += step) {
    int64_t left = 1;
    bool struck = false;
    // A thread of LibTorch's products keeps buffers from its first share of a loop on, whichever
    // run that is; a leak is there each time.
    for (int tries = 0; left != 0 && tries < 3; ++tries) {
      const AllocationFaults faults({n, for_ever, at_least});
      try {
        body();
      } catch (const base::Error& error) {
        if (error.status() != base::Status::kNoMemory) throw;
      } catch (const std::bad_alloc&) {
      }
      left = faults.held_bytes();
      struck = faults.struck();
    }
    if (left != 0)
      throw std::runtime_error("allocation " + std::to_string(n) + " failed, and " +
                               std::to_string(left) + " bytes stayed held");
    if (!struck) return runs;
    ++runs;
  }
}

}  // namespace gnnmg::test
