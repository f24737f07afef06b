#include "train/optim/torch_optimizer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "data/arrays.h"
#include "io/bytes.h"
#include "nn/torch/tensor.h"
#include "train/optim/decay.h"
#include "train/optim/optimizer_file.h"

namespace gnnmg::train {
namespace {

using base::Status;
using base::Tensor;

constexpr std::string_view kStepKey = "step";

// All options of PyTorch 2.11's optimizers. An update fails without one.
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
  if (c.kind == OptimizerKind::kRmsProp)
    return {{"lr", from.learning_rate()}, {"momentum", c.momentum}, {"alpha", c.alpha},
            {"eps", c.epsilon},           {"centered", c.centered}, {"weight_decay", weight_decay},
            {"capturable", false},        {"foreach", none},        {"maximize", false},
            {"differentiable", false}};
  if (c.kind == OptimizerKind::kAdagrad)
    return {{"lr", from.learning_rate()},
            {"lr_decay", 0.0},
            {"eps", c.epsilon},
            {"weight_decay", weight_decay},
            {"initial_accumulator_value", 0.0},
            {"foreach", none},
            {"maximize", false},
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

// The state of a parameter; empty without state.
std::optional<io::StateFile> entry_of(const std::string& path, const std::string& dict,
                                      size_t number) {
  try {
    io::StateFile entry = io::read_pth(path, base::text(dict, ".", number));
    if (!entry.passed_over.empty())
      base::fail(Status::kFormat, path, ": optimizer state: parameter ", number, " has ",
                 entry.passed_over.front(),
                 ", expected tensors alone; load it with a newer PyTorch and save it again");
    return entry;
  } catch (const base::Error& error) {
    if (error.status() != Status::kNotFound) throw;
    return std::nullopt;
  }
}

// PyTorch's count is f32 and 0-d; ours is f64 [1].
double step_of(const Tensor& step, const std::string& path) {
  if (step.shape().num_elements() != 1 ||
      (step.dtype() != base::DType::kF32 && step.dtype() != base::DType::kF64))
    base::fail(Status::kFormat, path, ": optimizer state: step is ", base::dtype_name(step.dtype()),
               " ", step.shape().to_string(), ", expected one number");
  const double steps = step.dtype() == base::DType::kF32 ? *static_cast<const float*>(step.data())
                                                         : *static_cast<const double*>(step.data());
  if (!(steps >= 0) || std::isinf(steps))
    base::fail(Status::kRange, path, ": optimizer state: step is ", steps,
               ", expected a number of at least 0");
  return steps;
}

// Tensors of which the optimizers take roots.
bool has_squares(std::string_view kind) {
  return kind == "exp_avg_sq" || kind == "max_exp_avg_sq" || kind == "square_avg" || kind == "sum";
}

void check_squares(const std::string& key, const Tensor& moments, const std::string& path) {
  const auto check = [&](auto values) {
    const auto bad = std::ranges::find_if(values, [](auto value) { return value < 0; });
    if (bad != values.end())
      base::fail(Status::kRange, path, ": optimizer state: ", key, ": element ",
                 bad - values.begin(), " of ", moments.shape().to_string(), " is ", *bad,
                 ", expected a mean of squares, at least 0");
  };
  if (moments.dtype() == base::DType::kF32) check(moments.as<const float>());
  if (moments.dtype() == base::DType::kF64) check(moments.as<const double>());
}

void check_finite(const std::string& key, const Tensor& moments, const std::string& path) {
  const int64_t bad = data::find_not_finite(moments.data(), moments.dtype(),
                                            moments.shape().num_elements(), /*as_f32=*/false);
  if (bad >= 0)
    base::fail(Status::kNan, path, ": optimizer state: ", key, ": element ", bad, " of ",
               moments.shape().to_string(), " is not finite");
}

nn::FileParameters parameters_in(const std::string& path, const nn::Model& model,
                                 const nn::FileForm& form) {
  try {
    return {model, form};
  } catch (const base::Error& error) {
    base::fail(error.status(), path, ": optimizer state: ", error.what());
  }
}

// Parameters in the order of the file's groups: first those with weight decay.
DecayGroups groups_in(const nn::FileParameters& parameters, const nn::Model& model,
                      const OptimizerConfig& config) {
  DecayGroups groups;
  if (config.weight_decay_layers == 0) {
    groups.decayed = parameters.list().size();
    groups.order.resize(groups.decayed);
    std::iota(groups.order.begin(), groups.order.end(), size_t{0});
    return groups;
  }
  const DecayGroups own = decay_groups(model, config);
  std::vector<Tensor> marks;  // 1 where weight decay acts; converted like the weights
  for (const nn::NamedTensor& parameter : model.parameters())
    marks.push_back(Tensor::zeros(base::DType::kF64, nn::shape_of(parameter.tensor)));
  for (size_t i = 0; i < own.decayed; ++i) std::ranges::fill(marks[own.order[i]].as<double>(), 1.0);
  marks = parameters.to_file(std::move(marks));
  std::vector<size_t> others;
  for (size_t i = 0; i < marks.size(); ++i)
    (std::as_const(marks[i]).as<const double>()[0] == 1 ? groups.order : others).push_back(i);
  groups.decayed = groups.order.size();
  groups.order.insert(groups.order.end(), others.begin(), others.end());
  return groups;
}

// The state of each parameter in a file.
struct Entries {
  std::vector<std::optional<io::StateFile>> of;
  std::optional<double> steps;  // common number of steps
  bool none = true;
};

// `order`: index of the parameter with number 0, 1, ... in the file.
Entries read_entries(const std::string& path, const std::string& dict,
                     const std::vector<nn::FileParameters::Parameter>& parameters,
                     const std::vector<size_t>& order) {
  Entries entries;
  entries.of.resize(parameters.size());
  for (size_t number = 0; number < order.size(); ++number) {
    const std::string& name = parameters[order[number]].key;
    auto& entry = entries.of[order[number]];
    entry = entry_of(path, dict, number);
    if (!entry) continue;
    entries.none &= entry->tensors.empty();
    for (const auto& [key, tensor] : entry->tensors) {
      if (key != kStepKey) {
        check_finite(base::text(key, ".", name), tensor, path);
        if (has_squares(key)) check_squares(base::text(key, ".", name), tensor, path);
        continue;
      }
      const double made = step_of(tensor, path);
      if (entries.steps && *entries.steps != made)
        base::fail(Status::kUnsupported, path, ": optimizer state: ", name, " has made ", made,
                   " steps and others ", *entries.steps);
      entries.steps = made;
    }
  }
  std::set<std::string> known;
  for (size_t i = 0; i < parameters.size(); ++i) known.insert(std::to_string(i));
  for (const std::string& key : io::keys_of_pth(path, dict))
    if (!known.contains(key))
      base::fail(Status::kFormat, path, ": optimizer state: it has a parameter ",
                 io::printable(key), ", and the model has ", parameters.size());
  return entries;
}

// All errors in one text.
struct Lists {
  std::string missing, unexpected, misshapen;
  static void add(std::string& list, std::string_view item) {
    list += base::text(list.empty() ? "" : ", ", item);
  }
  // `remedy` follows the misshapen entries.
  void refuse_any(const std::string& path, const char* remedy) const {
    std::string all;
    for (const auto& [what, list] :
         {std::pair("missing", &missing), std::pair("unexpected", &unexpected),
          std::pair("misshapen", &misshapen)})
      if (!list->empty()) all += base::text(all.empty() ? "" : "; ", what, ": ", *list);
    if (!all.empty())
      base::fail(Status::kFormat, path, ": optimizer state: ", all,
                 misshapen.empty() ? "" : remedy);
  }
};

// The tensor of an entry under `kind`; zeros for a parameter without an entry.
Tensor take(const std::optional<io::StateFile>& entry, const std::string& key, const char* kind,
            base::DType dtype, const base::Shape& shape, Lists& lists) {
  if (!entry || entry->tensors.empty()) return Tensor::zeros(dtype, shape);
  const Tensor* found = entry->find(kind);
  if (!found) {
    lists.add(lists.missing, key);
    return {};
  }
  if (found->dtype() != dtype || !(found->shape() == shape))
    lists.add(lists.misshapen, base::text(key, " is ", base::dtype_name(found->dtype()), " ",
                                          found->shape().to_string(), ", expected ",
                                          base::dtype_name(dtype), " ", shape.to_string()));
  return *found;
}

void check_others(const io::StateFile& entry, const std::string& key, const OptimizerConfig& config,
                  Lists& lists) {
  const std::vector<const char*> kinds = state_kinds(config);
  for (const auto& [kind, tensor] : entry.tensors)
    if (kind != kStepKey && std::ranges::none_of(kinds, [&](const char* k) { return kind == k; }))
      lists.add(lists.unexpected, base::text(kind, ".", key));
}

}  // namespace

io::OptimizerDict torch_state_of(const Optimizer& optimizer, const nn::Model& model,
                                 const nn::FileForm& form) {
  const nn::FileParameters parameters(model, form);
  io::StateFile own;
  copy_state(optimizer, model, own);
  io::OptimizerDict dict;
  const DecayGroups groups = groups_in(parameters, model, optimizer.config());
  dict.groups.push_back({options_of(optimizer, optimizer.config().weight_decay), groups.decayed});
  if (groups.decayed < groups.order.size())
    dict.groups.push_back({options_of(optimizer, 0), groups.order.size() - groups.decayed});
  dict.state.resize(parameters.list().size());
  if (own.tensors.empty()) return dict;
  if (const Tensor* made = own.find(kStepKey))
    for (io::StateFile& entry : dict.state) {
      Tensor step = Tensor::empty(base::DType::kF32, {});
      *static_cast<float*>(step.data()) =
          static_cast<float>(*static_cast<const double*>(made->data()));
      entry.tensors.emplace_back(kStepKey, step);
    }
  for (const char* kind : state_kinds(optimizer.config())) {
    std::vector<Tensor> kept;
    for (const nn::NamedTensor& parameter : model.parameters()) {
      const Tensor* const found = own.find(base::text(kind, ".", parameter.key));
      kept.push_back(found ? *found
                           : Tensor::zeros(nn::dtype_of(parameter.tensor),
                                           nn::shape_of(parameter.tensor)));  // frozen parameter
    }
    kept = parameters.to_file(std::move(kept));
    for (size_t i = 0; i < kept.size(); ++i)
      dict.state[i].tensors.emplace_back(kind, kept[groups.order[i]]);
  }
  return dict;
}

std::vector<nn::NamedTensor> read_torch_state(const std::string& path, const nn::Model& model,
                                              const OptimizerConfig& config, const TorchFile& file,
                                              base::Log* log) {
  const nn::FileParameters parameters = parameters_in(path, model, file.form);
  const std::string in = file.dict.empty() ? io::find_optimizer_pth(path) : file.dict;
  const std::string dict = in.empty() ? "state" : in + ".state";
  const Entries entries =
      read_entries(path, dict, parameters.list(), groups_in(parameters, model, config).order);
  if (entries.none) {
    try {
      (void)io::read_pth(path, dict);  // reports a file of another kind
    } catch (const base::Error& error) {
      if (error.system_error() != 0) throw;
      throw base::Error(error.status(),
                        base::text(error.what(),
                                   "; expected a state of gnnmg_optimizer_save() or of "
                                   "torch.save(optimizer.state_dict())"));
    }
    return {};
  }
  // For each kind of state, the tensors of all parameters in the order of the file.
  std::map<std::string, std::vector<Tensor>> kept;
  const base::DType dtype = nn::dtype_of(model.flat_parameters());
  const bool counts = counts_steps(config);
  Lists lists;
  for (const char* kind : state_kinds(config))
    for (size_t i = 0; i < parameters.list().size(); ++i) {
      const auto& [key, shape] = parameters.list()[i];
      kept[kind].push_back(
          take(entries.of[i], base::text(kind, ".", key), kind, dtype, shape, lists));
    }
  for (size_t i = 0; i < parameters.list().size(); ++i)
    if (entries.of[i]) check_others(*entries.of[i], parameters.list()[i].key, config, lists);
  if (counts != entries.steps.has_value())
    lists.add(counts ? lists.missing : lists.unexpected, kStepKey);
  const bool other = parameters.loaded_in_other_order();
  lists.refuse_any(path, other ? "; the weights were loaded from a file with another order of "
                                 "parameters, which loaded_names 1 reads it in"
                               : "");
  if (other && log)
    log->add(base::LogLevel::kWarning,
             base::text(path,
                        ": optimizer state: read in the order of the model's layers, and the "
                        "weights were loaded from a file with another: for the state of that "
                        "class set loaded_names 1"));

  io::StateFile own;
  if (entries.steps) {
    own.tensors.emplace_back(kStepKey, Tensor::empty(base::DType::kF64, {1}));
    *own.tensors.back().second.as<double>().data() = *entries.steps;
  }
  for (auto& [kind, tensors] : kept) {
    tensors = parameters.to_model(std::move(tensors));
    for (size_t i = 0; i < tensors.size(); ++i)
      if (!model.frozen()[i])
        own.tensors.emplace_back(base::text(kind, ".", model.parameters()[i].key), tensors[i]);
  }
  return parse_state(own, model, config, path);
}

}  // namespace gnnmg::train
