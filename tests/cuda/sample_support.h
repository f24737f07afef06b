// The sampler on the host's implementation for the duration of a test: with separate lanes if
// GNNMG_LANES_APART is defined.
#pragma once

#ifdef GNNMG_LANES_APART
#include "lane_queue.h"
#endif
//
#include "cuda/sample/entries.h"
#include "host_table.h"
#include "sample_compare.h"

namespace gnnmg::cuda {

#ifdef GNNMG_LANES_APART
using Twin = LaneQueue;
#else
using Twin = HostQueue;
#endif

inline const device::Table& host_table() {
  static const device::Table table = HostTable<0, Twin>::make();
  return table;
}

// A graph and a sampler on a queue for the duration of a test.
class OnQueue {
 public:
  OnQueue(Twin& queue, const graph::Csc& csc, const sample::NeighborConfig& config,
          int64_t max_seeds, int32_t max_batches,
          device::Placement placement = device::Placement::kDevice)
      : queue_(queue) {
    graph_ = table().open_graph(handle_of(queue), sample::csc_for_device(csc, config.edge_ids),
                                placement);
    try {
      sampler_ = table().create(handle_of(queue), graph_, config, max_seeds, max_batches);
    } catch (...) {
      table().close_graph(graph_);
      throw;
    }
  }
  ~OnQueue() {
    table().free(sampler_);
    table().close_graph(graph_);
  }
  OnQueue(const OnQueue&) = delete;
  OnQueue& operator=(const OnQueue&) = delete;

  static const sample::DeviceSampling& table() { return sampling_table<Twin>(); }
  const sample::DeviceSample& sample(const sample::DeviceBatches& batches) {
    return *table().sample(sampler_, batches);
  }
  sample::Sample read(const sample::DeviceSample& view, int32_t batch) {
    sample::Sample out;
    sample::read_sample(host_table(), handle_of(queue_), view, batch, out);
    return out;
  }
  int64_t bytes() const { return table().bytes(sampler_); }

 private:
  Twin& queue_;
  sample::DeviceGraph* graph_ = nullptr;
  sample::DeviceSampler* sampler_ = nullptr;
};

}  // namespace gnnmg::cuda
