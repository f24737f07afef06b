#include "nn/state/gin_class.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/error.h"

namespace gnnmg::nn {
namespace {

using base::Tensor;
using std::string_view;

constexpr string_view kBias = ".bias", kMean = "running_mean";

// Removes `prefix` from the front of `key`, if present.
bool take(string_view& key, string_view prefix) {
  if (!key.starts_with(prefix)) return false;
  key.remove_prefix(prefix.size());
  return true;
}

// Removes a number and the dot after it.
std::optional<std::string> take_number(string_view& key) {
  const size_t end = key.find('.');
  if (end == string_view::npos || end == 0 || end > 6 || key.find_first_not_of("0123456789") != end)
    return std::nullopt;
  std::string number(key.substr(0, end));
  key.remove_prefix(end + 1);
  return number;
}

// Returns the model's key for a key of the class, or nullopt.
std::optional<std::string> own_key(const std::string& given) {
  string_view key = given;
  if (take(key, "batch_norms.")) {
    const auto layer = take_number(key);
    return layer ? std::optional(base::text("norms.", *layer, ".module.", key)) : std::nullopt;
  }
  if (take(key, "linear_prediction.") || take(key, "linears_prediction."))
    return base::text("lins.", key);
  if (!take(key, "ginlayers.")) return std::nullopt;
  const auto layer = take_number(key);
  if (!layer) return std::nullopt;
  const std::string conv = base::text("convs.", *layer, ".");
  if (key == "eps") return conv + "eps";
  if (!take(key, "apply_func.")) return std::nullopt;
  if (key.starts_with("bn."))
    base::fail(base::Status::kUnsupported, given,
               " is a norm after a network, before the norm after the layer: a model here has one "
               "of the two");
  take(key, "mlp.");
  if (take(key, "linears.")) return base::text(conv, "nn.lins.", key);
  if (take(key, "batch_norm.")) return base::text(conv, "nn.norms.0.module.", key);
  if (!take(key, "batch_norms.")) return std::nullopt;
  const auto place = take_number(key);
  return place ? std::optional(base::text(conv, "nn.norms.", *place, ".module.", key))
               : std::nullopt;
}

// Returns the class's key for a key of the model, or nullopt for a bias that the class lacks.
std::optional<std::string> class_key(const std::string& own) {
  string_view key = own;
  if (take(key, "lins.")) return base::text("linear_prediction.", key);
  if (take(key, "norms.")) {
    const auto layer = take_number(key);
    if (layer && take(key, "module.")) return base::text("batch_norms.", *layer, ".", key);
  }
  if (!take(key, "convs.")) return own;
  const auto layer = take_number(key);
  if (!layer) return own;
  const std::string of_layer = base::text("ginlayers.", *layer, ".");
  if (key == "eps") return of_layer + "eps";
  if (take(key, "nn.lins.")) {
    if (key.ends_with(kBias)) return std::nullopt;
    return base::text(of_layer, "apply_func.linears.", key);
  }
  if (take(key, "nn.norms.0.module.")) return base::text(of_layer, "apply_func.batch_norm.", key);
  return own;
}

// Returns the key of the running mean that a bias is subtracted from: for the first linear layer,
// of the norm inside the network; for the second, of the norm after the layer.
std::string mean_after(const std::string& bias) {
  string_view key = bias;
  take(key, "convs.");
  const std::string layer = take_number(key).value_or("");
  return key.starts_with("nn.lins.0.") ? base::text("convs.", layer, ".nn.norms.0.module.", kMean)
                                       : base::text("norms.", layer, ".module.", kMean);
}

Tensor difference(const Tensor& a, const Tensor& b) {
  Tensor out = Tensor::empty(a.dtype(), a.shape());
  const auto subtract = [&]<typename T>() {
    for (size_t i = 0; i < out.as<T>().size(); ++i)
      out.as<T>()[i] = a.as<const T>()[i] - b.as<const T>()[i];
  };
  a.dtype() == base::DType::kF64 ? subtract.operator()<double>() : subtract.operator()<float>();
  return out;
}

}  // namespace

bool has_gin_class(const ModelConfig& c) {
  return c.architecture == Architecture::kGin && c.framework == Framework::kPyg &&
         c.jumping == Jumping::kScores && c.norm == Norm::kBatch && c.mlp_layers == 2 &&
         c.norm_options == NormOptions{} && c.activation == Activation::kRelu && !c.act_first;
}

io::StateFile to_gin_class(const io::StateFile& own) {
  std::map<std::string, Tensor> means;
  for (const auto& [key, tensor] : own.tensors)
    if (!class_key(key)) {
      const std::string mean = mean_after(key);
      means[mean] = difference(*own.find(mean), tensor);
    }
  io::StateFile out;
  out.metadata = own.metadata;
  for (const auto& [key, tensor] : own.tensors)
    if (auto name = class_key(key))
      out.tensors.emplace_back(std::move(*name), means.contains(key) ? means.at(key) : tensor);
  return out;
}

void adopt_gin_class(std::map<std::string, const Tensor*>& tensors,
                     const std::vector<std::string>& expected, std::list<Tensor>& made) {
  const auto in_class = [](const auto& entry) { return entry.first.starts_with("ginlayers."); };
  const auto in_model = [](const std::string& key) { return key.starts_with("convs.0.nn.lins."); };
  if (std::ranges::none_of(tensors, in_class) || std::ranges::none_of(expected, in_model)) return;
  std::map<std::string, const Tensor*> renamed;
  for (const auto& [key, tensor] : tensors) renamed[own_key(key).value_or(key)] = tensor;
  for (const std::string& key : expected) {
    if (!key.ends_with(kBias) || key.find(".nn.lins.") == std::string::npos ||
        renamed.contains(key))
      continue;
    const auto weight = renamed.find(key.substr(0, key.size() - kBias.size()) + ".weight");
    if (weight == renamed.end() || weight->second->shape().num_dims != 2) continue;
    made.push_back(Tensor::zeros(weight->second->dtype(), {weight->second->shape()[0]}));
    renamed[key] = &made.back();
  }
  tensors = std::move(renamed);
}

}  // namespace gnnmg::nn
