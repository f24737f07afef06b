// The row gather. Memory bound, so it prefetches rows. Ordinary stores leave the result in the
// caches for its next reader.
#include <algorithm>
#include <cstring>

#include "feature/store.h"

namespace gnnmg::feature {
namespace {

constexpr int64_t kLine = 64;
constexpr int64_t kAhead = 8;             // rows between the prefetch of a row and its copy
constexpr int64_t kGrainBytes = 1 << 20;  // bytes in one range of a parallel loop

struct Rows {
  const uint8_t* table;
  int64_t row_bytes;
  const int64_t* ids;
  int64_t count;

  void prefetch(int64_t i) const {
    if (i >= count) return;
    const uint8_t* row = table + ids[i] * row_bytes;
    for (int64_t byte = 0; byte < row_bytes; byte += kLine) __builtin_prefetch(row + byte);
    __builtin_prefetch(row + row_bytes - 1);
  }
  void copy(int64_t i, uint8_t* out) const {
    prefetch(i + kAhead);
    std::memcpy(out, table + ids[i] * row_bytes, row_bytes);
  }
};

void copy_rows(const Rows& rows, uint8_t* out) {
  for (int64_t i = 0; i < std::min(kAhead, rows.count); ++i) rows.prefetch(i);
  for (int64_t i = 0; i < rows.count; ++i) rows.copy(i, out + i * rows.row_bytes);
}

}  // namespace

void gather_rows(const uint8_t* table, int64_t row_bytes, std::span<const int64_t> ids,
                 uint8_t* out, base::ThreadPool* pool) {
  const int64_t count = static_cast<int64_t>(ids.size());
  if (count == 0 || row_bytes == 0) return;
  const auto copy = [&](int64_t begin, int64_t end) {
    const Rows rows{table, row_bytes, ids.data() + begin, end - begin};
    copy_rows(rows, out + begin * row_bytes);
  };
  if (pool == nullptr) return copy(0, count);
  // A multiple of kLine rows, so that no two ranges share a cache line.
  const int64_t grain = (kGrainBytes / row_bytes + kLine) / kLine * kLine;
  pool->parallel_for(count, grain, copy);
}

}  // namespace gnnmg::feature
