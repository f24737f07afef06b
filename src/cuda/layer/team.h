// Divides a long list with one number per entry among the tiles of a block: the entries of each
// tile, and the combination of their results.
#pragma once

#include "cuda/layer/row.h"

namespace gnnmg::cuda {

// The entries of a list that a tile takes: as many as it has lanes from `begin` on, then again
// every `step`. So a lane takes the same entries in all loops.
struct Turns {
  uint32_t begin, step;
  template <typename Tile>
  GNNMG_BOTH static Turns alone(const Tile&) {
    return {0, Tile::kLanes};
  }
  // Returns the turns of tile t of a team.
  template <typename Team>
  GNNMG_BOTH static Turns of(const Team&, int t) {
    constexpr uint32_t kLanes = Team::Tile::kLanes;
    return {static_cast<uint32_t>(t) * kLanes, Team::kTiles * kLanes};
  }
};

// Returns the sum of f(tile, turns) over a team's tiles, in order; f returns the same value on all
// lanes of a tile.
template <typename T, typename Team, typename F>
GNNMG_BOTH T sum_of_team(const Team& team, const F& f) {
  return team.template combine<T>(
      Team::kTiles,
      [&](const typename Team::Tile& tile, int t) {
        const T part = f(tile, Turns::of(team, t));
        return tile.template make<T>([&](int) { return part; });
      },
      [](T& sum, const T& part) { sum += part; })[0];
}

// Returns their maximum; NaNs propagate.
template <typename T, typename Team, typename F>
GNNMG_BOTH T highest_of_team(const Team& team, const F& f) {
  return team.template combine<T>(
      Team::kTiles,
      [&](const typename Team::Tile& tile, int t) {
        const T part = f(tile, Turns::of(team, t));
        return tile.template make<T>([&](int) { return part; });
      },
      [](T& top, const T& part) { top = part > top || part != part ? part : top; })[0];
}

}  // namespace gnnmg::cuda
