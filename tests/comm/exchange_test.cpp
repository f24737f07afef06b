// Every collective over any engine against plain loops, for worlds of 2 to 4 ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "comm/engine.h"

namespace gnnmg::test {
namespace {

using base::DType;
using base::Shape;
using base::Status;
using base::TensorView;
using comm::Collectives;
using comm::ReduceOp;

template <typename T>
TensorView view(std::vector<T>& values) {
  return {values.data(), base::dtype_of<T>(), {static_cast<int64_t>(values.size())}};
}

class Exchange : public testing::TestWithParam<int> {
 protected:
  const int world = GetParam();
};

// Small integers, so that every type represents every sum exactly.
int value(int rank, int64_t i) { return static_cast<int>((rank * 7 + i * 3) % 11); }

template <typename T>
void reduce_all(int world, const std::function<T(int)>& from_int,
                const std::function<double(T)>& to_double, DType dtype) {
  expect_all_well(run_ranks(make_ranks(world), [&](Collectives& comm) {
    for (int64_t n : {1, 2, 3, 5, 64, 1000}) {
      for (ReduceOp op : {ReduceOp::kSum, ReduceOp::kMin, ReduceOp::kMax, ReduceOp::kMean}) {
        if (op == ReduceOp::kMean && !base::is_floating(dtype)) continue;
        std::vector<T> mine(n);
        for (int64_t i = 0; i < n; ++i) mine[i] = from_int(value(comm.rank(), i));
        comm.all_reduce({mine.data(), dtype, {n}}, op, within_ms(60'000));
        for (int64_t i = 0; i < n; ++i) {
          double expected = value(0, i);
          for (int r = 1; r < world; ++r) {
            const double v = value(r, i);
            expected = op == ReduceOp::kMin   ? std::min(expected, v)
                       : op == ReduceOp::kMax ? std::max(expected, v)
                                              : expected + v;
          }
          if (op == ReduceOp::kMean) {
            expected /= world;
            ASSERT_NEAR(to_double(mine[i]), expected, 0.004 * std::abs(expected) + 1e-6);
          } else {
            ASSERT_EQ(to_double(mine[i]), expected)
                << base::dtype_name(dtype) << " op " << static_cast<int>(op) << " element " << i;
          }
        }
      }
    }
  }));
}

TEST_P(Exchange, AllReduce) {
  const auto plain = []<typename T>(T) {
    return std::pair<std::function<T(int)>, std::function<double(T)>>(
        [](int v) { return static_cast<T>(v); }, [](T v) { return static_cast<double>(v); });
  };
  const auto [f32, f32_back] = plain(float{});
  reduce_all<float>(world, f32, f32_back, DType::kF32);
  const auto [f64, f64_back] = plain(double{});
  reduce_all<double>(world, f64, f64_back, DType::kF64);
  const auto [i64, i64_back] = plain(int64_t{});
  reduce_all<int64_t>(world, i64, i64_back, DType::kI64);
  const auto [i32, i32_back] = plain(int32_t{});
  reduce_all<int32_t>(world, i32, i32_back, DType::kI32);
  const auto [u8, u8_back] = plain(uint8_t{});
  reduce_all<uint8_t>(world, u8, u8_back, DType::kU8);
  reduce_all<uint16_t>(
      world, [](int v) { return base::f32_to_f16(static_cast<float>(v)); },
      [](uint16_t v) { return base::f16_to_f32(v); }, DType::kF16);
  reduce_all<uint16_t>(
      world, [](int v) { return base::f32_to_bf16(static_cast<float>(v)); },
      [](uint16_t v) { return base::bf16_to_f32(v); }, DType::kBF16);
}

TEST_P(Exchange, AllRanksGetTheSameBits) {
  constexpr int64_t kCount = 100'003;
  std::vector<std::vector<float>> values(world);
  std::vector<double> plain(kCount, 0);
  for (int r = 0; r < world; ++r) {
    std::mt19937 random(r + 1);
    std::normal_distribution<float> normal;
    values[r].resize(kCount);
    for (int64_t i = 0; i < kCount; ++i) plain[i] += values[r][i] = normal(random);
  }
  expect_all_well(run_ranks(make_ranks(world), [&](Collectives& comm) {
    comm.all_reduce(view(values[comm.rank()]), ReduceOp::kSum, within_ms(60'000));
  }));
  for (int r = 1; r < world; ++r)
    EXPECT_EQ(std::memcmp(values[0].data(), values[r].data(), kCount * sizeof(float)), 0);
  for (int64_t i = 0; i < kCount; ++i) ASSERT_NEAR(values[0][i], plain[i], 1e-5);
}

TEST_P(Exchange, Broadcast) {
  expect_all_well(run_ranks(make_ranks(world), [&](Collectives& comm) {
    for (int root = 0; root < world; ++root) {
      std::vector<int64_t> values(5, comm.rank() == root ? 40 + root : -1);
      comm.broadcast(view(values), root, within_ms(60'000));
      EXPECT_THAT(values, testing::Each(40 + root));
      bool flag = comm.rank() == root;
      comm.broadcast({&flag, DType::kBool, Shape{}}, root, within_ms(60'000));
      EXPECT_TRUE(flag);
    }
  }));
}

TEST_P(Exchange, AllGatherEven) {
  expect_all_well(run_ranks(make_ranks(world), [&](Collectives& comm) {
    std::vector<float> mine{static_cast<float>(comm.rank()), 0.5f};
    std::vector<std::vector<float>> all(world, std::vector<float>(2, -1));
    std::vector<TensorView> outputs;
    for (auto& part : all) outputs.push_back(view(part));
    comm.all_gather(view(mine), outputs, within_ms(60'000));
    for (int r = 0; r < world; ++r)
      EXPECT_THAT(all[r], testing::ElementsAre(static_cast<float>(r), 0.5f));
  }));
}

TEST_P(Exchange, AllGatherUneven) {
  expect_all_well(run_ranks(make_ranks(world), [&](Collectives& comm) {
    // Rank r has r*r rows of 3 columns: the first has none.
    std::vector<std::vector<double>> all(world);
    std::vector<TensorView> outputs;
    for (int r = 0; r < world; ++r) {
      all[r].assign(r * r * 3, -1);
      outputs.push_back({all[r].data(), DType::kF64, {r * r, 3}});
    }
    std::vector<double> mine(comm.rank() * comm.rank() * 3, 100.0 + comm.rank());
    comm.all_gather({mine.data(), DType::kF64, {comm.rank() * comm.rank(), 3}}, outputs,
                    within_ms(60'000));
    for (int r = 0; r < world; ++r) EXPECT_THAT(all[r], testing::Each(100.0 + r));
  }));
}

TEST_P(Exchange, AllToAllUneven) {
  expect_all_well(run_ranks(make_ranks(world), [&](Collectives& comm) {
    const int me = comm.rank();
    const auto size = [](int from, int to) { return (2 * from + 3 * to) % 5; };  // some sizes are 0
    std::vector<std::vector<int32_t>> out(world), in(world);
    std::vector<TensorView> inputs, outputs;
    for (int r = 0; r < world; ++r) {
      out[r].assign(size(me, r), 10 * me + r);
      in[r].assign(size(r, me), -1);
      inputs.push_back(view(out[r]));
      outputs.push_back(view(in[r]));
    }
    comm.all_to_all(inputs, outputs, within_ms(60'000));
    for (int r = 0; r < world; ++r) EXPECT_THAT(in[r], testing::Each(10 * r + me));
  }));
}

TEST_P(Exchange, NothingToExchange) {
  expect_all_well(run_ranks(make_ranks(world), [&](Collectives& comm) {
    const TensorView none{nullptr, DType::kF32, {0}};
    const std::vector<TensorView> all(world, none);
    comm.all_reduce(none, ReduceOp::kSum, within_ms(60'000));
    comm.broadcast(none, 0, within_ms(60'000));
    comm.all_gather(none, all, within_ms(60'000));
    comm.all_to_all(all, all, within_ms(60'000));
    comm.barrier(within_ms(60'000));
  }));
}

TEST_P(Exchange, ManyOperationsOfChangingSize) {
  expect_all_well(run_ranks(make_ranks(world), [&](Collectives& comm) {
    for (int64_t i = 0; i < 200; ++i) {
      const int64_t n = 1 + (i * 977) % 4001;
      std::vector<float> values(n, 1.0f);
      comm.all_reduce(view(values), ReduceOp::kSum, within_ms(60'000));
      ASSERT_EQ(values.front(), world);
      ASSERT_EQ(values.back(), world);
    }
  }));
}

// A rank that is done may leave at once; the others must still receive its data.
TEST_P(Exchange, QuickRanksMayLeave) {
  for (int round = 0; round < 5; ++round) {
    expect_all_well(run_ranks(make_ranks(world), [&](Collectives& comm) {
      std::vector<double> values(200'000, comm.rank());
      comm.broadcast(view(values), round % world, within_ms(60'000));
      ASSERT_THAT(values.back(), round % world);
    }));
  }
}

TEST_P(Exchange, BadArgumentsLeaveTheCommunicatorUsable) {
  expect_all_well(run_ranks(make_ranks(world), [&](Collectives& comm) {
    std::vector<int64_t> values{1};
    EXPECT_EQ(attempt([&] { comm.all_reduce(view(values), ReduceOp::kMean, {}); }).status,
              Status::kInvalidArgument);
    EXPECT_EQ(attempt([&] { comm.broadcast(view(values), world, {}); }).status, Status::kNotFound);
    EXPECT_FALSE(comm.spent());
    comm.all_reduce(view(values), ReduceOp::kSum, within_ms(60'000));
    EXPECT_EQ(values[0], world);
  }));
}

INSTANTIATE_TEST_SUITE_P(Worlds, Exchange, testing::Values(2, 3, 4));

TEST(ThreadGroup, RefusesBadRanks) {
  const auto group = make_ranks(2);
  EXPECT_EQ(attempt([&] { group->connect(2, {}); }).text,
            "rank 2 is none of ranks 0 to 1 of this process");
  expect_all_well(run_ranks(group, [&](Collectives& comm) {
    EXPECT_EQ(attempt([&] { group->connect(comm.rank(), {}); }).text,
              base::text("rank ", comm.rank(), " is already connected"));
  }));
}

}  // namespace
}  // namespace gnnmg::test
