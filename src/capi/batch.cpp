#include "capi/batch.h"

#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "capi/arguments.h"
#include "capi/context.h"
#include "capi/dataset.h"
#include "capi/sampler.h"
#include "capi/tensor.h"
#include "capi/torch_tensor.h"
#include "device/exit.h"
#include "loader/device_slot.h"
#include "nn/loss.h"
#include "nn/torch/tensor.h"

namespace gnnmg::capi {

namespace {

// A mini-batch on a GPU stays there when its last reference goes at the end of the program, even
// the reference of an exported tensor.
loader::BatchRef kept_at_exit(loader::BatchRef batch) {
  loader::Batch* const all = batch.get();
  return {all, [batch = std::move(batch)](loader::Batch*) mutable {
            const device::Use use;
            if (!use) (void)new loader::BatchRef(std::move(batch));
            batch.reset();
          }};
}

}  // namespace

Batch::Batch(std::shared_ptr<Context> owner, loader::BatchRef made, data::DatasetRef dataset,
             uint64_t seed, bool has_transpose, BatchTypes types,
             std::shared_ptr<DevicePlace> place)
    : Object(kKind, owner, owner->queue),
      batch_(place ? kept_at_exit(std::move(made)) : std::move(made)),
      dataset_(std::move(dataset)),
      seed_(seed),
      transpose_(has_transpose),
      types_(types),
      place_(std::move(place)) {}

// Objects that a mini-batch is the last to hold wait for the GPU when they go. After a call of the
// host's no work on them is under way, except in streams of the caller's, which order the loader's
// memory.
bool Batch::ends_slowly() const noexcept {
  if (!place_) return false;
  return place_->quarantined() || (!place_->follows_caller() && !loader::at_rest(*batch_->device));
}

BatchFeatures features_of(const loader::Batch& batch) {
  if (!batch.device)
    return {batch.has_features, batch.sparse, batch.feature_dtype, batch.feature_cols};
  const loader::DeviceArrays& there = *batch.device;
  const bool sparse = there.sparse_indptr != nullptr;
  return {sparse || there.rows || there.table, sparse, there.dtype, there.cols};
}

namespace {

bool same_elements(const base::Tensor& a, const base::Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  if (a.view().dtype != b.view().dtype || !(a.shape() == b.shape())) return false;
  const auto size = static_cast<size_t>(a.view().num_bytes());
  return a.data() == b.data() || size == 0 || std::memcmp(a.data(), b.data(), size) == 0;
}

// Edges of graphs with as many nodes.
bool same_edges(const graph::Csc& a, const graph::Csc& b) {
  return same_elements(a.indptr, b.indptr) && same_elements(a.indices, b.indices) &&
         same_elements(a.edge_ids, b.edge_ids);
}

}  // namespace

void check_fit(const Sampler& sampler, const Dataset& dataset) {
  check_same_context(sampler, dataset);
  if (sampler.get()->num_nodes() != dataset.num_nodes())
    fail(Status::kInvalidArgument, "the sampler works on a graph of ", sampler.get()->num_nodes(),
         " nodes, the data set has ", dataset.num_nodes());
  const graph::Graph& graph = *dataset.data()->graph;
  const Sampler::Edges& edges = sampler.edges();
  if (&graph != edges.graph.get() &&
      (edges.type >= static_cast<int64_t>(graph.schema().edge_types.size()) ||
       !same_edges(edges.graph->csc(edges.type), graph.csc(edges.type))))
    fail(Status::kInvalidArgument,
         "the sampler works on a graph of other edges than the data set's; make the sampler on the "
         "graph of gnnmg_dataset_get_graph(), or the data set of the sampler's graph");
  const int32_t seeds = sampler.types().node;
  if (seeds != dataset.data()->node_type)
    fail(Status::kInvalidArgument, "the seeds of the sampler are nodes of type ", seeds,
         ", features and labels of the data set those of type ", dataset.data()->node_type);
  const bool of_graphs = dataset.data()->of_graphs();
  if (sampler.get()->of_graphs() != of_graphs)
    fail(Status::kInvalidArgument,
         of_graphs ? "the data set holds many graphs" : "the data set is one graph",
         of_graphs ? ", but the seeds of the sampler are nodes; gnnmg_sampler_create_graphs() "
                     "makes one whose are graphs"
                   : ", but the seeds of the sampler are graphs");
  if (sampler.get()->num_ids() != dataset.num_samples())
    fail(Status::kInvalidArgument, "the sampler works on ", sampler.get()->num_ids(),
         " graphs, the data set has ", dataset.num_samples());
}

void gather_features(const feature::FeatureStore& store, loader::Batch& batch,
                     base::ThreadPool& pool) {
  const auto start = base::SteadyClock::now();
  const std::span<const int64_t> nodes = batch.sample.node_ids.span();
  batch.has_features = true;
  batch.sparse = store.sparse();
  batch.feature_dtype = store.dtype();
  batch.feature_cols = store.num_cols();
  if (batch.sparse) {
    store.gather_sparse(nodes, batch.sparse_features, &pool);
  } else {
    const int64_t row_bytes = store.num_cols() * base::dtype_size(store.dtype());
    batch.features.resize_discard(
        base::checked_mul(batch.sample.num_nodes(), row_bytes, "features of a mini-batch"));
    store.gather(nodes, batch.features.data(), &pool);
  }
  batch.gather_seconds = std::chrono::duration<double>(base::SteadyClock::now() - start).count();
}

namespace {

const sample::BlockView& block_of(const loader::Batch& batch, int32_t layer) {
  const auto& blocks = blocks_of(batch);
  if (layer < 0 || static_cast<size_t>(layer) >= blocks.size())
    fail(Status::kNotFound, "layer ", layer, " does not exist, the mini-batch has ", blocks.size());
  return blocks[static_cast<size_t>(layer)];
}

int64_t num_nodes(const loader::Batch& batch) {
  return batch.device ? batch.device->num_nodes : batch.sample.num_nodes();
}

// Distinct edges: layers may see parts of one list.
int64_t num_edges(const loader::Batch& batch) {
  if (!batch.device) return batch.sample.num_edges_drawn();
  std::map<const int32_t*, int64_t> lists;
  for (const sample::BlockView& block : batch.device->blocks) {
    int64_t& most = lists[block.indices];
    most = std::max(most, block.num_edges);
  }
  int64_t sum = 0;
  for (const auto& [list, count] : lists) sum += count;
  return sum;
}

void need_features(const loader::Batch& batch, bool sparse) {
  const BatchFeatures features = features_of(batch);
  if (!features.there) fail(Status::kNotFound, "the mini-batch has no features");
  if (features.sparse != sparse)
    fail(Status::kUnsupported, "the features are ", features.sparse ? "sparse" : "dense",
         features.sparse ? "; gnnmg_batch_export_sparse_features() yields them"
                         : "; gnnmg_batch_export_features() yields them");
}

// The number of the GPU that a mini-batch's arrays lie on. Work that reads them from here on, in
// the caller's stream if the loader was given one, finds them complete.
int ready(const Batch& batch) {
  if (!batch.place()) return PlacedView::kOnHost;
  const loader::DeviceArrays& there = *batch.get()->device;
  work_at(batch.place(), [&] {
    if (batch.place()->follows_caller())
      loader::precede(there, batch.place()->device().queue);
    else
      loader::wait_for(there);
  });
  return batch.place()->index();
}

at::Tensor host_list(std::span<const int64_t> list) {
  return at::from_blob(const_cast<int64_t*>(list.data()), {static_cast<int64_t>(list.size())},
                       at::kLong);
}

// The host's tensor, or a copy where the mini-batch lies.
Export export_beside(const Batch& batch, const at::Tensor& host) {
  if (!batch.place()) return export_torch(host, true);
  return work_at(batch.place(),
                 [&] { return export_torch(host.to(batch.place()->device().torch()), true); });
}

// Dense rows on a GPU, in the data set's type, as they are or as a copy of their own.
Export export_rows(const Batch& batch) {
  const int device = ready(batch);
  const loader::DeviceArrays& there = *batch.get()->device;
  const bool table = there.rows == nullptr;
  const base::DType wanted = there.given;
  if (!table && there.stride == there.cols && there.dtype == wanted)
    return export_tensor(
        {const_cast<void*>(there.rows), there.dtype, {there.num_nodes, there.cols}}, batch.get(),
        true, device);
  return work_at(batch.place(), [&] {
    const at::Device on = batch.place()->device().torch();
    const auto view = [&](const void* data, base::DType type, at::IntArrayRef sizes,
                          at::IntArrayRef strides) {
      return at::for_blob(const_cast<void*>(data), sizes)
          .strides(strides)
          .options(at::TensorOptions(nn::scalar_type(type)).device(on))
          .target_device(on)
          .make_tensor();
    };
    at::Tensor rows;
    if (table)
      rows = view(there.table, there.dtype, {there.num_graph_nodes, there.cols}, {there.stride, 1})
                 .index_select(0, view(there.node_ids, base::DType::kI64, {there.num_nodes}, {1}));
    else
      // A copy even of one row, which is contiguous whatever the stride: the slot is used again.
      rows = view(there.rows, there.dtype, {there.num_nodes, there.cols}, {there.stride, 1})
                 .clone(at::MemoryFormat::Contiguous);
    Export out = export_torch(rows.to(nn::scalar_type(wanted)), true);
    loader::follow(there, batch.place()->device().queue);
    return out;
  });
}

nn::Targets targets_of(const Batch& batch) {
  if (!batch.has_labels()) fail(Status::kNotFound, "the mini-batch has no labels");
  return nn::gather_targets(*batch.dataset(), batch.get()->seeds, at::kFloat);
}

}  // namespace
}  // namespace gnnmg::capi

