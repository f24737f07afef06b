// The sort of edges by target that makes a topology: stable, in two levels, with little memory
// beside the edges and the result. Internal to csc.cpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "base/thread_pool.h"
#include "graph/csc.h"

namespace gnnmg::graph {

// Edges in one range of a parallel loop: a huge page of 32-bit ids, so that ranges give whole pages
// back.
inline constexpr int64_t kSortGrain = 1 << 19;

// Two lists. Those of `lists`, if any, end here: the memory of edges that have been taken is given
// back.
template <typename Id>
struct ListPairs {
  std::span<const Id> sources, targets;
  bool given_away = false;

  int64_t size() const { return static_cast<int64_t>(targets.size()); }
  // Calls f(e, source, target) for each edge of a range.
  template <typename F>
  void each(int64_t begin, int64_t end, F&& f) const {
    for (int64_t e = begin; e < end; ++e) f(e, int64_t{sources[e]}, int64_t{targets[e]});
  }
  void done(int64_t begin, int64_t end) const {
    if (!given_away) return;
    for (const std::span<const Id>& list : {sources, targets})
      base::forget_pages(const_cast<Id*>(list.data()) + begin, (end - begin) * sizeof(Id));
  }
};

// The edges of a topology, in its order.
template <typename Source>
struct CscPairs {
  std::span<const int64_t> indptr;
  std::span<const Source> sources;

  int64_t size() const { return static_cast<int64_t>(sources.size()); }
  template <typename F>
  void each(int64_t begin, int64_t end, F&& f) const {
    if (begin == end) return;
    int64_t target = std::upper_bound(indptr.begin(), indptr.end(), begin) - indptr.begin() - 1;
    for (int64_t e = begin; e < end; ++e) {
      while (indptr[target + 1] <= e) ++target;
      f(e, int64_t{sources[e]}, target);
    }
  }
  void done(int64_t, int64_t) const {}
};

// Buckets of 2^shift consecutive targets, and the number of edges that each chunk of the list has
// for each bucket.
struct BucketPlan {
  int shift = 0;
  int64_t num_buckets = 0;
  int64_t num_chunks = 0;
  std::vector<int64_t> counts;        // [num_chunks, num_buckets], then offsets
  std::vector<int64_t> bucket_begin;  // [num_buckets + 1]
  bool sorted = true;                 // true while the targets ascend

  // Edges, or targets searched, per bucket; sized for the L2 cache.
  static constexpr int64_t kBucketSize = 1 << 15;
  static constexpr int kMaxBucketBits = 10;

  BucketPlan(int64_t num_edges, int64_t num_targets) {
    const auto width_of = [](int64_t n) { return std::bit_width(static_cast<uint64_t>(n)); };
    const int bits =
        std::min<int>(kMaxBucketBits, width_of(std::max(num_edges, num_targets) / kBucketSize));
    shift = std::max<int>(0, width_of(std::max<int64_t>(num_targets, 1) - 1) - bits);
    num_buckets = num_targets == 0 ? 0 : ((num_targets - 1) >> shift) + 1;
    num_chunks = (num_edges + kSortGrain - 1) / kSortGrain;
    counts.resize(num_chunks * num_buckets);
  }
  int64_t* chunk(int64_t begin) { return counts.data() + begin / kSortGrain * num_buckets; }

  // Turns counts into the position at which each chunk puts its first edge of each bucket; returns
  // the number of edges.
  int64_t place() {
    bucket_begin.resize(num_buckets + 1);
    int64_t position = 0;
    for (int64_t bucket = 0; bucket < num_buckets; ++bucket) {
      bucket_begin[bucket] = position;
      for (int64_t chunk = 0; chunk < num_chunks; ++chunk)
        position += std::exchange(counts[chunk * num_buckets + bucket], position);
    }
    return bucket_begin[num_buckets] = position;
  }
};

struct NoId {};  // an edge id of edges without ids

// Sorts one bucket, whose edges are in list order, by target. Scratch memory is kept between
// buckets.
template <typename Local, typename Source, typename EdgeId>
class BucketSorter {
 public:
  static constexpr bool kWithIds = !std::is_same_v<EdgeId, NoId>;

  // Sets indptr[t] to the first edge of each target.
  void sort(std::span<const Local> local, int64_t first_edge, int64_t num_local, Source* sources,
            EdgeId* edge_ids, int64_t* indptr) {
    const auto size = static_cast<int64_t>(local.size());
    next_.assign(num_local, 0);
    bool rising = true;
    Local previous = 0;
    for (Local target : local) {
      ++next_[target];
      rising &= target >= previous;
      previous = target;
    }
    int64_t position = 0;
    for (int64_t t = 0; t < num_local; ++t) {
      indptr[t] = first_edge + position;
      position += std::exchange(next_[t], position);
    }
    if (rising) return;
    sources_.resize_discard(size);
    std::copy(sources, sources + size, sources_.data());
    if constexpr (kWithIds) {
      edge_ids_.resize_discard(size);
      std::copy(edge_ids, edge_ids + size, edge_ids_.data());
    }
    for (int64_t e = 0; e < size; ++e) {
      const int64_t to = next_[local[e]]++;
      sources[to] = sources_[e];
      if constexpr (kWithIds) edge_ids[to] = edge_ids_[e];
    }
  }

