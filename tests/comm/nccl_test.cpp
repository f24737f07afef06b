// Every collective over the NCCL engine and fake GPUs against plain loops, for 1 to 8 ranks.
#include <cstring>

#include "comm/device_buffer.h"
#include "comm/nccl_ranks.h"

namespace gnnmg::test {
namespace {

using base::DType;
using base::Shape;
using base::Status;
using base::TensorView;
using comm::Collectives;
using comm::ReduceOp;

constexpr int64_t kLong = 60'000;

template <typename T>
TensorView view(std::vector<T>& values) {
  return {values.data(), base::dtype_of<T>(), {static_cast<int64_t>(values.size())}};
}

class Nccl : public testing::TestWithParam<int> {
 protected:
  void run(const std::function<void(Collectives&)>& body) {
    const auto outcomes = run_nccl_ranks(nccl_group(world), [&](Collectives& comm) {
      body(comm);
      comm.shutdown(within_ms(kLong));
    });
    for (size_t r = 0; r < outcomes.size(); ++r)
      EXPECT_EQ(outcomes[r].status, Status::kOk) << "rank " << r << ": " << outcomes[r].text;
    expect_clean();
    EXPECT_EQ(fake_nccl::count().made, world);
    EXPECT_EQ(fake_nccl::count().destroyed, world);
  }
  const int world = GetParam();
  FakeGpus gpus{world};
};

// Ranks that leave without shutdown(), as trainers do, end NCCL in order if they leave together.
// They do not wait for a rank that stays.
TEST_P(Nccl, RanksThatGoTogetherEndInOrder) {
  const auto go = [&](int late) {
    const auto outcomes = run_nccl_ranks(nccl_group(world), [&](Collectives& comm) {
      comm.barrier(within_ms(kLong));
      if (comm.rank() == late) std::this_thread::sleep_for(std::chrono::seconds(3));
    });
    for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
    expect_clean();
    return outcomes[0].seconds;
  };
  // A rank without a CPU may be too late: then all try again.
  bool together = false;
  for (int round = 0; round < 10 && !together; ++round) {
    const int before = fake_nccl::count().destroyed;
    go(-1);
    together = fake_nccl::count().destroyed == before + world;
  }
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  EXPECT_GT(fake_nccl::count().destroyed, 0);  // some rounds may be too late
#else
  EXPECT_TRUE(together);
#endif
  if (world == 1) return;
  EXPECT_LT(go(world - 1), 2);
  EXPECT_GE(fake_nccl::count().aborted, world - 1);
}

// Small integers, so that every type represents every sum exactly.
int value(int rank, int64_t i) { return static_cast<int>((rank * 7 + i * 3) % 11); }

// `from_real` rounds to nearest, like the division of a mean.
template <typename T, typename From, typename To>
void reduce_all(Collectives& comm, DType dtype, const From& from_real, const To& to_double) {
  for (int64_t n : {1, 3, 64, 500}) {
    for (ReduceOp op : {ReduceOp::kSum, ReduceOp::kMin, ReduceOp::kMax, ReduceOp::kMean}) {
      if (op == ReduceOp::kMean && !base::is_floating(dtype)) continue;
      std::vector<T> mine(static_cast<size_t>(n));
      for (int64_t i = 0; i < n; ++i) mine[i] = from_real(value(comm.rank(), i));
      comm.all_reduce({mine.data(), dtype, {n}}, op, within_ms(kLong));
      for (int64_t i = 0; i < n; ++i) {
        double expected = value(0, i);
        for (int r = 1; r < comm.world_size(); ++r) {
          const double v = value(r, i);
          expected = op == ReduceOp::kMin   ? std::min(expected, v)
                     : op == ReduceOp::kMax ? std::max(expected, v)
                                            : expected + v;
        }
        if (op == ReduceOp::kMean) expected /= comm.world_size();
        ASSERT_EQ(to_double(mine[i]), to_double(from_real(expected)))
            << base::dtype_name(dtype) << " op " << static_cast<int>(op) << " element " << i;
      }
    }
  }
}

TEST_P(Nccl, AllReduce) {
  run([&](Collectives& comm) {
    const auto plain = [&]<typename T>(T) {
      reduce_all<T>(
          comm, base::dtype_of<T>(), [](double v) { return static_cast<T>(v); },
          [](T v) { return static_cast<double>(v); });
    };
    plain(float{});
    plain(double{});
    plain(int64_t{});
    plain(int32_t{});
    plain(uint8_t{});
    reduce_all<uint16_t>(
        comm, DType::kF16, [](double v) { return base::f32_to_f16(static_cast<float>(v)); },
        base::f16_to_f32);
    reduce_all<uint16_t>(
        comm, DType::kBF16, [](double v) { return base::f32_to_bf16(static_cast<float>(v)); },
        base::bf16_to_f32);
  });
}

TEST_P(Nccl, AllRanksGetTheSameBits) {
  std::vector<std::vector<float>> values(world, std::vector<float>(10'007));
  for (int r = 0; r < world; ++r)
    for (size_t i = 0; i < values[r].size(); ++i)
      values[r][i] = 1.0f / static_cast<float>(3 * r + static_cast<int>(i) + 1);
  // The fake adds in the order of ranks; copies in both directions keep every bit.
  std::vector<float> expected = values[0];
  for (int r = 1; r < world; ++r)
    for (size_t i = 0; i < expected.size(); ++i) expected[i] += values[r][i];
  run([&](Collectives& comm) {
    comm.all_reduce(view(values[comm.rank()]), ReduceOp::kSum, within_ms(kLong));
  });
  for (int r = 0; r < world; ++r) EXPECT_EQ(values[r], expected) << "rank " << r;
}

TEST_P(Nccl, Broadcast) {
  run([&](Collectives& comm) {
    for (int root = 0; root < world; ++root) {
      std::vector<int64_t> values(5, comm.rank() == root ? 40 + root : -1);
      comm.broadcast(view(values), root, within_ms(kLong));
      EXPECT_THAT(values, testing::Each(40 + root));
      bool flag = comm.rank() == root;
      comm.broadcast({&flag, DType::kBool, Shape{}}, root, within_ms(kLong));
      EXPECT_TRUE(flag);
    }
  });
}

void gather(Collectives& comm, const std::function<int64_t(int rank)>& size_of) {
  std::vector<int32_t> mine(static_cast<size_t>(size_of(comm.rank())), 100 + comm.rank());
  std::vector<std::vector<int32_t>> all;
  std::vector<TensorView> outputs;
  for (int r = 0; r < comm.world_size(); ++r) all.emplace_back(size_of(r), -1);
  for (auto& each : all) outputs.push_back(view(each));
  comm.all_gather(view(mine), outputs, within_ms(kLong));
  for (int r = 0; r < comm.world_size(); ++r) EXPECT_THAT(all[r], testing::Each(100 + r));
}

TEST_P(Nccl, AllGather) {
  run([&](Collectives& comm) {
    gather(comm, [](int) { return 7; });
    gather(comm, [](int rank) { return rank % 3; });
    gather(comm, [](int) { return 0; });
    gather(comm, [](int rank) { return 1000 + rank; });
  });
}

// Number of elements that rank `from` sends to rank `to`, and their contents.
int64_t amount(int from, int to) { return (from * 5 + to * 3) % 7; }

TEST_P(Nccl, AllToAll) {
  run([&](Collectives& comm) {
    const int me = comm.rank();
    for (int round = 0; round < 3; ++round) {
      std::vector<std::vector<float>> out, in;
      std::vector<TensorView> inputs, outputs;
      for (int r = 0; r < world; ++r) {
        out.emplace_back(amount(me, r) * round, static_cast<float>(me * 100 + r));
        in.emplace_back(amount(r, me) * round, -1.0f);
      }
      for (int r = 0; r < world; ++r) {
        inputs.push_back(view(out[r]));
        outputs.push_back(view(in[r]));
      }
      comm.all_to_all(inputs, outputs, within_ms(kLong));
      for (int r = 0; r < world; ++r)
        EXPECT_THAT(in[r], testing::Each(static_cast<float>(r * 100 + me)));
    }
  });
}

// Tensors in the memory of the rank's own device.
TEST_P(Nccl, TensorsOfTheDevice) {
  run([&](Collectives& comm) {
    const DeviceBuffer buffer(FakeGpus::devices(), comm.rank(), 4);
    std::vector<float> values(4);
    for (int i = 0; i < 4; ++i) values[i] = static_cast<float>(comm.rank() + i);
    buffer.write(values);
    FakeGpus::devices().synchronize(buffer.queue());
    comm.all_reduce(buffer.view(), ReduceOp::kMax, within_ms(kLong));
    buffer.read(values);
    FakeGpus::devices().synchronize(buffer.queue());
    for (int i = 0; i < 4; ++i) EXPECT_EQ(values[i], static_cast<float>(world - 1 + i));
  });
}

// Operations in the callers' queues, which run late and are ordered only by events.
TEST_P(Nccl, InQueuesOfTheCallers) {
  run([&](Collectives& comm) {
    check_queued(comm, FakeGpus::devices(), comm.rank(), [] { return within_ms(kLong); });
  });
}

TEST_P(Nccl, NoElementsAndBarriers) {
  run([&](Collectives& comm) {
    comm.all_reduce({nullptr, DType::kF32, {0}}, ReduceOp::kSum, within_ms(kLong));
    comm.broadcast({nullptr, DType::kF32, {0, 4}}, 0, within_ms(kLong));
    for (int i = 0; i < 20; ++i) comm.barrier(within_ms(kLong));
    EXPECT_FALSE(comm.spent());
  });
}

TEST_P(Nccl, BadArgumentsChangeNothing) {
  run([&](Collectives& comm) {
    std::vector<float> values(3, 1);
    EXPECT_EQ(attempt([&] { comm.broadcast(view(values), world, within_ms(kLong)); }).status,
              Status::kNotFound);
    bool flag = false;
    EXPECT_EQ(attempt([&] {
                comm.all_reduce({&flag, DType::kBool, {1}}, ReduceOp::kSum, within_ms(kLong));
              }).status,
              Status::kInvalidArgument);
    comm.all_reduce(view(values), ReduceOp::kSum, within_ms(kLong));
    EXPECT_THAT(values, testing::Each(static_cast<float>(world)));
  });
}

TEST_P(Nccl, AfterTheShutdownNothingIsLeftToCall) {
  const auto outcomes = run_nccl_ranks(nccl_group(world), [](Collectives& comm) {
    comm.shutdown(within_ms(kLong));
    comm.barrier(within_ms(kLong));
  });
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.status, Status::kAborted);
    EXPECT_EQ(outcome.text, "the communicator has been shut down");
  }
  expect_clean();
}

INSTANTIATE_TEST_SUITE_P(Worlds, Nccl, testing::Values(1, 2, 4, 8));

}  // namespace
}  // namespace gnnmg::test