using namespace gnnmg::capi;

extern "C" {

void gnnmg_batch_free(gnnmg_batch* batch) { free_handle(batch, Kind::kBatch); }

gnnmg_status gnnmg_batch_get_info(const gnnmg_batch* batch, gnnmg_batch_info* info) {
  return guard(outs(Out{info, "info"}), [&] {
    const auto handle = read<Batch>(batch, "batch");
    const gnnmg::loader::Batch& b = *handle->get();
    gnnmg_batch_info facts{};
    const BatchFeatures features = features_of(b);
    facts.num_layers = static_cast<int32_t>(blocks_of(b).size());
    facts.epoch = static_cast<int64_t>(b.epoch);
    facts.number = b.number;
    facts.step = b.step;
    facts.num_seeds = static_cast<int64_t>(b.seeds.size());
    facts.num_nodes = num_nodes(b);
    facts.num_edges = num_edges(b);
    facts.feature_dim = features.there ? features.cols : 0;
    facts.step_seeds = b.step_seeds();
    if (b.step_seeds() > 0)
      facts.loss_weight =
          static_cast<double>(facts.num_seeds) / static_cast<double>(b.step_seeds());
    facts.sample_seconds = b.sample_seconds;
    facts.gather_seconds = b.gather_seconds;
    facts.last_of_step = b.last_of_step;
    facts.sparse_features = features.sparse;
    facts.device = handle->place() ? GNNMG_DEVICE_CUDA : GNNMG_DEVICE_CPU;
    facts.device_index = handle->place() ? handle->place()->index() : 0;
    give(info, facts);
  });
}

gnnmg_status gnnmg_batch_get_block_info(const gnnmg_batch* batch, int32_t layer, int32_t edge_type,
                                        gnnmg_block_info* info) {
  return guard(outs(Out{info, "info"}), [&] {
    const auto handle = read<Batch>(batch, "batch");
    handle->types().check_edge(edge_type);
    const gnnmg::sample::BlockView& block = block_of(*handle->get(), layer);
    gnnmg_block_info facts{};
    facts.num_targets = block.num_targets;
    facts.num_sources = block.num_sources;
    facts.num_edges = block.num_edges;
    give(info, facts);
  });
}

gnnmg_status gnnmg_batch_export_seeds(const gnnmg_batch* batch, gnnmg_tensor** seeds) {
  return guard(outs(Out{seeds, "seeds"}), [&] {
    const auto handle = read<Batch>(batch, "batch");
    const auto& b = handle->get();
    if (handle->place())
      *seeds = export_beside(*handle, host_list(b->seeds)).release();
    else
      *seeds = export_list(b->seeds.data(), static_cast<int64_t>(b->seeds.size()), b).release();
  });
}

gnnmg_status gnnmg_batch_export_graph_ptr(const gnnmg_batch* batch, gnnmg_tensor** graph_ptr) {
  return guard(outs(Out{graph_ptr, "graph_ptr"}), [&] {
    const auto handle = read<Batch>(batch, "batch");
    const auto& b = handle->get();
    const auto& starts = b->sample.graph_ptr;
    if (starts.size() == 0)
      fail(Status::kNotFound,
           "the seeds of the mini-batch are nodes; a sampler of gnnmg_sampler_create_graphs() has "
           "graphs as seeds");
    if (handle->place())
      *graph_ptr = export_beside(*handle, host_list(starts.span())).release();
    else
      *graph_ptr = export_list(starts.data(), starts.size(), b).release();
  });
}

gnnmg_status gnnmg_batch_export_node_ids(const gnnmg_batch* batch, int32_t node_type,
                                         gnnmg_tensor** node_ids) {
  return guard(outs(Out{node_ids, "node_ids"}), [&] {
    const auto handle = read<Batch>(batch, "batch");
    handle->types().check_node(node_type);
    const auto& b = handle->get();
    const int64_t* const ids = b->device ? b->device->node_ids : b->sample.node_ids.data();
    *node_ids = export_list(ids, num_nodes(*b), b, ready(*handle)).release();
  });
}

gnnmg_status gnnmg_batch_export_features(const gnnmg_batch* batch, int32_t node_type,
                                         gnnmg_tensor** features) {
  return guard(outs(Out{features, "features"}), [&] {
    const auto handle = read<Batch>(batch, "batch");
    handle->types().check_node(node_type);
    const auto& b = handle->get();
    need_features(*b, false);
    if (handle->place()) {
      *features = export_rows(*handle).release();
      return;
    }
    *features =
        export_tensor(
            {b->features.data(), b->feature_dtype, {b->sample.num_nodes(), b->feature_cols}}, b,
            true)
            .release();
  });
}

gnnmg_status gnnmg_batch_export_sparse_features(const gnnmg_batch* batch, int32_t node_type,
                                                gnnmg_tensor** indptr, gnnmg_tensor** indices,
                                                gnnmg_tensor** values) {
  return guard(outs(Out{indptr, "indptr"}, Out{indices, "indices"}, Out{values, "values"}), [&] {
    const auto handle = read<Batch>(batch, "batch");
    handle->types().check_node(node_type);
    const auto& b = handle->get();
    need_features(*b, true);
    const gnnmg::feature::SparseRows& rows = b->sparse_features;
    const gnnmg::loader::DeviceArrays* const there = b->device.get();
    const int device = ready(*handle);
    const int64_t count = there ? there->num_entries : rows.values.size();
    Export pointers = export_list(there ? there->sparse_indptr : rows.indptr.data(),
                                  num_nodes(*b) + 1, b, device);
    Export columns =
        export_list(there ? there->sparse_indices : rows.indices.data(), count, b, device);
    Export entries =
        export_list(there ? there->sparse_values : rows.values.data(), count, b, device);
    *indptr = pointers.release();
    *indices = columns.release();
    *values = entries.release();
  });
}

gnnmg_status gnnmg_batch_export_labels(const gnnmg_batch* batch, gnnmg_tensor** labels) {
  return guard(outs(Out{labels, "labels"}), [&] {
    const auto handle = read<Batch>(batch, "batch");
    TorchScope scope(*handle->context);
    *labels = export_beside(*handle, targets_of(*handle).labels).release();
  });
}

gnnmg_status gnnmg_batch_export_weights(const gnnmg_batch* batch, gnnmg_tensor** weights) {
  return guard(outs(Out{weights, "weights"}), [&] {
    const auto handle = read<Batch>(batch, "batch");
    TorchScope scope(*handle->context);
    *weights = export_beside(*handle, gnnmg::nn::weights_of(targets_of(*handle))).release();
  });
}

gnnmg_status gnnmg_batch_export_block(const gnnmg_batch* batch, int32_t layer, int32_t edge_type,
                                      gnnmg_tensor** indptr, gnnmg_tensor** indices,
                                      gnnmg_tensor** edge_ids) {
  if (edge_ids != nullptr) *edge_ids = nullptr;
  return guard(outs(Out{indptr, "indptr"}, Out{indices, "indices"}), [&] {
    const auto handle = read<Batch>(batch, "batch");
    handle->types().check_edge(edge_type);
    const auto& b = handle->get();
    const gnnmg::sample::BlockView& block = block_of(*b, layer);
    const int device = ready(*handle);
    Export pointers = export_list(block.indptr, block.num_targets + 1, b, device);
    Export sources = export_list(block.indices, block.num_edges, b, device);
    Export ids = edge_ids != nullptr && block.edge_ids != nullptr
                     ? export_list(block.edge_ids, block.num_edges, b, device)
                     : Export{};
    *indptr = pointers.release();
    *indices = sources.release();
    if (edge_ids != nullptr) *edge_ids = ids.release();
  });
}

}  // extern "C"
