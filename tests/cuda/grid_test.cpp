// The host's implementation of a queue: it behaves as queues must, in orders that depend on its
// seed.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "cuda/grid/divisor.h"
#include "cuda/grid/portable.h"
#include "host_queue.h"

namespace gnnmg::cuda {
namespace {

struct Mark {
  int32_t* order;
  int32_t* next;
  GNNMG_BOTH void operator()(int64_t i) const { order[i] = atomic_add(next, 1); }
};

TEST(HostQueue, VisitsEveryItemOnceInAnOrderOfItsSeed) {
  std::vector<std::vector<int32_t>> orders;
  for (uint32_t seed : {0u, 1u, 2u, 7u}) {
    std::vector<int32_t> order(101, -1);
    int32_t next = 0;
    HostQueue queue(seed);
    queue.each(101, Mark{order.data(), &next});
    std::vector<int32_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (int32_t i = 0; i < 101; ++i) EXPECT_EQ(sorted[i], i);
    orders.push_back(order);
  }
  for (size_t a = 0; a < orders.size(); ++a)
    for (size_t b = a + 1; b < orders.size(); ++b) EXPECT_NE(orders[a], orders[b]);
}

TEST(Divisor, DividesAnyNumber) {
  std::vector<int64_t> by = {INT32_MAX, int64_t{1} << 31, (int64_t{1} << 52) + 1, INT64_MAX};
  for (int64_t d = 1; d < 70; ++d) by.push_back(d);
  for (const int64_t d : by) {
    const Divisor divisor(d);
    std::vector<int64_t> numbers = {0, 1, d - 1, d, INT32_MAX, int64_t{1} << 32, INT64_MAX};
    for (int shift = 1; shift < 63; ++shift) {
      const int64_t multiple = (int64_t{1} << shift) / d * d;
      for (const int64_t i : {multiple - 1, multiple, multiple + 1})
        if (i >= 0) numbers.push_back(i);
    }
    for (const int64_t i : numbers) EXPECT_EQ(divisor(i), i / d) << i << " / " << d;
  }
}

struct TileFacts {
  int64_t* sums;
  uint32_t* votes;
  double* maxima;
  template <typename Tile>
  GNNMG_BOTH void operator()(const Tile& tile, int64_t item) const {
    const auto values = tile.template make<int64_t>([&](int lane) { return item * 100 + lane; });
    const int64_t sum = tile.sum(values);
    const uint32_t odd = tile.vote([&](int lane) { return (item + lane) % 2 != 0; });
    const int64_t third = tile.broadcast(values, 3);
    const auto halves = tile.template make<double>([&](int lane) { return lane * 0.5; });
    const double most = tile.maximum(halves);
    tile.each([&](int lane) {
      if (lane != 0) return;
      sums[item] = sum + third;
      votes[item] = odd;
      maxima[item] = most;
    });
  }
};

template <int N>
void check_tiles() {
  for (uint32_t seed = 0; seed < 4; ++seed) {
    std::vector<int64_t> sums(10);
    std::vector<uint32_t> votes(10);
    std::vector<double> maxima(10);
    HostQueue(seed).tiles<N>(10, TileFacts{sums.data(), votes.data(), maxima.data()});
    const uint32_t all = N == 32 ? ~0u : (1u << N) - 1;
    for (int64_t i = 0; i < 10; ++i) {
      EXPECT_EQ(sums[i], N * i * 100 + N * (N - 1) / 2 + i * 100 + 3);
      EXPECT_EQ(votes[i], (i % 2 ? 0x55555555u : 0xAAAAAAAAu) & all);
      EXPECT_EQ(maxima[i], (N - 1) * 0.5);
    }
  }
}

TEST(HostTile, SumsVotesAndBroadcasts) {
  check_tiles<8>();
  check_tiles<16>();
  check_tiles<32>();
}

// The tiles of a block add items of more than 10 numbers.
struct TeamFacts {
  const int64_t* lengths;
  double* sums;
  int32_t* marks;  // number of the team's tiles that have processed the item
  int32_t* seen;   // value that each tile saw in its last step

