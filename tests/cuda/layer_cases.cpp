#include "layer_cases.h"

#include <algorithm>

namespace gnnmg::cuda {

Block random_block(Random& random, int kind) {
  // Targets, sources, targets of other layers, most entries of an ordinary list.
  constexpr int64_t kShapes[kBlockKinds][4] = {
      {9, 20, 4, 5}, {1, 1, 0, 1}, {0, 3, 2, 3}, {23, 40, 9, 11}};
  const auto [num_targets, num_sources, others, most] = kShapes[kind];
  Block block{num_targets, num_sources, {0}, {}, {0}, {}, {}};
  std::vector<std::vector<std::pair<int32_t, int32_t>>> by_source(num_sources);
  for (int64_t t = 0; t < num_targets + others; ++t) {
    int64_t entries = random() % (most + 1);
    if (kind == 3 && t == 5) entries = 75;
    if (kind == 3 && t == 0) entries = 0;
    for (int64_t k = 0; k < entries; ++k) {
      // Half of the edges come from source 2, or from the target itself.
      int64_t source = random() % num_sources;
      if (random() % 4 == 0) source = std::min<int64_t>(2, num_sources - 1);
      if (random() % 4 == 0) source = t % num_sources;
      const bool other = t >= num_targets;
      const auto position = static_cast<int32_t>(block.indices.size());
      by_source[source].push_back({static_cast<int32_t>(t), other ? 0 : position});
      if (!other) block.indices.push_back(static_cast<int32_t>(source));
    }
    if (t < num_targets) block.indptr.push_back(static_cast<int32_t>(block.indices.size()));
  }
  for (const auto& list : by_source) {
    for (const auto& [target, position] : list) {
      block.out_targets.push_back(target);
      block.positions.push_back(position);
    }
    block.out_indptr.push_back(static_cast<int32_t>(block.out_targets.size()));
  }
  return block;
}

kernels::Dropout some_dropout(double rate) { return kernels::make_dropout(rate, 5, 1, 2, 3); }

}  // namespace gnnmg::cuda
