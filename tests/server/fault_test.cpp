// Servers that die, stop, return, return with other data or have too much to do: a mini-batch is
// complete or an error that names server and cause, in time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/error.h"
#include "base/philox.h"
#include "dist/host.h"
#include "dist/parts_of.h"
#include "dist/saved_parts.h"
#include "sample/reference.h"
#include "server/server_process.h"

namespace gnnmg {
namespace {

using base::Status;
using base::SteadyClock;
using std::chrono::milliseconds;
using test::ServerProcess;
using testing::AllOf;
using testing::HasSubstr;
using testing::Pair;
using testing::StartsWith;

constexpr int kPoints = 20;  // points of failure
constexpr uint64_t kBatches = 12;

std::pair<Status, std::string> told(const auto& call) {
  try {
    call();
  } catch (const base::Error& error) {
    return {error.status(), error.what()};
  }
  return {Status::kOk, ""};
}

double seconds_of(const auto& call) {
  const auto begin = SteadyClock::now();
  call();
  return std::chrono::duration<double>(SteadyClock::now() - begin).count();
}

// Does something to a server some time from now, on a thread of its own.
class Strike {
 public:
  Strike(int64_t microseconds, std::function<void()> blow)
      : thread_([microseconds, blow = std::move(blow)] {
          std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
          blow();
        }) {}
  ~Strike() { thread_.join(); }