  GNNMG_BOTH bool is_long(int64_t item) const { return lengths[item] > 10; }
  template <typename Tile>
  GNNMG_BOTH bool alone(const Tile& tile, int64_t item) const {
    if (is_long(item)) return false;
    tile.each([&](int lane) {
      if (lane == 0) sums[item] = static_cast<double>(lengths[item]);
    });
    return true;
  }
  template <typename Team>
  GNNMG_BOTH void together(const Team& team, int64_t item) const {
    using Tile = typename Team::Tile;
    // The result depends on the order of the parts.
    const auto total = team.template combine<double>(
        3,
        [](const Tile& tile, int t) {
          return tile.template make<double>([&](int lane) { return (t + 1) * 100.0 + lane; });
        },
        [](double& sum, const double& part) { sum = sum * 2 + part; });
    team.each([&](const Tile& tile, int) {
      tile.each([&](int lane) {
        if (lane == 0) atomic_add(marks + item, 1);
      });
    });
    team.each([&](const Tile& tile, int t) {
      tile.each([&](int lane) {
        if (t == 0 && lane == 0) seen[item] = marks[item];
        if (t == 0 && lane == Tile::kLanes - 1) sums[item] = total[lane];
      });
    });
  }
};

template <int N>
void check_teams() {
  const std::vector<int64_t> lengths = {0, 11, 10, 1000, 3};
  for (uint32_t seed : {0u, 1u, 7u}) {
    std::vector<double> sums(5, -1);
    std::vector<int32_t> marks(5), seen(5);
    HostQueue(seed).teams<N>(5, TeamFacts{lengths.data(), sums.data(), marks.data(), seen.data()});
    for (int i = 0; i < 5; ++i) {
      const bool is_long = lengths[i] > 10;
      EXPECT_EQ(sums[i], is_long ? 100 * (4 + 4 + 3) + 7 * (N - 1) : lengths[i]);
      EXPECT_EQ(seen[i], is_long ? 256 / N : 0);
    }
  }
}

TEST(HostTeam, SharesLongItems) {
  check_teams<1>();
  check_teams<8>();
  check_teams<32>();
}

TEST(HostQueue, CapturesWhatItIsGiven) {
  HostQueue queue;
  int64_t from = 3, to = 0;
  const HostQueue::Steps steps = queue.capture([&] { queue.copy(&to, &from, 8); });
  EXPECT_EQ(to, 0);
  from = 4;
  for (const auto& step : steps) step();
  EXPECT_EQ(to, 4);
  EXPECT_THROW(queue.capture([&] { queue.synchronize(); }), base::Error);
  queue.synchronize();
}

TEST(PinnedRanges, AreCountedAndLeaveWhatOthersPinned) {
  HostMemory memory;
  std::vector<char> bytes(1000);
  EXPECT_EQ(memory.adopt(bytes.data(), 1000, "bytes"), bytes.data());
  memory.adopt(bytes.data(), 1000, "bytes");
  memory.adopt(bytes.data() + 100, 50, "bytes within");
  memory.give_back(bytes.data());
  memory.give_back(bytes.data());
  EXPECT_EQ(memory.adopted.size(), 1u) << "the last use holds all of it";
  memory.give_back(bytes.data() + 100);
  memory.give_back(bytes.data() + 100);  // already unknown
  EXPECT_TRUE(memory.adopted.empty());
  memory.pin_by_owner(bytes.data(), 500);
  memory.adopt(bytes.data() + 8, 400, "bytes");
  EXPECT_TRUE(memory.adopted.empty());
  memory.give_back(bytes.data() + 8);
  try {
    memory.adopt(bytes.data() + 400, 200, "bytes");
    FAIL() << "expected an error";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.status(), base::Status::kInvalidArgument);
  }
  memory.fail_after = 0;
  EXPECT_THROW(memory.adopt(bytes.data() + 600, 100, "bytes"), base::Error);
  memory.adopt(bytes.data() + 600, 100, "bytes");
  memory.give_back(bytes.data() + 600);
  EXPECT_TRUE(memory.adopted.empty());
}

TEST(HostQueue, ScansAndSorts) {
  HostQueue queue;
  const std::vector<int32_t> counts = {3, 0, 2, 5};
  std::vector<int32_t> sums(5);
  queue.scan(counts.data(), sums.data(), 4);
  EXPECT_EQ(sums, (std::vector<int32_t>{0, 3, 3, 5, 10}));
  const std::vector<uint32_t> keys = {2, 0, 2, 1};
  const std::vector<int32_t> values = {10, 11, 12, 13};
  std::vector<uint32_t> sorted_keys(4);
  std::vector<int32_t> sorted(4);
  queue.sort(keys.data(), sorted_keys.data(), values.data(), sorted.data(), 4, 2);
  EXPECT_EQ(sorted_keys, (std::vector<uint32_t>{0, 1, 2, 2}));
  EXPECT_EQ(sorted, (std::vector<int32_t>{11, 13, 10, 12}));
}

TEST(Buffer, IsReleasedAndSaysWhatItWasFor) {
  HostMemory memory;
  {
    Buffer<int64_t> buffer(memory);
    buffer.reserve(10, "ids");
    const int64_t* data = buffer.data();
    EXPECT_EQ(buffer.reserve(5, "ids"), data);
    buffer.reserve(11, "ids");
    EXPECT_EQ(memory.num_allocations, 2);
    EXPECT_EQ(memory.num_live, 1);
    memory.fail_after = 0;
    try {
      buffer.reserve(1000, "ids");
      FAIL() << "expected an error";
    } catch (const base::Error& error) {
      EXPECT_EQ(error.status(), base::Status::kNoMemory);
      EXPECT_STREQ(error.what(), "no memory for ids of 8000 bytes");
    }
    EXPECT_EQ(buffer.capacity(), 0);
    buffer.reserve(3, "ids");
  }
  EXPECT_EQ(memory.num_live, 0);
}

TEST(HostQueue, HasMemoryForWhatLasts) {
  HostQueue queue;
  {
    const std::unique_ptr<Memory> lasting = queue.lasting_memory();
    Buffer<int32_t> buffer(*lasting);
    buffer.reserve(3, "numbers");
    EXPECT_EQ(queue.device.num_live, 1);
  }
  EXPECT_EQ(queue.device.num_live, 0);
}

}  // namespace
}  // namespace gnnmg::cuda
