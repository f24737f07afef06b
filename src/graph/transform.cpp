#include "graph/transform.h"

#include <atomic>
#include <limits>
#include <vector>

#include "base/mapped_tensor.h"
#include "graph/edges.h"

namespace gnnmg::graph {
namespace {

using base::CsrMatrix;
using base::DType;
using base::fail;
using base::Status;
using base::Tensor;
using base::ThreadPool;

constexpr int64_t kTransformGrain = 1 << 16;     // edges or nodes in one range of a parallel loop
constexpr int64_t kTransformRowGrain = 1 << 11;  // rows likewise

// Returns the edge type's topology. Error unless it joins nodes of one type.
const Csc& square(const Graph& graph, int32_t edge_type) {
  const Schema& schema = graph.schema();
  const auto count = static_cast<int64_t>(schema.edge_types.size());
  if (edge_type < 0 || edge_type >= count)
    fail(Status::kInvalidArgument, "edge_type is ", edge_type, ", expected a type in [0, ", count,
         ")");
  const EdgeType& type = schema.edge_types[edge_type];
  if (type.source != type.target)
    fail(Status::kInvalidArgument, "edge type '", schema.node_types[type.source], " -", type.name,
         "-> ", schema.node_types[type.target],
         "': source and target types differ, expected one type");
  return graph.csc(edge_type);
}

// Returns the positions in [0, count) for which `keep` holds, ascending: i64.
template <typename Keep>
Tensor positions_where(int64_t count, ThreadPool& pool, Keep keep) {
  std::vector<int64_t> begins((count + kTransformGrain - 1) / kTransformGrain + 1, 0);
  pool.parallel_for(count, kTransformGrain, [&](int64_t begin, int64_t end) {
    int64_t kept = 0;
    for (int64_t i = begin; i < end; ++i) kept += keep(i) ? 1 : 0;
    begins[begin / kTransformGrain + 1] = kept;
  });
  for (size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
  Tensor out = Tensor::empty(DType::kI64, {begins.back()});
  int64_t* positions = out.as<int64_t>().data();
  pool.parallel_for(count, kTransformGrain, [&](int64_t begin, int64_t end) {
    int64_t to = begins[begin / kTransformGrain];
    for (int64_t i = begin; i < end; ++i)
      if (keep(i)) positions[to++] = i;
  });
  return out;
}

// A change to the edges of one type: kept edges first, in edge order, then the added ones.
enum class Added { kNothing, kReverses, kLoops, kRemainingLoops };
struct Change {
  Added added = Added::kNothing;
  bool drop_loops = false;
};

// The new edges, and for each the old edge that supplies its row of the edge tensors (-1: zeros);
// rows only on request.
struct Edges {
  Tensor sources, targets;  // i32 or i64
  Tensor rows;              // i64, or undefined
};

template <typename Id>
Edges changed(const Csc& csc, Change change, bool with_rows, ThreadPool& pool) {
  const auto [old_sources, old_targets] = coo_of(csc, pool, base::dtype_of<Id>());
  const Id* source = old_sources.template as<Id>().data();
  const Id* target = old_targets.template as<Id>().data();
  const auto is_loop = [&](int64_t e) { return source[e] == target[e]; };
  const auto no_loop = [&](int64_t e) { return source[e] != target[e]; };

  Tensor kept;  // undefined: all
  if (change.drop_loops) kept = positions_where(csc.num_edges(), pool, no_loop);
  Tensor added;  // edges to reverse, or nodes that get a loop
  if (change.added == Added::kReverses) {
    added = positions_where(csc.num_edges(), pool, no_loop);
  } else if (change.added == Added::kLoops) {
    added = positions_where(csc.num_targets, pool, [](int64_t) { return true; });
  } else if (change.added == Added::kRemainingLoops) {
    std::vector<std::atomic<bool>> has_loop(csc.num_targets);
    pool.parallel_for(csc.num_edges(), kTransformGrain, [&](int64_t begin, int64_t end) {
      for (int64_t e = begin; e < end; ++e)
        if (is_loop(e)) has_loop[target[e]].store(true, std::memory_order_relaxed);
    });
    added = positions_where(csc.num_targets, pool, [&](int64_t i) {
      return !has_loop[i].load(std::memory_order_relaxed);
    });
  }

  const int64_t num_kept = kept.defined() ? kept.rows() : csc.num_edges();
  const int64_t num_edges = num_kept + (added.defined() ? added.rows() : 0);
  Edges out{Tensor::empty(base::dtype_of<Id>(), {num_edges}),
            Tensor::empty(base::dtype_of<Id>(), {num_edges}),
            with_rows ? Tensor::empty(DType::kI64, {num_edges}) : Tensor()};
  const std::span<Id> to_source = out.sources.as<Id>(), to_target = out.targets.as<Id>();
  const auto put = [&](int64_t at, int64_t from, int64_t to, int64_t row) {
    to_source[at] = static_cast<Id>(from);
    to_target[at] = static_cast<Id>(to);
    if (with_rows) out.rows.as<int64_t>()[at] = row;
  };
  pool.parallel_for(num_edges, kTransformGrain, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      if (at < num_kept) {
        const int64_t e = kept.defined() ? kept.as<int64_t>()[at] : at;
        put(at, source[e], target[e], e);
        continue;
      }
      const int64_t item = added.as<int64_t>()[at - num_kept];
      if (change.added == Added::kReverses)
        put(at, target[item], source[item], item);
      else
        put(at, item, item, -1);
    }
  });
  return out;
}

// Returns the graph with another topology of one edge type, in which edge k takes row rows[k] of
// the old edge tensors.
GraphRef with_topology(const Graph& graph, int32_t edge_type, Csc csc, const Tensor& rows,
                       ThreadPool& pool) {
  GraphParts parts = graph.parts();
  parts.topology[edge_type] = std::move(csc);
  for (auto& [name, column] : parts.edge_columns[edge_type]) column = pick_rows(column, rows, pool);
  return Graph::create(std::move(parts));
}

GraphRef merged(const Graph& graph, int32_t edge_type, const Csc& csc, const Tensor& rows,
                ThreadPool& pool) {
  if (!rows.defined())
    return with_topology(graph, edge_type, coalesced(csc, nullptr, pool), {}, pool);
  Tensor first;
  Csc out = coalesced(csc, &first, pool);
  for (int64_t& edge : first.as<int64_t>()) edge = rows.as<int64_t>()[edge];
  return with_topology(graph, edge_type, std::move(out), first, pool);
}

GraphRef apply(const Graph& graph, int32_t edge_type, Change change, bool coalesce,
               ThreadPool& pool) {
  const Csc& old = square(graph, edge_type);
  const bool with_rows = !graph.edge_columns(edge_type).empty();
  if (change.added == Added::kReverses && coalesce && !with_rows)
    return with_topology(graph, edge_type, undirected(old, pool), {}, pool);
  const Edges edges = old.num_targets <= std::numeric_limits<int32_t>::max()
                          ? changed<int32_t>(old, change, with_rows, pool)
                          : changed<int64_t>(old, change, with_rows, pool);
  Csc csc = csc_from_coo(edges.sources.view(), edges.targets.view(), old.num_sources,
                         old.num_targets, pool);
  if (coalesce) return merged(graph, edge_type, csc, edges.rows, pool);
  return with_topology(graph, edge_type, std::move(csc), edges.rows, pool);
}

// Divides each row by its sum, taken in double precision; row r is values[begin(r) .. begin(r+1)).
template <typename Begin>
Tensor divided_by_sums(const Tensor& values, int64_t num_rows, Begin begin, ThreadPool& pool) {
  Tensor out = Tensor::empty(DType::kF32, values.shape());
  const std::span<const float> from = values.as<const float>();
  const std::span<float> to = out.as<float>();
  pool.parallel_for(num_rows, kTransformRowGrain, [&](int64_t first, int64_t last) {
    for (int64_t r = first; r < last; ++r) {
      double sum = 0;
      for (int64_t i = begin(r); i < begin(r + 1); ++i) sum += from[i];
      for (int64_t i = begin(r); i < begin(r + 1); ++i)
        to[i] = sum == 0 ? from[i] : static_cast<float>(from[i] / sum);
    }
  });
  return out;
}

Column normalized(const Column& column, const std::string& where, ThreadPool& pool) {
  if (const auto* sparse = std::get_if<CsrMatrix>(&column)) {
    const std::span<const int64_t> indptr = sparse->indptr.as<const int64_t>();
    CsrMatrix out = *sparse;
    out.values = divided_by_sums(
        sparse->values, sparse->num_rows, [&](int64_t r) { return indptr[r]; }, pool);
    return out;
  }
  const Tensor& dense = std::get<Tensor>(column);
  if (dense.dtype() != DType::kF32)
    fail(Status::kInvalidArgument, where, " has elements of type ", base::dtype_name(dense.dtype()),
         ", expected f32");
  const int64_t width = dense.shape().row_elements();
  return divided_by_sums(
      base::in_memory(dense), dense.rows(), [&](int64_t r) { return r * width; }, pool);
}

}  // namespace

