#include "nn/state/wrapper_names.h"

#include <algorithm>
#include <set>

#include "base/error.h"

namespace gnnmg::nn {
namespace {

constexpr size_t kMostPrefixes = 1000;
constexpr size_t kMostNames = 16;  // wrappers per key prefix

bool is_counter(const std::string& key, const base::Tensor& tensor) {
  return key.find('.') == std::string::npos && !base::is_floating(tensor.dtype()) &&
         tensor.shape().num_elements() == 1;
}

// Returns "a.c" for "a._b.c" and adds the removed names to `left_out`. The last name stays.
std::string without_underscored(std::string_view key, std::set<std::string>& left_out) {
  std::string rest;
  while (true) {
    const size_t end = key.find('.');
    if (end == std::string_view::npos) return rest + std::string(key);
    if (key.starts_with('_'))
      left_out.emplace(key.substr(0, end));
    else
      rest += key.substr(0, end + 1);
    key.remove_prefix(end + 1);
  }
}

// Returns the longest common prefix that ends with a dot and does not contain the last name of any
// key.
std::string common_prefix(const std::vector<std::string>& keys) {
  if (keys.empty()) return {};
  std::string_view common = keys[0];
  for (const std::string& key : keys) {
    const auto [a, b] = std::ranges::mismatch(common, key);
    common = common.substr(0, static_cast<size_t>(a - common.begin()));
  }
  return std::string(common.substr(0, common.rfind('.') + 1));
}

// Returns the ends of a key's names, except the last, each after its dot.
std::vector<size_t> ends_of_names(std::string_view key) {
  std::vector<size_t> ends;
  for (size_t dot = key.find('.'); dot != std::string_view::npos && ends.size() < kMostNames;
       dot = key.find('.', dot + 1))
    ends.push_back(dot + 1);
  return ends;
}

// Adds `way`, and one more way for each leading name that all keys share.
void add_prefixes(std::vector<Unwrapped>& ways, const Unwrapped& way) {
  const std::string common = common_prefix(way.keys);
  for (const size_t end : ends_of_names(common)) {
    Unwrapped shorter = way;
    shorter.prefix = common.substr(0, end);
    for (std::string& key : shorter.keys) key.erase(0, end);
    ways.push_back(std::move(shorter));
  }
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

std::string Unwrapped::note() const {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (!prefix.empty()) add(base::text("\"", prefix, "\" in front of its keys"));
  if (!inner.empty()) add(base::text("the names ", listed(inner), " in its keys"));
  if (!counters.empty()) add(listed(counters));
  return text;
}

bool has_underscored_name(std::string_view key) {
  return key.starts_with('_') || key.find("._") != std::string_view::npos;
}

std::vector<Unwrapped> ways_to_unwrap(const io::StateFile& state, bool underscores) {
  // With all keys; without counters; also without underscored names.
  Unwrapped plain, counted, bare;
  std::set<std::string> inner, seen;
  for (size_t i = 0; i < state.tensors.size(); ++i) {
    const auto& [key, tensor] = state.tensors[i];
    plain.keys.push_back(key);
    plain.numbers.push_back(i);
    if (is_counter(key, tensor)) {
      counted.counters.push_back(key);
      continue;
    }
    counted.keys.push_back(key);
    counted.numbers.push_back(i);
    bare.keys.push_back(without_underscored(key, inner));
    seen.insert(bare.keys.back());
  }
  std::vector<Unwrapped> ways{plain};
  add_prefixes(ways, counted);
  if (underscores || inner.empty() || seen.size() < bare.keys.size()) return ways;
  bare.inner.assign(inner.begin(), inner.end());
  bare.counters = counted.counters;
  bare.numbers = counted.numbers;
  ways.push_back(bare);
  add_prefixes(ways, bare);
  return ways;
}

std::vector<Unwrapped> parts_below_prefixes(const io::StateFile& state, size_t most) {
  std::map<std::string, Unwrapped> parts;
  for (size_t i = 0; i < state.tensors.size(); ++i) {
    const std::string& key = state.tensors[i].first;
    for (const size_t end : ends_of_names(key)) {
      const std::string prefix = key.substr(0, end);
      if (parts.size() == kMostPrefixes && !parts.contains(prefix)) break;
      Unwrapped& part = parts[prefix];
      if (part.keys.size() > most) continue;
      part.prefix = prefix;
      part.keys.push_back(key.substr(end));
      part.numbers.push_back(i);
    }
  }
  std::vector<Unwrapped> found;
  for (auto& [prefix, part] : parts)
    if (part.keys.size() <= most && part.keys.size() < state.tensors.size())
      found.push_back(std::move(part));
  return found;
}

}  // namespace gnnmg::nn
