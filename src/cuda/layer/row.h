// Common parts of the layers' kernels: rows and 16-byte pieces of them, and the launch with one
// lane per piece of every row.
#pragma once

#include <cstdint>

#include "cuda/grid/divisor.h"
#include "cuda/grid/entries.h"
#include "cuda/grid/portable.h"
#include "device/table.h"
#include "nn/kernels/device.h"

namespace gnnmg::cuda {

// Returns a * b + c, rounded once: sums of products have the same bits on a GPU, on the host, and
// on CPUs whose kernels have that instruction.
GNNMG_BOTH float multiply_add(float a, float b, float c) {
#ifdef __CUDA_ARCH__
  return __fmaf_rn(a, b, c);
#else
  return __builtin_fmaf(a, b, c);
#endif
}
GNNMG_BOTH double multiply_add(double a, double b, double c) {
#ifdef __CUDA_ARCH__
  return __fma_rn(a, b, c);
#else
  return __builtin_fma(a, b, c);
#endif
}

// Returns a + b, where b may be a product, which is rounded first.
GNNMG_BOTH float added(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fadd_rn(a, b);
#else
  return a + b;
#endif
}
GNNMG_BOTH double added(double a, double b) {
#ifdef __CUDA_ARCH__
  return __dadd_rn(a, b);
#else
  return a + b;
#endif
}

template <typename T>
GNNMG_BOTH T* row_of(const nn::kernels::Matrix<T>& m, int64_t r) {
  return m.data + r * m.stride;
}
template <typename T>
GNNMG_BOTH const T* row_of(const nn::kernels::Rows<T>& x, int64_t r) {
  return x.data + (x.ids ? x.ids[r] : r) * x.stride;
}

// Number of leading entries below `bound` of an ascending list.
GNNMG_BOTH int64_t count_below(const int32_t* list, int64_t n, int64_t bound) {
  if (n == 0 || list[n - 1] < bound) return n;
  int64_t low = 0;
  while (low < n) {
    const int64_t middle = low + (n - low) / 2;
    if (list[middle] < bound)
      low = middle + 1;
    else
      n = middle;
  }
  return low;
}

// V neighboring elements of a row, moved by the fewest instructions of up to 16 bytes.
template <typename T, int V>
struct alignas(V * sizeof(T) < 16 ? V * sizeof(T) : 16) Piece {
  T v[V];
  GNNMG_BOTH T& operator[](int i) { return v[i]; }
  GNNMG_BOTH const T& operator[](int i) const { return v[i]; }
};

// Returns V elements from `from` on, which is aligned for a piece.
template <int V, typename T>
GNNMG_BOTH Piece<T, V> load(const T* from) {
  return *reinterpret_cast<const Piece<T, V>*>(from);
}
template <int V, typename T>
GNNMG_BOTH void store(T* to, const Piece<T, V>& piece) {
#ifdef __CUDA_ARCH__
  // Written explicitly, because nvcc would split pieces when it stores them.
  if constexpr (sizeof(T) == 4 && V == 4) {
    asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to)),
                 "f"(piece[0]), "f"(piece[1]), "f"(piece[2]), "f"(piece[3])
                 : "memory");
    return;
  }
  if constexpr (sizeof(T) == 8 && V == 2) {
    asm volatile("st.global.v2.f64 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(to)),
                 "d"(piece[0]), "d"(piece[1])
                 : "memory");
    return;
  }
#endif
  *reinterpret_cast<Piece<T, V>*>(to) = piece;
}
template <int V, typename T>
GNNMG_BOTH Piece<T, V> filled(T value) {
  Piece<T, V> piece;
  for (int i = 0; i < V; ++i) piece[i] = value;
  return piece;
}

// One tile walks a list of at most this many entries. The tiles of a block share a longer one: each
// takes a run of it, and their results are combined in the runs' order. The bits of such a sum
// differ from those of one tile's sum, but are the same in every run, and no other list is awaited.
constexpr int64_t kLongList = 1024;