GraphRef add_reverse_edges(const Graph& graph, bool coalesce, ThreadPool& pool, int32_t edge_type) {
  return apply(graph, edge_type, {.added = Added::kReverses}, coalesce, pool);
}

GraphRef to_undirected(const Graph& graph, ThreadPool& pool, int32_t edge_type) {
  return add_reverse_edges(graph, true, pool, edge_type);
}

GraphRef coalesce(const Graph& graph, ThreadPool& pool, int32_t edge_type) {
  const Csc& csc = square(graph, edge_type);
  Tensor first;
  const bool with_rows = !graph.edge_columns(edge_type).empty();
  Csc out = coalesced(csc, with_rows ? &first : nullptr, pool);
  return with_topology(graph, edge_type, std::move(out), first, pool);
}

GraphRef remove_self_loops(const Graph& graph, ThreadPool& pool, int32_t edge_type) {
  return apply(graph, edge_type, {.drop_loops = true}, false, pool);
}

GraphRef add_self_loops(const Graph& graph, ThreadPool& pool, int32_t edge_type) {
  return apply(graph, edge_type, {.added = Added::kLoops}, false, pool);
}

GraphRef add_remaining_self_loops(const Graph& graph, ThreadPool& pool, int32_t edge_type) {
  return apply(graph, edge_type, {.added = Added::kRemainingLoops}, false, pool);
}

