#include "train/optim/optimizer.h"

#include <torch/optim/adagrad.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>

#include <cmath>
#include <optional>
#include <utility>

#include "nn/torch/parallel.h"
#include "train/optim/decay.h"

namespace gnnmg::train {
namespace {

using base::Status;

// All optimizers here work element by element, so one flat tensor represents all parameters: a step
// is a dozen operations for any number of layers.
at::Tensor flat_parameter(nn::Model& model) {
  const at::Tensor gradients = model.flat_gradients().detach();
  at::Tensor flat = model.flat_parameters().detach().narrow(0, 0, gradients.numel());
  flat.mutable_grad() = gradients;
  return flat;
}

// One pass over the gradient in place of LibTorch's three, in lanes that compilers vectorize.
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

// Weight decay of all parameters, done by LibTorch.
double everywhere(const OptimizerConfig& config) {
  return config.weight_decay_layers > 0 ? 0 : config.weight_decay;
}

// Tensors of a state by the keys of state_kinds().
using Slots = std::vector<std::pair<const char*, at::Tensor*>>;

template <typename TorchEngine, typename TorchOptions, typename TorchState>
struct AdamRule {
  using Engine = TorchEngine;
  using State = TorchState;
  static TorchOptions options(const OptimizerConfig& c) {
    TorchOptions options(c.learning_rate);
    options.betas({c.beta1, c.beta2}).eps(c.epsilon).weight_decay(everywhere(c)).amsgrad(c.amsgrad);
    return options;
  }
  static Slots slots(State& state, const OptimizerConfig& c) {
    Slots all{{"exp_avg", &state.exp_avg()}, {"exp_avg_sq", &state.exp_avg_sq()}};
    if (c.amsgrad) all.emplace_back("max_exp_avg_sq", &state.max_exp_avg_sq());
    return all;
  }
};
using Adam = AdamRule<torch::optim::Adam, torch::optim::AdamOptions, torch::optim::AdamParamState>;
using AdamW =
    AdamRule<torch::optim::AdamW, torch::optim::AdamWOptions, torch::optim::AdamWParamState>;

struct Sgd {
  using Engine = torch::optim::SGD;
  using State = torch::optim::SGDParamState;
  static torch::optim::SGDOptions options(const OptimizerConfig& c) {
    return torch::optim::SGDOptions(c.learning_rate)
        .momentum(c.momentum)
        .dampening(c.dampening)
        .weight_decay(everywhere(c))
        .nesterov(c.nesterov);
  }
  static Slots slots(State& state, const OptimizerConfig&) {
    return {{"momentum_buffer", &state.momentum_buffer()}};
  }
};

struct RmsProp {
  using Engine = torch::optim::RMSprop;
  using State = torch::optim::RMSpropParamState;
  static torch::optim::RMSpropOptions options(const OptimizerConfig& c) {
    return torch::optim::RMSpropOptions(c.learning_rate)
        .alpha(c.alpha)
        .eps(c.epsilon)
        .weight_decay(everywhere(c))
        .momentum(c.momentum)
        .centered(c.centered);
  }
  static Slots slots(State& state, const OptimizerConfig& c) {
    Slots all{{"square_avg", &state.square_avg()}};
    if (c.momentum > 0) all.emplace_back("momentum_buffer", &state.momentum_buffer());
    if (c.centered) all.emplace_back("grad_avg", &state.grad_avg());
    return all;
  }
};

struct Adagrad {
  using Engine = torch::optim::Adagrad;
  using State = torch::optim::AdagradParamState;
  static torch::optim::AdagradOptions options(const OptimizerConfig& c) {
    return torch::optim::AdagradOptions(c.learning_rate).eps(c.epsilon).weight_decay(everywhere(c));
  }
  static Slots slots(State& state, const OptimizerConfig&) { return {{"sum", &state.sum()}}; }
};

template <typename Rule>
class TorchOptimizer final : public Optimizer {
 public:
  TorchOptimizer(nn::Model& model, const OptimizerConfig& config)
      : Optimizer(model),
        config_(config),
        parameter_(flat_parameter(model)),
        decay_(model, config) {
    begin(config.learning_rate);
  }

