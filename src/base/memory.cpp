#include "base/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

namespace gnnmg::base {
namespace {
constexpr size_t kLine = 64;
constexpr size_t kHugePage = size_t{2} << 20;
}  // namespace

std::shared_ptr<void> allocate_pages(int64_t bytes) {
  const bool huge = bytes >= static_cast<int64_t>(2 * kHugePage);
  const size_t alignment = huge ? kHugePage : kLine;
  if (bytes < 0) fail(Status::kNoMemory, "no memory for ", bytes, " bytes");
  const size_t size = std::max<size_t>(1, bytes);
  const size_t rounded = (size + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded);
  if (!memory) fail(Status::kNoMemory, "no memory for ", bytes, " bytes");
  if (huge) madvise(memory, rounded, MADV_HUGEPAGE);
  try {
    return std::shared_ptr<void>(memory, std::free);
  } catch (...) {
    fail(Status::kNoMemory, "no memory for ", bytes, " bytes");
  }
}

}  // namespace gnnmg::base
