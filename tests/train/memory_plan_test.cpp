// What training on a GPU is planned to take.
#include "train/memory_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "sample/device.h"

namespace gnnmg::train {
namespace {

using base::Placement;
using base::Status;
using feature::RowPlacement;

// The products-shaped graph and its model of three layers.
MemoryRequest products() {
  MemoryRequest r;
  r.num_nodes = 2449029;
  r.num_edges = 123700000;
  r.max_degree = 54000;
  r.sampling.fanouts = {15, 10, 5};
  r.sampling.transpose = true;
  r.feature_cols = 100;
  r.widths = {256, 256, 47};
  r.num_parameters = 206639;
  r.gpu_memory = 80'000'000'000;
  return r;
}

TEST(MemoryPlan, CountsWhatCanBeCounted) {
  MemoryRequest r = products();
  const MemoryPlan plan = plan_memory(r, Placement::kDevice, RowPlacement::kDevice, 0);
  EXPECT_EQ(plan.graph, (r.num_nodes + 1) * 8 + r.num_edges * 4);
  EXPECT_EQ(plan.features, r.num_nodes * 400);
  EXPECT_EQ(plan.parameters, r.num_parameters * 8);
  EXPECT_EQ(plan.optimizer, r.num_parameters * 8);
  EXPECT_EQ(plan.communication, 0);
  EXPECT_EQ(plan.pinned, 0);
  EXPECT_EQ(plan.total, plan.graph + plan.features + plan.sampler + plan.rows + plan.activations +
                            plan.parameters + plan.optimizer + plan.reserve);
  EXPECT_TRUE(plan.fits);
  r.edge_id_bytes = 8;
  r.feature_bytes = 1;
  r.feature_cols = 17;
  const MemoryPlan pinned = plan_memory(r, Placement::kPinned, RowPlacement::kCached, 1000);
  EXPECT_EQ(pinned.graph, 0);
  EXPECT_EQ(pinned.features, 1000 * 32 + r.num_nodes * 8) << "rows, places and scales";
  EXPECT_EQ(pinned.pinned, plan.graph + r.num_edges * 8 + r.num_nodes * 17);
}

// More of anything never takes less.
TEST(MemoryPlan, GrowsWithEveryNumber) {
  const std::vector<std::function<void(MemoryRequest&)>> more = {
      [](MemoryRequest& r) { r.num_nodes += 1000; },
      [](MemoryRequest& r) { r.num_edges += 1000; },
      [](MemoryRequest& r) { r.edge_id_bytes = 8; },
      [](MemoryRequest& r) { r.sampling.fanouts[1] += 5; },
      [](MemoryRequest& r) { r.sampling.expansion = sample::Expansion::kEveryLayer; },
      [](MemoryRequest& r) { r.sampling.edge_ids = true; },
      [](MemoryRequest& r) { r.batch_size += 100; },
      [](MemoryRequest& r) { r.batches_at_once += 1; },
      [](MemoryRequest& r) { r.num_slots += 1; },
      [](MemoryRequest& r) { r.feature_cols += 50; },
      [](MemoryRequest& r) { r.widths[0] += 64; },
      [](MemoryRequest& r) { r.widths[2] += 64; },
      [](MemoryRequest& r) { r.numbers_an_edge = 8; },
      [](MemoryRequest& r) { r.num_parameters += 1000; },
      [](MemoryRequest& r) { r.optimizer_numbers += 1; },
      [](MemoryRequest& r) { r.value_bytes = 8; },
      [](MemoryRequest& r) { r.num_ranks = 2; },
      [](MemoryRequest& r) { r.reserve += 5; }};
  const auto total = [](const MemoryRequest& r) {
    return plan_memory(r, Placement::kDevice, RowPlacement::kDevice, 0).total;
  };
  for (const int64_t batch_size : {1, 64, 1024})
    for (size_t i = 0; i < more.size(); ++i) {
      MemoryRequest r = products();
      r.batch_size = batch_size;
      const int64_t before = total(r);
      more[i](r);
      EXPECT_GE(total(r), before) << "number " << i << ", mini-batches of " << batch_size;
      if (batch_size == 64) {
        EXPECT_GT(total(r), before) << "number " << i;
      }
    }
}

TEST(MemoryPlan, ChoosesWhatFits) {
  MemoryRequest r = products();
  const int64_t all = plan_memory(r).total;
  int turn = 0;
  int64_t last_graph = 1;
  for (int64_t memory = all; memory > 0; memory -= all / 200) {
    r.gpu_memory = memory;
    const MemoryPlan plan = plan_memory(r);
    EXPECT_EQ(plan.fits, plan.total <= memory);
    const int place = (plan.graph_placement == Placement::kPinned ? 3 : 0) +
                      (plan.feature_placement == RowPlacement::kDevice   ? 0
                       : plan.feature_placement == RowPlacement::kCached ? 1
                                                                         : 2);
    if (plan.graph_placement == Placement::kDevice) {
      EXPECT_GE(place, turn) << memory;
    }
    turn = place;
    last_graph = plan.graph;
    if (plan.feature_placement == RowPlacement::kCached) {
      EXPECT_TRUE(plan.fits);
      EXPECT_GE(plan.num_cached, r.num_nodes / 100);
      EXPECT_LT(memory - plan.total, 400) << "as many rows as there is room for";
    }
  }
  EXPECT_EQ(last_graph, 0) << "at last the graph is pinned, too";
  r.gpu_memory = 1000;
  const MemoryPlan none = plan_memory(r);
  EXPECT_FALSE(none.fits);
  EXPECT_THAT(describe(none, r), testing::HasSubstr("does not fit 1000 bytes"));
  r.gpu_memory = all;
  EXPECT_THAT(describe(plan_memory(r), r), testing::HasSubstr("fits "));
}

Status status_of(const std::function<void()>& call, const char* part) {
  try {
    call();
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(part));
    return error.status();
  }
  ADD_FAILURE() << "nothing thrown, expected: " << part;
  return Status::kOk;
}

TEST(MemoryPlan, RefusesWhatCannotBe) {
  const auto refused = [](const std::function<void(MemoryRequest&)>& change, const char* part) {
    return status_of(
        [&] {
          MemoryRequest r = products();
          change(r);
          plan_memory(r);
        },
        part);
  };
  EXPECT_EQ(refused([](MemoryRequest& r) { r.num_nodes = 0; }, "num_nodes is 0, expected 1"),
            Status::kInvalidArgument);
  EXPECT_EQ(refused([](MemoryRequest& r) { r.widths = {3}; }, "layers' widths is 1, expected"),
            Status::kInvalidArgument);
  EXPECT_EQ(refused([](MemoryRequest& r) { r.sampling.fanouts[0] = -2; }, "a fan-out is -2"),
            Status::kInvalidArgument);
  EXPECT_EQ(refused([](MemoryRequest& r) { r.feature_bytes = 3; }, "feature_bytes is 3"),
            Status::kInvalidArgument);
  EXPECT_EQ(refused([](MemoryRequest& r) { r.batch_size = int64_t{1} << 30; }, "2^31 edges"),
            Status::kRange);
  EXPECT_EQ(status_of([] { plan_memory(products(), Placement::kDevice, RowPlacement::kPinned, 3); },
                      "3 rows are to be cached, expected 0"),
            Status::kInvalidArgument);
}

TEST(MemoryPlan, AllNeighboursAreThoseOfTheNodeWithMost) {
  MemoryRequest r = products();
  r.sampling.fanouts = {-1, 2, 2};
  r.batch_size = 16;
  r.max_degree = 100;
  MemoryRequest same = r;
  same.sampling.fanouts[0] = 100;
  EXPECT_EQ(plan_memory(r).total, plan_memory(same).total);
}

TEST(MemoryPlan, ReadsSizes) {
  EXPECT_EQ(parse_bytes("80GB"), 80'000'000'000);
  EXPECT_EQ(parse_bytes("1.5 GiB"), 1610612736);
  EXPECT_EQ(parse_bytes("12345"), 12345);
  EXPECT_EQ(parse_bytes("512MB"), 512'000'000);
  for (const char* wrong : {"", "GB", "-1GB", "80 gigabytes", "1e30GB", "nan"})
    EXPECT_EQ(status_of([&] { parse_bytes(wrong); }, "is no size"), Status::kInvalidArgument);
}

}  // namespace
}  // namespace gnnmg::train