  void step() override {
    decay_.apply(parameter_, parameter_.grad(), learning_rate());
    const nn::TorchThreads threads(parameter_,
                                   nn::kElementWork * static_cast<double>(parameter_.numel()));
    engine_->step();
  }
  void set_learning_rate(double rate) override { options().set_lr(rate); }
  double learning_rate() const override { return options().get_lr(); }
  const OptimizerConfig& config() const override { return config_; }

  std::vector<nn::NamedTensor> state() const override {
    const auto it = engine_->state().find(parameter_.unsafeGetTensorImpl());
    if (it == engine_->state().end()) return {};
    State& own = static_cast<State&>(*it->second);
    std::vector<nn::NamedTensor> out;
    if constexpr (kCounts) {
      if (own.step() == 0) return {};
      out.push_back({"step", at::full({1}, static_cast<double>(own.step()), at::kDouble)});
    }
    for (const auto& [key, tensor] : Rule::slots(own, config_)) out.push_back({key, *tensor});
    return out;
  }

  void load_state(const std::vector<nn::NamedTensor>& state) override {
    if (state.empty()) return begin(learning_rate());
    auto own = std::make_unique<State>();
    if constexpr (kCounts)
      own->step(static_cast<int64_t>(find(state, "step", 1).template item<double>()));
    for (const auto& [key, tensor] : Rule::slots(*own, config_))
      *tensor =
          find(state, key, parameter_.numel()).to(at::kCPU, parameter_.scalar_type(), false, true);
    engine_->state()[parameter_.unsafeGetTensorImpl()] = std::move(own);
  }

 private:
  using State = typename Rule::State;
  static constexpr bool kCounts = requires(State& state) { state.step(); };  // updates

  void begin(double rate) {
    engine_.emplace(std::vector<at::Tensor>{parameter_}, Rule::options(config_));
    set_learning_rate(rate);
  }
  torch::optim::OptimizerOptions& options() { return engine_->param_groups()[0].options(); }
  const torch::optim::OptimizerOptions& options() const {
    return engine_->param_groups()[0].options();
  }

  OptimizerConfig config_;
  at::Tensor parameter_;
  LayerDecay decay_;
  std::optional<typename Rule::Engine> engine_;
};

}  // namespace

const at::Tensor& Optimizer::find(const std::vector<nn::NamedTensor>& state, std::string_view key,
                                  int64_t count) {
  for (const nn::NamedTensor& entry : state) {
    if (entry.key != key) continue;
    if (entry.tensor.numel() != count)
      base::fail(Status::kFormat, "optimizer state ", key, ": expected ", count, " values, found ",
                 entry.tensor.numel());
    return entry.tensor;
  }
  base::fail(Status::kFormat, "optimizer state has no ", key);
}

double Optimizer::scale_gradients(double factor) { return train::scale_gradients(model_, factor); }

void Optimizer::clip(double norm, double limit) { clip_to(model_, norm, limit); }

std::unique_ptr<Optimizer> Optimizer::create(nn::Model& model, const OptimizerConfig& config) {
  config.check();
  if (model.flat_gradients().numel() == 0)
    base::fail(Status::kInvalidArgument,
               "every parameter of the model is frozen, so there is nothing to train; "
               "gnnmg_model_set_trainable() lets them be trained");
  if (model.device()) return make_device_optimizer(model, config);
  switch (config.kind) {
    case OptimizerKind::kAdam:
      return std::make_unique<TorchOptimizer<Adam>>(model, config);
    case OptimizerKind::kAdamW:
      return std::make_unique<TorchOptimizer<AdamW>>(model, config);
    case OptimizerKind::kSgd:
      return std::make_unique<TorchOptimizer<Sgd>>(model, config);
    case OptimizerKind::kRmsProp:
      return std::make_unique<TorchOptimizer<RmsProp>>(model, config);
    case OptimizerKind::kAdagrad:
      return std::make_unique<TorchOptimizer<Adagrad>>(model, config);
  }
  base::fail(Status::kInternal, "optimizer ", static_cast<int>(config.kind));
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
