#include "sample/device.h"

#include "base/mapped_tensor.h"
#include "sample/workspace.h"

namespace gnnmg::sample {
namespace {

using base::fail;
using base::Status;

template <typename T>
void read(const device::Table& table, device::Queue* queue, const T* from, int64_t count,
          base::PageVector<T>& to) {
  to.resize_discard(count > 0 ? count : 1);
  if (count > 0) table.copy(queue, to.data(), from, count * static_cast<int64_t>(sizeof(T)));
  to.resize_discard(count);
}

}  // namespace

HostCsc csc_for_device(const graph::Csc& csc, bool edge_ids) {
  if (csc.num_sources != csc.num_targets)
    fail(Status::kInvalidArgument, "the edges join ", csc.num_sources, " sources to ",
         csc.num_targets, " targets; a neighbor sampler needs nodes of one type");
  if (csc.wide())
    fail(Status::kUnsupported, "the graph has ", csc.num_sources,
         " nodes, a GPU samples from fewer than 2147483648; sample it on the CPU");
  if (csc.num_edges() >= int64_t{1} << 32) {
    for (int64_t node = 0; node < csc.num_targets; ++node) {
      if (csc.in_degree(node) >= int64_t{1} << 32)
        fail(Status::kUnsupported, "node ", node, " has ", csc.in_degree(node),
             " neighbors, fewer than 4294967296 can be sampled from");
    }
  }
  HostCsc out;
  out.num_nodes = csc.num_targets;
  out.num_edges = csc.num_edges();
  const auto keep = [&](int i, const base::Tensor& array) {
    out.kept[i] = base::in_memory(array);
    return out.kept[i].data();
  };
  out.indptr = static_cast<const int64_t*>(keep(0, csc.indptr));
  out.indices = static_cast<const int32_t*>(keep(1, csc.indices));
  if (edge_ids && csc.edge_ids.defined()) {
    out.edge_ids = keep(2, csc.edge_ids);
    out.wide_edge_ids = csc.edge_ids.dtype() == base::DType::kI64;
  }
  return out;
}

int64_t graph_bytes(const HostCsc& csc) noexcept {
  const int64_t id_bytes = csc.edge_ids == nullptr ? 0 : csc.wide_edge_ids ? 8 : 4;
  return (csc.num_nodes + 1) * 8 + csc.num_edges * (4 + id_bytes);
}

void read_counts(const device::Table& table, device::Queue* queue, const DeviceSample& sample,
                 DeviceCounts& out) {
  const int64_t layers = sample.num_layers;
  uint64_t bad_seed = 0;
  out.hop_ends.resize(sample.num_batches * (layers + 1));
  out.num_edges.resize(sample.num_batches * layers);
  table.copy(queue, &bad_seed, sample.bad_seed, sizeof bad_seed);
  table.copy(queue, out.hop_ends.data(), sample.hop_ends,
             static_cast<int64_t>(out.hop_ends.size() * sizeof(int32_t)));
  table.copy(queue, out.num_edges.data(), sample.num_edges,
             static_cast<int64_t>(out.num_edges.size() * sizeof(int32_t)));
  table.synchronize(queue);
  if (bad_seed != ~uint64_t{0})
    fail(Status::kRange, "seed ", bad_seed & UINT32_MAX, " of mini-batch ", bad_seed >> 32,
         " is no node or one too many; nodes are 0 to ", sample.num_graph_nodes - 1);
}

void read_sample(const device::Table& table, device::Queue* queue, const DeviceSample& sample,
                 int32_t batch, Sample& out) {
  if (batch < 0 || batch >= sample.num_batches)
    fail(Status::kInvalidArgument, "mini-batch is ", batch, ", expected 0 to ",
         sample.num_batches - 1);
  DeviceCounts counts;
  read_counts(table, queue, sample, counts);
  const int layers = sample.num_layers;
  const int32_t* hop_ends = counts.hop_ends.data() + int64_t{batch} * (layers + 1);
  const int32_t* num_edges = counts.num_edges.data() + int64_t{batch} * layers;
  out.num_seeds = hop_ends[0];
  out.hop_ends.assign(hop_ends, hop_ends + layers + 1);
  out.graph_ptr.clear();
  read(table, queue, sample.node_ids + batch * sample.node_stride, hop_ends[layers], out.node_ids);
  // Layers that share their arrays share a store; the first layer has the most of it.
  const bool once = layers > 1 && sample.layers[0].indptr == sample.layers[1].indptr;
  out.stores.resize(once ? 1 : layers);
  out.blocks.resize(layers);
  for (int layer = 0; layer < static_cast<int>(out.stores.size()); ++layer) {
    const DeviceLayer& from = sample.layers[layer];
    BlockStore& store = out.stores[layer];
    const int64_t edges = num_edges[layer];
    read(table, queue, from.indptr + batch * from.indptr_stride, hop_ends[from.hop] + 1,
         store.indptr);
    read(table, queue, from.indices + batch * from.edge_stride, edges, store.indices);
    store.edge_ids.clear();
    if (from.edge_ids != nullptr)
      read(table, queue, from.edge_ids + batch * from.edge_stride, edges, store.edge_ids);
    // If the layer next to the input has no lists of its own, the lists belong to the layer after
    // it.
    const int listed = once && from.out_indptr == nullptr ? 1 : layer;
    const DeviceLayer& lists = sample.layers[listed];
    if (lists.out_indptr != nullptr) {
      read(table, queue, lists.out_indptr + batch * lists.out_indptr_stride,
           hop_ends[lists.hop + 1] + 1, store.out_indptr);
      read(table, queue, lists.out_targets + batch * lists.edge_stride, num_edges[listed],
           store.out_targets);
    }
  }
  table.synchronize(queue);
  for (int layer = 0; layer < layers; ++layer) {
    const DeviceLayer& from = sample.layers[layer];
    out.blocks[layer] =
        view_of(out.stores[once ? 0 : layer], hop_ends[from.hop], hop_ends[from.hop + 1],
                from.edge_ids != nullptr, from.out_indptr != nullptr);
  }
}

}  // namespace gnnmg::sample
