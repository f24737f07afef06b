// Builds CSC topology: checks, a stable two-level counting sort by target, and the conversion back
// to edge lists.
#include "graph/csc.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <utility>
#include <vector>

#include "base/memory.h"

namespace gnnmg::graph {
namespace {

using base::DType;
using base::fail;
using base::Status;
using base::Tensor;
using base::TensorView;
using base::ThreadPool;

constexpr int64_t kEntryGrain = 1 << 18;  // entries in one range of a parallel loop
// Edges, or targets searched, per bucket; sized for the L2 cache.
constexpr int64_t kBucketSize = 1 << 15;
constexpr int kMaxBucketBits = 10;
constexpr int64_t kMaxTargets = int64_t{1} << (32 + kMaxBucketBits);
constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

DType id_type(int64_t bound) {
  return bound <= std::numeric_limits<int32_t>::max() ? DType::kI32 : DType::kI64;
}

// The smallest of the values offered by several threads.
class Minimum {
 public:
  void offer(int64_t value) {
    int64_t seen = value_.load(std::memory_order_relaxed);
    while (value < seen && !value_.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
    }
  }
  int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_{kNone};
};

// Returns the first position for which `bad` holds, or kNone; the same for any number of threads.
template <typename F>
int64_t find_first(int64_t count, ThreadPool& pool, F bad) {
  Minimum first;
  pool.parallel_for(count, kEntryGrain, [&](int64_t begin, int64_t end) {
    if (begin > first.value()) return;
    for (int64_t i = begin; i < end; ++i)
      if (bad(i)) return first.offer(i);
  });
  return first.value();
}

template <typename F>
decltype(auto) visit_ids(const TensorView& ids, F&& f) {
  if (ids.dtype == DType::kI64) return f(std::span<const int64_t>(ids.as<int64_t>()));
  return f(std::span<const int32_t>(ids.as<int32_t>()));
}

template <typename F>
decltype(auto) visit_type(DType type, F&& f) {
  if (type == DType::kI64) return f(int64_t{});
  return f(int32_t{});
}

void check_id_array(const TensorView& ids, const char* name) {
  if (ids.dtype != DType::kI64 && ids.dtype != DType::kI32)
    fail(Status::kInvalidArgument, name, " has elements of type ", base::dtype_name(ids.dtype),
         ", expected i32 or i64");
  if (ids.shape.num_dims != 1)
    fail(Status::kInvalidArgument, name, " has shape ", ids.shape.to_string(),
         ", expected one dimension");
}

void check_count(int64_t count, const char* name) {
  if (count < 0) fail(Status::kInvalidArgument, name, " is ", count, ", expected 0 or more");
}

[[noreturn]] void fail_id(const char* name, int64_t position, int64_t id, int64_t bound) {
  fail(Status::kRange, name, "[", position, "] is ", id, ", expected an id in [0, ", bound, ")");
}

void check_ids(const Tensor& ids, int64_t bound, const char* name, ThreadPool& pool) {
  visit_ids(ids.view(), [&](auto span) {
    const int64_t bad = find_first(ids.rows(), pool, [&](int64_t i) {
      return static_cast<uint64_t>(span[i]) >= static_cast<uint64_t>(bound);
    });
    if (bad != kNone) fail_id(name, bad, span[bad], bound);
  });
}

// Returns `values` with elements of `type`; shares them if they have that type already.
Tensor converted(const Tensor& values, DType type, ThreadPool& pool) {
  if (values.dtype() == type) return values;
  Tensor out = Tensor::empty(type, values.shape());
  visit_ids(values.view(), [&](auto from) {
    visit_type(type, [&](auto tag) {
      using To = decltype(tag);
      const std::span<To> to = out.as<To>();
      pool.parallel_for(values.rows(), kEntryGrain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) to[i] = static_cast<To>(from[i]);
      });
    });
  });
  return out;
}

// Index pointers for targets in ascending order: pointer k is the first edge whose target is k or
// more.
template <typename Id>
void pointers_of_sorted(std::span<const Id> targets, int64_t num_targets, int64_t* indptr,
                        ThreadPool& pool) {
  const auto count = static_cast<int64_t>(targets.size());
  pool.parallel_for(count, kEntryGrain, [&](int64_t begin, int64_t end) {
    int64_t next = begin == 0 ? 0 : int64_t{targets[begin - 1]} + 1;
    for (int64_t e = begin; e < end; ++e)
      for (; next <= targets[e]; ++next) indptr[next] = e;
  });
  const int64_t rest = count == 0 ? 0 : int64_t{targets[count - 1]} + 1;
  std::fill(indptr + rest, indptr + num_targets + 1, count);
}

