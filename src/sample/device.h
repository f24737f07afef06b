// Neighbor sampling on a GPU: many mini-batches at once, each the same sample as
// make_neighbor_sampler's, id for id and in the same order. What the plug-in fills in is
// DeviceSampling; the functions below it stand in the room itself.
#pragma once

#include <cstdint>
#include <vector>

#include "base/device.h"
#include "graph/csc.h"
#include "sample/mini_batch.h"
#include "sample/sampler.h"

namespace gnnmg::sample {

// The topology of one edge type in memory of the host's; to follow outgoing edges, that of the
// reversed graph.
struct HostCsc {
  int64_t num_nodes = 0;
  int64_t num_edges = 0;
  const int64_t* indptr = nullptr;   // [num_nodes + 1]
  const int32_t* indices = nullptr;  // [num_edges]
  const void* edge_ids = nullptr;    // i32 or, `wide_edge_ids`, i64 [num_edges]; null: identity
  bool wide_edge_ids = false;
  base::Tensor kept[3];  // what the arrays lie in, where that is to stay with a graph over them
};

// What the sampler of a GPU reads; shares the arrays of `csc`, and has copies of those in mapped
// files, since a GPU cannot be told that a file has shrunk. Without `edge_ids` they are left out,
// and samplers that fill edge ids give places in the CSC. Error(kUnsupported) with the remedy for
// ids of more than 31 bits and nodes of 2^32 neighbors or more, kInvalidArgument for an edge type
// that joins two node types, kIo and kNoMemory for what cannot be copied.
HostCsc csc_for_device(const graph::Csc& csc, bool edge_ids);
// Bytes that open_graph() takes in the device's memory, or pins in the host's.
int64_t graph_bytes(const HostCsc& csc) noexcept;

// What is to be sampled. Arrays lie on the device, where they must stay until the work of the call
// is over, or, `on_host`, in memory of the host's, which is copied: pinned memory must stay as
// well.
struct DeviceBatches {
  int32_t num_batches = 0;
  const int64_t* seeds = nullptr;  // [num_batches][seed_stride]
  int64_t seed_stride = 0;
  const int32_t* num_seeds = nullptr;  // [num_batches], each at most the sampler's max_seeds
  const uint32_t* keys = nullptr;      // [num_batches][hops][2]: hop_key() of each
  bool on_host = false;
  // Kernels that run over the bounds of DeviceLayer, or over less, in place of the counts find
  // nothing beyond these: lists without entries, and 0 in the place of ids, sources and targets.
  // With Expansion::kOnce layers then share no lists: sample() takes memory for those in the first
  // call.
  bool pad = false;
};

// One layer of all mini-batches, as BlockView says: mini-batch m's arrays begin m strides on. Its
// number of targets is hop_ends[hop], of sources hop_ends[hop + 1], of edges num_edges[layer] of
// the sample.
struct DeviceLayer {
  const int32_t* indptr = nullptr;
  const int32_t* indices = nullptr;
  const int64_t* edge_ids = nullptr;  // or null
  const int32_t* out_indptr = nullptr;
  const int32_t* out_targets = nullptr;
  int64_t indptr_stride = 0;
  int64_t edge_stride = 0;  // of indices, edge_ids and out_targets
  int64_t out_indptr_stride = 0;
  int64_t max_targets = 0, max_sources = 0, max_edges = 0;  // of any mini-batch
  int32_t hop = 0;  // layers count from the input, hops from the seeds
};

// A sample of several mini-batches; all pointers are the device's. It lasts until the sampler's
// next call or its end.
struct DeviceSample {
  int32_t num_batches = 0;
  int32_t num_layers = 0;
  int64_t num_graph_nodes = 0;
  // [num_batches][node_stride], seeds first; all are nodes of the graph.
  const int64_t* node_ids = nullptr;
  int64_t node_stride = 0;
  const int32_t* hop_ends = nullptr;   // [num_batches][num_layers + 1]
  const int32_t* num_edges = nullptr;  // [num_batches][num_layers]
  // All ones, or mini-batch * 2^32 + place of the first seed that is no node (the place max_seeds
  // stands for a wrong number of seeds). Such a seed has a row without edges, under the id 0.
  const uint64_t* bad_seed = nullptr;
  DeviceLayer layers[kMaxHops];
};

struct DeviceGraph;    // a graph that kernels can read
struct DeviceSampler;  // buffers of one queue

struct DeviceSampling {
  // Copies the arrays to the device (kDevice) and waits for that, or pins them where they lie
  // (kPinned): once a process, whatever the number of devices and calls, until the last graph over
  // them goes; they stay until then. `queue` outlives the graph, which every queue of that device
  // may use. Error(kNoMemory) that names the size; kUnsupported when the system refuses to pin. Any
  // thread.
  DeviceGraph* (*open_graph)(base::DeviceQueue* queue, const HostCsc& csc,
                             base::Placement placement);
  // Samplers over it are freed before. Any thread.
  void (*close_graph)(DeviceGraph* graph) noexcept;

  // A sampler for up to `max_batches` mini-batches of up to `max_seeds` seeds a call, in this queue
  // alone. With fan-outs that bound a hop all memory is taken here and sample() neither waits nor
  // allocates once it has run (the first call takes the room of scans and sorts); from the first
  // fan-out of -1 on, or the first bound of 2^31 edges and more, hops are measured: one wait each,
  // and buffers grow.
  // `config.outgoing` is what the graph says already. Error(kInvalidArgument) for a config that
  // make_neighbor_sampler refuses or limits below 1, kRange for 2^31 seeds a call and more,
  // kNoMemory.
  DeviceSampler* (*create)(base::DeviceQueue* queue, const DeviceGraph* graph,
                           const NeighborConfig& config, int64_t max_seeds, int32_t max_batches);
  // Waits for the queue.
  void (*free)(DeviceSampler* sampler) noexcept;
  // Bytes of its buffers, now.
  int64_t (*bytes)(const DeviceSampler* sampler);

  // One thread at a time. Error(kRange) for seeds of the host's that are no nodes, more
  // mini-batches or seeds than the sampler is for, or, with measured hops, more nodes or edges than
  // 31 bits number; kUnsupported for measured hops that are to be padded; kNoMemory: the next call
  // works.
  const DeviceSample* (*sample)(DeviceSampler* sampler, const DeviceBatches& batches);
};

// The true counts, on the host.
struct DeviceCounts {
  std::vector<int32_t> hop_ends;   // [num_batches][num_layers + 1]
  std::vector<int32_t> num_edges;  // [num_batches][num_layers]
};
// Waits for the queue. Error(kRange) for a seed that was no node.
void read_counts(const base::DeviceTable& table, base::DeviceQueue* queue,
                 const DeviceSample& sample, DeviceCounts& out);
// Mini-batch `batch` as the CPU's sampler gives it. Waits; errors as above.
void read_sample(const base::DeviceTable& table, base::DeviceQueue* queue,
                 const DeviceSample& sample, int32_t batch, Sample& out);

}  // namespace gnnmg::sample
