#include "graph/weighted.h"

#include <numeric>
#include <vector>

namespace gnnmg::graph {

void make_alias_table(std::span<const int64_t> weights, std::span<AliasSlot> table) {
  const auto n = static_cast<int64_t>(weights.size());
  const int64_t total = std::accumulate(weights.begin(), weights.end(), int64_t{0});
  // A slot's share of the whole, times n * total: `total` is exactly one slot's worth.
  std::vector<int64_t> share(n);
  std::vector<int32_t> small, large;
  for (int64_t i = 0; i < n; ++i) {
    share[i] = weights[i] * n;
    (share[i] < total ? small : large).push_back(static_cast<int32_t>(i));
  }
  while (!small.empty() && !large.empty()) {
    const int32_t low = small.back(), high = large.back();
    small.pop_back();
    table[low].threshold =
        static_cast<uint32_t>((static_cast<unsigned __int128>(share[low]) << 32) / total);
    table[low].alias = high;
    share[high] -= total - share[low];
    if (share[high] < total) {
      large.pop_back();
      small.push_back(high);
    }
  }
  // The shares add up to n * total exactly, so each remaining slot is full.
  for (const auto& rest : {small, large})
    for (int32_t i : rest) table[i] = {0, i};
}

}  // namespace gnnmg::graph
