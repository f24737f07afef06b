// Names of the edge tensors that models read. Apart because data sets check their numbers like
// those of nodes, whatever model comes.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace gnnmg::data {

// The first that there is counts.
inline constexpr std::array kEdgeFeatureNames{"edge_attr", "x", "feat"};
inline constexpr std::array kEdgeWeightNames{"edge_weight", "weight"};
inline constexpr std::array kEdgeTypeNames{"edge_type", "type", "edge_label"};

// Features or weights: numbers to compute with.
inline bool is_edge_input(std::string_view name) {
  const auto among = [name](const auto& names) {
    return std::any_of(names.begin(), names.end(), [name](const char* n) { return name == n; });
  };
  return among(kEdgeFeatureNames) || among(kEdgeWeightNames);
}

}  // namespace gnnmg::data
