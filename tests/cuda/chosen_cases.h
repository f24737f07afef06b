// Few of many cases that have all in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "devices.h"

namespace gnnmg::cuda {

// What a case has, each as some numbers: values of options that it is to be seen with together.
using Haves = std::set<std::vector<int64_t>>;

// Every two of these options' values.
inline Haves pairs_of(const std::vector<int64_t>& options) {
  Haves pairs;
  const auto count = static_cast<int64_t>(options.size());
  for (int64_t a = 0; a < count; ++a)
    for (int64_t b = a + 1; b < count; ++b) pairs.insert({a, options[a], b, options[b]});
  return pairs;
}

// All combinations of so many values of each option, 0, 1, ..., the last one's changing first.
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

// Which cases to take, ascending: all; on a slow device so many that these have whatever any case
// has, always the one with most of what is missing.
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

// Of combinations() those to take, so that every two values come together.
inline std::vector<std::vector<int64_t>> taken_combinations(const std::vector<int64_t>& counts) {
  const std::vector<std::vector<int64_t>> all = combinations(counts);
  std::vector<Haves> cases;
  for (const auto& each : all) cases.push_back(pairs_of(each));
  std::vector<std::vector<int64_t>> taken;
  for (const size_t i : taken_of(cases)) taken.push_back(all[i]);
  return taken;
}

}  // namespace gnnmg::cuda
