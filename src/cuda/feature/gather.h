// The kernels of the row gather. A tile copies a row or a part of a long row; for rows of a few
// bytes a lane copies a row.
//
// For rows in host memory every request over the bus should be an aligned line, and no line should
// be requested twice: a tile begins at the 128-byte line in which its row begins, and lanes before
// the row's first byte do nothing. (Min et al., "EMOGI", VLDB 2021, measure the gain of merged and
// aligned requests.)
#pragma once

#include <cstdint>

#include "cuda/feature/rows.h"
#include "cuda/grid/divisor.h"

namespace gnnmg::cuda {

// The requested rows.
struct GatherIds {
  const void* ids;
  const int32_t* count;  // null: max_count
  int64_t max_count;
  bool wide;
  GNNMG_BOTH int64_t operator[](int64_t i) const {
    return wide ? static_cast<const int64_t*>(ids)[i] : static_cast<const int32_t*>(ids)[i];
  }
  GNNMG_BOTH int64_t num() const {
    return count == nullptr ? max_count : least<int64_t>(*count, max_count);
  }
};

inline constexpr int kHeldPieces = 4;  // pieces that a lane requests before it writes the first
inline constexpr int64_t kPartPieces = 256;  // pieces of a part, for a tile of 32 lanes
inline constexpr int64_t kSmallRow = 40;     // pieces; tiles have 8 lanes up to it
inline constexpr int64_t kRowsOfTile = 32;   // most rows that a tile clears

// `kHost`: rows may be in host memory or on other devices. Without it all rows are on `device`,
// which takes half the registers.
template <typename C, bool kHost>
struct GatherRows {
  static constexpr bool kWide = kHost;
  using Move = Piece<C>;
  using In = typename C::In;
  using Out = typename C::Out;
  static constexpr int kPartElements = static_cast<int>(kPartPieces) * Move::kSize;
  StoreRows rows;
  GatherIds ids;
  Out* out;
  int64_t out_stride;  // elements
  Divisor parts;       // parts of a row

  GNNMG_BOTH StoreRows::Place place(int64_t id) const {
    if constexpr (kHost) return rows.place(id);
    return {rows.device + id * rows.device_stride, false, false};
  }
  // Counts the gather's reads of the row; for lane 0 of the row's first part.
  GNNMG_BOTH void count_row(const StoreRows::Place& place, int64_t i, int64_t num) const {
    if (i == 0) atomic_add(&rows.counts->rows, static_cast<uint64_t>(num));
    if constexpr (kHost) {
      if (place.on_peer) atomic_add(&rows.peer_counts[i % kPeerCounts].rows, uint64_t{1});
      if (!place.on_host) return;
      const uintptr_t begin = reinterpret_cast<uintptr_t>(place.row);
      const uintptr_t end = begin + rows.cols * sizeof(In);
      atomic_add(&rows.counts->host_rows, uint64_t{1});
      atomic_add(&rows.counts->host_lines,
                 static_cast<uint64_t>((end + kBusLine - 1) / kBusLine - begin / kBusLine));
    }
  }

  template <typename Tile>
  GNNMG_BOTH void operator()(const Tile& tile, int64_t item) const {
    const int64_t num = ids.num();
    const int64_t i = parts.by == 1 ? item : parts(item);
    if (i >= num) return;
    const int64_t part = item - i * parts.by;
    const int64_t id = ids[i];
    const StoreRows::Place place = this->place(id);
    const float scale = C::kScaled ? rows.scales[id] : 0.0f;
    // For rows in host memory a tile begins in the line of the first byte; elements of the part
    // count from there, and elements [low, high) belong to the row.
    const int before =
        kHost && place.on_host
            ? static_cast<int>(reinterpret_cast<uintptr_t>(place.row) % kBusLine / sizeof(In))
            : 0;
    const int64_t skipped = part * kPartElements - before;
    const int low = part == 0 ? before : 0;
    const int high = static_cast<int>(least<int64_t>(rows.cols - skipped, kPartElements));
    const uint8_t* const from = place.row + skipped * static_cast<int64_t>(sizeof(In));
    Out* const to = out + i * out_stride + skipped;
    // Memory beside the table's first and last row must not be read.
    const bool whole = !kHost || !place.on_host ||
                       rows.in_table(from, from + (int64_t{high} + Move::kSize) *
                                                      static_cast<int64_t>(sizeof(In)));
    const bool lines = aligned(to, Move::kOutBytes);
    constexpr int kStep = Tile::kLanes * Move::kSize;
    tile.each([&](int lane) {
      if (part == 0 && lane == 0) count_row(place, i, num);
      for (int first = lane * Move::kSize; first < high; first += kHeldPieces * kStep) {
        typename Move::RawIn held[kHeldPieces];
        GNNMG_UNROLL
        for (int h = 0; h < kHeldPieces; ++h) {
          const int at = first + h * kStep;
          held[h] = typename Move::RawIn{};
          if (at < high && at + Move::kSize > low) held[h] = Move::load(from, whole, at, low, high);
        }
        GNNMG_UNROLL
        for (int h = 0; h < kHeldPieces; ++h) {
          const int at = first + h * kStep;
          if (at < high && at + Move::kSize > low)
            Move::store(held[h], scale, to, lines, at, low, high);
        }
      }
    });
  }

