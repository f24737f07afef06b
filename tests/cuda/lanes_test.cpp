// The host's implementation with separate lanes: the behavior of tiles and teams, and the code that
// it refuses.
#include "lane_queue.h"
//
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "cuda/sample/table.h"

namespace gnnmg::cuda {
namespace {

constexpr uint32_t kSeeds[] = {0, 1, 2, 7, 12345};

struct Facts {
  int64_t* sums;
  uint32_t* votes;
  float* maxima;
  int32_t* first;
  template <typename Tile>
  GNNMG_BOTH void operator()(const Tile& tile, int64_t item) const {
    const auto numbers =
        tile.template make<int64_t>([&](int lane) { return item * 100 + lane * lane; });
    const auto heights = tile.template make<float>(
        [&](int lane) { return static_cast<float>((item * 7 + lane * 5) % 13); });
    const int64_t sum = tile.sum(numbers);
    const uint32_t vote = tile.vote([&](int lane) { return (lane + item) % 3 == 0; });
    const float most = tile.maximum(heights);
    const int64_t of_first = tile.broadcast(numbers, static_cast<int>(item % Tile::kLanes));
    tile.each([&](int lane) {
      if (lane != Tile::kLanes - 1) return;
      sums[item] = sum;
      votes[item] = vote;
      maxima[item] = most;
      first[item] = static_cast<int32_t>(of_first);
    });
  }
};

template <int N, typename Queue>
void check_facts(Queue queue) {
  constexpr int64_t kItems = 150;  // more than the blocks have tiles
  std::vector<int64_t> sums(kItems);
  std::vector<uint32_t> votes(kItems);
  std::vector<float> maxima(kItems);
  std::vector<int32_t> first(kItems);
  queue.template tiles<N>(kItems, Facts{sums.data(), votes.data(), maxima.data(), first.data()});
  for (int64_t item = 0; item < kItems; ++item) {
    int64_t sum = 0;
    uint32_t vote = 0;
    float most = 0;
    for (int64_t lane = 0; lane < N; ++lane) {
      sum += item * 100 + lane * lane;
      vote |= ((lane + item) % 3 == 0 ? 1u : 0u) << lane;
      most = std::max(most, static_cast<float>((item * 7 + lane * 5) % 13));
    }
    EXPECT_EQ(sums[item], sum);
    EXPECT_EQ(votes[item], vote);
    EXPECT_EQ(maxima[item], most);
    EXPECT_EQ(first[item], item * 100 + (item % N) * (item % N));
  }
}

TEST(LaneQueue, TilesSumVoteAndBroadcast) {
  for (const uint32_t seed : kSeeds) {
    check_facts<1>(LaneQueue(seed));
    check_facts<8>(LaneQueue(seed));
    check_facts<16>(LaneQueue(seed));
    check_facts<32>(LaneQueue(seed));
  }
}

struct CountVisits {
  int32_t* visits;
  GNNMG_BOTH void operator()(int64_t i) const { ++visits[i]; }
};

TEST(LaneQueue, VisitsEveryItemOnce) {
  for (const int64_t count : {0, 1, 63, 64, 65, 1000}) {
    std::vector<int32_t> visits(count + 1);
    LaneQueue(2).each(count, CountVisits{visits.data()});
    for (int64_t i = 0; i < count; ++i) EXPECT_EQ(visits[i], 1);
    EXPECT_EQ(visits[count], 0);
  }
}

// Every third item is long; all tiles compute its number.
struct Long {
  int32_t* alone_at;
  int32_t* sums;
  template <typename Tile>
  GNNMG_BOTH bool alone(const Tile& tile, int64_t item) const {
    if (is_long(item)) return false;
    tile.each([&](int lane) {
      if (lane == 0) alone_at[item] = 1;
    });
    return true;
  }
  GNNMG_BOTH bool is_long(int64_t item) const { return item % 3 == 0; }
  template <typename Team>
  GNNMG_BOTH void together(const Team& team, int64_t item) const {
    using Tile = typename Team::Tile;
    const auto total = team.template combine<int32_t>(
        Team::kTiles,
        [&](const Tile& tile, int t) {
          return tile.template make<int32_t>([&](int lane) { return t + lane; });
        },
        [](int32_t& sum, int32_t part) { sum += part; });
    team.each([&](const Tile& tile, int t) {
      if (t == 1) tile.each([&](int lane) { sums[item * Tile::kLanes + lane] = total[lane]; });
    });
  }
};

TEST(LaneQueue, TeamsShareLongItems) {
  for (const uint32_t seed : kSeeds) {
    constexpr int64_t kItems = 100, kLanes = 8, kTiles = kBlockThreads / kLanes;
    std::vector<int32_t> alone_at(kItems), sums(kItems * kLanes);
    LaneQueue(seed).teams<kLanes>(kItems, Long{alone_at.data(), sums.data()});
    for (int64_t i = 0; i < kItems; ++i) {
      EXPECT_EQ(alone_at[i], i % 3 == 0 ? 0 : 1);
      for (int64_t lane = 0; lane < kLanes; ++lane)
        EXPECT_EQ(sums[i * kLanes + lane],
                  i % 3 == 0 ? kTiles * (kTiles - 1) / 2 + kTiles * lane : 0);
    }
  }
}

// Many lanes insert few keys into a table that they nearly fill, with others between any two of
// their accesses.
struct Insert {
  IdTable table;
  const uint32_t* keys;
  uint32_t* slots;
  GNNMG_BOTH void operator()(int64_t i) const {
    slots[i] = table.insert(keys[i], static_cast<uint32_t>(i));
  }
};

TEST(LaneQueue, LanesThatInsertOneKeyLeaveItsFirstPosition) {
  for (const uint32_t seed : kSeeds) {
    for (const uint32_t num_keys : {1u, 2u, 31u, 200u}) {
      std::vector<uint64_t> slots(num_keys + 1, kFreeSlot);
      std::vector<uint32_t> keys(1000), at(1000);
      for (uint32_t i = 0; i < keys.size(); ++i)
        keys[i] = (i * 2654435761u + seed) % num_keys * 7919u;
      const IdTable table{slots.data(), num_keys + 1};
      LaneQueue(seed).each(1000, Insert{table, keys.data(), at.data()});
      for (size_t i = 0; i < keys.size(); ++i) {
        const auto first = std::find(keys.begin(), keys.end(), keys[i]) - keys.begin();
        EXPECT_EQ(slots[at[i]], IdTable::entry(keys[i], static_cast<uint32_t>(first)));
        EXPECT_EQ(table.find(keys[i]), static_cast<uint32_t>(first));
      }
    }
  }
}

// Code that would hang or be misinterpreted on a GPU.
struct HalfVote {
  template <typename Tile>
  GNNMG_BOTH void operator()(const Tile& tile, int64_t) const {
    if (threadIdx.x % 2 == 0) tile.vote([](int) { return true; });
  }
};
struct VoteOrSum {
  template <typename Tile>
  GNNMG_BOTH void operator()(const Tile& tile, int64_t) const {
    if (threadIdx.x % 2 == 0)
      tile.vote([](int) { return true; });
    else
      tile.sum(tile.template make<int32_t>([](int lane) { return lane; }));
  }
};
struct SomeAtTheBarrier {
  template <typename Tile>
  GNNMG_BOTH bool alone(const Tile&, int64_t) const {
    return false;
  }
  GNNMG_BOTH bool is_long(int64_t) const { return threadIdx.x != 7; }
  template <typename Team>
  GNNMG_BOTH void together(const Team& team, int64_t) const {
    team.each([](const typename Team::Tile&, int) {});
  }
};

TEST(LaneQueueDeathTest, EndsWhereLanesDoNotMeet) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(LaneQueue(1).tiles<8>(1, HalfVote{}), "lanes (wait|of one mask went)");
  EXPECT_DEATH(LaneQueue(1).tiles<8>(1, VoteOrSum{}), "lanes of one mask went different ways");
  EXPECT_DEATH(LaneQueue(1).teams<8>(1, SomeAtTheBarrier{}), "barrier|wait for each other");
}

}  // namespace
}  // namespace gnnmg::cuda
