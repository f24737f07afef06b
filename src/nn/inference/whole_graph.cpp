#include "nn/inference/whole_graph.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/mapped_tensor.h"
#include "graph/homogeneous.h"
#include "nn/ops/device_lists.h"
#include "nn/ops/tensors.h"
#include "nn/torch/tensor.h"

namespace gnnmg::nn {

using base::fail;
using base::Status;

namespace {

constexpr std::string_view kRowsOfAll = "rows of all nodes";
constexpr int64_t kMost = std::numeric_limits<int32_t>::max();

const graph::Graph& checked(const graph::Graph& graph, const ModelConfig& config) {
  graph::expect_homogeneous(graph, "models");
  if (config.readout != Readout::kNone)
    fail(Status::kUnsupported,
         "a model with a readout has results for graphs: run it on batches of them");
  if (graph.csc().wide())
    fail(Status::kUnsupported, "inference over a graph of ", graph.num_nodes(), " nodes, at most ",
         kMost, " are supported");
  return graph;
}

const int64_t* pointers_of(const graph::Csc& csc) {
  return static_cast<const int64_t*>(csc.indptr.data());
}

// Copies host memory to the device. The memory outlives the work in the queue, so that a copy of
// pinned memory needs no wait.
at::Tensor put_lasting(const Execution& execution, const void* from, at::IntArrayRef sizes,
                       at::ScalarType type, std::string_view what) {
  const at::Tensor to = reserve(execution, sizes, type, what);
  const Device& device = *execution.device;
  if (to.numel() > 0)
    device.table->copy(device.queue, to.mutable_data_ptr(), from,
                       static_cast<int64_t>(to.nbytes()));
  return to;
}

}  // namespace

at::Tensor WholeInference::run(int stage, int64_t begin, int64_t end) {
  const at::Tensor out =
      at::empty({std::max<int64_t>(end - begin, 0), width(stage)}, at::TensorOptions(type()));
  run_into(stage, begin, end, out);
  return out;
}

WholeGraph::WholeGraph(const graph::Graph& graph, const ModelConfig& config,
                       const CategoryEncoder& edges, const Execution& execution,
                       const GraphPiece* piece)
    : piece_(piece),
      graph_(checked(graph, config)),
      csc_(graph.csc()),
      config_(config),
      edges_(edges),
      execution_(execution),
      facts_(graph, edge_needs(config), scalar_type(config.dtype), execution.device),
      carries_(edge_needs(config).any()) {
  sizes_.num_sources = sizes_.num_targets = piece ? piece->num_nodes : graph.num_nodes();
  sizes_.num_edges = piece ? piece->num_edges : csc_.num_edges();
  if (piece) largest_degree_ = piece->largest_degree;
  if (largest_degree_ > 0) return;
  for (int64_t t = 0; t < csc_.num_targets; ++t)
    largest_degree_ = std::max(largest_degree_, csc_.in_degree(t));
}

at::Tensor WholeGraph::degrees(Degrees kind, bool weighted) {
  if (kind == Degrees::kNone) return {};
  if (!piece_) return facts_.degrees(graph_, kind, weighted);
  const at::ScalarType type = scalar_type(config_.dtype);
  const at::Tensor known =
      kind == Degrees::kOut ? as_tensor(piece_->sent).to(type)
      : weighted            ? weighted_degrees_of(piece_->weight_sums, piece_->degrees, kind,
                                                  edge_needs(config_).loop_weight, piece_->node_ids, type)
                            : node_degrees(piece_->degrees, kind, type);
  return execution_.device ? put(execution_, known, "the degrees of nodes") : known;
}

WholeGraph::Range WholeGraph::edges_into(int64_t begin, int64_t end) const {
  const int64_t* pointers = pointers_of(csc_);
  Range range;
  range.indptr.resize(end - begin + 1);
  for (int64_t t = begin; t <= end; ++t)
    range.indptr[t - begin] = static_cast<int32_t>(pointers[t] - pointers[begin]);
  range.block.num_targets = end - begin;
  range.block.num_sources = csc_.num_sources;
  range.block.num_edges = range.indptr.back();
  range.block.indptr = range.indptr.data();
  range.block.indices = static_cast<const int32_t*>(csc_.indices.data()) + pointers[begin];
  if (execution_.device) {
    range.indptr_on_device = put(execution_, range.indptr);
    range.indices_on_device = put_lasting(execution_, range.block.indices, {range.block.num_edges},
                                          at::kInt, "the edges of a range of nodes");
    range.block.indptr = range.indptr_on_device.const_data_ptr<int32_t>();
    range.block.indices = range.indices_on_device.const_data_ptr<int32_t>();
  }
  if (!carries_) return range;
  std::vector<int64_t> ids;
  ids.reserve(range.block.num_edges);
  for (int64_t e = pointers[begin]; e < pointers[end]; ++e) ids.push_back(csc_.edge_id(e));
  range.edges = facts_.of_edges(ids);
  if (edges_.defined())
    range.edges.features = edges_.encode(range.edges.features, "edge", execution_);
  return range;
}

void WholeGraph::rows_of_stage(int64_t begin, int64_t end, const at::Tensor& out,
                               const std::function<at::Tensor(int64_t, int64_t)>& rows_of) const {
  if (begin < 0 || begin > end || end > num_nodes())
    fail(Status::kRange, "rows ", begin, " to ", end, " of ", num_nodes(), " nodes");
  const c10::NoGradGuard no_grad;
  const int64_t* pointers = pointers_of(csc_);
  for (int64_t low = begin; low < end;) {
    const int64_t limit = pointers[low] + kMost;
    const int64_t high =
        std::upper_bound(pointers + low + 1, pointers + end + 1, limit) - pointers - 1;
    if (high == low)
      fail(Status::kUnsupported, "node ", low, " has more than ", kMost, " incoming edges");
    out.narrow(0, low - begin, high - low).copy_(rows_of(low, high));
    low = high;
  }
}

void WholeGraph::rows_at_once(int64_t begin, int64_t end, const at::Tensor& out, at::Tensor& all,
                              const std::function<at::Tensor()>& all_rows) const {
  const int64_t edges = pointers_of(csc_)[num_nodes()] - pointers_of(csc_)[0];
  if (edges > kMost)
    fail(Status::kUnsupported, "a norm over the rows of all edges, inside a layer, takes ", kMost,
         " edges at most, and the graph has ", edges);
  const c10::NoGradGuard no_grad;
  if (!all.defined()) all = all_rows();
  rows_of_stage(begin, end, out,
                [&](int64_t low, int64_t high) { return all.narrow(0, low, high - low); });
}

at::Tensor WholeGraph::stage_rows(int stage, int64_t width, const at::Tensor& rows) const {
  if (rows.dim() == 2 && rows.size(0) == num_nodes() && rows.size(1) == width)
    return execution_.device && rows.is_cpu() ? put(execution_, rows, kRowsOfAll) : rows;
  fail(Status::kInvalidArgument, "stage ", stage, " has ", num_nodes(), " rows of ", width,
       " columns, found ", rows.dim() == 2 ? rows.size(0) : 0, " of ",
       rows.dim() == 2 ? rows.size(1) : 0);
}

void WholeGraph::take_input(const graph::Column* features, const FirstLayer& layer) {
  if (config_.reads_features()) {
    if (!features && piece_) {
      sparse_ = piece_->sparse && layer.keep_sparse;
      return;
    }
    if (!features) fail(Status::kInvalidArgument, "the model reads features, and was given none");
    return take_features(*features, layer.nodes, layer.keep_sparse);
  }
  take_learned(layer.embedding);
}

void WholeGraph::take_learned(const at::Tensor& embedding) {
  if (sizes_.num_targets != config_.input_dim)
    fail(Status::kInvalidArgument, "the graph has ", sizes_.num_targets,
         " nodes, and the model has weights for ", config_.input_dim);
  rows_ = embedding;
  if (!piece_ || !embedding.defined()) return;
  const at::Tensor ids =
      execution_.device ? put(execution_, piece_->node_ids) : as_tensor(piece_->node_ids);
  rows_ = embedding.index_select(0, ids);
}

void WholeGraph::take_features(const graph::Column& features, const CategoryEncoder& nodes,
                               bool keep_sparse) {
  int64_t columns = 0;
  if (const auto* sparse = std::get_if<base::CsrMatrix>(&features)) {
    columns = sparse->num_cols;
    sparse_ = true;
    csr_ = *sparse;
  } else {
    const base::Tensor& dense = std::get<base::Tensor>(features);
    columns = dense.shape().row_elements();
    if (!base::is_floating(dense.dtype()) && !nodes.defined())
      fail(Status::kInvalidArgument, "features have elements of type ",
           base::dtype_name(dense.dtype()), ", expected floats");
    features_ = base::in_memory(dense);
    rows_ = at::from_blob(features_.data(), {dense.rows(), columns},
                          at::TensorOptions(scalar_type(dense.dtype())));
  }
  if (graph::column_rows(features) != num_nodes())
    fail(Status::kInvalidArgument, "features have ", graph::column_rows(features),
         " rows, the graph has ", num_nodes(), " nodes");
  if (columns != config_.input_dim)
    fail(Status::kInvalidArgument, "features have ", columns, " columns, the model has input_dim ",
         config_.input_dim);
  if (sparse_ && nodes.defined())
    fail(Status::kUnsupported, "features are a sparse matrix, and the model reads categories");
  const at::ScalarType type = scalar_type(config_.dtype);
  with_host_ = execution_.device && !nodes.defined() && !sparse_;
  if (with_host_) return;
  if (execution_.device && rows_.defined()) rows_ = put(execution_, rows_, kRowsOfAll);
  if (nodes.defined()) {
    rows_ = nodes.encode(rows_, "node", execution_);
  } else if (!sparse_) {
    rows_ = rows_.to(type);
  } else if (!keep_sparse) {
    rows_ = densify(sparse_rows(0, num_nodes()).view, {}, type, execution_);
    sparse_ = false;
  }
}

bool WholeGraph::lay_features(const at::Tensor& there) {
  if (!with_host_) return false;
  const bool the_same = there.defined() && there.sizes() == rows_.sizes() &&
                        there.scalar_type() == rows_.scalar_type();
  const at::Tensor rows = the_same ? there
                                   : put_lasting(execution_, rows_.const_data_ptr(), rows_.sizes(),
                                                 rows_.scalar_type(), kRowsOfAll);
  rows_ = rows.to(scalar_type(config_.dtype)).contiguous();
  with_host_ = false;
  return true;
}

WholeGraph::SparseRange WholeGraph::sparse_rows(int64_t begin, int64_t end) const {
  const int64_t* pointers = static_cast<const int64_t*>(csr_.indptr.data());
  SparseRange range;
  range.indptr.resize(end - begin + 1);
  for (int64_t r = begin; r <= end; ++r) range.indptr[r - begin] = pointers[r] - pointers[begin];
  range.view = {end - begin,
                csr_.num_cols,
                range.indptr.back(),
                range.indptr.data(),
                static_cast<const int32_t*>(csr_.indices.data()) + pointers[begin],
                static_cast<const float*>(csr_.values.data()) + pointers[begin]};
  if (!execution_.device) return range;
  SparseView& view = range.view;
  const auto there = [&]<typename T>(const T* data, int64_t count) {
    const at::Tensor from = at::from_blob(const_cast<T*>(data), {count},
                                          at::TensorOptions(c10::CppTypeToScalarType<T>::value));
    range.on_device.push_back(put(execution_, from, "sparse rows of a range of nodes"));
    return range.on_device.back().const_data_ptr<T>();
  };
  view.indptr = there(view.indptr, end - begin + 1);
  view.indices = there(view.indices, view.num_entries);
  view.values = there(view.values, view.num_entries);
  return range;
}

}  // namespace gnnmg::nn
