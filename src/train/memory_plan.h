// How much of a GPU's memory training takes, before it begins and whether or not the GPU is there:
// an upper bound, part by part, and the placement of graph and features that fits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/device.h"
#include "feature/device.h"
#include "sample/sampler.h"

namespace gnnmg::train {

// What is to be trained, by one rank on a GPU of its own.
struct MemoryRequest {
  int64_t num_nodes = 0, num_edges = 0;
  int64_t max_degree = 0;     // what a fan-out of -1 draws at most; 0: num_edges
  int64_t edge_id_bytes = 0;  // 0, 4 or 8 an edge
  sample::NeighborConfig sampling;
  int64_t batch_size = 1024;
  int32_t batches_at_once = 2;  // mini-batches in one call of the sampler
  int32_t num_slots = 2;        // mini-batches whose rows lie on the device at the same time

  int64_t feature_cols = 0;
  int64_t feature_bytes = 4;    // of a value as it is kept; 1 has a scale a row besides
  std::vector<int64_t> widths;  // of what each layer gives, the last one's classes
  int64_t numbers_an_edge = 0;  // that layers keep for each of their edges, as heads of attention
  int64_t num_parameters = 0;
  int64_t optimizer_numbers = 2;  // kept for each parameter: 2 of Adam, 1 of momentum
  int64_t value_bytes = 4;        // of a number in computation
  int32_t num_ranks = 1;

  int64_t gpu_memory = 0;              // bytes in all
  int64_t reserve = int64_t{1} << 30;  // of it for the driver, the CUDA libraries and others
};

// Bytes on the device.
struct MemoryPlan {
  base::Placement graph_placement = base::Placement::kDevice;
  feature::RowPlacement feature_placement = feature::RowPlacement::kDevice;
  int64_t num_cached = 0;  // rows on the device
  int64_t graph = 0;
  int64_t features = 0;     // rows there, and a cache's index
  int64_t sampler = 0;      // buffers of the calls of a sampler, and of its scans and sorts
  int64_t rows = 0;         // gathered
  int64_t activations = 0;  // what a step keeps for its backward pass, and gradients of it
  int64_t parameters = 0;   // with gradients
  int64_t optimizer = 0;
  int64_t communication = 0;  // the flat buffer that is added up, and NCCL's own
  int64_t reserve = 0;
  int64_t total = 0;
  int64_t pinned = 0;  // bytes of the host's, once a process
  bool fits = false;   // total is at most gpu_memory
};

// With graph and features where they are asked to lie, num_cached rows of a cache.
// Error(kInvalidArgument) for counts, sizes or fan-outs that cannot be; kRange for mini-batches of
// 2^31 edges and more, which no GPU samples.
MemoryPlan plan_memory(const MemoryRequest& request, base::Placement graph,
                       feature::RowPlacement features, int64_t num_cached);
// The first that fits of: all on the device; features cached, as many rows as there is room for, if
// that is a hundredth of them or more; features pinned; the graph pinned, and features in the same
// order. What is pinned altogether if nothing does.
MemoryPlan plan_memory(const MemoryRequest& request);

// A line a part, and one that says whether it fits.
std::string describe(const MemoryPlan& plan, const MemoryRequest& request);

// "80GB", "512 MB", "40GiB" or a number of bytes; GB are 10^9. Error(kInvalidArgument).
int64_t parse_bytes(const std::string& text);

}  // namespace gnnmg::train
