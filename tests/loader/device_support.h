// Mini-batches of the CPU's loader, and mini-batches as read on a lazy GPU, as bytes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lazy_gpu.h"
#include "loader/device_source.h"
#include "loader/loader.h"

namespace gnnmg::test {

// Contents by position in the epoch.
using Contents = std::map<int64_t, std::string>;

struct DeviceWorld {
  static constexpr int64_t kNodes = 1200, kCols = 7;

  explicit DeviceWorld(const sample::NeighborConfig& config);
  DeviceWorld();  // two hops, all arrays

  // A source opened for device 0, and two loaders over it.
  std::shared_ptr<loader::DeviceSource> open(const loader::DeviceSourceConfig& config) const;
  std::unique_ptr<loader::Loader> on_device(const loader::LoaderConfig& config,
                                            std::shared_ptr<loader::DeviceSource> source) const;
  std::unique_ptr<loader::Loader> on_cpu(const loader::LoaderConfig& config) const;

  graph::GraphRef graph;
  std::vector<int64_t> ids;
  std::shared_ptr<const sample::Sampler> sampler;
  base::Tensor x;  // f32
  std::shared_ptr<const feature::FeatureStore> store;
};

loader::DeviceSourceConfig on_lazy_gpu(
    loader::GraphPlacement graph = loader::GraphPlacement::kDevice,
    loader::FeaturePlacement features = loader::FeaturePlacement::kDevice);
loader::LoaderConfig device_loader_config(int32_t num_threads = 1);

// Returns a table's rows stored in a form and gathered as another type: [nodes, cols].
std::vector<float> rows_in(feature::Form form, base::DType gathered, const base::Tensor& x);

// Returns the contents of an epoch's mini-batches, from `first_step` on, made by the CPU; their
// rows come from `rows`, [nodes, cols], or are absent.
Contents by_cpu(const DeviceWorld& world, loader::LoaderConfig config, uint64_t epoch,
                int64_t first_step, const std::vector<float>& rows, int64_t cols);

// The way in which a reader protects its input from being overwritten.
enum class Reads {
  kNamed,   // DeviceArrays::made_in and read_in
  kPassing  // precede() and follow()
};

// Reads mini-batches in a queue of its own, some time later.
class LazyReader {
 public:
  explicit LazyReader(int device = 0, Reads reads = Reads::kNamed);
  ~LazyReader();
  LazyReader(const LazyReader&) = delete;
  LazyReader& operator=(const LazyReader&) = delete;
  // The batch may be released at once.
  void read(int64_t place, loader::Batch& batch);
  Contents finish();

 private:
  device::Queue* queue_;
  const Reads reads_;
  std::map<int64_t, std::shared_ptr<std::string>> read_;
};

// Returns the contents of the rest of the epoch, read in `lazy` queues, holding one mini-batch at a
// time.
Contents by_device(loader::Loader& loader, Reads reads = Reads::kNamed);

}  // namespace gnnmg::test
