#include "sample/picker.h"

#include <algorithm>

#include "sample/labor.h"

namespace gnnmg::sample {

int64_t Picker::pick(const graph::Csc& csc, std::span<const int64_t> rows,
                     std::span<const int64_t> ids, const HopDraw& draw) {
  if (draw.labor && draw.fanout >= 0) return pick_labor(csc, rows, draw);
  const int64_t* indptr = static_cast<const int64_t*>(csc.indptr.data());
  const char* sources = static_cast<const char*>(csc.indices.data());
  const int64_t source_bytes = csc.wide() ? 8 : 4;
  const int64_t available = static_cast<int64_t>(rows.size());
  int64_t num_rows = std::min(available, kChunkRows);

  const int64_t ahead = std::min(available, 2 * kChunkRows);
  for (int64_t r = num_rows; r < ahead; ++r) __builtin_prefetch(indptr + rows[r]);

  const bool all = draw.fanout < 0;
  const int64_t fanout = draw.fanout;
  num_picks_ = 0;
  for (int64_t r = 0; r < num_rows; ++r) {
    const int64_t begin = indptr[rows[r]];
    const int64_t degree = indptr[rows[r] + 1] - begin;
    begins_[r] = begin;
    degrees_[r] = degree;
    num_picks_ += all            ? degree
                  : draw.replace ? (degree > 0 ? fanout : 0)
                                 : std::min(degree, fanout);
    ends_[r + 1] = num_picks_;
    if (num_picks_ >= kChunkEdges) num_rows = r + 1;
  }
  places_.resize_discard(num_picks_);

  int64_t* places = places_.data();
  int lane = 0;
  for (int64_t r = 0; r < num_rows; ++r) {
    const int64_t begin = begins_[r];
    const int64_t degree = degrees_[r];
    int64_t* out = places + ends_[r];
    if (all || (!draw.replace && degree <= fanout)) {
      for (int64_t i = 0; i < degree; ++i) out[i] = begin + i;
      const char* row = sources + begin * source_bytes;
      for (int64_t byte = 0; byte < degree * source_bytes; byte += 64)
        __builtin_prefetch(row + byte);
      if (degree > 0) __builtin_prefetch(row + degree * source_bytes - 1);
    } else if (degree == 0 || fanout == 0) {
      continue;
    } else if (fanout > kernel_.max_fanout) {
      draw_row(draw.key, ids[r], static_cast<uint32_t>(degree), fanout, draw.replace, set_, begin,
               out);
      for (int64_t i = 0; i < fanout; ++i) __builtin_prefetch(sources + out[i] * source_bytes);
    } else {
      const uint64_t id = ids[r];
      lanes_.id_low[lane] = static_cast<uint32_t>(id);
      lanes_.id_high[lane] = static_cast<uint32_t>(id >> 32);
      lanes_.degree[lane] = static_cast<uint32_t>(degree);
      lane_begin_[lane] = begin;
      lane_out_[lane] = ends_[r];
      if (++lane == kLanes) {
        run_lanes(draw.key.data(), draw, lane, sources, source_bytes);
        lane = 0;
      }
    }
  }
  if (lane > 0) run_lanes(draw.key.data(), draw, lane, sources, source_bytes);
  return num_rows;
}

int64_t Picker::pick_labor(const graph::Csc& csc, std::span<const int64_t> rows,
                           const HopDraw& draw) {
  constexpr int64_t kAheadPointers = 16, kAheadSources = 4;
  const int64_t* indptr = static_cast<const int64_t*>(csc.indptr.data());
  const auto available = static_cast<int64_t>(rows.size());
  const int64_t most = std::min(available, kChunkRows);
  num_picks_ = 0;
  return graph::visit_indices(csc, [&](auto sources) {
    int64_t r = 0;
    while (r < most && num_picks_ < kChunkEdges) {
      if (r + kAheadPointers < available) __builtin_prefetch(indptr + rows[r + kAheadPointers]);
      if (r + kAheadSources < available)
        __builtin_prefetch(sources.data() + indptr[rows[r + kAheadSources]]);
      const int64_t begin = indptr[rows[r]], degree = indptr[rows[r] + 1] - begin;
      if (degree <= draw.fanout) {
        places_.resize_keep(num_picks_ + degree);
        for (int64_t i = 0; i < degree; ++i) places_[num_picks_ + i] = begin + i;
        num_picks_ += degree;
      } else if (draw.fanout > 0) {
        keep(sources.data(), begin, degree, draw);
      }
      ends_[++r] = num_picks_;
    }
    return r;
  });
}

// Appends the positions of the sources that a row keeps.
template <typename Source>
void Picker::keep(const Source* sources, int64_t begin, int64_t degree, const HopDraw& draw) {
  const uint32_t threshold = labor_threshold(draw.fanout, degree);
  for (int64_t first = begin; first < begin + degree; first += kKeepAtOnce) {
    const auto count = static_cast<int>(std::min<int64_t>(begin + degree - first, kKeepAtOnce));
    int num_kept = 0;
    if constexpr (sizeof(Source) == 4) {
      num_kept = kernel_.keep(draw.key.data(), sources + first, count, threshold, kept_.data());
    } else {
      for (int i = 0; i < count; ++i)
        if (labor_number(draw.key, static_cast<uint64_t>(sources[first + i])) < threshold)
          kept_[num_kept++] = static_cast<uint32_t>(i);
    }
    places_.resize_keep(num_picks_ + num_kept);
    for (int i = 0; i < num_kept; ++i) places_[num_picks_ + i] = first + kept_[i];
    num_picks_ += num_kept;
  }
}

void Picker::run_lanes(const uint32_t* key, const HopDraw& draw, int num_lanes, const char* sources,
                       int64_t source_bytes) {
  const int fanout = static_cast<int>(draw.fanout);
  kernel_.run(key, lanes_, fanout, draw.replace, lane_picks_.data());
  for (int lane = 0; lane < num_lanes; ++lane) {
    int64_t* out = places_.data() + lane_out_[lane];
    const int64_t begin = lane_begin_[lane];
    for (int i = 0; i < fanout; ++i) {
      out[i] = begin + lane_picks_[i * kLanes + lane];
      __builtin_prefetch(sources + out[i] * source_bytes);
    }
  }
}

}  // namespace gnnmg::sample
