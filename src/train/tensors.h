// Batches as the model takes them, and large results.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "data/dataset.h"
#include "feature/store.h"
#include "loader/loader.h"
#include "nn/model/model.h"

namespace gnnmg::train {

// The features of a data set that the model reads; null: none. Error(kNotFound) if they are
// missing.
std::shared_ptr<const feature::FeatureStore> features_for(const nn::Model& model,
                                                          const data::Dataset& dataset);
// True if a loader has to gather rows. False if the model reads none (the store is null) or reads
// them in place.
bool gathers(const feature::FeatureStore* store);
// Gathers the features of a mini-batch's nodes, unless the model reads none or reads them in place.
void gather_features(const feature::FeatureStore* store, base::ThreadPool* pool,
                     const base::CancelToken& cancel, loader::Batch& batch);
// Views: batch and store must outlive their use.
nn::RowInput input_of(const loader::Batch& batch, const feature::FeatureStore* store);

// [rows, cols], f32 or f64, uninitialized, in memory that counts for the calling thread's budget.
at::Tensor counted_matrix(int64_t rows, int64_t cols, base::DType dtype);

}  // namespace gnnmg::train
