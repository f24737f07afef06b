// The part of bf16_body.h for the tiles of AMX: registers of up to 16 rows of 64 bytes, and an
// instruction that multiplies two of them.
#pragma once

namespace gnnmg::nn::kernels {
namespace {

constexpr int64_t kTileRows = 16;
constexpr int64_t kTileStride = 64;  // bytes between the rows of a tile of a packed factor

// Shapes of the tile registers in memory, as the instruction reads them.
struct alignas(64) TileShapes {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};

  void set(int tile, int64_t count, int64_t bytes) {
    rows[tile] = static_cast<uint8_t>(bytes > 0 ? count : 0);
    row_bytes[tile] = static_cast<uint16_t>(count > 0 ? bytes : 0);
  }
};

// Shapes the registers for a block of up to 32 rows and columns: 0 to 3 are quarters of c, 4 and 5
// rows of a, 6 and 7 panels of b.
inline void shape_tiles(int64_t rows, int64_t columns) {
  const int64_t lower = rows > kTileRows ? rows - kTileRows : 0, upper = rows - lower;
  const int64_t right = columns > kBf16Panel ? columns - kBf16Panel : 0, left = columns - right;
  TileShapes shapes;
  shapes.set(0, upper, 4 * left);
  shapes.set(1, upper, 4 * right);
  shapes.set(2, lower, 4 * left);
  shapes.set(3, lower, 4 * right);
  shapes.set(4, upper, kTileStride);
  shapes.set(5, lower, kTileStride);
  shapes.set(6, kTileRows, 4 * left);
  shapes.set(7, kTileRows, 4 * right);
  // GCC's intrinsic reads the first eight bytes only, as far as the compiler knows.
  __asm__ volatile("" ::"r"(&shapes) : "memory");
  _tile_loadconfig(&shapes);
}

// Computes a block of c for which the registers have their shapes: with a lower half of rows, and a
// right half of columns, or without.
template <bool kLower, bool kRight>
inline void tile_block(const Bf16Product& p, int64_t row, int64_t column) {
  const int64_t depth = filled_depth(p.depth), panel = depth * kBf16Panel;
  const int64_t a_stride = p.a.stride * 2, c_stride = p.c.stride * 4;
  const Bf16* a = p.a.row(row);
  const Bf16* b = p.b + column / kBf16Panel * panel;
  float* c = p.c.row(row) + column;
  [[maybe_unused]] float* lower = c + kTileRows * p.c.stride;
  if (p.add) {
    _tile_loadd(0, c, c_stride);
    if constexpr (kRight) _tile_loadd(1, c + kBf16Panel, c_stride);
    if constexpr (kLower) _tile_loadd(2, lower, c_stride);
    if constexpr (kLower && kRight) _tile_loadd(3, lower + kBf16Panel, c_stride);
  } else {
    _tile_zero(0);
    if constexpr (kRight) _tile_zero(1);
    if constexpr (kLower) _tile_zero(2);
    if constexpr (kLower && kRight) _tile_zero(3);
  }
  for (int64_t k = 0; k < depth; k += kBf16Step, a += kBf16Step, b += kBf16Step * kBf16Panel) {
    _tile_loadd(4, a, a_stride);
    _tile_loadd(6, b, kTileStride);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (kRight) {
      _tile_loadd(7, b + panel, kTileStride);
      _tile_dpbf16ps(1, 4, 7);
    }
    if constexpr (kLower) {
      _tile_loadd(5, a + kTileRows * p.a.stride, a_stride);
      _tile_dpbf16ps(2, 5, 6);
      if constexpr (kRight) _tile_dpbf16ps(3, 5, 7);
    }
  }
  _tile_stored(0, c, c_stride);
  if constexpr (kRight) _tile_stored(1, c + kBf16Panel, c_stride);
  if constexpr (kLower) _tile_stored(2, lower, c_stride);
  if constexpr (kLower && kRight) _tile_stored(3, lower + kBf16Panel, c_stride);
}

// Asks for the lines of a block of c, which tiles store at the end of its sums.
inline void fetch_block(const Bf16Product& p, int64_t row, int64_t count, int64_t column) {
  for (int64_t r = row; r < row + count; ++r) {
    __builtin_prefetch(p.c.row(r) + column, 1);
    __builtin_prefetch(p.c.row(r) + column + kBf16Panel, 1);
  }
}

// Computes rows [row, row + count) of c, at most two tiles of them, block after block.
template <bool kLower>
void tile_rows(const Bf16Product& p, int64_t row, int64_t count) {
  constexpr int64_t kColumns = 2 * kBf16Panel;
  int64_t column = 0;
  if (p.width >= kColumns) shape_tiles(count, kColumns);
  for (; column + kColumns <= p.width; column += kColumns) {
    fetch_block(p, row, count, column);
    tile_block<kLower, true>(p, row, column);
  }
  if (column == p.width) return;
  shape_tiles(count, p.width - column);
  if (p.width - column > kBf16Panel)
    tile_block<kLower, true>(p, row, column);
  else
    tile_block<kLower, false>(p, row, column);
}

void amx_product(const Bf16Product& p, int64_t begin, int64_t end) {
  constexpr int64_t kRows = 2 * kTileRows;
  for (int64_t row = begin; row < end; row += kRows) {
    const int64_t count = end - row < kRows ? end - row : kRows;
    if (count > kTileRows)
      tile_rows<true>(p, row, count);
    else
      tile_rows<false>(p, row, count);
  }
  _tile_release();
}

}  // namespace
}  // namespace gnnmg::nn::kernels
