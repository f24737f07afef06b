// Draws of a tile compared with those of the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "cuda/sample/draw.h"
#include "host_queue.h"
#include "sample/draw.h"

namespace gnnmg::cuda {
namespace {

struct Draw {
  RowDraws row;
  bool replace;
  uint64_t* seen;  // scratch for fan-outs above the tile's lanes
  uint32_t* picks;
  template <typename Tile>
  GNNMG_BOTH void operator()(const Tile& tile, int64_t) const {
    if (replace) {
      tile.each_of(0, row.fanout,
                   [&](int64_t i) { picks[i] = row.pick(static_cast<uint32_t>(i)); });
    } else if (seen != nullptr) {
      many_distinct_picks(tile, row, IdTable{seen, 2 * row.fanout},
                          [&](int64_t i, uint32_t pick) { picks[i] = pick; });
    } else {
      const auto chosen = distinct_picks(tile, row);
      tile.each([&](int lane) {
        if (lane < static_cast<int>(row.fanout)) picks[lane] = chosen[lane];
      });
    }
  }
};

std::vector<uint32_t> drawn(const RowDraws& row, bool replace, bool many, uint32_t order) {
  HostQueue queue(order);
  std::vector<uint64_t> seen(many ? 2 * row.fanout : 0, kFreeSlot);
  std::vector<uint32_t> picks(row.fanout, 12345);
  const Draw draw{row, replace, many ? seen.data() : nullptr, picks.data()};
  if (row.fanout <= 8 && !many)
    queue.tiles<8>(1, draw);
  else if (row.fanout <= 16 && !many)
    queue.tiles<16>(1, draw);
  else
    queue.tiles<32>(1, draw);
  return picks;
}

TEST(TileDraws, AreTheCpusForEveryFanoutAndDegree) {
  std::vector<int64_t> fanouts = {100, 257, 1000};
  for (int64_t k = 1; k <= 40; ++k) fanouts.push_back(k);
  sample::PickSet set;
  int64_t rows = 0, met = 0;
  for (const int64_t fanout : fanouts) {
    for (const uint32_t extra : {1u, 2u, 3u, 10u, 100u, 5000u, 40000u, 4000000000u}) {
      for (const bool replace : {false, true}) {
        const uint32_t degree = static_cast<uint32_t>(fanout) + extra;
        const int64_t repeats = fanout > 40 ? 2 : 8;
        for (int64_t node = 0; node < repeats; ++node) {
          const int64_t id = node * 268435399 + 1;
          const base::Key key = base::stream_key(5, base::Purpose::kSample, node, fanout, extra);
          std::vector<int64_t> expected(fanout);
          sample::draw_row(key, id, degree, fanout, replace, set, 0, expected.data());
          const RowDraws row{
              {key[0], key[1]}, static_cast<uint32_t>(id), degree, static_cast<uint32_t>(fanout)};
          for (const uint32_t order : {0u, 1u, 2u, 7u, 12345u}) {
            for (const bool many : {false, true}) {
              if (!many && fanout > 32 && !replace) continue;
              const std::vector<uint32_t> found = drawn(row, replace, many, order);
              ASSERT_EQ(std::vector<int64_t>(found.begin(), found.end()), expected)
                  << "fan-out " << fanout << ", degree " << degree << ", order " << order;
              ++rows;
            }
          }
          for (int64_t i = 0; i < fanout && !replace; ++i)
            met += expected[i] == degree - fanout + i && row.candidate(i) != row.other(i);
        }
      }
    }
  }
  EXPECT_GT(rows, 40000);
  EXPECT_GT(met, 10000);  // shows that duplicates were resolved
}

TEST(TileDraws, WordsAreThoseOfTheStream) {
  const RowDraws row{{3, 9}, 77, 10, 5};
  for (uint32_t slot = 0; slot < 50; ++slot)
    EXPECT_EQ(row.word(slot), base::draw({3, 9}, 77, slot));
}

struct InsertAll {
  IdTable table;
  const uint32_t* keys;
  uint32_t* slots;
  GNNMG_BOTH void operator()(int64_t i) const {
    slots[i] = table.insert(keys[i], static_cast<uint32_t>(i));
  }
};

TEST(IdTable, KeepsTheSmallestPositionInAnyOrder) {
  for (const uint32_t order : {0u, 1u, 2u, 7u, 12345u}) {
    std::vector<uint32_t> keys;
    for (uint32_t i = 0; i < 3000; ++i) keys.push_back(i * i % 701 * 65536 + i % 3);
    std::vector<uint64_t> slots(3000, kFreeSlot);  // room for one more than the 3000 keys
    slots.push_back(kFreeSlot);
    std::vector<uint32_t> places(keys.size());
    const IdTable table{slots.data(), static_cast<uint32_t>(slots.size())};
    HostQueue(order).each(static_cast<int64_t>(keys.size()),
                          InsertAll{table, keys.data(), places.data()});
    for (size_t i = 0; i < keys.size(); ++i) {
      const size_t first = std::find(keys.begin(), keys.end(), keys[i]) - keys.begin();
      EXPECT_EQ(table.find(keys[i]), first);
      EXPECT_EQ(slots[places[i]], IdTable::entry(keys[i], static_cast<uint32_t>(first)));
    }
  }
}

}  // namespace
}  // namespace gnnmg::cuda