// The entries of a list to walk, and those of tile t if `tiles` share it.
struct Span {
  int64_t first, last;
  GNNMG_BOTH bool is_long() const { return last - first > kLongList; }
  GNNMG_BOTH int64_t share(int tiles) const { return (last - first + tiles - 1) / tiles; }
  // Returns how many of the tiles get any.
  GNNMG_BOTH int sharing(int tiles) const {
    const int64_t each = share(tiles);
    return static_cast<int>((last - first + each - 1) / each);
  }
  GNNMG_BOTH Span part(int tiles, int t) const {
    const int64_t each = share(tiles), begin = least(last, first + t * each);
    return {begin, least(last, begin + each)};
  }
};

// Rows that are loaded at once: so many loads of a lane are in flight together.
constexpr int kTogether = 4;

// Calls use(read(find(e)), e) for the entries e of [first, last) in order. kTogether of them are
// found, then read together; find, which only follows indices, may run more than once. Use 32-bit
// bounds if they suffice: the walk then takes half the registers. No value exceeds `last`, which
// may be the largest of its type.
template <typename Index, typename Find, typename Read, typename Use>
GNNMG_BOTH void in_order(Index first, Index last, const Find& find, const Read& read,
                         const Use& use) {
  Index e = first, left = last - first;
  if (left <= 0) return;
  while (true) {
    decltype(find(e)) places[kTogether];
    GNNMG_UNROLL
    for (int k = 0; k < kTogether; ++k) places[k] = find(k < left ? e + k : e);
    decltype(read(places[0])) pieces[kTogether];
    GNNMG_UNROLL
    for (int k = 0; k < kTogether; ++k)
      if (k < left) pieces[k] = read(places[k]);
    GNNMG_UNROLL
    for (int k = 0; k < kTogether; ++k)
      if (k < left) use(pieces[k], e + k);
    if (left <= kTogether) return;
    e += kTogether;
    left -= kTogether;
  }
}

// The entries of a span, with bounds in the type `Index` of the lists.
template <typename Index, typename Find, typename Read, typename Use>
GNNMG_BOTH void in_order(const Span& span, const Find& find, const Read& read, const Use& use) {
  in_order(static_cast<Index>(span.first), static_cast<Index>(span.last), find, read, use);
}

// Reads a piece of a found row's columns.
template <int V>
struct LoadPiece {
  template <typename T>
  GNNMG_BOTH Piece<T, V> operator()(const T* from) const {
    return load<V>(from);
  }
};

// True if rows can be moved by pieces of V elements. Null pointers can.
template <int V, typename T>
bool has_pieces(const T* data, int64_t stride) {
  const auto address = reinterpret_cast<uintptr_t>(data);
  return (address | static_cast<uintptr_t>(stride) * sizeof(T)) % alignof(Piece<T, V>) == 0;
}
template <int V, typename T>
bool has_pieces(const nn::kernels::Matrix<T>& m) {
  return has_pieces<V>(m.data, m.stride);
}
template <int V, typename T>
bool has_pieces(const nn::kernels::Rows<T>& x) {
  return has_pieces<V>(x.data, x.stride);
}
template <typename T>
constexpr int kLineOf = static_cast<int>(16 / sizeof(T));
template <typename T>
bool has_lines(const nn::kernels::Matrix<T>& m) {
  return has_pieces<kLineOf<T>>(m);
}
template <typename T>
bool has_lines(const nn::kernels::Rows<T>& x) {
  return has_pieces<kLineOf<T>>(x);
}

// The interface of a body that walks lists:
//   Span list(row)                       the list of a row
//   Share<V>                             the result of a run of it; Nothing if entries are only
//                                        written to
//   Share<V> part<V>(row, column, span)  called for an empty list too, but for no other empty run
//   void add<V>(total, part)             adds the next run's share
//   void finish<V>(row, column, share)
// or, if the entries are walked again with the result of the whole list, instead of finish
//   void spread<V>(row, column, span, share)
struct Nothing {};
template <typename Body>
concept WalksLists = requires(const Body& body) { body.list(int64_t{0}); };
template <typename Body>
constexpr bool kWalksTwice = requires { Body::kSpreads; };

// Calls Body::run<V>(row, column), or walks the list of the row, for the columns [column, column +
// V) of every row, with one lane each; lanes do not communicate.
template <int V, typename Body>
struct ByPieces {
  // Four blocks leave the 64 registers that walking a list of rows takes, and 32 warps whose reads
  // are in flight at once; bodies with more values define fewer blocks.
  static constexpr int kLeastBlocks = [] {
    if constexpr (requires { Body::kLeastBlocks; })
      return Body::kLeastBlocks;
    else
      return WalksLists<Body> ? 4 : 0;
  }();
  Body body;
  int64_t width;
  Divisor parts;  // pieces per row or, for tiles, tiles per row

