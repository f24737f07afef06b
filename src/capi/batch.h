// Mini-batches behind handles, and what loader and sampler share in making them.
#pragma once

#include <memory>

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
  // `dataset` may be null: no labels. `seed` is that of the draws, which dropout uses too.
  Batch(std::shared_ptr<Context> owner, loader::BatchRef made, data::DatasetRef dataset,
        uint64_t seed, bool has_transpose);

  const loader::BatchRef& get() const { return batch_; }
  const data::DatasetRef& dataset() const { return dataset_; }
  uint64_t seed() const { return seed_; }
  bool has_transpose() const { return transpose_; }
  bool has_labels() const { return dataset_ && dataset_->task != data::Task::kNone; }

 private:
  loader::BatchRef batch_;
  data::DatasetRef dataset_;
  uint64_t seed_;
  bool transpose_;
};

// The sampler's graph must be the data set's, or have the same nodes and edges.
void check_fit(const Sampler& sampler, const Dataset& dataset);

// Fills in the features of the nodes of a sample.
void gather_features(const feature::FeatureStore& store, loader::Batch& batch,
                     base::ThreadPool& pool);

}  // namespace gnnmg::capi
