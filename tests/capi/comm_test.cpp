// Communicators among threads: results, slices, deadlines, cancel, abort, the orderly end.
#include <atomic>
#include <thread>

#include "capi/support.h"

namespace gnnmg::test {
namespace {

class CommTest : public testing::Test {
 protected:
  void SetUp() override {
    ContextConfig config;
    config.num_threads = 1;
    ASSERT_OK(gnnmg_context_create(GNNMG_VERSION, &config, context.out()));
  }
  void make(int32_t world, int64_t deadline_ms = 20000) {
    CommConfig config;
    config.deadline_ms = deadline_ms;
    std::vector<gnnmg_comm*> ends(static_cast<size_t>(world));
    ASSERT_OK(gnnmg_comm_create_group(context, world, &config, ends.data()));
    comms.clear();
    for (gnnmg_comm* end : ends) comms.emplace_back(end);
  }
  // Runs body(rank), one thread per rank.
  template <typename Body>
  void on_all(const Body& body) {
    std::vector<std::thread> threads;
    for (int32_t rank = 0; rank < static_cast<int32_t>(comms.size()); ++rank)
      threads.emplace_back([&body, rank] { body(rank); });
    for (std::thread& thread : threads) thread.join();
  }
  gnnmg_comm* end(int32_t rank) { return comms[static_cast<size_t>(rank)]; }

