#include "base/memory.h"

#include <sys/mman.h>

#include <cstdlib>

namespace gnnmg::base {
namespace {
constexpr size_t kLine = 64;
constexpr size_t kHugePage = size_t{2} << 20;
}  // namespace

std::shared_ptr<void> allocate_pages(int64_t bytes) {
  const bool huge = bytes >= static_cast<int64_t>(2 * kHugePage);
  const size_t alignment = huge ? kHugePage : kLine;
  size_t rounded;
  void* memory = nullptr;
  if (bytes < 0 || __builtin_add_overflow(static_cast<size_t>(bytes), alignment, &rounded) ||
      (memory = std::aligned_alloc(alignment, rounded / alignment * alignment)) == nullptr)
    fail(Status::kNoMemory, "no memory for ", bytes, " bytes");
  if (huge) madvise(memory, rounded / alignment * alignment, MADV_HUGEPAGE);
  try {
    return std::shared_ptr<void>(memory, std::free);
  } catch (...) {
    fail(Status::kNoMemory, "no memory for ", bytes, " bytes");
  }
}

}  // namespace gnnmg::base
