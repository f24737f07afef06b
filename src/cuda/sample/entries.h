// The table of sample/device.h for a queue.
#pragma once

#include <memory>

#include "cuda/grid/entries.h"
#include "cuda/sample/neighbor.h"
#include "sample/device.h"

namespace gnnmg::cuda {

template <typename Queue>
class SamplingEntries {
 public:
  static sample::DeviceGraph* open_graph(device::Queue* queue, const sample::HostCsc& csc,
                                         device::Placement placement) {
    auto graph = std::make_unique<KernelGraph>(queue_of<Queue>(queue), csc, placement);
    return reinterpret_cast<sample::DeviceGraph*>(graph.release());
  }
  static void close_graph(sample::DeviceGraph* graph) noexcept {
    delete reinterpret_cast<KernelGraph*>(graph);
  }
  static sample::DeviceSampler* create(device::Queue* queue, const sample::DeviceGraph* graph,
                                       const sample::NeighborConfig& config, int64_t max_seeds,
                                       int32_t max_batches) {
    check_config(config, max_seeds, max_batches);
    auto sampler =
        std::make_unique<Held>(queue_of<Queue>(queue), *reinterpret_cast<const KernelGraph*>(graph),
                               config, max_seeds, max_batches);
    return reinterpret_cast<sample::DeviceSampler*>(sampler.release());
  }
  static void free(sample::DeviceSampler* sampler) noexcept {
    if (sampler == nullptr) return;
    Held* held = reinterpret_cast<Held*>(sampler);
    try {
      held->queue.synchronize();
    } catch (const std::exception&) {
      // On a lost device, memory can still be released.
    }
    delete held;
  }
  static int64_t bytes(const sample::DeviceSampler* sampler) {
    return reinterpret_cast<const Held*>(sampler)->sampler.bytes();
  }
  static const sample::DeviceSample* sample(sample::DeviceSampler* sampler,
                                            const sample::DeviceBatches& batches) {
    return reinterpret_cast<Held*>(sampler)->sampler.sample(batches);
  }

 private:
  struct Held {
    Held(Queue& on, const KernelGraph& graph, const sample::NeighborConfig& config,
         int64_t max_seeds, int64_t max_batches)
        : queue(on), sampler(on, graph, config, max_seeds, max_batches) {}
    Queue& queue;
    NeighborSampler<Queue> sampler;
  };
};

template <typename Queue>
const sample::DeviceSampling& sampling_table() {
  using Entries = SamplingEntries<Queue>;
  static constexpr sample::DeviceSampling table{
      .open_graph = Entries::open_graph,
      .close_graph = Entries::close_graph,
      .create = Entries::create,
      .free = Entries::free,
      .bytes = Entries::bytes,
      .sample = Entries::sample,
  };
  return table;
}

}  // namespace gnnmg::cuda
