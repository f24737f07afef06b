// Communicators among processes, through the C interface. The processes of a job are contexts of
// this program, each on a thread of its own.
#include <sys/stat.h>

#include <atomic>
#include <functional>

#include "capi/support.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

class CommJoin : public testing::Test {
 protected:
  struct Process {
    Context context;
    Comm comm;
    CommConfig config;
  };
  void SetUp() override {
    port_ = free_port();
    for (int32_t p = 0; p < 2; ++p) {
      ContextConfig config;
      config.num_threads = 1;
      ASSERT_OK(gnnmg_context_create(GNNMG_VERSION, &config, processes_[p].context.out()));
      CommConfig& own = processes_[p].config;
      own.port = port_;
      own.process_rank = p;
      own.num_processes = 2;
      own.deadline_ms = 20000;
      own.join_ms = 20000;
      own.heartbeat_ms = 100;
    }
  }
  gnnmg_status join(int32_t p, const char* token = nullptr, int64_t timeout_ms = -1) {
    Process& own = processes_[p];
    return gnnmg_comm_create(own.context, nullptr, nullptr, token, &own.config, own.comm.out(),
                             timeout_ms);
  }
  void on_both(const std::function<void(int32_t)>& body) {
    std::thread other([&] { body(1); });
    body(0);
    other.join();
  }

  int32_t port_ = 0;
  Process processes_[2];
};

TEST_F(CommJoin, ReducesAndShutsDown) {
  on_both([&](int32_t p) {
    ASSERT_OK(join(p));
    Comm& comm = processes_[p].comm;
    int32_t rank = -1, size = -1;
    EXPECT_OK(gnnmg_comm_rank(comm, &rank));
    EXPECT_OK(gnnmg_comm_world_size(comm, &size));
    EXPECT_EQ(rank, p);
    EXPECT_EQ(size, 2);
    std::vector<float> numbers{static_cast<float>(p), 1};
    EXPECT_OK(gnnmg_comm_all_reduce(comm, wrap(numbers), GNNMG_REDUCE_SUM, -1));
    EXPECT_EQ(numbers, (std::vector<float>{1, 2}));
    std::vector<double> told{p + 0.5};
    EXPECT_OK(gnnmg_comm_broadcast(comm, wrap(told), 1, -1));
    EXPECT_EQ(told[0], 1.5);
    EXPECT_OK(gnnmg_comm_shutdown(comm, -1));
    EXPECT_FAILS(gnnmg_comm_barrier(comm, -1), GNNMG_ERR_ABORTED, "shut its communicator down");
  });
}

// A shutdown matches no other call, and a failed one spends the communicator on all ranks.
TEST_F(CommJoin, AShutdownPairsWithNothingElse) {
  on_both([&](int32_t p) {
    ASSERT_OK(join(p));
    Comm& comm = processes_[p].comm;
    const auto leave_or_meet = [&] {
      return p == 1 ? gnnmg_comm_shutdown(comm, -1) : gnnmg_comm_barrier(comm, -1);
    };
    EXPECT_FAILS(leave_or_meet(), GNNMG_ERR_MISMATCH, "rank 1 calls shutdown()");
    const std::string both = gnnmg_last_error();
    EXPECT_NE(both.find("rank 0 calls barrier()"), std::string::npos) << both;
    EXPECT_FAILS(gnnmg_comm_barrier(comm, -1), GNNMG_ERR_ABORTED, "calls shutdown()");
    EXPECT_FAILS(gnnmg_comm_shutdown(comm, -1), GNNMG_ERR_ABORTED, "calls shutdown()");
  });
}

