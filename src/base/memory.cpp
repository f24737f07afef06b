#include "base/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

namespace gnnmg::base {
namespace {

constexpr size_t kLine = 64;
constexpr size_t kHugePage = size_t{2} << 20;

// The budget of the innermost scope. A plain pointer, because a thread-local object with a
// destructor allocates memory for each thread, and the C library ends the program if that fails.
thread_local const std::shared_ptr<MemoryBudget>* thread_budget = nullptr;
const std::shared_ptr<MemoryBudget> kNoBudget;

// Frees a buffer and returns its size to its budget, if any.
struct Release {
  std::shared_ptr<MemoryBudget> budget;
  int64_t bytes;
  void operator()(void* memory) const noexcept {
    std::free(memory);
    if (budget) budget->give_back(bytes);
  }
};

}  // namespace

void MemoryBudget::take(int64_t bytes, std::string_view what) {
  int64_t before = used();
  do {
    if (limit_ != 0 && bytes > limit_ - before)
      fail(Status::kNoMemory, what, " of ", bytes, " bytes does not fit the memory limit of ",
           limit_, " bytes, of which ", before, " are in use");
  } while (!used_.compare_exchange_weak(before, before + bytes, std::memory_order_relaxed));
}

const std::shared_ptr<MemoryBudget>& current_budget() noexcept {
  return thread_budget ? *thread_budget : kNoBudget;
}

BudgetScope::BudgetScope(std::shared_ptr<MemoryBudget> budget) noexcept
    : budget_(std::move(budget)), outer_(std::exchange(thread_budget, &budget_)) {}

BudgetScope::~BudgetScope() { thread_budget = outer_; }

std::shared_ptr<void> allocate_pages(int64_t bytes, std::string_view what) {
  const bool huge = bytes >= static_cast<int64_t>(2 * kHugePage);
  const size_t alignment = huge ? kHugePage : kLine;
  if (bytes < 0) fail(Status::kNoMemory, "no memory for ", what, " of ", bytes, " bytes");
  const size_t size = std::max<size_t>(1, bytes);
  const size_t rounded = (size + alignment - 1) / alignment * alignment;
  Release release{current_budget(), static_cast<int64_t>(size)};
  if (release.budget) release.budget->take(release.bytes, what);
  void* memory = std::aligned_alloc(alignment, rounded);
  if (!memory) {
    if (release.budget) release.budget->give_back(release.bytes);
    fail(Status::kNoMemory, "no memory for ", what, " of ", bytes, " bytes");
  }
  if (huge) madvise(memory, rounded, MADV_HUGEPAGE);
  try {
    return std::shared_ptr<void>(memory, std::move(release));
  } catch (const std::bad_alloc&) {  // the shared pointer has freed the memory already
    fail(Status::kNoMemory, "no memory for ", what, " of ", bytes, " bytes");
  }
}

namespace {

// Advises the system about the whole pages of a range.
void advise(void* memory, int64_t bytes, int advice) noexcept {
  constexpr uintptr_t kFewest = 4;
  static const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  const auto first = (begin + page - 1) / page * page;
  const auto last = (begin + bytes) / page * page;
  if (last >= first + kFewest * page)
    static_cast<void>(madvise(static_cast<char*>(memory) + (first - begin), last - first, advice));
}

}  // namespace

void forget_pages(void* memory, int64_t bytes) noexcept { advise(memory, bytes, MADV_DONTNEED); }

void use_small_pages(void* memory, int64_t bytes) noexcept {
  if (bytes >= static_cast<int64_t>(2 * kHugePage)) advise(memory, bytes, MADV_NOHUGEPAGE);
}

}  // namespace gnnmg::base
