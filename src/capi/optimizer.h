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

class Optimizer : public Object {
 public:
  static constexpr Kind kKind = Kind::kOptimizer;
  Optimizer(std::shared_ptr<Model> model, const train::OptimizerConfig& config, double clip_norm);
  ~Optimizer() override;
  bool ends_slowly() const noexcept override { return model_->ends_slowly(); }

  const std::shared_ptr<Model>& model() const { return model_; }
  train::Optimizer& get() const { return *optimizer_; }
  bool on_device() const noexcept override { return model_->on_device(); }
  double clip_norm() const { return clip_norm_; }

 private:
  std::shared_ptr<Model> model_;
  const Model::Use use_;
  std::unique_ptr<train::Optimizer> optimizer_;
  double clip_norm_;
};

}  // namespace gnnmg::capi
