// Kernels with and without races, for ThreadSanitizer: lanes_race <case>. tests/cuda/CMakeLists.txt
// checks its output.
#include "lane_queue.h"

#include <cstdio>
#include <string_view>
#include <vector>

namespace gnnmg::cuda {
namespace {

enum class Between { kNothing, kVote, kSync };

// Each lane reads its neighbor's result.
template <Between kBetween>
struct Neighbors {
  int32_t* values;
  int32_t* sums;
  template <typename Tile>
  GNNMG_BOTH void operator()(const Tile& tile, int64_t item) const {
    int32_t* const own = values + item * Tile::kLanes;
    tile.each([&](int lane) { own[lane] = lane; });
    if constexpr (kBetween == Between::kVote) tile.vote([](int) { return true; });
    if constexpr (kBetween == Between::kSync) tile.sync();
    tile.each([&](int lane) { sums[item * Tile::kLanes + lane] = own[lane] + own[lane ^ 1]; });
  }
};

// All items write to one place.
struct OnePlace {
  int32_t* place;
  GNNMG_BOTH void operator()(int64_t i) const { *place = static_cast<int32_t>(i); }
};
struct OneCount {
  int32_t* place;
  GNNMG_BOTH void operator()(int64_t) const { atomic_add(place, 1); }
};
// One lane of each tile writes to one place: only one lane per block.
struct FirstLanes {
  int32_t* place;
  template <typename Tile>
  GNNMG_BOTH void operator()(const Tile& tile, int64_t item) const {
    tile.each([&](int lane) {
      if (lane == 0) *place = static_cast<int32_t>(item);
    });
  }
};
// A count is read while others count.
struct ReadCount {
  int32_t* place;
  int32_t* found;
  GNNMG_BOTH void operator()(int64_t i) const {
    atomic_add(place, 1);
    found[i] = *place;
  }
};

// The tiles of a block leave numbers for the first one.
template <bool kSynced>
struct LeftForFirst {
  int32_t* values;
  template <typename Tile>
  GNNMG_BOTH bool alone(const Tile&, int64_t) const {
    return false;
  }
  GNNMG_BOTH bool is_long(int64_t) const { return true; }
  template <typename Team>
  GNNMG_BOTH void together(const Team& team, int64_t) const {
    using Tile = typename Team::Tile;
    const auto leave = [&](const Tile& tile, int t) {
      tile.each([&](int lane) {
        if (lane == 0) values[t] = t;
      });
    };
    const auto take = [&](const Tile& tile, int t) {
      tile.each([&](int lane) {
        if (t == 0 && lane == 0) values[0] += values[1];
      });
    };
    if constexpr (kSynced) {
      team.each(leave);
      team.each(take);
    } else {
      team.each([&](const Tile& tile, int t) {
        leave(tile, t);
        take(tile, t);
      });
    }
  }
};

int run(std::string_view name) {
  LaneQueue queue(3);
  std::vector<int32_t> a(1024), b(1024);
  const auto neighbors = [&]<Between kBetween>() {
    queue.tiles<8>(20, Neighbors<kBetween>{a.data(), b.data()});
  };
  if (name == "nothing_between")
    neighbors.operator()<Between::kNothing>();
  else if (name == "vote_between")
    neighbors.operator()<Between::kVote>();
  else if (name == "sync_between")
    neighbors.operator()<Between::kSync>();
  else if (name == "one_place")
    queue.each(100, OnePlace{a.data()});
  else if (name == "one_count")
    queue.each(100, OneCount{a.data()});
  else if (name == "two_blocks")
    queue.tiles<32>(2, FirstLanes{a.data()});
  else if (name == "read_count")
    queue.each(100, ReadCount{a.data(), b.data()});
  else if (name == "team")
    queue.teams<8>(1, LeftForFirst<false>{a.data()});
  else if (name == "team_synced")
    queue.teams<8>(1, LeftForFirst<true>{a.data()});
  else
    return 2;
  std::printf("through\n");
  return 0;
}

}  // namespace
}  // namespace gnnmg::cuda

int main(int argc, char** argv) { return argc == 2 ? gnnmg::cuda::run(argv[1]) : 2; }