  // A row of a single piece, copied by one lane.
  GNNMG_BOTH void operator()(int64_t i) const {
    const int64_t num = ids.num();
    if (i >= num) return;
    const int64_t id = ids[i];
    const StoreRows::Place place = this->place(id);
    count_row(place, i, num);
    const int cols = static_cast<int>(rows.cols);
    const bool whole = !kHost || !place.on_host ||
                       (aligned(place.row, Move::kInBytes) &&
                        rows.in_table(place.row, place.row + Move::kInBytes));
    Out* const to = out + i * out_stride;
    Move::store(Move::load(place.row, whole, 0, 0, cols), C::kScaled ? rows.scales[id] : 0.0f, to,
                aligned(to, Move::kOutBytes), 0, 0, cols);
  }
};

// Clears the rows after the gathered ones. There are few, so a tile clears several, in turn with
// the other tiles.
template <typename Out>
struct ClearRows {
  GatherIds ids;
  Out* out;
  int64_t out_stride, cols, num_tiles;
  template <typename Tile>
  GNNMG_BOTH void operator()(const Tile& tile, int64_t number) const {
    for (int64_t i = ids.num() + number; i < ids.max_count; i += num_tiles) {
      Out* const row = out + i * out_stride;
      tile.each_of(0, cols, [&](int64_t c) { row[c] = Out{}; });
    }
  }
};

struct CountOutOfRange {
  StoreRows rows;
  GatherIds ids;
  GNNMG_BOTH void operator()(int64_t i) const {
    if (i >= ids.num()) return;
    const int64_t id = ids[i];
    if (id < 0 || id >= rows.num_rows) atomic_add(&rows.counts->out_of_range, uint64_t{1});
  }
};

template <typename C, bool kHost, typename Queue>
void gather_rows_from(Queue& queue, const StoreRows& rows, const GatherIds& ids, void* out,
                      int64_t out_stride) {
  using Move = Piece<C>;
  using Out = typename C::Out;
  GatherRows<C, kHost> kernel{rows, ids, static_cast<Out*>(out), out_stride, Divisor(1)};
  if (rows.cols <= Move::kSize) return queue.each(ids.max_count, kernel);
  const int64_t before = kHost ? (kBusLine - 1) / static_cast<int64_t>(sizeof(typename C::In)) : 0;
  const int64_t pieces = (before + rows.cols + Move::kSize - 1) / Move::kSize;
  if (pieces <= kSmallRow) return queue.template tiles<8>(ids.max_count, kernel);
  kernel.parts = Divisor((pieces + kPartPieces - 1) / kPartPieces);
  queue.template tiles<32>(ids.max_count * kernel.parts.by, kernel);
}

template <typename C, typename Queue>
void gather_rows(Queue& queue, const StoreRows& rows, const GatherIds& ids, void* out,
                 int64_t out_stride) {
  if (rows.cols == 0 || ids.max_count <= 0) return;
  if (rows.host == nullptr)
    gather_rows_from<C, false>(queue, rows, ids, out, out_stride);
  else
    gather_rows_from<C, true>(queue, rows, ids, out, out_stride);
}

template <typename C, typename Queue>
void clear_rows(Queue& queue, const StoreRows& rows, const GatherIds& ids, void* out,
                int64_t out_stride) {
  using Out = typename C::Out;
  if (rows.cols == 0 || ids.max_count <= 0 || ids.count == nullptr) return;
  const int64_t num_tiles = (ids.max_count + kRowsOfTile - 1) / kRowsOfTile;
  queue.template tiles<32>(
      num_tiles, ClearRows<Out>{ids, static_cast<Out*>(out), out_stride, rows.cols, num_tiles});
}

}  // namespace gnnmg::cuda
