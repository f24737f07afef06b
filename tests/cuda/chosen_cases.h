// Selects few of many cases that together cover all combinations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "devices.h"

namespace gnnmg::cuda {

// The properties of a case, each as a list of numbers: combinations of option values to be covered.
using Haves = std::set<std::vector<int64_t>>;

// Returns every pair of values of these options.
inline Haves pairs_of(const std::vector<int64_t>& options) {
  Haves pairs;
  const auto count = static_cast<int64_t>(options.size());
  for (int64_t a = 0; a < count; ++a)
    for (int64_t b = a + 1; b < count; ++b) pairs.insert({a, options[a], b, options[b]});
  return pairs;
}

// Returns all combinations of option values 0, 1, ... below these counts; the last option changes
// first.
inline std::vector<std::vector<int64_t>> combinations(const std::vector<int64_t>& counts) {
  std::vector<std::vector<int64_t>> all = {{}};
  for (const int64_t count : counts) {
    std::vector<std::vector<int64_t>> longer;
    for (const auto& before : all)
      for (int64_t value = 0; value < count; ++value) {
        longer.push_back(before);
        longer.back().push_back(value);
      }
    all = std::move(longer);
  }
  return all;
}

// Returns the selected cases, ascending: all; on a slow device enough of them to cover every
// property, adding the case with the most uncovered ones each time.
inline std::vector<size_t> taken_of(const std::vector<Haves>& cases) {
  if (!is_slow()) {
    std::vector<size_t> all(cases.size());
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  Haves missing;
  for (const Haves& each : cases) missing.insert(each.begin(), each.end());
  std::set<size_t> taken;
  while (!missing.empty()) {
    size_t best = 0, most = 0;
    for (size_t i = 0; i < cases.size(); ++i) {
      size_t count = 0;
      for (const auto& what : cases[i]) count += missing.contains(what);
      if (count <= most) continue;
      best = i;
      most = count;
    }
    taken.insert(best);
    for (const auto& what : cases[best]) missing.erase(what);
  }
  return {taken.begin(), taken.end()};
}

// Returns those of combinations() that together cover every pair of values.
inline std::vector<std::vector<int64_t>> taken_combinations(const std::vector<int64_t>& counts) {
  const std::vector<std::vector<int64_t>> all = combinations(counts);
  std::vector<Haves> cases;
  for (const auto& each : all) cases.push_back(pairs_of(each));
  std::vector<std::vector<int64_t>> taken;
  for (const size_t i : taken_of(cases)) taken.push_back(all[i]);
  return taken;
}

}  // namespace gnnmg::cuda
