// The draws compared with known answers (computed independently, from the definition, in Python)
// and with the scalar version, for every kernel of this machine.
#include "sample/draw.h"

#include <gtest/gtest.h>

#include <set>

#include "sample/reference.h"
#include "sample/sampler.h"

namespace gnnmg {
namespace {

using sample::LaneRows;

base::Key key_42() {
  const sample::BatchKey key{42, base::Purpose::kSample, 3, 17};
  return key.hop(2);
}

// All rows in one kernel call, one per lane.
std::vector<std::vector<int64_t>> lane_picks(const sample::NamedKernel& kernel, base::Key key,
                                             const std::vector<std::pair<int64_t, int64_t>>& rows,
                                             int fanout, bool replace) {
  LaneRows lanes{};
  for (size_t l = 0; l < rows.size(); ++l) {
    lanes.id_low[l] = static_cast<uint32_t>(rows[l].first);
    lanes.id_high[l] = static_cast<uint32_t>(rows[l].first >> 32);
    lanes.degree[l] = static_cast<uint32_t>(rows[l].second);
  }
  alignas(64) uint32_t picks[sample::kMaxLaneFanout * sample::kLanes];
  kernel.run(key.data(), lanes, fanout, replace, picks);
  std::vector<std::vector<int64_t>> result(rows.size());
  for (size_t l = 0; l < rows.size(); ++l) {
    for (int i = 0; i < fanout; ++i) result[l].push_back(picks[i * sample::kLanes + l]);
  }
  return result;
}

TEST(Draw, KeyOfAHopHasItsKnownAnswer) {
  EXPECT_EQ(key_42(), (base::Key{0xea869074u, 0xad86afe3u}));
  const sample::BatchKey key{(uint64_t{1} << 63) + 5, base::Purpose::kEvaluationSample,
                             (uint64_t{1} << 33) + 1, uint64_t{1} << 40};
  EXPECT_EQ(key.hop(0, uint64_t{1} << 35), (base::Key{0x01171eceu, 0x82abdd64u}));
}

TEST(Draw, KernelsGiveTheKnownAnswers) {
  for (const sample::NamedKernel& kernel : sample::lane_kernels()) {
    SCOPED_TRACE(kernel.name);
    const base::Key key = key_42();
    EXPECT_EQ(lane_picks(kernel, key, {{7, 20}, {7, 6}}, 5, false),
              (std::vector<std::vector<int64_t>>{{2, 12, 17, 10, 18}, {0, 2, 3, 4, 5}}));
    EXPECT_EQ(
        lane_picks(kernel, key, {{123456, 40000}}, 15, false),
        (std::vector<std::vector<int64_t>>{{11958, 12289, 38722, 29671, 26225, 20026, 23247, 19704,
                                            32336, 27190, 21857, 7017, 33154, 9102, 38564}}));
    EXPECT_EQ(lane_picks(kernel, key, {{5'000'000'000, 54000}}, 10, false),
              (std::vector<std::vector<int64_t>>{
                  {16233, 23514, 33951, 50452, 22090, 47251, 1428, 36290, 30071, 15219}}));
    EXPECT_EQ(lane_picks(kernel, key, {{9, 4294967295}}, 6, false),
              (std::vector<std::vector<int64_t>>{
                  {2910688556, 2806965729, 335480887, 3018468332, 1033780079, 3171633230}}));
    EXPECT_EQ(lane_picks(kernel, key, {{7, 3}}, 6, true),
              (std::vector<std::vector<int64_t>>{{0, 2, 2, 1, 2, 2}}));
  }
}

TEST(Draw, LongRowsHaveTheirKnownAnswers) {
  sample::PickSet set;
  std::vector<int64_t> picks(40);
  sample::draw_row(key_42(), 11, 100, 40, false, set, 0, picks.data());
  EXPECT_EQ(picks, (std::vector<int64_t>{15, 27, 58, 31, 33, 62, 60, 41, 8,  18, 22, 64, 0,  16,
                                         47, 24, 65, 76, 52, 79, 80, 81, 10, 83, 14, 69, 26, 75,
                                         25, 39, 6,  57, 92, 61, 94, 95, 89, 19, 42, 87}));
  sample::draw_row(key_42(), 7, 3, 40, true, set, 1000, picks.data());
  EXPECT_EQ(picks[0], 1000);
  EXPECT_EQ(picks[3], 1001);
  EXPECT_EQ(picks[39], 1000);
}

TEST(Draw, KernelsAndLongRowsFollowTheDefinition) {
  base::Stream stream({1, 2}, 3);
  for (int round = 0; round < 300; ++round) {
    const base::Key key{stream.next(), stream.next()};
    const int fanout = 1 + static_cast<int>(stream.below(sample::kMaxLaneFanout));
    const bool replace = stream.below(2) == 0;
    std::vector<std::pair<int64_t, int64_t>> rows;
    for (int l = 0; l < sample::kLanes; ++l) {
      const int64_t least = replace ? 1 : fanout + 1;
      const int64_t spread = int64_t{1} << stream.below(31);
      rows.emplace_back(static_cast<int64_t>(stream.next64() >> 1),
                        least + static_cast<int64_t>(stream.below(spread)));
    }
    std::vector<std::vector<int64_t>> expected;
    for (const auto& [node, degree] : rows)
      expected.push_back(test::reference_picks(key, node, degree, fanout, replace));
    for (const sample::NamedKernel& kernel : sample::lane_kernels())
      ASSERT_EQ(lane_picks(kernel, key, rows, fanout, replace), expected) << kernel.name;
    sample::PickSet set;
    for (size_t l = 0; l < rows.size(); ++l) {
      std::vector<int64_t> picks(fanout);
      sample::draw_row(key, rows[l].first, static_cast<uint32_t>(rows[l].second), fanout, replace,
                       set, 0, picks.data());
      ASSERT_EQ(picks, expected[l]);
    }
  }
}

TEST(Draw, PickSetForgetsWithEachRowAndGrows) {
  sample::PickSet set;
  for (const int64_t capacity : {3, 3, 100, 5, 4000, 7}) {
    set.begin(capacity);
    std::set<uint32_t> model;
    base::Stream stream({9, 9}, capacity);
    while (static_cast<int64_t>(model.size()) < capacity) {
      const uint32_t pick = static_cast<uint32_t>(stream.below(2 * capacity));
      ASSERT_EQ(set.insert(pick), model.insert(pick).second);
    }
  }
}

}  // namespace
}  // namespace gnnmg
