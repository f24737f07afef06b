// How much of a GPU's memory training takes, before it begins and whether or not the GPU is there:
// an upper bound, part by part, and where graph and features come to lie.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "loader/device_source.h"
#include "nn/pass_memory.h"
#include "sample/sampler.h"

namespace gnnmg::train {

struct Job;

// Nodes by their number of neighbours: what bounds the edges that many of them can have.
class DegreeCounts {
 public:
  DegreeCounts() = default;
  explicit DegreeCounts(const graph::Csc& csc);
  // Edges that `rows` different nodes have at most, `fanout` each (-1: all).
  int64_t most_edges(int64_t rows, int64_t fanout) const;
  int64_t largest() const { return static_cast<int64_t>(counts_.size()) - 1; }

 private:
  std::vector<int64_t> counts_;  // [largest degree + 1]
};

// A mini-batch of at most `max_seeds` seeds, layer by layer from the input on.
std::vector<nn::LayerBounds> batch_bounds(const sample::NeighborConfig& config,
                                          const DegreeCounts& degrees, int64_t num_nodes,
                                          int64_t max_seeds);

// What a rank on a GPU of its own takes. Parts are bytes on the device, at most.
struct MemoryRequest {
  // As they would lie there; 0: they never do.
  int64_t graph = 0;
  int64_t features = 0;     // in their form
  int64_t feature_row = 0;  // of them
  int64_t scales = 0;       // of bytes with scales, which lie there wherever the rows do
  int64_t num_nodes = 0;
  bool can_cache = false;
  loader::DeviceSourceConfig placement;

  int64_t sampler = 0;  // where the device samples: its buffers
  int64_t copied = 0;   // where the host does: copies of samples
  int64_t rows = 0;     // gathered, or copied, of mini-batches at hand
  int64_t pass = 0;     // forward and backward pass of a mini-batch, or of a rank's of a step
  int64_t evaluation = 0;
  int64_t parameters = 0, optimizer = 0, communication = 0;
  // Captured steps, and such over the same shapes, beside all that, which serves evaluations; their
  // rows, where those are gathered. 0: there are none.
  int64_t capture = 0, capture_rows = 0;
  bool must_capture = false;  // else where there is room for them
  int64_t reserve = 0;
  // Without it the sampler is one of the host's whose mini-batches nobody can tell the size of:
  // `pass`, `copied` and `rows` are 0.
  bool bounded = true;
};

struct MemoryPlan {
  loader::GraphPlacement graph_placement = loader::GraphPlacement::kHost;
  loader::FeaturePlacement feature_placement = loader::FeaturePlacement::kHost;
  int64_t num_cached = 0;  // rows
  int64_t graph = 0, features = 0, sampler = 0, rows = 0, pass = 0, evaluation = 0;
  int64_t parameters = 0, optimizer = 0, communication = 0, reserve = 0;
  int64_t capture = 0;         // 0: mini-batches are not padded
  int64_t capture_wanted = 0;  // what it would be, where it does not fit
  int64_t total = 0;           // of a pass and an evaluation the larger one
  int64_t pinned = 0;          // bytes of the host's, once a process
  int64_t memory = 0;          // of the GPU
  bool bounded = true, fits = false;

  // What comes beside graph and features.
  int64_t working() const { return total - graph - features - reserve; }
};

// Of a GPU with so many bytes, none of which are taken. Placements as DeviceSource::open() takes
// them, with MemoryPlan::working() to stay free for the rest.
MemoryPlan plan_memory(const MemoryRequest& request, int64_t memory);

// What the job takes on each of `num_gpus` GPUs. `reserve`: for the driver, libraries and others.
MemoryRequest memory_request(const Job& job, int num_gpus, int64_t reserve);
inline constexpr int64_t kUsualReserve = int64_t{1} << 30;
// Where the driver has taken its part of a GPU of `total` bytes: for kernels, which are loaded when
// they are first used, and cuBLAS, which takes 32 MiB for each thread that multiplies, the backward
// pass's too; and for what lies in pieces.
constexpr int64_t reserve_beside_driver(int64_t total) {
  return std::min(total / 64, int64_t{256} << 20);
}

// "graph 1.20 GB, features ...", the parts that are not 0; and what to change about the largest.
std::string list_parts(const MemoryPlan& plan);
std::string remedies(const MemoryPlan& plan);

}  // namespace gnnmg::train
