// The object of an optimizer's handle.
#pragma once

#include <memory>

#include "capi/model.h"
#include "capi/model_file.h"
#include "capi/object.h"
#include "train/optim/optimizer.h"
#include "train/optim/torch_optimizer.h"

namespace gnnmg::capi {

// The form of the file of an optimizer's state: Error(kInvalidArgument) for any other
// format than `.pth`.
train::TorchFile optimizer_file(const char* settings, std::string_view path, FileUse use);

class Trainer;

class Optimizer : public Object {
 public:
  static constexpr Kind kKind = Kind::kOptimizer;
  Optimizer(std::shared_ptr<Model> model, const train::OptimizerConfig& config, double clip_norm);
  // The optimizer of a trainer, which alone steps it.
  explicit Optimizer(std::shared_ptr<Trainer> trainer);
  ~Optimizer() override;
  bool ends_slowly() const noexcept override { return trainer_ || model_->ends_slowly(); }

  const std::shared_ptr<Model>& model() const { return model_; }
  const std::shared_ptr<Trainer>& trainer() const { return trainer_; }  // or null
  // Error(kUnsupported) for that of a trainer.
  train::Optimizer& get() const;
  bool on_device() const noexcept override { return model_->on_device(); }
  double clip_norm() const { return clip_norm_; }

 private:
  std::shared_ptr<Model> model_;
  const Model::Use use_;
  const std::shared_ptr<Trainer> trainer_;
  std::unique_ptr<train::Optimizer> optimizer_;
  double clip_norm_ = 0;
};

}  // namespace gnnmg::capi
