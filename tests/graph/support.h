// Common parts of this room's tests: tensors from lists, random edge lists, and a plain reference
// of a CSC's contents.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/philox.h"
#include "base/tensor.h"
#include "graph/csc.h"
#include "graph/graph.h"

namespace gnnmg::graph {

template <typename T>
base::Tensor tensor_of(const std::vector<T>& values) {
  return base::Tensor::copy_of<T>(std::span<const T>(values));
}

template <typename T>
std::vector<T> values_of(const base::Tensor& tensor) {
  const std::span<const T> values = tensor.as<const T>();
  return {values.begin(), values.end()};
}

// Returns the elements of an i32 or i64 tensor.
inline std::vector<int64_t> ids_of(const base::Tensor& tensor) {
  if (tensor.dtype() == base::DType::kI64) return values_of<int64_t>(tensor);
  const std::vector<int32_t> narrow = values_of<int32_t>(tensor);
  return {narrow.begin(), narrow.end()};
}

struct EdgeList {
  std::vector<int64_t> sources, targets;
};

inline EdgeList random_edges(int64_t num_sources, int64_t num_targets, int64_t num_edges,
                             uint64_t seed) {
  base::Stream stream(base::stream_key(seed, base::Purpose::kGenerator), 99);
  EdgeList edges;
  for (int64_t e = 0; e < num_edges; ++e) {
    edges.sources.push_back(static_cast<int64_t>(stream.below(num_sources)));
    edges.targets.push_back(static_cast<int64_t>(stream.below(num_targets)));
  }
  return edges;
}

// Per target the (source, edge id) pairs in the caller's order.
using Adjacency = std::vector<std::vector<std::pair<int64_t, int64_t>>>;

inline Adjacency adjacency_of(const EdgeList& edges, int64_t num_targets) {
  Adjacency out(num_targets);
  for (size_t e = 0; e < edges.targets.size(); ++e)
    out[edges.targets[e]].emplace_back(edges.sources[e], e);
  return out;
}

inline Adjacency adjacency_of(const Csc& csc) {
  Adjacency out(csc.num_targets);
  for (int64_t t = 0; t < csc.num_targets; ++t)
    for (int64_t e = csc.indptr.as<int64_t>()[t]; e < csc.indptr.as<int64_t>()[t + 1]; ++e)
      out[t].emplace_back(csc.source(e), csc.edge_id(e));
  return out;
}

inline Csc csc_of(const EdgeList& edges, int64_t num_sources, int64_t num_targets,
                  base::ThreadPool& pool) {
  return csc_from_coo(tensor_of(edges.sources).view(), tensor_of(edges.targets).view(), num_sources,
                      num_targets, pool);
}

inline bool same_bytes(const base::Tensor& a, const base::Tensor& b) {
  if (a.defined() != b.defined()) return false;
  if (!a.defined()) return true;
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::equal(static_cast<const char*>(a.data()),
                    static_cast<const char*>(a.data()) + a.view().num_bytes(),
                    static_cast<const char*>(b.data()));
}

inline bool same_bytes(const Csc& a, const Csc& b) {
  return a.num_sources == b.num_sources && a.num_targets == b.num_targets &&
         same_bytes(a.indptr, b.indptr) && same_bytes(a.indices, b.indices) &&
         same_bytes(a.edge_ids, b.edge_ids);
}

// Returns the status and text of the Error that `f` throws; kOk without one.
template <typename F>
std::pair<base::Status, std::string> error_of(F&& f) {
  try {
    f();
  } catch (const base::Error& error) {
    return {error.status(), error.what()};
  }
  return {base::Status::kOk, ""};
}

}  // namespace gnnmg::graph
