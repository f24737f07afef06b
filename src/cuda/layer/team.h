// How the tiles of a block share a long list whose entries have a number each: which of them a tile
// takes, and what all of them make of it.
#pragma once

#include "cuda/layer/row.h"

namespace gnnmg::cuda {

// Which entries of a list a tile takes: as many as it has lanes from `begin` on, and so on every
// `step`. So one and the same lane has an entry in all loops over them.
struct Turns {
  uint32_t begin, step;
  template <typename Tile>
  GNNMG_BOTH static Turns alone(const Tile&) {
    return {0, Tile::kLanes};
  }
  // Of tile t of a team.
  template <typename Team>
  GNNMG_BOTH static Turns of(const Team&, int t) {
    constexpr uint32_t kLanes = Team::Tile::kLanes;
    return {static_cast<uint32_t>(t) * kLanes, Team::kTiles * kLanes};
  }
};

// The sum of f(tile, turns) of a team's tiles, in their order; f gives all lanes of a tile the
// same.
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

// Their maximum; a NaN stays one.
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