// Buckets of 2^shift consecutive targets, and the number of edges that each chunk of the list has
// for each bucket.
struct Plan {
  int shift = 0;
  int64_t num_buckets = 0;
  int64_t num_chunks = 0;
  std::vector<int64_t> counts;        // [num_chunks, num_buckets], then offsets
  std::vector<int64_t> bucket_begin;  // [num_buckets + 1]
  bool sorted = true;                 // true while the targets ascend

  Plan(int64_t num_edges, int64_t num_targets) {
    const auto width_of = [](int64_t n) { return std::bit_width(static_cast<uint64_t>(n)); };
    const int bits =
        std::min<int>(kMaxBucketBits, width_of(std::max(num_edges, num_targets) / kBucketSize));
    shift = std::max<int>(0, width_of(std::max<int64_t>(num_targets, 1) - 1) - bits);
    num_buckets = num_targets == 0 ? 0 : ((num_targets - 1) >> shift) + 1;
    num_chunks = (num_edges + kEntryGrain - 1) / kEntryGrain;
    counts.resize(num_chunks * num_buckets);
  }

  // Turns counts into the position at which each chunk puts its first edge of each bucket.
  void place() {
    bucket_begin.resize(num_buckets + 1);
    int64_t position = 0;
    for (int64_t bucket = 0; bucket < num_buckets; ++bucket) {
      bucket_begin[bucket] = position;
      for (int64_t chunk = 0; chunk < num_chunks; ++chunk)
        position += std::exchange(counts[chunk * num_buckets + bucket], position);
    }
    bucket_begin[num_buckets] = position;
  }
};

// Checks every id and fills the plan's counts, in one pass over the lists.
template <typename Id>
Plan check_and_count(std::span<const Id> sources, std::span<const Id> targets, int64_t num_sources,
                     int64_t num_targets, ThreadPool& pool) {
  const auto num_edges = static_cast<int64_t>(targets.size());
  Plan plan(num_edges, num_targets);
  Minimum first_bad;
  std::atomic<bool> sorted{true};
  pool.parallel_for(num_edges, kEntryGrain, [&](int64_t begin, int64_t end) {
    int64_t* counts = plan.counts.data() + begin / kEntryGrain * plan.num_buckets;
    Id previous = begin == 0 ? 0 : targets[begin - 1];
    bool rising = true;
    for (int64_t e = begin; e < end; ++e) {
      const Id target = targets[e];
      if (static_cast<uint64_t>(target) >= static_cast<uint64_t>(num_targets) ||
          static_cast<uint64_t>(sources[e]) >= static_cast<uint64_t>(num_sources))
        return first_bad.offer(e);
      ++counts[target >> plan.shift];
      rising &= target >= previous;
      previous = target;
    }
    if (!rising) sorted.store(false, std::memory_order_relaxed);
  });
  if (const int64_t e = first_bad.value(); e != kNone) {
    if (static_cast<uint64_t>(sources[e]) >= static_cast<uint64_t>(num_sources))
      fail_id("sources", e, sources[e], num_sources);
    fail_id("targets", e, targets[e], num_targets);
  }
  plan.sorted = sorted.load();
  return plan;
}

