// The row gather: bound by memory, so all it does is to ask for rows early and, for results that no
// cache holds, to write lines whole without reading them first.
#include <algorithm>
#include <cstring>
#include <numeric>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "feature/store.h"

namespace gnnmg::feature {
namespace {

constexpr int64_t kLine = 64;
constexpr int64_t kAhead = 8;               // rows between the request for a row and its copy
constexpr int64_t kStageBytes = 32 << 10;   // rows are collected here, then written as whole lines
constexpr int64_t kCachedBytes = 16 << 20;  // results beyond it are written around the caches
constexpr int64_t kGrainBytes = 1 << 20;    // of a parallel range

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

#ifdef __SSE2__
// The fewest rows that fill whole lines.
int64_t rows_a_group(int64_t row_bytes) { return kLine / std::gcd(row_bytes, kLine); }

bool streams(int64_t row_bytes, int64_t count, const uint8_t* out) {
  return count * row_bytes > kCachedBytes && reinterpret_cast<uintptr_t>(out) % kLine == 0 &&
         rows_a_group(row_bytes) * row_bytes <= kStageBytes;
}

// `out` is aligned to a line, and so is every group's place in it.
void copy_streaming(const Rows& rows, uint8_t* out) {
  alignas(kLine) uint8_t stage[kStageBytes];
  const int64_t unit = rows_a_group(rows.row_bytes);
  // Stages of about 8 KiB: small beside the first cache.
  const int64_t group = unit * std::max<int64_t>(1, kStageBytes / 4 / (unit * rows.row_bytes));
  for (int64_t first = 0; first < rows.count; first += group) {
    const int64_t last = std::min(rows.count, first + group);
    for (int64_t i = first; i < last; ++i) rows.copy(i, stage + (i - first) * rows.row_bytes);
    const int64_t bytes = (last - first) * rows.row_bytes;
    uint8_t* to = out + first * rows.row_bytes;
    int64_t byte = 0;
    for (; byte + kLine <= bytes; byte += kLine) {
      for (int64_t part = byte; part < byte + kLine; part += 16)
        _mm_stream_si128(reinterpret_cast<__m128i*>(to + part),
                         _mm_load_si128(reinterpret_cast<const __m128i*>(stage + part)));
    }
    std::memcpy(to + byte, stage + byte, bytes - byte);
  }
  _mm_sfence();
}
#endif

void copy_rows(const Rows& rows, uint8_t* out) {
  for (int64_t i = 0; i < std::min(kAhead, rows.count); ++i) rows.prefetch(i);
  for (int64_t i = 0; i < rows.count; ++i) rows.copy(i, out + i * rows.row_bytes);
}

}  // namespace

void gather_rows(const uint8_t* table, int64_t row_bytes, std::span<const int64_t> ids,
                 uint8_t* out, base::ThreadPool* pool) {
  const int64_t count = static_cast<int64_t>(ids.size());
  if (count == 0 || row_bytes == 0) return;
  bool streaming = false;
#ifdef __SSE2__
  streaming = streams(row_bytes, count, out);
#endif
  const auto copy = [&](int64_t begin, int64_t end) {
    const Rows rows{table, row_bytes, ids.data() + begin, end - begin};
    uint8_t* to = out + begin * row_bytes;
#ifdef __SSE2__
    if (streaming) return copy_streaming(rows, to);
#endif
    copy_rows(rows, to);
  };
  if (pool == nullptr) return copy(0, count);
  // Multiples of kLine rows, so that every range begins on a line.
  const int64_t grain = (kGrainBytes / row_bytes + kLine) / kLine * kLine;
  pool->parallel_for(count, grain, copy);
}

}  // namespace gnnmg::feature
