#include "train/optim/optimizer.h"

#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include <cmath>

#include "nn/parallel.h"
#include "train/optim/decay.h"

namespace gnnmg::train {
namespace {

using base::Status;

// All optimizers here work element by element, so one flat tensor stands for all parameters: a step
// is a dozen operations however many layers there are.
at::Tensor flat_parameter(nn::Model& model) {
  at::Tensor flat = model.flat_parameters().detach();
  flat.mutable_grad() = model.flat_gradients().detach();
  return flat;
}

// One pass over the gradient in place of LibTorch's three; lanes of their own let it run in
// vectors.
template <typename T>
double scale_and_sum(T* values, int64_t count, T factor) {
  constexpr int64_t kLanes = 16;
  double lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const T value = values[i + lane] *= factor;
      lanes[lane] += static_cast<double>(value) * static_cast<double>(value);
    }
  }
  double sum = 0;
  for (; i < count; ++i) {
    const T value = values[i] *= factor;
    sum += static_cast<double>(value) * static_cast<double>(value);
  }
  for (double lane : lanes) sum += lane;
  return std::sqrt(sum);
}

// Decay of all parameters, which LibTorch does.
double everywhere(const OptimizerConfig& config) {
  return config.weight_decay_layers > 0 ? 0 : config.weight_decay;
}

template <typename Engine, typename Options, typename State>
class AdamLike final : public Optimizer {
 public:
  AdamLike(nn::Model& model, const OptimizerConfig& config)
      : Optimizer(model),
        config_(config),
        parameter_(flat_parameter(model)),
        decay_(model, config),
        engine_({parameter_}, options(config)) {}

  void step() override {
    decay_.apply(parameter_, parameter_.grad(), learning_rate());
    const nn::TorchThreads threads(parameter_,
                                   nn::kElementWork * static_cast<double>(parameter_.numel()));
    engine_.step();
  }
  void set_learning_rate(double rate) override { engine_.param_groups()[0].options().set_lr(rate); }
  double learning_rate() const override { return engine_.param_groups()[0].options().get_lr(); }
  const OptimizerConfig& config() const override { return config_; }

  std::vector<nn::NamedTensor> state() const override {
    const auto it = engine_.state().find(parameter_.unsafeGetTensorImpl());
    if (it == engine_.state().end()) return {};
    const State& own = static_cast<const State&>(*it->second);
    std::vector<nn::NamedTensor> out{
        {"step", at::full({1}, static_cast<double>(own.step()), at::kDouble)},
        {"exp_avg", own.exp_avg()},
        {"exp_avg_sq", own.exp_avg_sq()}};
    if (config_.amsgrad) out.push_back({"max_exp_avg_sq", own.max_exp_avg_sq()});
    return out;
  }

  void load_state(const std::vector<nn::NamedTensor>& state) override {
    if (state.empty()) {
      engine_.state().clear();
      return;
    }
    const int64_t count = parameter_.numel();
    const auto copy = [&](std::string_view key) {
      return find(state, key, count).to(at::kCPU, parameter_.scalar_type(), false, true);
    };
    auto own = std::make_unique<State>();
    own->step(static_cast<int64_t>(find(state, "step", 1).template item<double>()));
    own->exp_avg(copy("exp_avg"));
    own->exp_avg_sq(copy("exp_avg_sq"));
    if (config_.amsgrad) own->max_exp_avg_sq(copy("max_exp_avg_sq"));
    engine_.state()[parameter_.unsafeGetTensorImpl()] = std::move(own);
  }

 private:
  static Options options(const OptimizerConfig& c) {
    Options options(c.learning_rate);
    options.betas({c.beta1, c.beta2}).eps(c.epsilon).weight_decay(everywhere(c)).amsgrad(c.amsgrad);
    return options;
  }
  OptimizerConfig config_;
  at::Tensor parameter_;
  LayerDecay decay_;
  Engine engine_;
};

class Sgd final : public Optimizer {
 public:
  Sgd(nn::Model& model, const OptimizerConfig& config)
      : Optimizer(model),
        config_(config),
        parameter_(flat_parameter(model)),
        decay_(model, config),
        engine_({parameter_}, options(config)) {}