 private:
  std::thread thread_;
};

// 20 moments within the first mini-batches, the same in every run.
int64_t moment(int point) {
  base::Stream stream({7, 7}, static_cast<uint64_t>(point));
  return static_cast<int64_t>(stream.below(12'000));
}

// Peers have met once one of the servers is reached; the other one may be on its way yet when that
// one goes, and is waited for.
TEST(ServerFault, KilledAtTwentyPointsWithAReplica) {
  const test::ServedGraph served(2);
  const ServerProcess stays(served.folder(), {});
  for (int point = 0; point < kPoints; ++point) {
    ServerProcess dies(served.folder(), {});
    const auto peers = test::meet(dies.address() + "," + stays.address());
    const auto parts = served.over(peers);
    const Strike strike(moment(point), [&] { dies.signal(SIGKILL); });
    for (uint64_t batch = 0; batch < kBatches; ++batch)
      test::expect_same_batch(served, parts, batch);
    if (HasFailure()) FAIL() << "at point " << point;
  }
}

TEST(ServerFault, StoppedAtTwentyPointsWithAReplicaThatIsAskedToo) {
  const test::ServedGraph served(2);
  const ServerProcess stays(served.folder(), {});
  dist::PeersConfig config;
  config.hedge_ms = 5;
  int64_t hedged = 0;
  for (int point = 0; point < kPoints; ++point) {
    ServerProcess stops(served.folder(), {});
    const auto peers = test::meet(stops.address() + "," + stays.address(), config);
    const auto parts = served.over(peers);
    const Strike strike(moment(point), [&] { stops.signal(SIGSTOP); });
    for (uint64_t batch = 0; batch < kBatches; ++batch)
      test::expect_same_batch(served, parts, batch);
    hedged += peers->counts().hedged;
    if (HasFailure()) FAIL() << "at point " << point;
  }
  EXPECT_GT(hedged, 0);
}

TEST(ServerFault, KilledWithoutAReplica) {
  const test::ServedGraph served(2);
  const ServerProcess stays(served.folder(), {"--parts", "0"});
  ServerProcess dies(served.folder(), {"--parts", "1"});
  const auto parts = served.over(test::meet(dies.address() + "," + stays.address()));
  test::expect_same_batch(served, parts, 0);
  dies.signal(SIGKILL);
  dies.join();
  std::pair<Status, std::string> found;
  EXPECT_LE(seconds_of([&] { found = told([&] { test::expect_same_batch(served, parts, 1); }); }),
            3);
  EXPECT_THAT(found, Pair(Status::kUnavailable,
                          AllOf(StartsWith("part 1: " + dies.address() + ", request "),
                                HasSubstr("refused"), HasSubstr("3 tries in "),
                                HasSubstr("last answer "))));
}

TEST(ServerFault, StoppedWithoutAReplica) {
  const test::ServedGraph served(1);
  const ServerProcess stops(served.folder(), {});
  dist::PartsConfig config;
  config.deadline_ms = 150;
  const auto parts = served.over(test::meet(stops.address()), config);
  // A server that is held off the CPU misses the short deadline too, and is asked again.
  const auto answers = [&](uint64_t batch) {
    for (int round = 0; round < 50; ++round)
      if (told([&] { test::expect_same_batch(served, parts, batch); }).first == Status::kOk)
        return true;
    return false;
  };
  EXPECT_TRUE(answers(0));
  stops.stop();
  std::pair<Status, std::string> found;
  EXPECT_LE(seconds_of([&] { found = told([&] { test::expect_same_batch(served, parts, 1); }); }),
            1.15);
  EXPECT_THAT(found,
              Pair(Status::kTimeout, AllOf(StartsWith("part 0: " + stops.address() + ", request "),
                                           HasSubstr("no answer within "))));
  stops.signal(SIGCONT);
  EXPECT_TRUE(answers(2));
}

TEST(ServerFault, RestartedWhileAClientHasPatience) {
  const test::ServedGraph served(2);
  auto server = std::make_unique<ServerProcess>(served.folder(), std::vector<std::string>{});
  const int port = server->port();
  dist::PeersConfig config;
  config.patience_ms = 20'000;
  dist::PartsConfig reads;
  reads.deadline_ms = 2'000;
  const auto parts = served.over(test::meet(server->address(), config), reads);
  test::expect_same_batch(served, parts, 0);
  server->signal(SIGKILL);
  server->join();
  const Strike strike(300'000, [&] {
    server = std::make_unique<ServerProcess>(served.folder(), std::vector<std::string>{}, port);
  });
  for (uint64_t batch = 1; batch < 4; ++batch) test::expect_same_batch(served, parts, batch);
}

TEST(ServerFault, PatienceEnds) {
  const test::ServedGraph served(1);
  ServerProcess server(served.folder(), {});
  dist::PeersConfig config;
  config.patience_ms = 1'200;
  const auto parts = served.over(test::meet(server.address(), config));
  server.signal(SIGKILL);
  server.join();
  std::pair<Status, std::string> found;
  const double took =
      seconds_of([&] { found = told([&] { test::expect_same_batch(served, parts, 1); }); });
  EXPECT_EQ(found.first, Status::kUnavailable) << found.second;
  EXPECT_GE(took, 1.1);
  EXPECT_LE(took, 3);
}

TEST(ServerFault, RestartedWithOtherData) {
  const test::ServedGraph served(2);
  auto server = std::make_unique<ServerProcess>(served.folder(), std::vector<std::string>{});
  const int port = server->port();
  const auto parts = served.over(test::meet(server->address()));
  test::expect_same_batch(served, parts, 0);
  const std::string other = served.dir.file("other");
  test::save_parts(*test::dataset_of(served.graph), test::hashed_parts(2000, 2, 4), 2, other);
  server->signal(SIGKILL);
  server->join();
  server = std::make_unique<ServerProcess>(other, std::vector<std::string>{}, port);
  EXPECT_THAT(
      told([&] { test::expect_same_batch(served, parts, 1); }),
      Pair(Status::kMismatch, AllOf(HasSubstr("different data"), HasSubstr("manifest.json"))));
}

TEST(ServerFault, ShutDownWhileQuestionsAreUnderWay) {
  const test::ServedGraph served(2);
  const ServerProcess stays(served.folder(), {});
  for (int point = 0; point < 5; ++point) {
    ServerProcess ends(served.folder(), {});
    const auto parts = served.over(test::meet(ends.address() + "," + stays.address()));
    const Strike strike(moment(point), [&] { ends.signal(SIGTERM); });
    for (uint64_t batch = 0; batch < kBatches; ++batch)
      test::expect_same_batch(served, parts, batch);
    EXPECT_EQ(ends.join(), 0);
    EXPECT_EQ(ends.errors(), "");
  }
}

// A server in this process that takes few questions of a client at a time, and answers slowly.
class NarrowServer {
 public:
  NarrowServer(const test::ServedGraph& served, int32_t max_questions)
      : host_(served.folder(), {}, {}) {
    dist::ListenSettings settings;
    settings.address = "127.0.0.1:0";
    settings.threads = 2;
    settings.max_questions = max_questions;
    listener_ = test::engine().listen(
        settings, [this](std::span<const uint8_t> asked, dist::Message& answer) {
          do std::this_thread::sleep_for(milliseconds(1));
          while (stands);
          host_.answer(asked, answer);
        });
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(listener_->port()); }
  int64_t told_to_come_later() const { return listener_->counts().busy; }
  std::atomic<bool> stands{false};  // true: it answers nothing

 private:
  const dist::Host host_;
  std::unique_ptr<dist::Listener> listener_;
};

TEST(ServerFault, OverloadIsToldAndTheClientWaits) {
  const test::ServedGraph served(2);
  const NarrowServer server(served, 2);
  dist::PeersConfig config;
  config.max_in_flight = 16;
  const auto peers = test::meet(server.address(), config);
  const auto parts = served.over(peers);
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 6; ++t)
    threads.emplace_back([&, t] { test::expect_same_batch(served, parts, t); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(server.told_to_come_later(), 0);
  EXPECT_EQ(peers->counts().busy.load(), server.told_to_come_later());
}

TEST(ServerFault, OverloadBeyondTheDeadlineIsNamed) {
  const test::ServedGraph served(1);
  NarrowServer server(served, 1);
  dist::PeersConfig config;
  config.max_in_flight = 16;
  const auto peers = test::meet(server.address(), config);
  const auto patient = served.over(peers);
  dist::PartsConfig soon;
  soon.deadline_ms = 150;
  const auto hasty = served.over(peers, soon);
  server.stands = true;
  std::thread first([&] { test::expect_same_batch(served, patient, 0); });
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_THAT(told([&] { test::expect_same_batch(served, hasty, 1); }),
              Pair(Status::kUnavailable,
                   AllOf(StartsWith("part 0: " + server.address()),
                         HasSubstr("too many questions are under way, and it told "))));
  server.stands = false;
  first.join();
  test::expect_same_batch(served, hasty, 2);
}

TEST(ServerFault, CancelledWhileItWaits) {
  const test::ServedGraph served(1);
  const ServerProcess stops(served.folder(), {});
  const auto peers = test::meet(stops.address());
  stops.stop();
  const auto channel = peers->channel();
  dist::Message message;
  dist::Question question;
  question.stamp = peers->data().stamp;
  dist::write_question(question, std::vector<int64_t>{0}, message);
  const auto call = channel->ask(0, message.span());
  base::CancelToken cancel;
  const Strike strike(20'000, [&] { cancel.cancel(); });
  EXPECT_EQ(told([&] { call->wait(base::Deadline::after_ms(10'000), cancel); }).first,
            Status::kCancelled);
}

TEST(ServerFault, MetBeforeTheServersHaveStarted) {
  const test::ServedGraph served(1);
  std::unique_ptr<ServerProcess> server =
      std::make_unique<ServerProcess>(served.folder(), std::vector<std::string>{});
  const int port = server->port();
  const std::string address = server->address();
  server.reset();
  const Strike strike(100'000, [&] {
    server = std::make_unique<ServerProcess>(served.folder(), std::vector<std::string>{}, port);
  });
  test::expect_same_batch(served, served.over(test::meet(address)), 0);
}

}  // namespace
}  // namespace gnnmg