TEST_F(CommJoin, AShutdownThatIsGivenUp) {
  processes_[0].config.deadline_ms = 500;
  on_both([&](int32_t p) {
    ASSERT_OK(join(p));
    Comm& comm = processes_[p].comm;
    if (p == 0) {
      EXPECT_FAILS(gnnmg_comm_shutdown(comm, -1), GNNMG_ERR_TIMEOUT, "missing: 1");
      EXPECT_FAILS(gnnmg_comm_barrier(comm, -1), GNNMG_ERR_ABORTED, "missing: 1");
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(1500));
      EXPECT_FAILS(gnnmg_comm_shutdown(comm, -1), GNNMG_ERR_ABORTED, "missing: 1");
    }
  });
}

TEST_F(CommJoin, JoinsInSlices) {
  std::atomic<int64_t> pending{0};  // pending results of process 0
  on_both([&](int32_t p) {
    if (p == 1) {
      EXPECT_TRUE(eventually([&] { return pending > 2; }));
    }
    gnnmg_status status;
    while ((status = join(p, nullptr, 20)) == GNNMG_PENDING) pending += p == 0;
    ASSERT_OK(status);
    EXPECT_OK(gnnmg_comm_shutdown(processes_[p].comm, -1));
  });
}

TEST_F(CommJoin, FreedWithoutAShutdownIsAnAbort) {
  std::atomic<bool> connected{false};  // an abort ends the other one's current call
  on_both([&](int32_t p) {
    ASSERT_OK(join(p));
    EXPECT_OK(gnnmg_comm_barrier(processes_[p].comm, -1));
    if (p == 0) connected = true;
    while (!connected) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (p == 1)
      processes_[p].comm.reset();
    else
      EXPECT_FAILS(gnnmg_comm_barrier(processes_[p].comm, -1), GNNMG_ERR_ABORTED,
                   "rank 1 freed its communicator");
  });
}

TEST_F(CommJoin, ACancelSaysWhoDidIt) {
  std::atomic<bool> connected{false};
  on_both([&](int32_t p) {
    ASSERT_OK(join(p));
    EXPECT_OK(gnnmg_comm_barrier(processes_[p].comm, -1));
    if (p == 0) connected = true;
    while (!connected) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (p == 1) {
      gnnmg_comm_cancel(processes_[p].comm);
      EXPECT_EQ(gnnmg_comm_barrier(processes_[p].comm, -1), GNNMG_ERR_CANCELLED);
      processes_[p].comm.reset();
    } else {
      EXPECT_FAILS(gnnmg_comm_barrier(processes_[p].comm, -1), GNNMG_ERR_ABORTED,
                   "canceled by process 1 on host ");
    }
  });
}

TEST_F(CommJoin, TheContextCancelsAJoin) {
  for (const int32_t p : {0, 1}) {
    EXPECT_EQ(join(p, nullptr, 100), GNNMG_PENDING);
    gnnmg_context_cancel(processes_[p].context);
    EXPECT_FAILS(until_done([&] { return join(p, nullptr, 100); }), GNNMG_ERR_CANCELLED, "joining");
  }
  on_both([&](int32_t p) {  // later calls are not affected
    ASSERT_OK(join(p));
    EXPECT_OK(gnnmg_comm_shutdown(processes_[p].comm, -1));
  });
}

// The others continue to wait after a canceled one; the cancel of process 0 ends joining.
TEST_F(CommJoin, ACancelledJoinOfProcess0EndsThatOfTheOthers) {
  processes_[0].config.num_processes = processes_[1].config.num_processes = 3;
  std::thread other(
      [&] { EXPECT_FAILS(join(1), GNNMG_ERR_ABORTED, "joining: process 0 was canceled"); });
  EXPECT_EQ(join(0, nullptr, 3000), GNNMG_PENDING);
  gnnmg_context_cancel(processes_[0].context);
  EXPECT_FAILS(until_done([&] { return join(0, nullptr, 100); }), GNNMG_ERR_CANCELLED, "joining");
  other.join();
}

TEST_F(CommJoin, NobodyComes) {
  processes_[0].config.join_ms = 300;
  EXPECT_FAILS(join(0), GNNMG_ERR_TIMEOUT, "joining: 1 of 2 processes came within");
  EXPECT_EQ(processes_[0].comm.get(), nullptr);
}

