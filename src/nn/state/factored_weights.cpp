#include "nn/state/factored_weights.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/error.h"
#include "nn/torch/tensor.h"

namespace gnnmg::nn {
namespace {

using base::fail;
using base::Status;
using base::Tensor;

constexpr std::string_view kRegistered = "parametrizations.";

// Positions of the tensors by key.
using Places = std::map<std::string, size_t>;

// The key of the weight "a.weight" for "a.parametrizations.weight.REST", and the rest.
struct Registered {
  std::string weight;
  std::string_view rest;
};
std::optional<Registered> registered(std::string_view key) {
  const size_t at = key.rfind(kRegistered);
  if (at == key.npos || (at > 0 && key[at - 1] != '.')) return std::nullopt;
  const std::string_view below = key.substr(at + kRegistered.size());
  const size_t dot = below.find('.');
  if (dot == below.npos) return std::nullopt;
  return Registered{std::string(key.substr(0, at)) + std::string(below.substr(0, dot)),
                    below.substr(dot + 1)};
}

// The key of the weight that is stored under `key`: "a.weight" of "a.parametrizations.weight.NAME",
// or of "a.weight_NAME".
std::optional<std::string> weight_of(std::string_view key, std::string_view name,
                                     bool is_registered) {
  if (is_registered) {
    const auto found = registered(key);
    return found && found->rest == name ? std::optional(found->weight) : std::nullopt;
  }
  if (!key.ends_with(name)) return std::nullopt;
  key.remove_suffix(name.size());
  if (!key.ends_with('_')) return std::nullopt;
  return std::string(key.substr(0, key.size() - 1));
}

bool has_key(const Places& places, const std::string& start) {
  const auto found = places.lower_bound(start);
  return found != places.end() && found->first.starts_with(start);
}

Tensor like(const Tensor& tensor, const at::Tensor& values) {
  Tensor made = Tensor::empty(tensor.dtype(), tensor.shape());
  view_of(made.view()).copy_(values);
  return made;
}

// g * v / ||v||: a length for each index of one dimension, or one for all.
Tensor normalized(const Tensor& lengths, const Tensor& directions, const std::string& key) {
  const base::Shape &of_g = lengths.shape(), &of_v = directions.shape();
  std::vector<int64_t> dims;
  int kept = 0;
  bool fits = of_g.num_dims == of_v.num_dims || of_g.num_dims == 0;
  for (int d = 0; fits && d < of_v.num_dims; ++d) {
    const bool keeps = of_g.num_dims > 0 && of_g[d] == of_v[d];
    kept += keeps && of_v[d] > 1;
    if (!keeps) {
      dims.push_back(d);
      fits = of_g.num_dims == 0 || of_g[d] == 1;
    }
  }
  if (!fits || kept > 1)
    fail(Status::kFormat, key, ": weight_norm has lengths of shape ", of_g.to_string(),
         " for directions of shape ", of_v.to_string());
  const at::Tensor v = view_of(directions.view()).to(at::kDouble);
  const at::Tensor g = view_of(lengths.view()).to(at::kDouble);
  // Dimensions of size 1 are in both shapes: the norm is over them too.
  for (int d = 0; d < of_v.num_dims; ++d)
    if (of_v[d] == 1 && std::ranges::find(dims, d) == dims.end()) dims.push_back(d);
  const at::Tensor norm =
      dims.empty() ? v.abs() : at::linalg_vector_norm(v, 2, dims, /*keepdim=*/true);
  return like(directions, v * (g / norm));
}

Tensor masked(const Tensor& weight, const Tensor& mask, const std::string& key) {
  if (mask.shape() != weight.shape())
    fail(Status::kFormat, key, ": a mask of shape ", mask.shape().to_string(),
         " for a weight of shape ", weight.shape().to_string());
  return like(weight, view_of(weight.view()).to(at::kDouble) * view_of(mask.view()));
}

struct Factors {
  const char *first, *second;
  bool registered;
  Tensor (*compose)(const Tensor& first, const Tensor& second, const std::string& key);
};
constexpr Factors kFactors[] = {{"original0", "original1", true, normalized},
                                {"g", "v", false, normalized},
                                {"orig", "mask", false, masked}};

}  // namespace

std::vector<std::string> compose_weights(io::StateFile& state) {
  const c10::NoGradGuard no_grad;
  Places places;
  for (size_t i = 0; i < state.tensors.size(); ++i) places[state.tensors[i].first] = i;
  std::vector<std::string> composed;
  std::vector<size_t> left_over;
  for (const auto& [key, place] : places)  // PyG's linear layers write the weight beside them
    if (const auto found = registered(key); found && places.contains(found->weight))
      left_over.push_back(place);
  for (const Factors& form : kFactors)
    for (const auto& [key, place] : places) {
      const auto weight = weight_of(key, form.first, form.registered);
      if (!weight || places.contains(*weight)) continue;
      const std::string start = key.substr(0, key.size() - std::string_view(form.first).size());
      const auto other = places.find(start + form.second);
      if (other == places.end()) continue;
      // Further functions of the same weight.
      if (form.registered && (has_key(places, start + "0") || has_key(places, start + "1")))
        continue;
      auto& [name, first] = state.tensors[place];
      const Tensor& second = state.tensors[other->second].second;
      if (!base::is_floating(first.dtype())) continue;
      first = form.compose(first, second, *weight);
      name = *weight;
      composed.push_back(*weight);
      left_over.push_back(other->second);
    }
  std::ranges::sort(left_over, std::greater<>());
  for (const size_t place : left_over)
    state.tensors.erase(state.tensors.begin() + static_cast<std::ptrdiff_t>(place));
  return composed;
}

std::string note_on_factors(const io::StateFile& state) {
  Places places;
  for (size_t i = 0; i < state.tensors.size(); ++i) places[state.tensors[i].first] = i;
  for (const auto& [key, place] : places) {
    for (const char* name : {"original", "original0"}) {
      const auto weight = weight_of(key, name, true);
      if (!weight) continue;
      const std::string start = key.substr(0, key.rfind('.') + 1);
      const char* function = has_key(places, start + "0._u")     ? "spectral_norm"
                             : has_key(places, start + "0.base") ? "orthogonal"
                                                                 : "a function of Python";
      return base::text("; ", *weight, " is stored as the argument of ", function,
                        ": call torch.nn.utils.parametrize.remove_parametrizations(module, name) "
                        "before saving");
    }
    const auto weight = weight_of(key, "orig", false);
    if (weight && places.contains(*weight + "_u"))
      return base::text("; ", *weight, " is stored as the argument of spectral_norm: call ",
                        "torch.nn.utils.remove_spectral_norm(module) before saving");
  }
  return {};
}

}  // namespace gnnmg::nn
