#include "nn/state/module_names.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <set>

#include "base/error.h"
#include "nn/config/option_check.h"

namespace gnnmg::nn {
namespace {

using Given = std::map<std::string, const base::Tensor*>;

constexpr std::string_view kNetwork = "nn.", kLinears = "lins.", kNorms = "norms.";
constexpr std::string_view kModule = ".module.";
constexpr int64_t kMostModules = 1'000'000;

// Returns the position after the component "nn" of a key, as in "convs.0.nn.2.weight", or npos.
size_t after_network(std::string_view key) {
  if (key.starts_with(kNetwork)) return kNetwork.size();
  const size_t at = key.find(".nn.");
  return at == std::string_view::npos ? at : at + 1 + kNetwork.size();
}

// Splits "12.weight" into 12 and "weight".
struct NumberedTail {
  int64_t number = 0;
  std::string tail;
};
std::optional<NumberedTail> split_number(std::string_view text) {
  NumberedTail found;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), found.number);
  if (error != std::errc() || found.number < 0 || found.number > kMostModules ||
      rest == text.data() + text.size() || *rest != '.')
    return std::nullopt;
  found.tail = std::string(rest + 1, text.data() + text.size());
  return found;
}

// Tensors by the part of their keys after the network's name.
using Tails = std::map<std::string, const base::Tensor*>;

// The modules between two linear layers of the model's networks.
struct Between {
  bool function = false;
  bool plain_norm = false;  // a norm without parameters, which has no keys
  bool act_first = false;
};

// Identifies the linear layers and norms of a Sequential, in the order of their numbers.
class SequentialReader {
 public:
  SequentialReader(const std::string& network, const Between& between)
      : network_(network), between_(between) {}

  // Returns the name of the module's tensors in an MLP, or nullopt if it is neither.
  std::optional<std::string> name_of(int64_t number, const Tails& tensors) {
    const auto weight = tensors.find("weight");
    if (weight != tensors.end() && weight->second->shape().num_dims == 2) return linear(number);
    if (linears_ == 0 || (!tensors.contains("bias") && !tensors.contains("module.bias")))
      return std::nullopt;
    if (number != last_linear_ + (between_.act_first ? 2 : 1))
      base::fail(base::Status::kFormat, network_, number, " is a norm ", number - last_linear_,
                 " modules after a linear layer, and with act_first ", between_.act_first ? 1 : 0,
                 " the model has it ", between_.act_first ? "after" : "before",
                 " the function between the layers");
    norm_ = true;
    return base::text(kNorms, linears_ - 1, ".");
  }

 private:
  std::string linear(int64_t number) {
    if (linears_ == 0 && number != 0)
      base::fail(base::Status::kFormat, network_, number, " is the first linear layer, expected ",
                 network_, "0: the model has no module in front of it");
    const int64_t least = last_linear_ + 1 + between_.function + (norm_ || between_.plain_norm);
    if (linears_ > 0 && number < least)
      base::fail(base::Status::kFormat, network_, number, " is a linear layer, and between it and ",
                 network_, last_linear_, " is no room for the ",
                 norm_ || between_.plain_norm ? "norm and the function" : "function",
                 " that the model has there: expected ", network_, least, " or a later module");
    last_linear_ = number;
    norm_ = false;
    return base::text(kLinears, linears_++, ".");
  }

  const std::string& network_;
  const Between& between_;
  int64_t linears_ = 0, last_linear_ = 0;
  bool norm_ = false;  // true if a norm follows the last linear layer
};

