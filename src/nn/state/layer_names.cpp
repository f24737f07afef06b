#include "nn/state/layer_names.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "base/error.h"

namespace gnnmg::nn {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Splits "convs.12.lin.weight" into {"convs.", 12, "lin.weight"}, and "conv2.bias" into {"conv", 2,
// "bias"}.
struct NumberedKey {
  std::string stem;
  int64_t number = 0;
  std::string tail;
};

std::optional<NumberedKey> split_key(std::string_view key) {
  size_t end = key.find('.');
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  size_t begin = end;
  while (begin > 0 && is_digit(key[begin - 1])) --begin;
  if (begin == end) {
    begin = end + 1;
    end = key.find('.', begin);
    if (end == std::string_view::npos) return std::nullopt;
    if (begin == end || !std::all_of(key.begin() + begin, key.begin() + end, is_digit))
      return std::nullopt;
  }
  NumberedKey found{std::string(key.substr(0, begin)), 0, std::string(key.substr(end + 1))};
  const auto [rest, error] = std::from_chars(key.data() + begin, key.data() + end, found.number);
  if (error != std::errc() || found.stem.empty()) return std::nullopt;
  return found;
}

using Layers = std::map<int64_t, std::set<std::string>>;  // the tails of the keys of each number

// True if these are the expected layers under other numbers, beginning with 0 or 1.
bool fits(const Layers& found, const Layers& expected) {
  if (found.size() != expected.size() || found.begin()->first > 1) return false;
  const int64_t shift = found.begin()->first - expected.begin()->first;
  return std::ranges::all_of(expected, [&](const auto& layer) {
    const auto other = found.find(layer.first + shift);
    return other != found.end() && std::ranges::any_of(layer.second, [&](const std::string& tail) {
             return other->second.contains(tail);
           });
  });
}

}  // namespace

std::vector<std::string> convolution_names(const ModelConfig& config) {
  std::vector<std::string> names;
  for (const LayerConfig& layer : config.layers)
    if (layer.kind == LayerConfig::Kind::kConv) names.push_back(layer.name);
  if (config.architecture == Architecture::kLayers) return names;
  for (int i = 0; i < config.num_layers; ++i)
    names.push_back(base::text(layer_list(config.framework), ".", i));
  return names;
}

void rename_layers(io::StateFile& state, std::string_view list, std::string_view first) {
  const bool plain = std::ranges::all_of(first, [](char c) {
    return is_digit(c) || c == '_' || c == '.' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
  const std::optional<NumberedKey> name =
      plain ? split_key(std::string(first) + ".x") : std::nullopt;
  if (!name || name->tail != "x")
    base::fail(base::Status::kInvalidArgument, "the first layer's name is '", first,
               "', expected a name that ends with a number, as in 'conv1' or 'layers.0'");
  const std::string own = std::string(list) + ".";
  for (auto& [key, tensor] : state.tensors) {
    const std::optional<NumberedKey> parts = split_key(key);
    if (parts && parts->stem == own)
      key = base::text(name->stem, name->number + parts->number, ".", parts->tail);
  }
}

void adopt_layer_names(std::map<std::string, const base::Tensor*>& tensors, std::string_view list,
                       const std::vector<std::string>& expected) {
  const std::string own = std::string(list) + ".";
  Layers wanted;
  for (const std::string& key : expected)
    if (const auto parts = split_key(key); parts && parts->stem == own)
      wanted[parts->number].insert(parts->tail);
  std::map<std::string, Layers> rows;
  for (const auto& [key, tensor] : tensors)
    if (const auto parts = split_key(key)) rows[parts->stem][parts->number].insert(parts->tail);
  if (wanted.empty() || rows.contains(own)) return;
  std::erase_if(rows, [&](const auto& row) { return !fits(row.second, wanted); });
  if (rows.size() != 1) return;
  const auto& [stem, layers] = *rows.begin();
  const int64_t shift = layers.begin()->first;
  std::map<std::string, const base::Tensor*> renamed;
  for (const auto& [key, tensor] : tensors) {
    const auto parts = split_key(key);
    renamed[parts && parts->stem == stem ? base::text(own, parts->number - shift, ".", parts->tail)
                                         : key] = tensor;
  }
  tensors = std::move(renamed);
}

}  // namespace gnnmg::nn
