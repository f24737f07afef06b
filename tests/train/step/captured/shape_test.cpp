// The shapes of captured passes: which there are, and which one a mini-batch takes.
#include "train/step/captured/shape.h"

#include <gtest/gtest.h>

namespace gnnmg::train {
namespace {

PassCounts counts_of(const PassShape& shape) { return {shape.hop_ends, shape.num_edges}; }

// Fan-outs 15, 10 and 5 of 1024 seeds, and the sizes that mini-batches of a large graph have.
const PassShape kBound{{1024, 16384, 180224, 1081344}, {901120, 163840, 15360}};
const PassShape kFound{{1024, 13000, 90000, 370000}, {410000, 120000, 14000}};

TEST(CapturedShape, ThreeThatHoldEachOther) {
  const std::vector<PassShape> shapes = choose_shapes(kFound, kBound);
  ASSERT_EQ(shapes.size(), kMostShapes);
  EXPECT_EQ(shapes[2], kBound);
  // 5 percent above the sizes found, a quarter above that, in steps of 128, below the bounds.
  EXPECT_EQ(shapes[0], (PassShape{{1024, 13696, 94592, 388608}, {430592, 126080, 14720}}));
  EXPECT_EQ(shapes[1], (PassShape{{1024, 16384, 118272, 485760}, {538240, 157696, 15360}}));
  EXPECT_EQ(list_sizes(shapes),
            "388608 nodes and 430592 edges, 485760 and 538240, or 1081344 and 901120");
  for (size_t i = 0; i + 1 < shapes.size(); ++i) {
    EXPECT_TRUE(shapes[i + 1].holds(counts_of(shapes[i])));
    EXPECT_FALSE(shapes[i].holds(counts_of(shapes[i + 1])));
  }
}

TEST(CapturedShape, NoneThatWouldSaveNothing) {
  EXPECT_EQ(choose_shapes(kBound, kBound), std::vector{kBound});
  // All nodes of a small graph, and nearly all edges.
  const PassShape small{{32, 160, 640}, {960, 160}};
  EXPECT_EQ(choose_shapes({{32, 150, 600}, {900, 150}}, small), std::vector{small});
  EXPECT_EQ(list_sizes(std::vector{small}), "640 nodes and 960 edges");
  // The same number of nodes with fewer edges; then a quarter more of these are next to all.
  const std::vector<PassShape> fewer = choose_shapes({{32, 150, 600}, {660, 150}}, small);
  ASSERT_EQ(fewer.size(), 2u);
  EXPECT_EQ(fewer[0], (PassShape{{32, 160, 640}, {768, 160}}));
  EXPECT_EQ(list_sizes(fewer), "640 nodes and 768 edges, or 640 and 960");
}

TEST(CapturedShape, RoomForAllSeeds) {
  // Mini-batches that are all short, and have no edge.
  const PassShape bound{{512, 1024, 4096}, {8192, 512}};
  const std::vector<PassShape> shapes = choose_shapes({{3, 3, 3}, {0, 0}}, bound);
  EXPECT_EQ(shapes[0], (PassShape{{512, 512, 512}, {128, 128}}));
}

TEST(CapturedShape, TheSmallestThatHolds) {
  const std::vector<PassShape> shapes = choose_shapes(kFound, kBound);
  EXPECT_EQ(smallest_for(shapes, counts_of(kFound)), 0u);
  EXPECT_EQ(smallest_for(shapes, counts_of(kBound)), 2u);
  for (size_t s = 0; s < shapes.size(); ++s)
    EXPECT_EQ(smallest_for(shapes, counts_of(shapes[s])), s);
  // One count too many, wherever it is.
  for (size_t h = 0; h < kFound.hop_ends.size(); ++h) {
    PassShape more = shapes[0];
    if (++more.hop_ends[h] <= kBound.hop_ends[h]) {
      EXPECT_EQ(smallest_for(shapes, counts_of(more)), 1u);
    }
  }
  for (size_t i = 0; i < kFound.num_edges.size(); ++i) {
    PassShape more = shapes[0];
    ++more.num_edges[i];
    EXPECT_EQ(smallest_for(shapes, counts_of(more)), 1u);
  }
  // A mini-batch above the bound takes no shape.
  PassShape beyond = kBound;
  beyond.hop_ends[0] = beyond.num_edges[2] = INT32_MAX;
  EXPECT_EQ(smallest_for(shapes, counts_of(beyond)), 2u);
  EXPECT_EQ(smallest_for(std::vector{kBound}, counts_of(kFound)), 0u);
}

TEST(CapturedShape, TheMostOfSeveral) {
  PassShape most;
  most.include(counts_of({{4, 9, 12}, {20, 7}}));
  most.include(counts_of({{4, 8, 15}, {18, 8}}));
  EXPECT_EQ(most, (PassShape{{4, 9, 15}, {20, 8}}));
}

}  // namespace
}  // namespace gnnmg::train
