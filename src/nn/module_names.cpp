#include "nn/module_names.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <set>

#include "base/error.h"

namespace gnnmg::nn {
namespace {

using Given = std::map<std::string, const base::Tensor*>;

constexpr std::string_view kNetwork = "nn.", kLinears = "lins.", kNorms = "norms.";
constexpr std::string_view kModule = ".module.";

// Behind the component "nn" of a key, as in "convs.0.nn.2.weight"; npos where there is none.
size_t behind_network(std::string_view key) {
  if (key.starts_with(kNetwork)) return kNetwork.size();
  const size_t at = key.find(".nn.");
  return at == std::string_view::npos ? at : at + 1 + kNetwork.size();
}

// "12.weight" as 12 and "weight".
struct Numbered {
  int64_t number = 0;
  std::string tail;
};
std::optional<Numbered> split(std::string_view text) {
  Numbered found;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), found.number);
  if (error != std::errc() || found.number < 0 || rest == text.data() + text.size() || *rest != '.')
    return std::nullopt;
  found.tail = std::string(rest + 1, text.data() + text.size());
  return found;
}

// The modules of a Sequential under the keys of an MLP: tails behind the network's name, old to
// new. None where it is made of other modules.
std::optional<std::map<std::string, std::string>> as_mlp(
    const std::map<std::string, const base::Tensor*>& tails, const std::string& network,
    bool act_first) {
  std::map<std::string, std::string> renamed;
  std::map<int64_t, std::map<std::string, const base::Tensor*>> modules;
  for (const auto& [tail, tensor] : tails) {
    if (tail == "weight" || tail == "bias") {
      renamed[tail] = base::text(kLinears, "0.", tail);
      continue;
    }
    const std::optional<Numbered> parts = split(tail);
    if (!parts) return std::nullopt;
    modules[parts->number][parts->tail] = tensor;
  }
  if (!renamed.empty() && !modules.empty()) return std::nullopt;
  int64_t linears = 0, last_linear = 0;
  for (const auto& [number, tensors] : modules) {
    const auto weight = tensors.find("weight");
    const bool linear = weight != tensors.end() && weight->second->shape().num_dims == 2;
    const bool norm = !linear && (tensors.contains("bias") || tensors.contains("module.bias"));
    if (!linear && (!norm || linears == 0)) return std::nullopt;
    if (!linear && number != last_linear + (act_first ? 2 : 1))
      base::fail(base::Status::kFormat, network, number, " is a norm ", number - last_linear,
                 " modules behind a linear layer, and with act_first ", act_first ? 1 : 0,
                 " the model has it ", act_first ? "behind" : "in front of",
                 " the function between the layers");
    for (const auto& [tail, tensor] : tensors)
      renamed[base::text(number, ".", tail)] = linear ? base::text(kLinears, linears, ".", tail)
                                                      : base::text(kNorms, linears - 1, ".", tail);
    if (linear) {
      ++linears;
      last_linear = number;
    }
  }
  return renamed;
}

void adopt_networks(Given& given, bool act_first) {
  std::map<std::string, std::map<std::string, const base::Tensor*>> networks;
  for (const auto& [key, tensor] : given)
    if (const size_t at = behind_network(key); at != std::string::npos)
      networks[key.substr(0, at)][key.substr(at)] = tensor;
  for (const auto& [network, tails] : networks) {
    if (std::ranges::any_of(tails, [](const auto& t) { return t.first.starts_with(kLinears); }))
      continue;
    const auto renamed = as_mlp(tails, network, act_first);
    if (!renamed) continue;
    for (const auto& [from, to] : *renamed) given.erase(network + from);
    for (const auto& [from, to] : *renamed) given[network + to] = tails.at(from);
  }
}

// The network that a tensor is of, and which of its modules; 0 where it is of none with numbers.
std::pair<std::string_view, int64_t> place_of(std::string_view key) {
  const size_t at = behind_network(key);
  if (at == std::string_view::npos) return {key, 0};
  const auto parts = split(key.substr(at));
  return {key.substr(0, at), parts ? parts->number : 0};
}

// Tensors of one network that lie one behind the other, by the number of their module.
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

}  // namespace

void adopt_network_names(Given& given, const std::vector<std::string>& expected, bool act_first) {
  if (std::ranges::any_of(expected, [](const std::string& key) {
        const size_t at = behind_network(key);
        return at != std::string::npos && std::string_view(key).substr(at).starts_with(kLinears);
      }))
    adopt_networks(given, act_first);
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
  const bool norms = config.norm != Norm::kNone;
  std::set<std::string> deep;  // networks of more than one linear layer
  for (const auto& [key, tensor] : state.tensors)
    if (const size_t at = behind_network(key);
        at != std::string::npos && std::string_view(key).substr(at).starts_with("lins.1."))
      deep.insert(key.substr(0, at));
  for (auto& [key, tensor] : state.tensors) {
    if (const size_t at = behind_network(key); at != std::string::npos) {
      const std::string network = key.substr(0, at), tail = key.substr(at);
      if (tail.starts_with("act."))
        base::fail(base::Status::kUnsupported,
                   "a learned function that all layers share has no counterpart in networks of "
                   "torch's own modules");
      const bool norm = tail.starts_with(kNorms);
      const auto parts =
          tail.starts_with(kLinears) || norm
              ? split(std::string_view(tail).substr(norm ? kNorms.size() : kLinears.size()))
              : std::nullopt;
      if (parts && !deep.contains(network))
        key = network + parts->tail;
      else if (parts)
        key = base::text(network,
                         parts->number * (norms ? 3 : 2) + (norm ? config.act_first ? 2 : 1 : 0),
                         ".", parts->tail);
    }
    if (const size_t at = key.rfind(kModule); at != std::string::npos)
      key.erase(at, kModule.size() - 1);
  }
  return sort_modules(state);
}

}  // namespace gnnmg::nn