Csc reversed(const Csc& csc, ThreadPool& pool) {
  const auto [sources, targets] = coo_of(csc, pool);
  return csc_from_coo(targets.view(), sources.view(), csc.num_targets, csc.num_sources, pool);
}

GraphRef reverse_edges(const Graph& graph, ThreadPool& pool, int32_t edge_type) {
  GraphParts parts = graph.parts();
  parts.topology[edge_type] = reversed(square(graph, edge_type), pool);
  return Graph::create(std::move(parts));
}

GraphRef remove_edges(const Graph& graph) {
  ThreadPool self(1);
  const Tensor none = Tensor::empty(DType::kI64, {0});
  GraphParts parts = graph.parts();
  expect_whole(parts, "a transform");
  for (Csc& csc : parts.topology) {
    csc.indptr = Tensor::zeros(DType::kI64, {csc.num_targets + 1});
    csc.indices = Tensor::empty(csc.indices.dtype(), {0});
    csc.edge_ids = {};
  }
  for (Columns& columns : parts.edge_columns)
    for (auto& [name, column] : columns) column = pick_rows(column, none, self);
  return Graph::create(std::move(parts));
}

GraphRef normalize_rows(const Graph& graph, std::string_view node_tensor, ThreadPool& pool) {
  GraphParts parts = graph.parts();
  expect_whole(parts, "a transform");
  bool found = false;
  for (size_t type = 0; type < parts.node_columns.size(); ++type) {
    const auto it = parts.node_columns[type].find(node_tensor);
    if (it == parts.node_columns[type].end()) continue;
    found = true;
    it->second = normalized(
        it->second,
        base::text("node type '", parts.schema.node_types[type], "': tensor '", node_tensor, "'"),
        pool);
  }
  if (!found)
    fail(Status::kNotFound, "node tensor '", node_tensor, "' is on no node type of the graph");
  return Graph::create(std::move(parts));
}

}  // namespace gnnmg::graph