 private:
  // Per target of the bucket: the count, later the position of its next edge.
  std::vector<int64_t> next_;
  base::PageVector<Source> sources_;
  base::PageVector<EdgeId> edge_ids_;
};

// Fills csc.indices, csc.edge_ids (unless EdgeId is NoId) and csc.indptr by a plan that has been
// placed. `after(bucket)` is called once a bucket is sorted.
template <typename Local, typename Source, typename EdgeId, typename Pairs, typename After>
void sort_by_target(const Pairs& pairs, const CscRules& rules, BucketPlan& plan, Csc& csc,
                    base::ThreadPool& pool, After after) {
  Source* out_sources = csc.indices.as<Source>().data();
  EdgeId* out_ids = nullptr;
  if constexpr (!std::is_same_v<EdgeId, NoId>) out_ids = csc.edge_ids.as<EdgeId>().data();
  int64_t* indptr = csc.indptr.as<int64_t>().data();
  // Each edge's target within the bucket. In small pages, which come as they are written.
  base::PageVector<Local> local;
  local.resize_discard(plan.bucket_begin[plan.num_buckets]);
  base::use_small_pages(local.data(), local.size() * sizeof(Local));
  const uint64_t mask = (uint64_t{1} << plan.shift) - 1;

  pool.parallel_for(pairs.size(), kSortGrain, [&](int64_t begin, int64_t end) {
    int64_t* next = plan.chunk(begin);
    const auto put = [&](int64_t e, int64_t source, int64_t target) {
      const int64_t to = next[target >> plan.shift]++;
      local[to] = static_cast<Local>(static_cast<uint64_t>(target) & mask);
      out_sources[to] = static_cast<Source>(source);
      if constexpr (!std::is_same_v<EdgeId, NoId>) out_ids[to] = static_cast<EdgeId>(e);
    };
    pairs.each(begin, end, [&](int64_t e, int64_t source, int64_t target) {
      const bool loop = source == target;
      if (!loop || !rules.drop_loops) put(e, source, target);
      if (!loop && rules.reverses) put(e, target, source);
    });
    pairs.done(begin, end);
  });
  constexpr int64_t kBuckets = 8;  // buckets per task; they share one scratch
  pool.parallel_for(plan.num_buckets, kBuckets, [&](int64_t begin, int64_t end) {
    BucketSorter<Local, Source, EdgeId> sorter;
    for (int64_t bucket = begin; bucket < end; ++bucket) {
      const int64_t first_target = bucket << plan.shift;
      const int64_t first = plan.bucket_begin[bucket], last = plan.bucket_begin[bucket + 1];
      sorter.sort(local.span().subspan(first, last - first), first,
                  std::min(int64_t{1} << plan.shift, csc.num_targets - first_target),
                  out_sources + first, out_ids ? out_ids + first : nullptr, indptr + first_target);
      after(bucket);
    }
  });
  indptr[csc.num_targets] = plan.bucket_begin[plan.num_buckets];
}

// Keeps one of equal edges. The edges of a bucket are in its place in `csc`, its pointers in
// `csc.indptr`.
template <typename Source>
class Merger {
 public:
  Merger(const BucketPlan& plan, Csc& csc) : plan_(plan), csc_(csc), kept_(plan.num_buckets + 1) {}

  // Sorts the sources of each target of a bucket and closes the gaps of those that are repeated.
  void merge(int64_t bucket) {
    Source* sources = csc_.indices.as<Source>().data();
    int64_t* indptr = csc_.indptr.as<int64_t>().data();
    const int64_t first_target = bucket << plan_.shift, end_target = end_of(bucket);
    const int64_t end = plan_.bucket_begin[bucket + 1];
    int64_t to = plan_.bucket_begin[bucket];
    for (int64_t t = first_target; t < end_target; ++t) {
      Source* row = sources + indptr[t];
      Source* row_end = sources + (t + 1 < end_target ? indptr[t + 1] : end);
      if (!std::is_sorted(row, row_end)) std::sort(row, row_end);
      indptr[t] = to;
      for (const Source* source = row; source < row_end; ++source)
        if (source == row || *source != sources[to - 1]) sources[to++] = *source;
    }
    kept_[bucket + 1] = to - plan_.bucket_begin[bucket];
  }

  // Closes the gaps between buckets.
  void finish(base::ThreadPool& pool) {
    for (int64_t bucket = 0; bucket < plan_.num_buckets; ++bucket)
      kept_[bucket + 1] += kept_[bucket];
    const int64_t num_edges = kept_.back();
    if (num_edges == csc_.num_edges()) return;
    const base::Tensor wide =
        std::exchange(csc_.indices, base::Tensor::empty(csc_.indices.dtype(), {num_edges}));
    Source* from = wide.as<Source>().data();
    Source* to = csc_.indices.as<Source>().data();
    int64_t* indptr = csc_.indptr.as<int64_t>().data();
    constexpr int64_t kBuckets = 8;
    pool.parallel_for(plan_.num_buckets, kBuckets, [&](int64_t begin, int64_t end) {
      for (int64_t bucket = begin; bucket < end; ++bucket) {
        const int64_t first = plan_.bucket_begin[bucket], moved = first - kept_[bucket];
        std::copy_n(from + first, kept_[bucket + 1] - kept_[bucket], to + kept_[bucket]);
        for (int64_t t = bucket << plan_.shift; t < end_of(bucket); ++t) indptr[t] -= moved;
      }
      const int64_t first = plan_.bucket_begin[begin], last = plan_.bucket_begin[end];
      base::forget_pages(from + first, (last - first) * sizeof(Source));
    });
    indptr[csc_.num_targets] = num_edges;
  }

 private:
  int64_t end_of(int64_t bucket) const {
    return std::min((bucket + 1) << plan_.shift, csc_.num_targets);
  }
  const BucketPlan& plan_;
  Csc& csc_;
  std::vector<int64_t> kept_;  // edges of each bucket at the next place, then their sum so far
};

}  // namespace gnnmg::graph
