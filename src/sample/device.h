// Neighbor sampling on a GPU: many mini-batches at once, each the same sample as that of
// make_neighbor_sampler(), id for id and in the same order. The plug-in fills in DeviceSampling;
// this room implements the functions after it.
#pragma once

#include <cstdint>
#include <vector>

#include "device/table.h"
#include "graph/csc.h"
#include "sample/mini_batch.h"
#include "sample/sampler.h"

namespace gnnmg::sample {

// The topology of one edge type in host memory; to follow outgoing edges, the topology of the
// reversed graph.
struct HostCsc {
  int64_t num_nodes = 0;
  int64_t num_edges = 0;
  const int64_t* indptr = nullptr;   // [num_nodes + 1]
  const int32_t* indices = nullptr;  // [num_edges]
  const void* edge_ids = nullptr;    // i32 or, `wide_edge_ids`, i64 [num_edges]; null: identity
  bool wide_edge_ids = false;
  base::Tensor kept[3];  // the arrays' tensors, which a graph over them keeps alive
};

// The input of a GPU's sampler. Shares the arrays of `csc`, except those in mapped files, which are
// copied because a GPU cannot detect that a file has shrunk. Without `edge_ids` those are left out,
// and samplers that fill edge ids return positions in the CSC. Error(kUnsupported) with the remedy
// for ids of more than 31 bits or nodes of 2^32 neighbors or more, kInvalidArgument for an edge
// type that joins two node types, kIo and kNoMemory if a copy fails.
HostCsc csc_for_device(const graph::Csc& csc, bool edge_ids);
// Bytes that open_graph() takes in device memory, or pins in host memory.
int64_t graph_bytes(const HostCsc& csc) noexcept;

// Seeds and keys of the mini-batches. The arrays are in device memory and must stay until the work
// of the call is done; with `on_host` they are in host memory and are copied, and pinned memory
// must stay as well.
struct DeviceBatches {
  int32_t num_batches = 0;
  const int64_t* seeds = nullptr;  // [num_batches][seed_stride]
  int64_t seed_stride = 0;
  const int32_t* num_seeds = nullptr;  // [num_batches], each at most the sampler's max_seeds
  const uint32_t* keys = nullptr;      // [num_batches][hops][2]: hop_key() of each hop
  bool on_host = false;
  // Kernels that run over the bounds of DeviceLayer, or over less, instead of the counts find only
  // padding beyond the counts: lists without entries, and 0 as id, source and target. With
  // Expansion::kOnce the layers then share no lists: sample() allocates memory for them in its
  // first call.
  bool pad = false;
};

// One layer of all mini-batches, with the arrays of BlockView; those of mini-batch m begin at m
// strides. It has hop_ends[hop] targets, hop_ends[hop + 1] sources and num_edges[layer] edges of
// the sample.
struct DeviceLayer {
  const int32_t* indptr = nullptr;
  const int32_t* indices = nullptr;
  const int64_t* edge_ids = nullptr;  // or null
  const int32_t* out_indptr = nullptr;
  const int32_t* out_targets = nullptr;
  int64_t indptr_stride = 0;
  int64_t edge_stride = 0;  // stride of indices, edge_ids and out_targets
  int64_t out_indptr_stride = 0;
  int64_t max_targets = 0, max_sources = 0, max_edges = 0;  // maxima over all mini-batches
  int32_t hop = 0;  // layers count from the input, hops from the seeds
};

// A sample of several mini-batches; all pointers are device pointers. Valid until the sampler's
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
  // All ones, or mini-batch * 2^32 + position of the first seed that is not a node (position
  // max_seeds means a wrong number of seeds). Such a seed has a row without edges and the id 0.
  const uint64_t* bad_seed = nullptr;
  DeviceLayer layers[kMaxHops];
};

struct DeviceGraph;    // a graph that kernels can read
struct DeviceSampler;  // buffers of one queue

struct DeviceSampling {
  static constexpr const char* kTable = "sampling";

  // Copies the arrays to the device (kDevice) and waits for that, or pins them in place (kPinned).
  // Pinned arrays are pinned once per process, for all devices and calls, until the last graph over
  // them closes; the graph keeps them alive. `queue` outlives the graph, which every queue of that
  // device may use. Error(kNoMemory) names the size; kUnsupported if the system refuses to pin. Any
  // thread.
  DeviceGraph* (*open_graph)(device::Queue* queue, const HostCsc& csc, device::Placement placement);
  // Free all samplers over the graph first. Any thread.
  void (*close_graph)(DeviceGraph* graph) noexcept;

  // Creates a sampler for up to `max_batches` mini-batches of up to `max_seeds` seeds per call, for
  // use in this queue only. If the fan-outs bound every hop, all memory is allocated here, and
  // sample() neither waits nor allocates after its first call (the first call allocates scratch for
  // scans and sorts). From the first fan-out of -1 on, or the first bound of 2^31 edges or more,
  // hops are measured: each waits once, and buffers grow.
  // `config.outgoing` must match the graph. Error(kInvalidArgument) for a config that
  // make_neighbor_sampler() refuses or limits below 1, kRange for 2^31 or more seeds per call,
  // kNoMemory.
  DeviceSampler* (*create)(device::Queue* queue, const DeviceGraph* graph,
                           const NeighborConfig& config, int64_t max_seeds, int32_t max_batches);
  // Waits for the queue.
  void (*free)(DeviceSampler* sampler) noexcept;
  // Bytes of its buffers at this time.
  int64_t (*bytes)(const DeviceSampler* sampler);

  // Samples. One thread at a time. Error(kRange) for host seeds that are not nodes, for more
  // mini-batches or seeds than the sampler allows, or, with measured hops, for more nodes or edges
  // than 31 bits can number; kUnsupported for padding with measured hops; kNoMemory, after which
  // the next call works.
  const DeviceSample* (*sample)(DeviceSampler* sampler, const DeviceBatches& batches);
};

// The true counts, on the host.
struct DeviceCounts {
  std::vector<int32_t> hop_ends;   // [num_batches][num_layers + 1]
  std::vector<int32_t> num_edges;  // [num_batches][num_layers]
};
// Waits for the queue. Error(kRange) if a seed was not a node.
void read_counts(const device::Table& table, device::Queue* queue, const DeviceSample& sample,
                 DeviceCounts& out);
// Returns mini-batch `batch` in the form of the CPU's sampler. Waits; errors as for read_counts().
void read_sample(const device::Table& table, device::Queue* queue, const DeviceSample& sample,
                 int32_t batch, Sample& out);

}  // namespace gnnmg::sample
