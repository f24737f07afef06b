// The first stage of a hop: the picks of a chunk of rows, as positions in the graph's list of
// sources. Prefetches these positions for the next stage.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/memory.h"
#include "base/philox.h"
#include "graph/csc.h"
#include "sample/draw.h"

namespace gnnmg::sample {

// Parameters of one hop's draws.
struct HopDraw {
  base::Key key;
  int64_t fanout = -1;
  bool replace = false;
  bool labor = false;  // draws by labor.h instead of draw.h
};

// Bounds of a chunk, so that its buffers stay in the caches of a core.
inline constexpr int64_t kChunkRows = 512;
inline constexpr int64_t kChunkEdges = 8192;

class Picker {
 public:
  // Picks for the first of `rows`: at most kChunkRows, fewer once they have kChunkEdges edges, at
  // least one. Returns the number of rows done. rows[i] is the row of node ids[i] in `csc`: the
  // same number if it has all rows, another if it has some. Prefetches the index pointers of the
  // rows after those.
  int64_t pick(const graph::Csc& csc, std::span<const int64_t> rows, std::span<const int64_t> ids,
               const HopDraw& draw);
  // ends()[r]: number of picks in rows 0 to r.
  const int64_t* ends() const { return ends_.data() + 1; }
  int64_t num_picks() const { return num_picks_; }
  // The picks, row after row; each is an index into csc.indices.
  const int64_t* places() const { return places_.data(); }

 private:
  int64_t pick_labor(const graph::Csc& csc, std::span<const int64_t> rows, const HopDraw& draw);
  template <typename Source>
  void keep(const Source* sources, int64_t begin, int64_t degree, const HopDraw& draw);
  void run_lanes(const uint32_t* key, const HopDraw& draw, int num_lanes, const char* sources,
                 int64_t source_bytes);

  const NamedKernel& kernel_ = lane_kernels()[0];
  LaneRows lanes_{};
  std::array<int64_t, kLanes> lane_begin_{};  // first entry of the lane's row in csc.indices
  std::array<int64_t, kLanes> lane_out_{};    // first pick of the lane's row in places_
  alignas(64) std::array<uint32_t, kMaxLaneFanout * kLanes> lane_picks_{};
  std::array<int64_t, kChunkRows> begins_{};
  std::array<int64_t, kChunkRows> degrees_{};
  std::array<int64_t, kChunkRows + 1> ends_{};
  std::array<uint32_t, kKeepAtOnce> kept_{};
  int64_t num_picks_ = 0;
  base::PageVector<int64_t> places_;
  PickSet set_;
};

}  // namespace gnnmg::sample
