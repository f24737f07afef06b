#include "train/torch_optimizer.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "data/arrays.h"
#include "nn/torch_tensor.h"
#include "train/decay.h"
#include "train/optimizer_file.h"

namespace gnnmg::train {
namespace {

using base::Status;
using base::Tensor;

constexpr std::string_view kStep = "step";

// Every option that PyTorch 2.11's optimizers have, without which an update would fail.
std::vector<std::pair<std::string, io::OptimizerDict::Option>> options_of(const Optimizer& from,
                                                                          double weight_decay) {
  const OptimizerConfig& c = from.config();
  const std::monostate none;
  if (c.kind == OptimizerKind::kSgd)
    return {{"lr", from.learning_rate()},
            {"momentum", c.momentum},
            {"dampening", c.dampening},
            {"weight_decay", weight_decay},
            {"nesterov", c.nesterov},
            {"maximize", false},
            {"foreach", none},
            {"differentiable", false},
            {"fused", none}};
  return {{"lr", from.learning_rate()},
          {"betas", std::pair(c.beta1, c.beta2)},
          {"eps", c.epsilon},
          {"weight_decay", weight_decay},
          {"amsgrad", c.amsgrad},
          {"maximize", false},
          {"foreach", none},
          {"capturable", false},
          {"differentiable", false},
          {"fused", none},
          {"decoupled_weight_decay", c.kind == OptimizerKind::kAdamW}};
}

// What is kept of a parameter, or nothing.
std::optional<io::StateFile> entry_of(const std::string& path, const std::string& dict,
                                      size_t number) {
  try {
    return io::read_pth(path, base::text(dict, ".", number));
  } catch (const base::Error& error) {
    if (error.status() != Status::kNotFound) throw;
    return std::nullopt;
  }
}

// Whether a key of optimizer_file.h, "exp_avg.<parameter>", is this parameter's.
bool is_of(std::string_view key, const nn::NamedTensor& parameter) {
  const size_t dot = key.find('.');
  return dot != std::string_view::npos && key.substr(dot + 1) == parameter.key;
}

// PyTorch's is f32 and a number; ours f64 [1].
double step_of(const Tensor& step, const std::string& path) {
  if (step.shape().num_elements() != 1 ||
      (step.dtype() != base::DType::kF32 && step.dtype() != base::DType::kF64))
    base::fail(Status::kFormat, path, ": optimiser state: step is ", base::dtype_name(step.dtype()),
               " ", step.shape().to_string(), ", expected one number");
  const double steps = step.dtype() == base::DType::kF32 ? *static_cast<const float*>(step.data())
                                                         : *static_cast<const double*>(step.data());
  if (!(steps >= 0) || std::isinf(steps))
    base::fail(Status::kRange, path, ": optimiser state: step is ", steps,
               ", expected a number of at least 0");
  return steps;
}

void check_finite(const std::string& key, const Tensor& moments, const std::string& path) {
  const int64_t bad = data::find_not_finite(moments.data(), moments.dtype(),
                                            moments.shape().num_elements(), /*as_f32=*/false);
  if (bad >= 0)
    base::fail(Status::kNan, path, ": optimiser state: ", key, ": element ", bad, " of ",
               moments.shape().to_string(), " is not finite");
}

}  // namespace

io::OptimizerDict torch_state_of(const Optimizer& optimizer, const nn::Model& model) {
  io::StateFile own;
  copy_state(optimizer, model, own);
  io::OptimizerDict dict;
  const DecayGroups groups = decay_groups(model, optimizer.config());
  dict.groups.push_back({options_of(optimizer, optimizer.config().weight_decay), groups.decayed});
  if (groups.decayed < groups.order.size())
    dict.groups.push_back({options_of(optimizer, 0), groups.order.size() - groups.decayed});
  dict.state.resize(groups.order.size());
  for (size_t i = 0; i < dict.state.size(); ++i) {
    for (const auto& [key, tensor] : own.tensors) {
      if (key == kStep) {
        Tensor step = Tensor::empty(base::DType::kF32, {});
        *static_cast<float*>(step.data()) =
            static_cast<float>(*static_cast<const double*>(tensor.data()));
        dict.state[i].tensors.emplace_back(kStep, step);
      } else if (is_of(key, model.parameters()[groups.order[i]])) {
        dict.state[i].tensors.emplace_back(key.substr(0, key.find('.')), tensor);
      }
    }
  }
  return dict;
}

std::vector<nn::NamedTensor> read_torch_state(const std::string& path, const nn::Model& model,
                                              const OptimizerConfig& config) {
  std::vector<nn::NamedTensor> parameters;  // by the file's numbers
  for (const size_t i : decay_groups(model, config).order)
    parameters.push_back(model.parameters()[i]);
  const std::string in = io::find_optimizer_pth(path);
  const std::string dict = in.empty() ? "state" : in + ".state";
  io::StateFile own;
  std::optional<double> steps;
  std::vector<size_t> without;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const std::optional<io::StateFile> entry = entry_of(path, dict, i);
    if (!entry) {
      without.push_back(i);
      continue;
    }
    for (const auto& [key, tensor] : entry->tensors) {
      if (key != kStep) {
        own.tensors.emplace_back(base::text(key, ".", parameters[i].key), tensor);
        check_finite(own.tensors.back().first, tensor, path);
        continue;
      }
      const double made = step_of(tensor, path);
      if (steps && *steps != made)
        base::fail(Status::kUnsupported, path, ": optimiser state: ", parameters[i].key,
                   " has made ", made, " steps and others ", *steps);
      steps = made;
    }
  }
  if (entry_of(path, dict, parameters.size()))
    base::fail(Status::kFormat, path, ": optimiser state: it has a parameter ", parameters.size(),
               ", and the model has ", parameters.size());
  if (own.tensors.empty() && !steps) {
    (void)io::read_pth(path, dict);  // says so where the file is another
    return {};
  }
  if (steps) {
    own.tensors.emplace_back(kStep, Tensor::empty(base::DType::kF64, {1}));
    *own.tensors.back().second.as<double>().data() = *steps;
  }
  const io::StateFile expected = reserve_state(config, model);
  for (const size_t i : without)
    for (const auto& [key, tensor] : expected.tensors)
      if (is_of(key, parameters[i])) own.tensors.emplace_back(key, tensor);
  return parse_state(own, model, config, path);
}

}  // namespace gnnmg::train
