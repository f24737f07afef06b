// The draws of the uniform neighbor sampler: which of a node's neighbors are picked, and in which
// order. This is the definition that every device reproduces; reading and numbering the neighbors
// are defined elsewhere.
//
// A node v with d neighbors and fan-out k has the words w(i) = base::draw(key, v, i), i = 0, 1,
// ..., of the hop's key: word i is word i % 4 of the Philox block whose counter is (low half of v,
// high half of v, i / 4, 0). bounded(w, b) = (w * b) >> 32.
//
//   without replacement, d <= k or k = -1   all neighbors, in CSC order; nothing is drawn
//   without replacement, d > k              for i = 0 .. k-1, with j = d - k + i:
//                                           t = bounded(w(i), j + 1); pick i is t, or j if t is
//                                           among the picks before (Floyd; Bentley, "Programming
//                                           pearls", CACM 30(9), 1987)
//   with replacement, d > 0                 pick i is bounded(w(i), d), i = 0 .. k-1
//   d = 0 or k = 0                          nothing
//
// Picks are positions in the node's row. One word decides one pick, so the probability of a pick
// deviates from uniform by less than d / 2^32; nodes of 2^32 neighbors or more are refused.
#pragma once

#include <cstdint>
#include <span>

#include "base/memory.h"
#include "base/philox.h"
#include "sample/draw_lanes.h"

namespace gnnmg::sample {

// The largest fan-out for which a kernel draws for kLanes nodes side by side.
inline constexpr int64_t kMaxLaneFanout = 256;

// Writes pick i of lane l to picks[i * kLanes + l]; `picks` is aligned to 64 bytes.
using LaneKernel = void (*)(const uint32_t* key, const LaneRows& rows, int fanout, bool replace,
                            uint32_t* picks);
// Selects those of `count` sources, at most kKeepAtOnce, whose labor_number() is below the
// threshold: writes their positions to `kept`, ascending, and returns their number.
using KeepKernel = int (*)(const uint32_t* key, const int32_t* sources, int count,
                           uint32_t threshold, uint32_t* kept);
// Beyond a kernel's largest fan-out its search among the earlier picks costs more than draw_row().
struct NamedKernel {
  const char* name;
  LaneKernel run;
  int64_t max_fanout;
  KeepKernel keep;
};
// Returns the kernels that this CPU can run, the fastest first; all give the same picks.
std::span<const NamedKernel> lane_kernels() noexcept;

// The picks of a row so far, for draw_row(): an open-addressing set that is emptied by taking the
// next stamp.
class PickSet {
 public:
  void begin(int64_t capacity);
  // Returns false if the pick was there already.
  bool insert(uint32_t pick);

 private:
  base::PageVector<uint64_t> slots_;  // stamp in the high half, pick in the low one
  uint32_t stamp_ = 0;
  int shift_ = 0;
};

// Draws one row of any fan-out: writes first + pick i to out[i].
void draw_row(base::Key key, int64_t node, uint32_t degree, int64_t fanout, bool replace,
              PickSet& set, int64_t first, int64_t* out);

}  // namespace gnnmg::sample
