// The products-shaped graph of the GPU's benchmarks, its mini-batches, and memory of the GPU.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/gpu/lane.h"
#include "graph/graph.h"
#include "sample/sampler.h"

namespace gnnmg::bench {

// Sizes of the comparison; the fake GPU has smaller ones.
struct Size {
  int64_t num_nodes = 2449029;
  int64_t batch_size = 1024;
  std::vector<int64_t> fanouts{15, 10, 5};
  int64_t hidden = 256;
};

class World {
 public:
  explicit World(const Size& size);
  const Size size;
  const graph::GraphRef graph;       // node tensors "x", 100 columns, and "y", 47 classes
  const std::vector<int64_t> train;  // 8.03 % of the nodes, in random order
  sample::NeighborConfig law(bool transpose) const;  // draws for every layer
  int64_t num_batches() const;                       // per epoch
  std::span<const int64_t> seeds(int64_t batch) const;
  sample::BatchKey key(int64_t batch) const {
    return {1, base::Purpose::kSample, 0, static_cast<uint64_t>(batch)};
  }
  // Returns mini-batch `batch` from the CPU's sampler, with the lists by source.
  sample::Sample sample(int64_t batch) const;
  // Writes mini-batches 0 to count - 1 for peers in the format of bench_epoch.
  void export_blocks(const std::string& folder, int64_t count) const;
};

// Memory of GPU 0, or pinned host memory.
class GpuArray {
 public:
  explicit GpuArray(int64_t bytes, device::Placement placement = device::Placement::kDevice)
      : placement_(placement), data_(gpu_table().allocate(0, placement, bytes)) {}
  template <typename T>
  GpuArray(const Lane& lane, const T* host, int64_t count)
      : GpuArray(count * static_cast<int64_t>(sizeof(T))) {
    gpu_table().copy(lane.queue(), data_, host, count * static_cast<int64_t>(sizeof(T)));
    gpu_table().synchronize(lane.queue());
  }
  ~GpuArray() { gpu_table().release(0, placement_, data_); }
  GpuArray(const GpuArray&) = delete;
  GpuArray& operator=(const GpuArray&) = delete;
  template <typename T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  template <typename T>
  std::vector<T> read(const Lane& lane, int64_t count) const {
    std::vector<T> host(static_cast<size_t>(count));
    gpu_table().copy(lane.queue(), host.data(), data_, count * static_cast<int64_t>(sizeof(T)));
    gpu_table().synchronize(lane.queue());
    return host;
  }

 private:
  device::Placement placement_;
  void* data_;
};

}  // namespace gnnmg::bench