// Maps the tails of any form of a network to those of an MLP; nullopt if it has other modules.
std::optional<std::map<std::string, std::string>> as_mlp(const Tails& tails,
                                                         const std::string& network,
                                                         const Between& between) {
  std::map<std::string, std::string> renamed;
  std::map<int64_t, Tails> modules;
  bool mlp = false, alone = false;
  for (const auto& [tail, tensor] : tails) {
    if (tail.starts_with(kLinears) || tail.starts_with(kNorms)) {
      renamed[tail] = tail;
      mlp = true;
    } else if (tail == "weight" || tail == "bias") {
      renamed[tail] = base::text(kLinears, "0.", tail);
      alone = true;
    } else {
      const std::optional<NumberedTail> parts = split_number(tail);
      if (!parts) return std::nullopt;
      modules[parts->number][parts->tail] = tensor;
    }
  }
  if (mlp + alone + !modules.empty() > 1) return std::nullopt;
  SequentialReader reader(network, between);
  for (const auto& [number, tensors] : modules) {
    const std::optional<std::string> name = reader.name_of(number, tensors);
    if (!name) return std::nullopt;
    for (const auto& [tail, tensor] : tensors)
      renamed[base::text(number, ".", tail)] = *name + tail;
  }
  return renamed;
}

// The model's form of a network.
enum class Form { kMlp, kLinear };

// Returns the expected form of each network.
std::map<std::string, Form> forms_of(const std::vector<std::string>& expected) {
  std::map<std::string, Form> forms;
  for (const std::string& key : expected) {
    const size_t at = after_network(key);
    if (at == std::string::npos) continue;
    const std::string_view tail = std::string_view(key).substr(at);
    if (tail.starts_with(kLinears)) forms[key.substr(0, at)] = Form::kMlp;
    if (tail == "weight") forms[key.substr(0, at)] = Form::kLinear;
  }
  return forms;
}

// Returns the form of the network, or, if layers have other names in the file, the common form of
// all networks.
std::optional<Form> form_of(const std::map<std::string, Form>& forms, const std::string& network) {
  if (const auto found = forms.find(network); found != forms.end()) return found->second;
  const bool alike = !forms.empty() && std::ranges::all_of(forms, [&](const auto& form) {
    return form.second == forms.begin()->second;
  });
  return alike ? std::optional(forms.begin()->second) : std::nullopt;
}

// Returns the options of the network's layer, or, if layers have other names in the file, of the
// first layer with a network.
const ModelConfig& options_of(const ModelConfig& config, const std::string& network) {
  const ModelConfig* first = nullptr;
  for (const LayerConfig& layer : config.layers) {
    if (layer.kind != LayerConfig::Kind::kConv || !has_network(layer.options)) continue;
    if (network.starts_with(layer.name + ".")) return layer.options;
    if (!first) first = &layer.options;
  }
  return first ? *first : config;
}

bool has_norm_keys(const std::vector<std::string>& expected) {
  return std::ranges::any_of(expected, [](const std::string& key) {
    const size_t at = after_network(key);
    return at != std::string::npos && std::string_view(key).substr(at).starts_with(kNorms);
  });
}

// Returns a tensor's network and module number; 0 if it is in no network with numbers.
std::pair<std::string_view, int64_t> place_of(std::string_view key) {
  const size_t at = after_network(key);
  if (at == std::string_view::npos) return {key, 0};
  const auto parts = split_number(key.substr(at));
  return {key.substr(0, at), parts ? parts->number : 0};
}

}  // namespace

std::vector<size_t> sort_modules(io::StateFile& state) {
  const auto& tensors = state.tensors;
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (auto begin = order.begin(); begin != order.end();) {
    const std::string_view network = place_of(tensors[*begin].first).first;
    const auto end = std::find_if(begin + 1, order.end(), [&](size_t i) {
      return place_of(tensors[i].first).first != network;
    });
    std::ranges::stable_sort(begin, end, {},
                             [&](size_t i) { return place_of(tensors[i].first).second; });
    begin = end;
  }
  std::vector<std::pair<std::string, base::Tensor>> sorted;
  for (const size_t i : order) sorted.push_back(state.tensors[i]);
  state.tensors = std::move(sorted);
  return order;
}

