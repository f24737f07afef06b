// Upper bound of a training's GPU memory, part by part, and the placement of graph and features.
// Needs no GPU.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "loader/device_source.h"
#include "nn/model/pass_memory.h"
#include "sample/sampler.h"

namespace gnnmg::train {

struct Job;

// Numbers of nodes by degree. They bound the edges of a set of nodes.
class DegreeCounts {
 public:
  DegreeCounts() = default;
  explicit DegreeCounts(const graph::Csc& csc);
  // Upper bound of the edges into `rows` distinct nodes, `fanout` each (-1: all).
  int64_t most_edges(int64_t rows, int64_t fanout) const;
  int64_t largest() const { return static_cast<int64_t>(counts_.size()) - 1; }

 private:
  std::vector<int64_t> counts_;  // [largest degree + 1]
};

// Bounds of a mini-batch of at most `max_seeds` seeds, layer by layer from the input on.
std::vector<nn::LayerBounds> batch_bounds(const sample::NeighborConfig& config,
                                          const DegreeCounts& degrees, int64_t num_nodes,
                                          int64_t max_seeds);

// Memory of a rank that has a GPU to itself: upper bounds in bytes on the device.
struct MemoryRequest {
  // Sizes on the device; 0: never there.
  int64_t graph = 0;
  int64_t features = 0;     // size in their stored form
  int64_t feature_row = 0;  // bytes per row
  int64_t scales = 0;       // scales of features in bytes; next to the rows, wherever these are
  int64_t num_nodes = 0;
  bool can_cache = false;
  loader::DeviceSourceConfig placement;

  int64_t sampler = 0;  // buffers, if the device samples
  int64_t copied = 0;   // copies of samples, if the host samples
  int64_t rows = 0;     // gathered or copied rows of current mini-batches
  int64_t pass = 0;     // forward and backward pass of a mini-batch, or of a rank's share of a step
  int64_t evaluation = 0;
  int64_t parameters = 0, optimizer = 0, communication = 0;
  // Captured steps or padded ones, in addition to the parts above, which evaluations use; and their
  // gathered rows. 0: none.
  int64_t capture = 0, capture_rows = 0;
  bool must_capture = false;  // false: captured only if memory suffices
  int64_t reserve = 0;
  // False: a host sampler without a known mini-batch size; then `pass`, `copied` and `rows` are 0.
  bool bounded = true;
};

struct MemoryPlan {
  loader::GraphPlacement graph_placement = loader::GraphPlacement::kHost;
  loader::FeaturePlacement feature_placement = loader::FeaturePlacement::kHost;
  int64_t num_cached = 0;  // rows
  int64_t graph = 0, features = 0, sampler = 0, rows = 0, pass = 0, evaluation = 0;
  int64_t parameters = 0, optimizer = 0, communication = 0, reserve = 0;
  int64_t capture = 0;         // 0: mini-batches are not padded
  int64_t capture_wanted = 0;  // size of a capture that does not fit
  int64_t total = 0;           // includes the larger of pass and evaluation
  int64_t pinned = 0;          // bytes of host memory, once per process
  int64_t memory = 0;          // size of the GPU
  bool bounded = true, fits = false;

  // All parts but graph, features and reserve.
  int64_t working() const { return total - graph - features - reserve; }
};

// Plan for a GPU with `memory` free bytes. Chooses placements as DeviceSource::open() does with
// MemoryPlan::working() kept free.
MemoryPlan plan_memory(const MemoryRequest& request, int64_t memory);

// Memory of the job on each of `num_gpus` GPUs. `reserve`: for the driver, libraries and others.
MemoryRequest memory_request(const Job& job, int num_gpus, int64_t reserve);
inline constexpr int64_t kUsualReserve = int64_t{1} << 30;
// Reserve on a GPU of `total` bytes whose driver already has its share: kernels loaded at first
// use, 32 MiB of cuBLAS for each thread that multiplies (also in the backward pass), and
// fragmentation.
constexpr int64_t reserve_beside_driver(int64_t total) {
  return std::min(total / 64, int64_t{256} << 20);
}

// list_parts(): "graph 1.20 GB, features ...", without parts of size 0. remedies(): settings that
// shrink the largest part.
std::string list_parts(const MemoryPlan& plan);
std::string remedies(const MemoryPlan& plan);

}  // namespace gnnmg::train