  // For narrow rows: item i is a piece.
  GNNMG_BOTH void operator()(int64_t i) const {
    const int64_t row = parts(i);
    piece(row, (i - row * parts.by) * V);
  }
  template <typename Tile>
  GNNMG_BOTH void operator()(const Tile& tile, int64_t item) const {
    const int64_t row = parts.by == 1 ? item : parts(item);
    const int64_t first = (item - row * parts.by) * Tile::kLanes * V;
    tile.each([&](int lane) { piece(row, first + int64_t{lane} * V); });
  }
  GNNMG_BOTH void piece(int64_t row, int64_t column) const {
    if (column < width) body.template run<V>(row, column);
  }

  // The interface of teams().
  template <typename Tile>
  GNNMG_BOTH bool alone(const Tile& tile, int64_t item) const {
    const int64_t row = parts.by == 1 ? item : parts(item);
    const Span list = body.list(row);
    if (list.is_long()) return false;
    const int64_t first = (item - row * parts.by) * Tile::kLanes * V;
    tile.each([&](int lane) {
      const int64_t column = first + int64_t{lane} * V;
      if (column >= width) return;
      const auto share = body.template part<V>(row, column, list);
      if constexpr (kWalksTwice<Body>)
        body.template spread<V>(row, column, list, share);
      else
        body.template finish<V>(row, column, share);
    });
    return true;
  }
  GNNMG_BOTH bool is_long(int64_t item) const { return body.list(parts(item)).is_long(); }
  template <typename Team>
  GNNMG_BOTH void together(const Team& team, int64_t item) const {
    using Share = typename Body::template Share<V>;
    using Tile = typename Team::Tile;
    const int64_t row = parts(item), first = (item - row * parts.by) * Tile::kLanes * V;
    const Span list = body.list(row);
    const auto column = [&](int lane) { return first + int64_t{lane} * V; };
    const auto total = team.template combine<Share>(
        list.sharing(Team::kTiles),
        [&](const Tile& tile, int t) {
          const Span run = list.part(Team::kTiles, t);
          return tile.template make<Share>([&](int lane) {
            return column(lane) < width ? body.template part<V>(row, column(lane), run) : Share{};
          });
        },
        [&](Share& sum, const Share& part) { body.template add<V>(sum, part); });
    team.each([&](const Tile& tile, int t) {
      if constexpr (kWalksTwice<Body>) {
        const Span run = list.part(Team::kTiles, t);
        tile.each([&](int lane) {
          if (column(lane) < width) body.template spread<V>(row, column(lane), run, total[lane]);
        });
      } else {
        if (t != 0) return;
        tile.each([&](int lane) {
          if (column(lane) < width) body.template finish<V>(row, column(lane), total[lane]);
        });
      }
    });
  }
};

template <int V, typename Queue, typename Body>
void launch_pieces(Queue& queue, int64_t rows, int64_t width, const Body& body) {
  const int64_t pieces = width / V;
  const auto launch = [&]<int N>() {
    const int64_t parts = (pieces + N - 1) / N;
    const ByPieces<V, Body> kernel{body, width, Divisor(parts)};
    if constexpr (WalksLists<Body>)
      queue.template teams<N>(rows * parts, kernel);
    else if constexpr (N == 1)
      queue.each(rows * parts, kernel);
    else
      queue.template tiles<N>(rows * parts, kernel);
  };
  if (pieces < 12)
    launch.template operator()<1>();
  else if (pieces <= 16)
    launch.template operator()<16>();
  else
    launch.template operator()<32>();
}

// `lines`: all rows that the body reads and writes can be moved by pieces of Body::kPiece elements;
// they are if those also divide the width.
template <typename Queue, typename Body>
void by_pieces(device::Queue* queue, int64_t rows, int64_t width, bool lines, const Body& body) {
  if (rows <= 0 || width <= 0) return;
  if (lines && width % Body::kPiece == 0)
    launch_pieces<Body::kPiece>(queue_of<Queue>(queue), rows, width, body);
  else
    launch_pieces<1>(queue_of<Queue>(queue), rows, width, body);
}

}  // namespace gnnmg::cuda
