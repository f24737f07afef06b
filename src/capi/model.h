// The object of a model's handle, and the training pass that waits for its backward pass.
#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

#include "capi/device_place.h"
#include "capi/job.h"
#include "capi/object.h"
#include "data/dataset.h"
#include "loader/loader.h"
#include "nn/config/layer_config.h"
#include "nn/model/model.h"
#include "nn/ops/sparse_view.h"
#include "nn/state/file_settings.h"

namespace gnnmg::capi {

class Model : public Object {
 public:
  static constexpr Kind kKind = Kind::kModel;
  // `place`: where it lies; null: on the CPU.
  Model(std::shared_ptr<Context> owner, std::shared_ptr<nn::Model> made,
        std::shared_ptr<DevicePlace> place = nullptr);
  ~Model() override;
  bool ends_slowly() const noexcept override;
  // A model of layers still to be added; `dataset` gives the sizes left open, or is null.
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
  nn::ModelConfig config() const;  // config of the layers so far
  // The GPU that it lies on; null: the CPU. All work on the model is done at this place.
  std::shared_ptr<DevicePlace> place() const {
    std::lock_guard lock(mutex_);
    return place_;
  }
  bool on_device() const noexcept override { return place() != nullptr; }
  // Moves weights, buffers and gradients there; with a hold. Error(kBusy) while something uses the
  // model where it is.
  void move(std::shared_ptr<DevicePlace> place);
  // Freezes the parameters whose keys match the pattern, or lets them be trained; with a hold.
  // Error(kNotFound) if none does, kBusy while something uses the model's memory.
  void set_trainable(std::string_view pattern, bool trainable);
  // The use by an optimizer or a trainer, which work on the model's memory.
  class Use {
   public:
    explicit Use(Model& model) : model_(model) { ++model_.users_; }
    ~Use() { --model_.users_; }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    Model& model_;
  };
  // The data that it was made for, or first trained on.
  nn::DataFacts facts() const {
    std::lock_guard lock(mutex_);
    return facts_;
  }
  void learn(const nn::DataFacts& facts);  // unless it knows some already
  // Error(kBusy) once the model was made, kInvalidArgument for a layer that does not fit.
  void add_layer(nn::LayerConfig layer);

  Pendings pendings;

  // A pass between forward and backward; keeps the blocks that the backward pass reads. With a
  // hold. A change of parameters drops it: its gradient would belong to no model.
  struct Pass {
    at::Tensor logits;
    loader::BatchRef batch;
    data::DatasetRef dataset;
    std::unique_ptr<nn::SparseView> sparse;  // sparse features of a mini-batch on a GPU
  };
  std::optional<Pass> pass;
  bool told_of_lone_row = false;  // guarded by a hold

 private:
  void check_unused(const char* remedy) const;  // Error(kBusy)

  mutable std::mutex mutex_;            // guards the members below
  std::shared_ptr<DevicePlace> place_;  // outlives the model
  mutable std::shared_ptr<nn::Model> model_;
  nn::ModelConfig growing_;  // until then
  mutable data::DatasetRef dataset_;
  nn::DataFacts facts_;
  std::atomic<int> users_{0};
};

// Models are made for graphs of one node type: Error(kNotFound) for another index than 0.
void check_only_node_type(int32_t node_type);

}  // namespace gnnmg::capi
