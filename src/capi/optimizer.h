// The object of an optimizer's handle.
#pragma once

#include <memory>

#include "capi/model.h"
#include "capi/object.h"
#include "capi/setting_fields.h"
#include "train/optim/optimizer.h"
#include "train/optim/torch_optimizer.h"
#include "train/setting_list.h"

namespace gnnmg::capi {

// The form of the file of an optimizer's state: Error(kInvalidArgument) for any other
// format than `.pth`.
train::TorchFile optimizer_file(const gnnmg_model_file_config* config, std::string_view path);

// The settings that optimizer and trainer configs share, checked.
template <typename Config>
train::OptimizerConfig optimizer_config(const Config& in, int32_t kind) {
  train::OptimizerConfig config;
  config.kind = static_cast<train::OptimizerKind>(kind);
  train::visit_optimizer_fields(in, config, kTakeFields);
  config.check();
  return config;
}

// And their defaults.
template <typename Config>
void optimizer_defaults(Config& out) {
  const train::OptimizerConfig defaults;
  train::visit_optimizer_fields(out, defaults, kPutFields);
}

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