  Context context;
  std::vector<Comm> comms;
};

// A call with equal settings, however they are given, waits for the join that has begun.
using CommDefaults = CommTest;
TEST_F(CommDefaults, DeadlinesAreHalfAMinuteAndFiveMinutesForAStart) {
  CommConfig config;
  config.port = free_port();
  config.num_processes = 2;
  Comm comm;
  const auto join = [&](int64_t timeout_ms) {
    return gnnmg_comm_create(context, nullptr, nullptr, nullptr, &config, comm.out(), timeout_ms);
  };
  ASSERT_EQ(join(0), GNNMG_PENDING) << gnnmg_last_error();
  gnnmg_context_cancel(context);
  config.deadline_ms = 30'000;
  config.join_ms = 300'000;
  config.heartbeat_ms = 500;
  EXPECT_EQ(join(20'000), GNNMG_ERR_CANCELLED) << gnnmg_last_error();
  // The deadline of a trainer.
  auto setting = info<gnnmg_setting_info>();
  int64_t index = 0;
  do ASSERT_OK(gnnmg_setting_get_info("trainer", index++, &setting));
  while (std::string(setting.name) != "deadline_ms");
  EXPECT_STREQ(setting.default_value, "30000");
}

TEST_F(CommTest, ReducesGathersAndSends) {
  make(3);
  on_all([&](int32_t rank) {
    int32_t mine = -1, size = -1;
    EXPECT_OK(gnnmg_comm_rank(end(rank), &mine));
    EXPECT_OK(gnnmg_comm_world_size(end(rank), &size));
    EXPECT_EQ(mine, rank);
    EXPECT_EQ(size, 3);

    std::vector<float> numbers{static_cast<float>(rank), 1};
    EXPECT_OK(gnnmg_comm_all_reduce(end(rank), wrap(numbers), GNNMG_REDUCE_SUM, -1));
    EXPECT_EQ(numbers, (std::vector<float>{3, 3}));
    numbers = {static_cast<float>(rank), 3};
    EXPECT_OK(gnnmg_comm_all_reduce(end(rank), wrap(numbers), GNNMG_REDUCE_MEAN, -1));
    EXPECT_EQ(numbers, (std::vector<float>{1, 3}));
    std::vector<int64_t> ids{rank * 10, -rank};
    EXPECT_OK(gnnmg_comm_all_reduce(end(rank), wrap(ids), GNNMG_REDUCE_MAX, -1));
    EXPECT_EQ(ids, (std::vector<int64_t>{20, 0}));

    std::vector<double> told{rank * 1.5};
    EXPECT_OK(gnnmg_comm_broadcast(end(rank), wrap(told), 2, -1));
    EXPECT_EQ(told[0], 3);

    // Rank r contributes r + 1 numbers.
    std::vector<int64_t> brought(static_cast<size_t>(rank) + 1, rank);
    std::vector<std::vector<int64_t>> gathered;
    std::vector<Tensor> tensors;
    std::vector<gnnmg_tensor*> outputs;
    for (size_t r = 0; r < 3; ++r) gathered.emplace_back(r + 1, -1);
    for (auto& list : gathered) tensors.push_back(wrap(list));
    for (auto& tensor : tensors) outputs.push_back(tensor);
    EXPECT_OK(gnnmg_comm_all_gather(end(rank), wrap(brought), outputs.data(), -1));
    for (int64_t r = 0; r < 3; ++r)
      EXPECT_EQ(gathered[static_cast<size_t>(r)],
                std::vector<int64_t>(static_cast<size_t>(r) + 1, r));

    // Rank a sends a * 10 + b to rank b.
    std::vector<std::vector<int64_t>> sent, received(3, {-1});
    for (int64_t b = 0; b < 3; ++b) sent.push_back({rank * 10 + b});
    std::vector<Tensor> in, out;
    std::vector<const gnnmg_tensor*> inputs;
    outputs.clear();
    for (size_t r = 0; r < 3; ++r) {
      in.push_back(wrap(sent[r]));
      out.push_back(wrap(received[r]));
      inputs.push_back(in.back());
      outputs.push_back(out.back());
    }
    EXPECT_OK(gnnmg_comm_all_to_all(end(rank), inputs.data(), outputs.data(), -1));
    for (int64_t a = 0; a < 3; ++a) EXPECT_EQ(received[static_cast<size_t>(a)][0], a * 10 + rank);
    EXPECT_OK(gnnmg_comm_barrier(end(rank), -1));
    EXPECT_OK(gnnmg_comm_shutdown(end(rank), -1));
    EXPECT_FAILS(gnnmg_comm_barrier(end(rank), -1), GNNMG_ERR_ABORTED, "shut");
  });
}

TEST_F(CommTest, WaitsInSlicesAndWritesAtTheEnd) {
  make(2);
  std::vector<float> numbers{1};
  const Tensor tensor = wrap(numbers);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(gnnmg_comm_all_reduce(end(0), tensor, GNNMG_REDUCE_SUM, 1), GNNMG_PENDING);
    EXPECT_EQ(numbers[0], 1);
  }
  std::vector<float> others{5};
  EXPECT_EQ(gnnmg_comm_all_reduce(end(0), wrap(others), GNNMG_REDUCE_SUM, 1), GNNMG_ERR_BUSY);
  EXPECT_EQ(gnnmg_comm_all_reduce(end(0), tensor, GNNMG_REDUCE_MAX, 1), GNNMG_ERR_BUSY);
  EXPECT_FAILS(gnnmg_comm_barrier(end(0), 1), GNNMG_ERR_BUSY,
               "gnnmg_comm_all_reduce() returned GNNMG_PENDING");
  EXPECT_FAILS(gnnmg_comm_barrier(end(0), 1), GNNMG_ERR_BUSY, "gnnmg_comm_cancel()");
  std::thread peer([&] {
    std::vector<float> more{41};
    EXPECT_OK(gnnmg_comm_all_reduce(end(1), wrap(more), GNNMG_REDUCE_SUM, -1));
    EXPECT_EQ(more[0], 42);
  });
  EXPECT_OK(until_done([&] { return gnnmg_comm_all_reduce(end(0), tensor, GNNMG_REDUCE_SUM, 1); }));
  peer.join();
  EXPECT_EQ(numbers[0], 42);
}

TEST_F(CommTest, ALateRankIsNamedWhenTheDeadlinePasses) {
  make(3, 300);
  std::vector<float> numbers{1};
  const Tensor tensor = wrap(numbers);
  const auto reduce = [&] { return gnnmg_comm_all_reduce(end(0), tensor, GNNMG_REDUCE_SUM, 1); };
  const auto start = std::chrono::steady_clock::now();
  gnnmg_status late = reduce();  // the other one's deadline starts later
  std::thread peer([&] {
    std::vector<float> more{1};
    const gnnmg_status status = gnnmg_comm_all_reduce(end(2), wrap(more), GNNMG_REDUCE_SUM, -1);
    EXPECT_TRUE(status == GNNMG_ERR_TIMEOUT || status == GNNMG_ERR_ABORTED) << gnnmg_last_error();
  });
  if (late == GNNMG_PENDING) late = until_done(reduce);
  EXPECT_EQ(late, GNNMG_ERR_TIMEOUT);
  EXPECT_NE(std::string(gnnmg_last_error()).find("1"), std::string::npos) << gnnmg_last_error();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  peer.join();
  EXPECT_EQ(numbers[0], 1);  // nothing was written
  EXPECT_EQ(gnnmg_comm_barrier(end(0), -1), GNNMG_ERR_ABORTED);
  EXPECT_EQ(gnnmg_comm_barrier(end(1), -1), GNNMG_ERR_ABORTED);
}

TEST_F(CommTest, CancelEndsItHereAndAbortsTheOthers) {
  make(3);
  std::atomic<int> waiting{0};
  gnnmg_status answers[2];
  std::vector<std::thread> threads;
  for (int32_t rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      ++waiting;
      answers[rank] = gnnmg_comm_barrier(end(rank), -1);
    });
  ASSERT_TRUE(eventually([&] { return waiting == 2; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  gnnmg_comm_cancel(end(0));
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(answers[0], GNNMG_ERR_CANCELLED);
  EXPECT_EQ(answers[1], GNNMG_ERR_ABORTED);
  EXPECT_EQ(gnnmg_comm_barrier(end(2), -1), GNNMG_ERR_ABORTED);
  gnnmg_comm_cancel(nullptr);
}

TEST_F(CommTest, CancelWithoutAnOperationReachesThePeers) {
  make(2);
  std::thread peer([&] { EXPECT_EQ(gnnmg_comm_barrier(end(1), -1), GNNMG_ERR_ABORTED); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  gnnmg_comm_cancel(end(0));
  peer.join();
}

TEST_F(CommTest, FreeingAnEndIsAnAbort) {
  make(2);
  std::thread peer(
      [&] { EXPECT_FAILS(gnnmg_comm_barrier(end(1), -1), GNNMG_ERR_ABORTED, "rank 0"); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto start = std::chrono::steady_clock::now();
  comms[0].reset();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  peer.join();
}

TEST_F(CommTest, FreeingInTheMiddleOfACallEndsIt) {
  make(2);
  gnnmg_comm* raw = comms[0];
  std::thread caller([&] {
    const gnnmg_status status = gnnmg_comm_barrier(raw, -1);
    EXPECT_TRUE(status == GNNMG_ERR_CANCELLED || status == GNNMG_ERR_ABORTED) << gnnmg_last_error();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  comms[0].reset();
  caller.join();
}

TEST_F(CommTest, BadArgumentsLeaveItUsable) {
  make(1);
  std::vector<int64_t> ids{1};
  EXPECT_EQ(gnnmg_comm_all_reduce(end(0), wrap(ids), GNNMG_REDUCE_MEAN, -1),
            GNNMG_ERR_INVALID_ARGUMENT);
  EXPECT_FAILS(gnnmg_comm_all_reduce(end(0), wrap(ids), 4, -1), GNNMG_ERR_INVALID_ARGUMENT,
               "operation is 4");
  EXPECT_FAILS(gnnmg_comm_broadcast(end(0), wrap(ids), 1, -1), GNNMG_ERR_NOT_FOUND, "root is 1");
  EXPECT_FAILS(gnnmg_comm_all_reduce(end(0), nullptr, 0, -1), GNNMG_ERR_HANDLE, "'tensor' is NULL");
  gnnmg_tensor* stale = wrap(ids);  // freed at once
  EXPECT_FAILS(gnnmg_comm_all_gather(end(0), wrap(ids), &stale, -1), GNNMG_ERR_HANDLE,
               "'outputs[0]' is no live handle of a tensor");
  EXPECT_FAILS(gnnmg_comm_all_to_all(end(0), &stale, &stale, -1), GNNMG_ERR_HANDLE, "'inputs[0]'");
  World world(20);
  Tensor labels;
  ASSERT_OK(gnnmg_graph_export_node_tensor(world.graph, 0, "y", labels.out()));
  EXPECT_FAILS(gnnmg_comm_all_reduce(end(0), labels, 0, -1), GNNMG_ERR_INVALID_ARGUMENT,
               "read-only");
  EXPECT_OK(gnnmg_comm_all_reduce(end(0), wrap(ids), GNNMG_REDUCE_SUM, -1));
  gnnmg_comm* none = nullptr;
  EXPECT_FAILS(gnnmg_comm_create_group(context, 0, nullptr, &none), GNNMG_ERR_INVALID_ARGUMENT,
               "world_size is 0");
  CommConfig config;
  config.deadline_ms = -1;
  EXPECT_FAILS(gnnmg_comm_create_group(context, 1, &config, &none), GNNMG_ERR_INVALID_ARGUMENT,
               "deadline_ms");
}

}  // namespace
}  // namespace gnnmg::test
