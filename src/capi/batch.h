// The objects of mini-batch handles, and the code that loader and sampler share in making them.
#pragma once

#include <memory>

#include "capi/device_place.h"
#include "capi/graph.h"
#include "capi/object.h"
#include "data/dataset.h"
#include "feature/store.h"
#include "loader/loader.h"

namespace gnnmg::capi {

class Dataset;
class Sampler;

class Batch : public Object {
 public:
  static constexpr Kind kKind = Kind::kBatch;
  // `dataset` may be null: no labels. `seed` is that of the draws, which dropout uses too. `place`:
  // of its loader's, on the GPU that its arrays lie on; null: the CPU.
  Batch(std::shared_ptr<Context> owner, loader::BatchRef made, data::DatasetRef dataset,
        uint64_t seed, bool has_transpose, BatchTypes types,
        std::shared_ptr<DevicePlace> place = nullptr);

  bool ends_slowly() const noexcept override;

  const loader::BatchRef& get() const { return batch_; }
  const data::DatasetRef& dataset() const { return dataset_; }
  const std::shared_ptr<DevicePlace>& place() const { return place_; }
  uint64_t seed() const { return seed_; }
  bool has_transpose() const { return transpose_; }
  const BatchTypes& types() const { return types_; }
  bool on_device() const noexcept override { return place_ != nullptr; }
  bool has_labels() const { return dataset_ && dataset_->task != data::Task::kNone; }

 private:
  loader::BatchRef batch_;
  data::DatasetRef dataset_;
  uint64_t seed_;
  bool transpose_;
  BatchTypes types_;
  std::shared_ptr<DevicePlace> place_;
};

// The blocks of the layers, wherever they lie.
inline const std::vector<sample::BlockView>& blocks_of(const loader::Batch& batch) {
  return batch.device ? batch.device->blocks : batch.sample.blocks;
}
// The features of a mini-batch, wherever they lie.
struct BatchFeatures {
  bool there = false, sparse = false;
  base::DType dtype = base::DType::kF32;
  int64_t cols = 0;
};
BatchFeatures features_of(const loader::Batch& batch);

// The sampler's graph must be the data set's, or have the same nodes and edges.
void check_fit(const Sampler& sampler, const Dataset& dataset);

// Fills in the features of the nodes of a sample.
void gather_features(const feature::FeatureStore& store, loader::Batch& batch,
                     base::ThreadPool& pool);

}  // namespace gnnmg::capi
