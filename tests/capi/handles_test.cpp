// The handle table, from inside: stale and invalid tokens find nothing.
#include "capi/handles.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <thread>

#include "capi/object.h"

namespace gnnmg::capi {
namespace {

class Thing : public Object {
 public:
  explicit Thing(Kind kind) : Object(kind, nullptr, nullptr) {}
};

TEST(Handles, FindWhatWasAddedUntilItIsRemoved) {
  const int64_t before = num_handles();
  auto thing = std::make_shared<Thing>(Kind::kGraph);
  void* token = add_handle(thing);
  EXPECT_EQ(find_handle(token, Kind::kGraph), thing);
  EXPECT_EQ(find_handle(token, Kind::kModel), nullptr);
  EXPECT_EQ(num_handles(), before + 1);
  EXPECT_EQ(remove_handle(token, Kind::kModel), nullptr);
  EXPECT_EQ(remove_handle(token, Kind::kGraph), thing);
  EXPECT_EQ(find_handle(token, Kind::kGraph), nullptr);
  EXPECT_EQ(remove_handle(token, Kind::kGraph), nullptr);
  EXPECT_EQ(num_handles(), before);
  EXPECT_EQ(thing.use_count(), 1);
}

TEST(Handles, ASlotThatIsUsedAgainHasANewToken) {
  std::set<void*> seen;
  for (int i = 0; i < 1000; ++i) {
    void* token = add_handle(std::make_shared<Thing>(Kind::kBatch));
    EXPECT_TRUE(seen.insert(token).second);
    remove_handle(token, Kind::kBatch);
    for (void* old : seen) ASSERT_EQ(find_handle(old, Kind::kBatch), nullptr);
  }
}

TEST(Handles, TokensAreNoAddresses) {
  void* token = add_handle(std::make_shared<Thing>(Kind::kTrainer));
  const uint64_t bits = reinterpret_cast<uint64_t>(token);
  const int64_t sign_extended = static_cast<int64_t>(bits << 16) >> 16;
  EXPECT_NE(static_cast<uint64_t>(sign_extended), bits) << "a canonical address";
  remove_handle(token, Kind::kTrainer);
}

TEST(Handles, RandomBitsFindNothing) {
  std::vector<void*> tokens;
  for (int i = 0; i < 100; ++i) tokens.push_back(add_handle(std::make_shared<Thing>(Kind::kGraph)));
  std::mt19937_64 random(3);
  for (int i = 0; i < 1000000; ++i) {
    const auto* token = reinterpret_cast<const void*>(random());
    for (Kind kind : {Kind::kGraph, Kind::kTrainer})
      ASSERT_EQ(find_handle(token, kind), nullptr) << token;
  }
  for (void* token : tokens) {
    for (int bit = 0; bit < 64; ++bit) {
      const auto* near =
          reinterpret_cast<const void*>(reinterpret_cast<uint64_t>(token) ^ uint64_t{1} << bit);
      if (std::find(tokens.begin(), tokens.end(), near) == tokens.end()) {
        ASSERT_EQ(find_handle(near, Kind::kGraph), nullptr) << bit;
      }
    }
  }
  for (void* token : tokens) remove_handle(token, Kind::kGraph);
}

TEST(Handles, ManyThreadsAddFindAndRemove) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 5000; ++i) {
        auto thing = std::make_shared<Thing>(Kind::kModel);
        void* token = add_handle(thing);
        ASSERT_EQ(find_handle(token, Kind::kModel), thing);
        ASSERT_EQ(remove_handle(token, Kind::kModel), thing);
        ASSERT_EQ(find_handle(token, Kind::kModel), nullptr);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(OccupancyTest, ReadersTogetherHoldersAlone) {
  Occupancy occupancy;
  EXPECT_TRUE(occupancy.try_read());
  EXPECT_TRUE(occupancy.try_read());
  EXPECT_FALSE(occupancy.try_hold());
  occupancy.end_read();
  EXPECT_FALSE(occupancy.try_hold());
  occupancy.end_read();
  EXPECT_TRUE(occupancy.try_hold());
  EXPECT_FALSE(occupancy.try_hold());
  EXPECT_FALSE(occupancy.try_read());
  occupancy.end_hold();
  EXPECT_TRUE(occupancy.try_read());
  occupancy.end_read();
}

TEST(ObjectTest, KeptTextsStayWhereTheyAre) {
  Thing thing(Kind::kGraph);
  const char* first = thing.keep_text("first");
  for (int i = 0; i < 1000; ++i) thing.keep_text(std::to_string(i));
  EXPECT_EQ(thing.keep_text("first"), first);
  EXPECT_STREQ(first, "first");
}

}  // namespace
}  // namespace gnnmg::capi
