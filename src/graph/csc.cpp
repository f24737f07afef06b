// Builds CSC topology: checks, the sort by target, and the conversion back to edge lists.
#include "graph/csc.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/memory.h"
#include "graph/bucket_sort.h"

namespace gnnmg::graph {
namespace {

using base::DType;
using base::fail;
using base::Status;
using base::Tensor;
using base::TensorView;
using base::ThreadPool;

constexpr int64_t kEntryGrain = 1 << 18;  // entries in one range of a parallel loop
constexpr int64_t kMaxTargets = int64_t{1} << (32 + BucketPlan::kMaxBucketBits);
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

// Checks every id and fills the plan's counts, in one pass over the edges.
template <typename Pairs>
BucketPlan check_and_count(const Pairs& pairs, int64_t num_sources, int64_t num_targets,
                           const CscRules& rules, ThreadPool& pool) {
  BucketPlan plan(pairs.size(), num_targets);
  Minimum first_bad;
  std::vector<std::pair<int64_t, int64_t>> ends(plan.num_chunks);  // first and last target
  std::atomic<bool> sorted{true};
  pool.parallel_for(pairs.size(), kSortGrain, [&](int64_t begin, int64_t end) {
    int64_t* counts = plan.chunk(begin);
    int64_t previous = 0, first = -1, bad = kNone;
    bool rising = true;
    pairs.each(begin, end, [&](int64_t e, int64_t source, int64_t target) {
      if (static_cast<uint64_t>(target) >= static_cast<uint64_t>(num_targets) ||
          static_cast<uint64_t>(source) >= static_cast<uint64_t>(num_sources)) {
        bad = std::min(bad, e);
        return;
      }
      const bool loop = source == target;
      if (!loop || !rules.drop_loops) ++counts[target >> plan.shift];
      if (!loop && rules.reverses) ++counts[source >> plan.shift];
      rising &= target >= previous;
      previous = target;
      if (first < 0) first = target;
    });
    if (bad != kNone) return first_bad.offer(bad);
    ends[begin / kSortGrain] = {first, previous};
    if (!rising) sorted.store(false, std::memory_order_relaxed);
  });
  if (const int64_t bad = first_bad.value(); bad != kNone)
    pairs.each(bad, bad + 1, [&](int64_t e, int64_t source, int64_t target) {
      if (static_cast<uint64_t>(source) >= static_cast<uint64_t>(num_sources))
        fail_id("sources", e, source, num_sources);
      fail_id("targets", e, target, num_targets);
    });
  plan.sorted = sorted.load();
  for (size_t i = 1; i < ends.size(); ++i) plan.sorted &= ends[i].first >= ends[i - 1].second;
  return plan;
}

Csc without_edges(int64_t num_sources, int64_t num_targets, int64_t num_edges) {
  Csc csc;
  csc.num_sources = num_sources;
  csc.num_targets = num_targets;
  // Without edges all pointers are zero; zeros() takes no memory for them.
  csc.indptr = num_edges == 0 ? Tensor::zeros(DType::kI64, {num_targets + 1})
                              : Tensor::empty(DType::kI64, {num_targets + 1});
  return csc;
}

template <typename Source, typename EdgeId, typename Pairs>
void sort_pairs(const Pairs& pairs, const CscRules& rules, BucketPlan& plan, Csc& csc,
                ThreadPool& pool) {
  const auto sort = [&](auto local, auto after) {
    sort_by_target<decltype(local), Source, EdgeId>(pairs, rules, plan, csc, pool, after);
  };
  const auto narrow_or_wide = [&](auto after) {
    constexpr int kNarrow = std::numeric_limits<uint16_t>::digits;
    if (plan.shift <= kNarrow)
      sort(uint16_t{}, after);
    else
      sort(uint32_t{}, after);
  };
  if (!rules.once) return narrow_or_wide([](int64_t) {});
  Merger<Source> merger(plan, csc);
  narrow_or_wide([&](int64_t bucket) { merger.merge(bucket); });
  merger.finish(pool);
}

// The topology of pairs that do not ascend by target, or that the rules change.
template <typename Pairs>
Csc sorted_csc(const Pairs& pairs, int64_t num_sources, int64_t num_targets, const CscRules& rules,
               BucketPlan plan, ThreadPool& pool) {
  const int64_t num_edges = plan.place();
  Csc csc = without_edges(num_sources, num_targets, num_edges);
  csc.indices = Tensor::empty(id_type(num_sources), {num_edges});
  visit_type(csc.indices.dtype(), [&](auto source) {
    using Source = decltype(source);
    if (!rules.edge_ids) return sort_pairs<Source, NoId>(pairs, rules, plan, csc, pool);
    csc.edge_ids = Tensor::empty(id_type(num_edges), {num_edges});
    visit_type(csc.edge_ids.dtype(), [&](auto edge_id) {
      sort_pairs<Source, decltype(edge_id)>(pairs, rules, plan, csc, pool);
    });
  });
  return csc;
}

// Tells whether nobody else can see the memory of a tensor, which is not a file's.
bool is_own(const Tensor& tensor) {
  return tensor.owner().use_count() == 1 && !base::MappedFile::of(tensor.owner());
}

void check_lists(const TensorView& sources, const TensorView& targets, int64_t num_sources,
                 int64_t num_targets) {
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
}

Csc csc_of_lists(const TensorView& sources, const TensorView& targets, int64_t num_sources,
                 int64_t num_targets, const CscRules& rules, bool given_away, ThreadPool& pool) {
  check_lists(sources, targets, num_sources, num_targets);
  const int64_t num_edges = targets.rows();
  return visit_ids(sources, [&](auto from) {
    using Id = std::remove_const_t<typename decltype(from)::element_type>;
    const ListPairs<Id> pairs{from, targets.as<Id>(), given_away};
    BucketPlan plan = check_and_count(pairs, num_sources, num_targets, rules, pool);
    if (!plan.sorted || rules.drop_loops || rules.once)
      return sorted_csc(pairs, num_sources, num_targets, rules, std::move(plan), pool);
    Csc csc = without_edges(num_sources, num_targets, num_edges);
    if (num_edges > 0)
      pointers_of_sorted<Id>(pairs.targets, num_targets, csc.indptr.as<int64_t>().data(), pool);
    csc.indices = Tensor::empty(id_type(num_sources), {num_edges});
    visit_type(csc.indices.dtype(), [&](auto tag) {
      using Source = decltype(tag);
      const std::span<Source> out = csc.indices.as<Source>();
      pool.parallel_for(num_edges, kSortGrain, [&](int64_t begin, int64_t end) {
        for (int64_t e = begin; e < end; ++e) out[e] = static_cast<Source>(from[e]);
        pairs.done(begin, end);
      });
    });
    return csc;
  });
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
  return csc_of_lists(sources, targets, num_sources, num_targets, {}, false, pool);
}

Csc csc_from_lists(Tensor sources, Tensor targets, int64_t num_sources, int64_t num_targets,
                   const CscRules& rules, ThreadPool& pool) {
  return csc_of_lists(sources.view(), targets.view(), num_sources, num_targets, rules,
                      is_own(sources) && is_own(targets), pool);
}

Csc undirected(const Csc& csc, ThreadPool& pool) {
  constexpr CscRules kRules{.edge_ids = false, .reverses = true, .once = true};
  return visit_indices(csc, [&](auto sources) {
    using Source = std::remove_const_t<typename decltype(sources)::element_type>;
    const CscPairs<Source> pairs{csc.indptr.as<const int64_t>(), sources};
    return sorted_csc(pairs, csc.num_sources, csc.num_targets, kRules,
                      check_and_count(pairs, csc.num_sources, csc.num_targets, kRules, pool), pool);
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