TEST_F(CommJoin, ATokenMustBeTheSame) {
  const TempDir dir;
  const std::string token = dir.write("token", std::string(32, 'a'));
  chmod(token.c_str(), 0600);
  const std::string open = dir.write("open", std::string(32, 'a'));
  chmod(open.c_str(), 0644);
  EXPECT_FAILS(join(0, open.c_str()), GNNMG_ERR_AUTH, "expected mode 0600, found 644");
  processes_[0].config.join_ms = 1000;
  on_both([&](int32_t p) {
    if (p == 0)
      EXPECT_FAILS(join(p, token.c_str()), GNNMG_ERR_TIMEOUT, "missing: 1");
    else
      EXPECT_FAILS(join(p), GNNMG_ERR_AUTH, "process 0 asks for the job's token");
  });
  EXPECT_FAILS(gnnmg_comm_create(processes_[0].context, "192.0.2.1", nullptr, nullptr,
                                 &processes_[0].config, processes_[0].comm.out(), -1),
               GNNMG_ERR_AUTH, "expected a token file");
}

TEST_F(CommJoin, BadSettings) {
  const auto refused = [&](const std::function<void(CommConfig&)>& change, const char* expected) {
    CommConfig config = processes_[0].config;
    change(config);
    EXPECT_FAILS(gnnmg_comm_create(processes_[0].context, nullptr, nullptr, nullptr, &config,
                                   processes_[0].comm.out(), -1),
                 GNNMG_ERR_INVALID_ARGUMENT, expected);
  };
  refused([](auto& c) { c.port = 0; }, "port: expected 1 to 65535, found 0");
  refused([](auto& c) { c.process_rank = 2; }, "process_rank: expected 0 to 1, found 2");
  refused([](auto& c) { c.num_processes = -1; }, "num_processes: expected 1 to 1024, found -1");
  refused([](auto& c) { c.join_ms = -5; }, "config.join_ms");
  refused([](auto& c) { c.deadline_ms = -1; }, "config.deadline_ms");
  refused([](auto& c) { c.heartbeat_ms = 1; }, "config.heartbeat_ms");
  refused([](auto& c) { c.padding1 = 1; }, "config.padding1");
  EXPECT_FAILS(gnnmg_comm_create(processes_[0].context, nullptr, "nosuch0", nullptr,
                                 &processes_[0].config, processes_[0].comm.out(), -1),
               GNNMG_ERR_INVALID_ARGUMENT, "interface \"nosuch0\" does not exist");
}

TEST_F(CommJoin, ReadsTheEnvironment) {
  const auto from_env = [&] {
    return gnnmg_comm_create_from_env(processes_[0].context, nullptr, processes_[0].comm.out(), -1);
  };
  EXPECT_FAILS(from_env(), GNNMG_ERR_NOT_FOUND, "no launcher has set its variables");
  setenv("RANK", "0", 1);
  EXPECT_FAILS(from_env(), GNNMG_ERR_INVALID_ARGUMENT, "WORLD_SIZE is not set");
  setenv("WORLD_SIZE", "many", 1);
  EXPECT_FAILS(from_env(), GNNMG_ERR_INVALID_ARGUMENT, "WORLD_SIZE = \"many\"");
  setenv("WORLD_SIZE", "1", 1);
  ASSERT_OK(from_env());
  unsetenv("RANK");
  unsetenv("WORLD_SIZE");
  int32_t size = 0;
  EXPECT_OK(gnnmg_comm_world_size(processes_[0].comm, &size));
  EXPECT_EQ(size, 1);
  EXPECT_OK(gnnmg_comm_barrier(processes_[0].comm, -1));
  EXPECT_OK(gnnmg_comm_shutdown(processes_[0].comm, -1));
}

}  // namespace
}  // namespace gnnmg::test
