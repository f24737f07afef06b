#include "train/tensors.h"

#include <ATen/ops/from_blob.h>

#include "base/error.h"
#include "nn/torch/tensor.h"

namespace gnnmg::train {
namespace {

at::Tensor matrix(const void* data, int64_t rows, int64_t cols, base::DType dtype) {
  return at::from_blob(const_cast<void*>(data), {rows, cols}, nn::scalar_type(dtype));
}

}  // namespace

at::Tensor counted_matrix(int64_t rows, int64_t cols, base::DType dtype) {
  const base::Tensor memory = base::Tensor::empty(dtype, {rows, cols});
  return at::from_blob(memory.data(), {rows, cols}, [memory](void*) {}, nn::scalar_type(dtype));
}

std::shared_ptr<const feature::FeatureStore> features_for(const nn::Model& model,
                                                          const data::Dataset& dataset) {
  if (!model.config().reads_features()) return nullptr;
  std::shared_ptr<const feature::FeatureStore> store;
  if (!dataset.feature.empty())
    store = feature::make_store(*dataset.graph, dataset.feature, dataset.node_type);
  if (!store) base::fail(base::Status::kNotFound, dataset.title(), " has no features");
  return store;
}

bool gathers(const feature::FeatureStore* store) {
  return store && (store->sparse() || !store->dense().defined());
}

void gather_features(const feature::FeatureStore* store, base::ThreadPool* pool,
                     const base::CancelToken& cancel, loader::Batch& batch) {
  const std::span<const int64_t> nodes = batch.sample.node_ids.span();
  batch.has_features = gathers(store);
  if (!batch.has_features) return;
  batch.sparse = store->sparse();
  batch.feature_dtype = store->dtype();
  batch.feature_cols = store->num_cols();
  if (batch.sparse) return store->gather_sparse(nodes, batch.sparse_features, pool, cancel);
  const int64_t row_bytes = batch.feature_cols * base::dtype_size(batch.feature_dtype);
  batch.features.resize_discard(
      base::checked_mul(batch.sample.num_nodes(), row_bytes, "features of a mini-batch"));
  store->gather(nodes, batch.features.data(), pool, cancel);
}

nn::RowInput input_of(const loader::Batch& batch, const feature::FeatureStore* store) {
  nn::RowInput input;
  if (!store) return input;
  if (!batch.has_features) {
    const base::Tensor table = store->dense();
    input.table = matrix(table.data(), store->num_rows(), store->num_cols(), store->dtype());
    input.ids = batch.sample.node_ids.span();
  } else if (batch.sparse) {
    input.sparse = &batch.sparse_features;
  } else {
    input.dense = matrix(batch.features.data(), batch.sample.num_nodes(), batch.feature_cols,
                         batch.feature_dtype);
  }
  return input;
}

}  // namespace gnnmg::train