void adopt_network_names(Given& given, const std::vector<std::string>& expected,
                         const ModelConfig& config) {
  const std::map<std::string, Form> forms = forms_of(expected);
  if (forms.empty()) return;
  const bool norm_keys = has_norm_keys(expected);
  std::map<std::string, Tails> networks;
  for (const auto& [key, tensor] : given)
    if (const size_t at = after_network(key); at != std::string::npos)
      networks[key.substr(0, at)][key.substr(at)] = tensor;
  for (const auto& [network, tails] : networks) {
    const std::optional<Form> form = form_of(forms, network);
    if (!form) continue;
    const ModelConfig& options = options_of(config, network);
    const Between between{options.activation != Activation::kNone,
                          options.norm != Norm::kNone && !norm_keys, options.act_first};
    auto renamed = as_mlp(tails, network, between);
    if (!renamed) continue;
    const std::string only = base::text(kLinears, "0.");
    if (*form == Form::kLinear) {
      if (!std::ranges::all_of(*renamed,
                               [&](const auto& names) { return names.second.starts_with(only); }))
        continue;
      for (auto& [from, to] : *renamed) to.erase(0, only.size());
    }
    for (const auto& [from, to] : *renamed) given.erase(network + from);
    for (const auto& [from, to] : *renamed) given[network + to] = tails.at(from);
  }
}

void adopt_inner_norm_names(Given& given, const std::vector<std::string>& expected) {
  const std::string list = base::text(layer_list(Framework::kDgl), ".");
  for (const std::string& key : expected) {
    if (!key.starts_with(kNorms) || given.contains(key)) continue;
    const size_t end = key.find('.', kNorms.size());
    if (end == std::string::npos) continue;
    std::string inner =
        list + key.substr(kNorms.size(), end - kNorms.size()) + ".norm" + key.substr(end);
    if (!given.contains(inner))
      if (const size_t at = inner.rfind(kModule); at != std::string::npos)
        inner.erase(at, kModule.size() - 1);
    const auto found = given.find(inner);
    if (found == given.end()) continue;
    given[key] = found->second;
    given.erase(found);
  }
}

void adopt_norm_names(Given& given, const std::vector<std::string>& expected) {
  for (const std::string& key : expected) {
    const size_t at = key.rfind(kModule);
    if (at == std::string::npos || given.contains(key)) continue;
    const auto found = given.find(key.substr(0, at) + "." + key.substr(at + kModule.size()));
    if (found == given.end()) continue;
    given[key] = found->second;
    given.erase(found);
  }
}

std::vector<size_t> to_torch_modules(io::StateFile& state, const ModelConfig& config) {
  std::set<std::string> deep;  // networks of more than one linear layer
  for (const auto& [key, tensor] : state.tensors)
    if (const size_t at = after_network(key);
        at != std::string::npos && std::string_view(key).substr(at).starts_with("lins.1."))
      deep.insert(key.substr(0, at));
  for (auto& [key, tensor] : state.tensors) {
    if (const size_t at = after_network(key); at != std::string::npos) {
      const std::string network = key.substr(0, at), tail = key.substr(at);
      const ModelConfig& options = options_of(config, network);
      if (tail.starts_with("act."))
        base::fail(base::Status::kUnsupported,
                   "a learned function that all layers share has no counterpart in networks of "
                   "torch's own modules");
      const bool norm = tail.starts_with(kNorms);
      const auto parts =
          tail.starts_with(kLinears) || norm
              ? split_number(std::string_view(tail).substr(norm ? kNorms.size() : kLinears.size()))
              : std::nullopt;
      if (parts && !deep.contains(network))
        key = network + parts->tail;
      else if (parts)
        key = base::text(network,
                         parts->number * (options.norm != Norm::kNone ? 3 : 2) +
                             (norm ? options.act_first ? 2 : 1 : 0),
                         ".", parts->tail);
    }
    if (const size_t at = key.rfind(kModule); at != std::string::npos)
      key.erase(at, kModule.size() - 1);
  }
  return sort_modules(state);
}

}  // namespace gnnmg::nn
