// The model behind a handle, and the training pass that waits for its backward pass.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <mutex>
#include <optional>

#include "capi/job.h"
#include "capi/object.h"
#include "data/dataset.h"
#include "loader/loader.h"
#include "nn/layer_config.h"
#include "nn/model.h"

namespace gnnmg::capi {

class Model : public Object {
 public:
  static constexpr Kind kKind = Kind::kModel;
  Model(std::shared_ptr<Context> owner, std::shared_ptr<nn::Model> made);
  // One of layers that are still to be added; `dataset` gives what they leave to it, or is null.
  Model(std::shared_ptr<Context> owner, nn::ModelConfig unfinished, data::DatasetRef dataset);

  // The model; from now on no layer can be added. Error(kInvalidArgument) where none was yet that
  // makes a model of it.
  const std::shared_ptr<nn::Model>& get() const;
  nn::Model& operator*() const { return *get(); }
  // The model if it has been made, which this does not do.
  std::shared_ptr<nn::Model> made() const {
    std::lock_guard lock(mutex_);
    return model_;
  }
  nn::ModelConfig config() const;  // of the layers so far
  // Error(kBusy) once the model was made, kInvalidArgument for a layer that does not fit.
  void add_layer(nn::LayerConfig layer);

  Pendings pendings;

  // Between forward and backward; keeps the blocks that the backward pass reads. With a hold.
  // Whoever changes parameters drops it: its gradient would be that of no model.
  struct Pass {
    at::Tensor logits;
    loader::BatchRef batch;
    data::DatasetRef dataset;
  };
  std::optional<Pass> pass;

 private:
  mutable std::mutex mutex_;  // guards what follows
  mutable std::shared_ptr<nn::Model> model_;
  nn::ModelConfig growing_;  // until then
  mutable data::DatasetRef dataset_;
};

}  // namespace gnnmg::capi