// Sorts one bucket, whose edges are in list order, by target. Scratch memory is kept between
// buckets.
template <typename Source, typename EdgeId>
class BucketSorter {
 public:
  void sort(std::span<const uint32_t> local, int64_t first_edge, int64_t num_local, Source* sources,
            EdgeId* edge_ids, int64_t* indptr) {
    const auto size = static_cast<int64_t>(local.size());
    next_.assign(num_local, 0);
    bool rising = true;
    uint32_t previous = 0;
    for (uint32_t target : local) {
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
    edge_ids_.resize_discard(size);
    std::copy(sources, sources + size, sources_.data());
    std::copy(edge_ids, edge_ids + size, edge_ids_.data());
    for (int64_t e = 0; e < size; ++e) {
      const int64_t to = next_[local[e]]++;
      sources[to] = sources_[e];
      edge_ids[to] = edge_ids_[e];
    }
  }

 private:
  // Per target of the bucket: the count, later the position of its next edge.
  std::vector<int64_t> next_;
  base::PageVector<Source> sources_;
  base::PageVector<EdgeId> edge_ids_;
};

template <typename Id, typename Source, typename EdgeId>
void sort_by_target(std::span<const Id> sources, std::span<const Id> targets, Plan& plan, Csc& csc,
                    ThreadPool& pool) {
  const auto num_edges = static_cast<int64_t>(targets.size());
  Source* out_sources = csc.indices.as<Source>().data();
  EdgeId* out_ids = csc.edge_ids.as<EdgeId>().data();
  int64_t* indptr = csc.indptr.as<int64_t>().data();
  base::PageVector<uint32_t> local;  // each edge's target within the bucket
  local.resize_discard(num_edges);
  const uint64_t mask = (uint64_t{1} << plan.shift) - 1;

  plan.place();
  pool.parallel_for(num_edges, kEntryGrain, [&](int64_t begin, int64_t end) {
    int64_t* next = plan.counts.data() + begin / kEntryGrain * plan.num_buckets;
    for (int64_t e = begin; e < end; ++e) {
      const int64_t to = next[targets[e] >> plan.shift]++;
      local[to] = static_cast<uint32_t>(static_cast<uint64_t>(targets[e]) & mask);
      out_sources[to] = static_cast<Source>(sources[e]);
      out_ids[to] = static_cast<EdgeId>(e);
    }
  });
  constexpr int64_t kBuckets = 8;  // buckets per task; they share one scratch
  pool.parallel_for(plan.num_buckets, kBuckets, [&](int64_t begin, int64_t end) {
    BucketSorter<Source, EdgeId> sorter;
    for (int64_t bucket = begin; bucket < end; ++bucket) {
      const int64_t first_target = bucket << plan.shift;
      const int64_t first = plan.bucket_begin[bucket], last = plan.bucket_begin[bucket + 1];
      sorter.sort(local.span().subspan(first, last - first), first,
                  std::min(int64_t{1} << plan.shift, csc.num_targets - first_target),
                  out_sources + first, out_ids + first, indptr + first_target);
    }
  });
  indptr[csc.num_targets] = num_edges;
}

void check_pointers(std::span<const int64_t> indptr, int64_t num_edges, ThreadPool& pool) {
  const auto last = static_cast<int64_t>(indptr.size()) - 1;
  if (indptr[0] != 0) fail(Status::kRange, "indptr[0] is ", indptr[0], ", expected 0");
  const int64_t fall = find_first(last, pool, [&](int64_t i) { return indptr[i + 1] < indptr[i]; });
  if (fall != kNone)
    fail(Status::kRange, "indptr[", fall + 1, "] is ", indptr[fall + 1], ", expected at least ",
         indptr[fall], ", the pointer before it");
  if (indptr[last] != num_edges)
    fail(Status::kRange, "indptr[", last, "] is ", indptr[last], ", expected ", num_edges,
         ", the number of indices");
}

// Checks that each of [0, E) appears once: every id in range and not seen before.
void check_permutation(const Tensor& edge_ids, ThreadPool& pool) {
  const int64_t num_edges = edge_ids.rows();
  check_ids(edge_ids, num_edges, "edge_ids", pool);
  std::vector<std::atomic<uint64_t>> seen(num_edges / 64 + 1);
  visit_ids(edge_ids.view(), [&](auto ids) {
    std::atomic<bool> repeated{false};
    pool.parallel_for(num_edges, kEntryGrain, [&](int64_t begin, int64_t end) {
      for (int64_t e = begin; e < end; ++e) {
        const uint64_t bit = uint64_t{1} << (ids[e] % 64);
        if (seen[ids[e] / 64].fetch_or(bit, std::memory_order_relaxed) & bit)
          return repeated.store(true, std::memory_order_relaxed);
      }
    });
    if (!repeated.load()) return;
    for (auto& word : seen) word.store(0, std::memory_order_relaxed);
    for (int64_t e = 0;; ++e) {  // a second pass in order, so that the text names the first one
      const uint64_t bit = uint64_t{1} << (ids[e] % 64);
      if (seen[ids[e] / 64].fetch_or(bit, std::memory_order_relaxed) & bit)
        fail(Status::kRange, "edge_ids[", e, "] repeats the id ", ids[e],
             ", expected each id in [0, ", num_edges, ") once");
    }
  });
}

}  // namespace

int64_t Csc::edge_id(int64_t e) const {
  if (!edge_ids.defined()) return e;
  return edge_ids.dtype() == DType::kI64 ? static_cast<const int64_t*>(edge_ids.data())[e]
                                         : static_cast<const int32_t*>(edge_ids.data())[e];
}

