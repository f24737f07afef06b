// The model behind a handle, and the training pass that waits for its backward pass.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>

#include "capi/job.h"
#include "capi/object.h"
#include "data/dataset.h"
#include "loader/loader.h"
#include "nn/model.h"

namespace gnnmg::capi {

class Model : public Object {
 public:
  static constexpr Kind kKind = Kind::kModel;
  Model(std::shared_ptr<Context> owner, std::shared_ptr<nn::Model> made);

  const std::shared_ptr<nn::Model>& get() const { return model_; }
  nn::Model& operator*() const { return *model_; }

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
  std::shared_ptr<nn::Model> model_;
};

}  // namespace gnnmg::capi