  void step() override {
    decay_.apply(parameter_, parameter_.grad(), learning_rate());
    const nn::TorchThreads threads(parameter_,
                                   nn::kElementWork * static_cast<double>(parameter_.numel()));
    engine_.step();
  }
  void set_learning_rate(double rate) override { engine_.param_groups()[0].options().set_lr(rate); }
  double learning_rate() const override { return engine_.param_groups()[0].options().get_lr(); }
  const OptimizerConfig& config() const override { return config_; }

  std::vector<nn::NamedTensor> state() const override {
    const auto it = engine_.state().find(parameter_.unsafeGetTensorImpl());
    if (it == engine_.state().end()) return {};
    return {{"momentum_buffer",
             static_cast<const torch::optim::SGDParamState&>(*it->second).momentum_buffer()}};
  }

  void load_state(const std::vector<nn::NamedTensor>& state) override {
    engine_.state().clear();
    if (state.empty()) return;
    auto own = std::make_unique<torch::optim::SGDParamState>();
    own->momentum_buffer(find(state, "momentum_buffer", parameter_.numel())
                             .to(at::kCPU, parameter_.scalar_type(), false, true));
    engine_.state()[parameter_.unsafeGetTensorImpl()] = std::move(own);
  }

 private:
  static torch::optim::SGDOptions options(const OptimizerConfig& c) {
    return torch::optim::SGDOptions(c.learning_rate)
        .momentum(c.momentum)
        .dampening(c.dampening)
        .weight_decay(everywhere(c))
        .nesterov(c.nesterov);
  }
  OptimizerConfig config_;
  at::Tensor parameter_;
  LayerDecay decay_;
  torch::optim::SGD engine_;
};

using AdamOptimizer =
    AdamLike<torch::optim::Adam, torch::optim::AdamOptions, torch::optim::AdamParamState>;
using AdamWOptimizer =
    AdamLike<torch::optim::AdamW, torch::optim::AdamWOptions, torch::optim::AdamWParamState>;

}  // namespace

const at::Tensor& Optimizer::find(const std::vector<nn::NamedTensor>& state, std::string_view key,
                                  int64_t count) {
  for (const nn::NamedTensor& entry : state) {
    if (entry.key != key) continue;
    if (entry.tensor.numel() != count)
      base::fail(Status::kFormat, "optimiser state ", key, ": expected ", count, " values, found ",
                 entry.tensor.numel());
    return entry.tensor;
  }
  base::fail(Status::kFormat, "optimiser state has no ", key);
}

double Optimizer::scale_gradients(double factor) { return train::scale_gradients(model_, factor); }

void Optimizer::clip(double norm, double limit) { clip_to(model_, norm, limit); }

std::unique_ptr<Optimizer> Optimizer::create(nn::Model& model, const OptimizerConfig& config) {
  config.check();
  if (model.device()) return make_device_optimizer(model, config);
  switch (config.kind) {
    case OptimizerKind::kAdam:
      return std::make_unique<AdamOptimizer>(model, config);
    case OptimizerKind::kAdamW:
      return std::make_unique<AdamWOptimizer>(model, config);
    case OptimizerKind::kSgd:
      return std::make_unique<Sgd>(model, config);
  }
  base::fail(Status::kInternal, "optimiser ", static_cast<int>(config.kind));
}

double scale_gradients(nn::Model& model, double factor) {
  at::Tensor flat = model.flat_gradients();
  return flat.scalar_type() == at::kDouble
             ? scale_and_sum(flat.data_ptr<double>(), flat.numel(), factor)
             : scale_and_sum(flat.data_ptr<float>(), flat.numel(), static_cast<float>(factor));
}

void clip_to(nn::Model& model, double norm, double limit) {
  // torch.nn.utils.clip_grad_norm_'s rule, its 1e-6 included.
  const double scale = limit / (norm + 1e-6);
  if (scale < 1) model.flat_gradients().mul_(scale);
}

double clip_gradients(nn::Model& model, double limit) {
  const double norm = scale_gradients(model, 1);
  clip_to(model, norm, limit);
  return norm;
}

}  // namespace gnnmg::train