Csc csc_from_coo(const TensorView& sources, const TensorView& targets, int64_t num_sources,
                 int64_t num_targets, ThreadPool& pool) {
  check_id_array(sources, "sources");
  check_id_array(targets, "targets");
  if (sources.dtype != targets.dtype)
    fail(Status::kInvalidArgument, "targets have elements of type ",
         base::dtype_name(targets.dtype), ", expected ", base::dtype_name(sources.dtype),
         ", the type of sources");
  if (sources.rows() != targets.rows())
    fail(Status::kInvalidArgument, "targets have ", targets.rows(), " entries, expected ",
         sources.rows(), ", the number of sources");
  check_count(num_sources, "the number of source nodes");
  check_count(num_targets, "the number of target nodes");
  if (num_targets > kMaxTargets)
    fail(Status::kUnsupported, "the number of target nodes is ", num_targets, ", at most ",
         kMaxTargets, " are supported");
  const int64_t num_edges = targets.rows();

  return visit_ids(sources, [&](auto from) {
    using Id = std::remove_const_t<typename decltype(from)::element_type>;
    const std::span<const Id> to(targets.as<Id>());
    Plan plan = check_and_count<Id>(from, to, num_sources, num_targets, pool);
    Csc csc;
    csc.num_sources = num_sources;
    csc.num_targets = num_targets;
    // Without edges all pointers are zero; zeros() takes no memory for them.
    csc.indptr = num_edges == 0 ? Tensor::zeros(DType::kI64, {num_targets + 1})
                                : Tensor::empty(DType::kI64, {num_targets + 1});
    if (plan.sorted) {
      if (num_edges > 0)
        pointers_of_sorted<Id>(to, num_targets, csc.indptr.as<int64_t>().data(), pool);
      csc.indices = Tensor::empty(id_type(num_sources), {num_edges});
      visit_type(csc.indices.dtype(), [&](auto tag) {
        using Source = decltype(tag);
        const std::span<Source> out = csc.indices.as<Source>();
        pool.parallel_for(num_edges, kEntryGrain, [&](int64_t begin, int64_t end) {
          for (int64_t e = begin; e < end; ++e) out[e] = static_cast<Source>(from[e]);
        });
      });
      return csc;
    }
    csc.indices = Tensor::empty(id_type(num_sources), {num_edges});
    csc.edge_ids = Tensor::empty(id_type(num_edges), {num_edges});
    visit_type(csc.indices.dtype(), [&](auto source) {
      visit_type(csc.edge_ids.dtype(), [&](auto edge_id) {
        sort_by_target<Id, decltype(source), decltype(edge_id)>(from, to, plan, csc, pool);
      });
    });
    return csc;
  });
}

Csc csc_from_arrays(Tensor indptr, Tensor indices, Tensor edge_ids, int64_t num_sources,
                    ThreadPool& pool) {
  if (!indptr.defined()) fail(Status::kInvalidArgument, "indptr is missing");
  if (!indices.defined()) fail(Status::kInvalidArgument, "indices are missing");
  check_id_array(indptr.view(), "indptr");
  check_id_array(indices.view(), "indices");
  if (indptr.rows() == 0)
    fail(Status::kInvalidArgument, "indptr has 0 entries, expected the number of targets plus 1");
  check_count(num_sources, "the number of source nodes");
  const int64_t num_edges = indices.rows();
  if (edge_ids.defined()) {
    check_id_array(edge_ids.view(), "edge_ids");
    if (edge_ids.rows() != num_edges)
      fail(Status::kInvalidArgument, "edge_ids have ", edge_ids.rows(), " entries, expected ",
           num_edges, ", the number of indices");
  }
  indptr = converted(indptr, DType::kI64, pool);
  check_pointers(indptr.as<const int64_t>(), num_edges, pool);
  check_ids(indices, num_sources, "indices", pool);
  if (edge_ids.defined()) check_permutation(edge_ids, pool);

  Csc csc;
  csc.num_sources = num_sources;
  csc.num_targets = indptr.rows() - 1;
  csc.indptr = std::move(indptr);
  csc.indices = converted(indices, id_type(num_sources), pool);
  if (edge_ids.defined()) csc.edge_ids = converted(edge_ids, id_type(num_edges), pool);
  return csc;
}

std::pair<Tensor, Tensor> coo_of(const Csc& csc, ThreadPool& pool, DType type) {
  if (type != DType::kI64 &&
      (type != DType::kI32 || id_type(std::max(csc.num_sources, csc.num_targets)) != type))
    fail(Status::kInvalidArgument, "edges are requested as ", base::dtype_name(type),
         ", expected i64, or i32 for fewer than 2^31 nodes");
  const int64_t num_edges = csc.num_edges();
  Tensor sources = Tensor::empty(type, {num_edges});
  Tensor targets = Tensor::empty(type, {num_edges});
  const std::span<const int64_t> indptr = csc.indptr.as<const int64_t>();
  visit_type(type, [&](auto tag) {
    using Id = decltype(tag);
    Id* out_sources = sources.as<Id>().data();
    Id* out_targets = targets.as<Id>().data();
    pool.parallel_for(num_edges, kEntryGrain, [&](int64_t begin, int64_t end) {
      int64_t target = std::upper_bound(indptr.begin(), indptr.end(), begin) - indptr.begin() - 1;
      for (int64_t e = begin; e < end; ++e) {
        while (indptr[target + 1] <= e) ++target;
        const int64_t id = csc.edge_id(e);
        out_sources[id] = static_cast<Id>(csc.source(e));
        out_targets[id] = static_cast<Id>(target);
      }
    });
  });
  return {std::move(sources), std::move(targets)};
}

}  // namespace gnnmg::graph
