#include "graph/edges.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/mapped_tensor.h"

namespace gnnmg::graph {
namespace {

using base::CsrMatrix;
using base::DType;
using base::Tensor;
using base::ThreadPool;

constexpr int64_t kTargetGrain = 1 << 11;
constexpr int64_t kRowGrain = 1 << 12;

// Turns counts at pointers[i + 1] into index pointers.
void add_up(std::span<int64_t> pointers) {
  pointers[0] = 0;
  for (size_t i = 1; i < pointers.size(); ++i) pointers[i] += pointers[i - 1];
}

// Common part of both passes of coalescing: `keep` is called with each target, the position of a
// kept edge among the target's kept edges, its source and its smallest edge id. Ids are read only
// `with_ids`.
template <typename Source, typename Keep, typename Done>
void each_kept(const Csc& csc, std::span<const Source> sources, bool with_ids, ThreadPool& pool,
               Keep keep, Done done) {
  const std::span<const int64_t> indptr = csc.indptr.as<const int64_t>();
  pool.parallel_for(csc.num_targets, kTargetGrain, [&](int64_t begin, int64_t end) {
    std::vector<std::pair<Source, int64_t>> edges;
    for (int64_t t = begin; t < end; ++t) {
      edges.clear();
      for (int64_t e = indptr[t]; e < indptr[t + 1]; ++e)
        edges.emplace_back(sources[e], with_ids ? csc.edge_id(e) : 0);
      if (!std::is_sorted(edges.begin(), edges.end())) std::sort(edges.begin(), edges.end());
      int64_t kept = 0;
      for (size_t i = 0; i < edges.size(); ++i)
        if (i == 0 || edges[i].first != edges[i - 1].first)
          keep(t, kept++, edges[i].first, edges[i].second);
      done(t, kept);
    }
  });
}

Tensor pick_dense(const Tensor& column, std::span<const int64_t> rows, ThreadPool& pool) {
  const Tensor tensor = base::in_memory(column);
  base::Shape shape = tensor.shape();
  shape.dims[0] = static_cast<int64_t>(rows.size());
  Tensor out = Tensor::empty(tensor.dtype(), shape);
  const int64_t bytes = tensor.view().row_bytes();
  const char* from = static_cast<const char*>(tensor.data());
  char* to = static_cast<char*>(out.data());
  pool.parallel_for(shape[0], kRowGrain, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      if (rows[r] < 0)
        std::memset(to + r * bytes, 0, bytes);
      else
        std::memcpy(to + r * bytes, from + rows[r] * bytes, bytes);
    }
  });
  return out;
}

CsrMatrix pick_sparse(const CsrMatrix& matrix, std::span<const int64_t> rows, ThreadPool& pool) {
  const std::span<const int64_t> from = matrix.indptr.as<const int64_t>();
  CsrMatrix out;
  out.num_rows = static_cast<int64_t>(rows.size());
  out.num_cols = matrix.num_cols;
  out.indptr = Tensor::empty(DType::kI64, {out.num_rows + 1});
  const std::span<int64_t> to = out.indptr.as<int64_t>();
  for (int64_t r = 0; r < out.num_rows; ++r)
    to[r + 1] = rows[r] < 0 ? 0 : from[rows[r] + 1] - from[rows[r]];
  add_up(to);
  out.indices = Tensor::empty(DType::kI32, {to.back()});
  out.values = Tensor::empty(DType::kF32, {to.back()});
  pool.parallel_for(out.num_rows, kRowGrain, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      if (rows[r] < 0) continue;
      const int64_t first = from[rows[r]], count = to[r + 1] - to[r];
      std::copy_n(matrix.indices.as<int32_t>().data() + first, count,
                  out.indices.as<int32_t>().data() + to[r]);
      std::copy_n(matrix.values.as<float>().data() + first, count,
                  out.values.as<float>().data() + to[r]);
    }
  });
  return out;
}

}  // namespace

Csc coalesced(const Csc& csc, Tensor* first, ThreadPool& pool) {
  Csc out;
  out.num_sources = csc.num_sources;
  out.num_targets = csc.num_targets;
  out.indptr = Tensor::empty(DType::kI64, {csc.num_targets + 1});
  const std::span<int64_t> indptr = out.indptr.as<int64_t>();
  visit_indices(csc, [&](auto sources) {
    using Source = std::remove_const_t<typename decltype(sources)::element_type>;
    // Kept edges first take the positions of the target's old edges; a second step closes the gaps.
    const std::span<const int64_t> old = csc.indptr.as<const int64_t>();
    const Tensor wide_sources = Tensor::empty(csc.indices.dtype(), csc.indices.shape());
    const std::span<Source> kept_sources = wide_sources.as<Source>();
    const Tensor wide_ids =
        first ? Tensor::empty(DType::kI64, csc.indices.shape()) : Tensor::empty(DType::kI64, {0});
    int64_t* const kept_ids = wide_ids.as<int64_t>().data();
    each_kept<Source>(
        csc, sources, first != nullptr, pool,
        [&](int64_t t, int64_t place, Source source, int64_t id) {
          kept_sources[old[t] + place] = source;
          if (first) kept_ids[old[t] + place] = id;
        },
        [&](int64_t t, int64_t kept) { indptr[t + 1] = kept; });
    add_up(indptr);
    out.indices = Tensor::empty(csc.indices.dtype(), {indptr.back()});
    if (first) *first = Tensor::empty(DType::kI64, {indptr.back()});
    pool.parallel_for(csc.num_targets, kTargetGrain, [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; ++t) {
        const int64_t count = indptr[t + 1] - indptr[t];
        std::copy_n(kept_sources.data() + old[t], count,
                    out.indices.template as<Source>().data() + indptr[t]);
        if (first) std::copy_n(kept_ids + old[t], count, first->as<int64_t>().data() + indptr[t]);
      }
    });
  });
  return out;
}

Column pick_rows(const Column& column, const Tensor& rows, ThreadPool& pool) {
  const std::span<const int64_t> picks = rows.as<const int64_t>();
  if (const auto* tensor = std::get_if<Tensor>(&column)) return pick_dense(*tensor, picks, pool);
  return pick_sparse(std::get<CsrMatrix>(column), picks, pool);
}

}  // namespace gnnmg::graph
