// Late, missing, canceled and aborted ranks over Gloo: each rank's error and its delay. Nothing may
// be left: no thread, no descriptor, no line on standard error, no late write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>

#include "base/background.h"
#include "comm/gloo/descriptors.h"
#include "comm/gloo/thread_group.h"
#include "comm/ranks.h"
#include "support/leftovers.h"

namespace gnnmg::test {
namespace {

using base::DType;
using base::Status;
using comm::Collectives;
using comm::ReduceOp;
using testing::HasSubstr;

constexpr double kAtOnce = 20;  // s: far below a minute, and more than a loaded machine takes
// Seconds, as docs/promises.md says, in one of a few tries.
constexpr double kCancelled = 0.1, kAborted = 0.5;

void sleep_ms(int64_t ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

void wait_for_reapers() {
  for (int i = 0; i < 4000 && base::num_left() > 0; ++i) sleep_ms(10);
  EXPECT_EQ(base::num_left(), 0);
}

// Each test must restore the number of threads and descriptors, and write nothing to standard
// error.
class GlooFault : public testing::Test {
 protected:
  void SetUp() override {
    run_ranks(2, [](Collectives& comm) {
      comm.barrier(within_ms(60'000));
    });  // starts everything that is never freed
    left_.emplace();
    testing::internal::CaptureStderr();
  }
  void TearDown() override {
    wait_for_reapers();
    EXPECT_EQ(less_refused_peers(testing::internal::GetCapturedStderr()), "");
    EXPECT_EQ(left_->count(), Leftovers::kNone);
  }
  std::optional<Leftovers> left_;
};

void all_reduce(Collectives& comm, const comm::Wait& wait) {
  std::vector<float> values(1000, 1.0f);
  comm.all_reduce({values.data(), DType::kF32, {1000}}, ReduceOp::kSum, wait);
}

TEST_F(GlooFault, CancelReturnsAtOnceAndCallsOffThePeers) {
  for (int world : {2, 4}) {
    double quickest = kAtOnce;
    for (int round = 0; round < 5 && quickest > kCancelled; ++round) {
      comm::Wait wait = within_ms(60'000);
      std::atomic<std::chrono::steady_clock::time_point> at{};
      std::atomic<bool> given_up{false};
      std::vector<double> after(world);
      const auto outcomes = run_ranks(world, [&](Collectives& comm) {
        const int me = comm.rank();
        if (me == world - 1) {  // enters a communicator that has ended
          while (!given_up) sleep_ms(1);
          all_reduce(comm, within_ms(60'000));
          return;
        }
        std::thread canceller;
        if (me == 0)
          canceller = std::thread([&] {
            sleep_ms(50);
            at = std::chrono::steady_clock::now();
            wait.cancel.cancel();
          });
        try {
          all_reduce(comm, me == 0 ? wait : within_ms(60'000));
        } catch (const base::Error&) {
          after[me] =
              std::chrono::duration<double>(std::chrono::steady_clock::now() - at.load()).count();
          if (me == 0) given_up = true;
          if (canceller.joinable()) canceller.join();
          throw;
        }
      });
      EXPECT_EQ(outcomes[0].status, Status::kCancelled);
      EXPECT_LT(after[0], kAtOnce);
      for (int r = 1; r < world; ++r) {
        EXPECT_EQ(outcomes[r].status, Status::kAborted) << r;
        EXPECT_THAT(outcomes[r].text, HasSubstr("rank 0 was canceled"));
        if (r < world - 1) {
          EXPECT_LT(after[r], kAtOnce);
        }
      }
      quickest = std::min(quickest, after[0]);
    }
    EXPECT_LT(quickest, kCancelled);
  }
}

// Counts threads of this process that a SIGPIPE would reach.
int threads_open_to_sigpipe() {
  int count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream status(task.path() / "status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("SigBlk:"))
        count += (std::stoull(line.substr(7), nullptr, 16) >> (SIGPIPE - 1) & 1) == 0;
  }
  return count;
}

TEST_F(GlooFault, NoThreadOfTheirsDiesOfAClosedSocket) {
  const int own = threads_open_to_sigpipe();
  for (const Outcome& outcome : run_ranks(3, [&](Collectives& comm) {
         comm.barrier(within_ms(60'000));
         EXPECT_EQ(threads_open_to_sigpipe(), own + 3);  // the threads of run_ranks
         comm.barrier(within_ms(60'000));
       }))
    EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
}

TEST_F(GlooFault, DeadlineNamesTheMissingRank) {
  std::atomic<int> given_up{0}, waiting{0};
  const auto outcomes = run_ranks(4, [&](Collectives& comm) {
    all_reduce(comm, within_ms(60'000));
    while (comm.rank() == 2 && given_up < 3) sleep_ms(1);
    const Outcome outcome = attempt([&] { all_reduce(comm, within_ms_together(300, waiting, 3)); });
    ++given_up;
    throw base::Error(outcome.status, outcome.text);
  });
  for (int r : {0, 1, 3}) {
    EXPECT_EQ(outcomes[r].status, Status::kTimeout) << r;
    EXPECT_THAT(outcomes[r].text, HasSubstr("all_reduce: 3 of 4 ranks came within"));
    EXPECT_THAT(outcomes[r].text, HasSubstr("missing: 2"));
  }
  EXPECT_EQ(outcomes[2].status, Status::kAborted);
}

TEST_F(GlooFault, RendezvousNamesTheMissingRanks) {
  const auto group = comm::ThreadGroup::create(3);
  const Outcome outcome = attempt([&] { group->connect(1, within_ms(200)); });
  EXPECT_EQ(outcome.status, Status::kTimeout);
  EXPECT_THAT(outcome.text, HasSubstr("rendezvous: 1 of 3 ranks came within"));
  EXPECT_THAT(outcome.text, HasSubstr("missing: 0, 2"));
  EXPECT_LT(outcome.seconds, 0.2 + 2);
}

TEST_F(GlooFault, AbortWakesEverybody) {
  double quickest = kAtOnce;
  for (int round = 0; round < 5 && quickest > kAborted; ++round) {
    std::vector<Collectives*> ends(4);
    std::atomic<int> waiting{0};
    std::atomic<std::chrono::steady_clock::time_point> at{};
    std::vector<double> after(4);
    std::thread aborter([&] {
      while (waiting < 3) sleep_ms(1);
      sleep_ms(100);
      at = std::chrono::steady_clock::now();
      ends[3]->abort("the data set is gone");  // rank 3 keeps its end until this thread is done
      ends[3]->abort("and nobody hears this");
    });
    const auto outcomes = run_ranks(4, [&](Collectives& comm) {
      const int me = comm.rank();
      ends[me] = &comm;
      comm.barrier(within_ms(60'000));
      if (me == 3) aborter.join();  // keeps its end until then
      ++waiting;
      try {
        all_reduce(comm, within_ms(60'000));
      } catch (const base::Error&) {
        after[me] =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - at.load()).count();
        EXPECT_TRUE(comm.spent());
        const Outcome again = attempt([&] { comm.barrier(within_ms(60'000)); });
        EXPECT_EQ(again.status, Status::kAborted);
        EXPECT_EQ(again.text, "the data set is gone");
        throw;
      }
    });
    for (int r = 0; r < 4; ++r) {
      EXPECT_EQ(outcomes[r].status, Status::kAborted) << r;
      EXPECT_EQ(outcomes[r].text, "the data set is gone");
      EXPECT_LT(after[r], kAtOnce);
    }
    quickest = std::min(quickest, *std::ranges::max_element(after));
  }
  EXPECT_LT(quickest, kAborted);
}

// Abort and cancel at any moment of connecting.
TEST_F(GlooFault, AbortAndCancelWhileTheRanksConnect) {
  for (int round = 0; round < 80; ++round) {
    const auto group = comm::ThreadGroup::create(2);
    const base::CancelToken cancel;
    std::vector<Outcome> outcomes(2);
    std::vector<std::thread> threads;
    for (int r = 0; r < 2; ++r)
      threads.emplace_back([&, r] {
        outcomes[r] = attempt([&] {
          comm::Wait wait = within_ms(30'000);
          if (r == 0) wait.cancel = cancel;
          const auto end = group->connect(r, wait);
          end->barrier(wait);
        });
      });
    std::this_thread::sleep_for(std::chrono::microseconds(100 * (round / 2)));
    if (round % 2 == 0)
      cancel.cancel();
    else
      group->abort("enough");
    for (std::thread& thread : threads) thread.join();
    for (int r = 0; r < 2; ++r) {
      EXPECT_LT(outcomes[r].seconds, 10) << "round " << round << ": " << outcomes[r].text;
      const Status expected = round % 2 == 0 && r == 0 ? Status::kCancelled : Status::kAborted;
      EXPECT_TRUE(outcomes[r].status == expected || outcomes[r].status == Status::kOk)
          << "round " << round << ", rank " << r << ": " << outcomes[r].text;
    }
  }
}

TEST_F(GlooFault, ARankThatThrowsIsNamedAtOnce) {
  const auto outcomes = run_ranks(3, [&](Collectives& comm) {
    if (comm.rank() == 1) throw base::Error(Status::kCallback, "the sampler threw");
    all_reduce(comm, within_ms(60'000));
  });
  EXPECT_EQ(outcomes[1].status, Status::kCallback);
  for (int r : {0, 2}) {
    EXPECT_EQ(outcomes[r].status, Status::kPeerLost) << r;
    EXPECT_EQ(outcomes[r].text, "all_reduce: rank 1 has left the communicator");
    EXPECT_LT(outcomes[r].seconds, 5.0);
  }
}

TEST_F(GlooFault, DifferentCallsAreRefusedEverywhere) {
  const auto outcomes = run_ranks(3, [&](Collectives& comm) {
    std::vector<float> values(comm.rank() == 1 ? 7 : 8);
    comm.all_reduce({values.data(), DType::kF32, {static_cast<int64_t>(values.size())}},
                    ReduceOp::kSum, within_ms(60'000));
  });
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.status, Status::kMismatch) << outcome.text;
    EXPECT_THAT(outcome.text, HasSubstr("f32 [7], sum"));
    EXPECT_THAT(outcome.text, HasSubstr("f32 [8], sum"));
  }
  // Operations without a match end too, long before their deadline.
  const auto start = std::chrono::steady_clock::now();
  wait_for_reapers();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

// Returns ports of this process that accept connections on the loopback interface.
std::vector<uint16_t> listening_ports() {
  std::vector<uint16_t> ports;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int descriptor = std::stoi(entry.path().filename());
    sockaddr_in address{};
    socklen_t size = sizeof address;
    int accepts = 0;
    socklen_t accepts_size = sizeof accepts;
    if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
        address.sin_family == AF_INET &&
        getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &accepts_size) == 0 && accepts)
      ports.push_back(address.sin_port);
  }
  return ports;
}

// Gloo would keep each connection, and end the program without free descriptors.
TEST_F(GlooFault, StrangersAreNotLetIn) {
  constexpr int kStrangers = 100;
  std::atomic<int> connected{0}, ports{0};
  const auto outcomes = run_ranks(2, [&](Collectives& comm) {
    all_reduce(comm, within_ms(60'000));
    if (comm.rank() == 0) {
      const int before = Leftovers::open_files();
      std::vector<int> strangers;
      for (const uint16_t port : listening_ports()) {
        ++ports;
        for (int i = 0; i < kStrangers; ++i) {
          const int stranger = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
          ASSERT_GE(stranger, 0);
          strangers.push_back(stranger);
          sockaddr_in address{};
          address.sin_family = AF_INET;
          address.sin_port = port;
          address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
          connect(stranger, reinterpret_cast<sockaddr*>(&address), sizeof address);
        }
      }
      sleep_ms(300);
      for (const int stranger : strangers) {
        sockaddr_in peer{};
        socklen_t size = sizeof peer;
        connected += getpeername(stranger, reinterpret_cast<sockaddr*>(&peer), &size) == 0;
      }
      EXPECT_EQ(Leftovers::open_files(), before + static_cast<int>(strangers.size()));
      for (const int stranger : strangers) close(stranger);
    }
    all_reduce(comm, within_ms(60'000));
  });
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
  EXPECT_EQ(ports, 2);
  EXPECT_EQ(connected, 0);
}

// A stranger can connect after a rank listens and before all ranks have connected. Bytes that are
// no greeting of a rank prevent no connection.
TEST_F(GlooFault, StrangersWhileTheRanksConnect) {
  std::atomic<bool> over{false};
  std::atomic<int> connected{0};
  std::vector<std::thread> flood;
  for (const std::string& words : {std::string(64, '\xff'), std::string(64, '\xfe'), std::string()})
    flood.emplace_back([&, words] {
      std::vector<int> strangers;
      while (!over) {
        for (const uint16_t port : listening_ports()) {
          const int stranger = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
          sockaddr_in address{};
          address.sin_family = AF_INET;
          address.sin_port = port;
          address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
          const timeval patience{0, 2000};
          setsockopt(stranger, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
          if (connect(stranger, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
            ++connected;
            send(stranger, words.data(), words.size(), MSG_NOSIGNAL);
          }
          strangers.push_back(stranger);
          if (strangers.size() > 64) {
            close(strangers.front());
            strangers.erase(strangers.begin());
          }
        }
      }
      for (const int stranger : strangers) close(stranger);
    });
  for (int round = 0; round < 40; ++round)
    for (const Outcome& outcome :
         run_ranks(4, [](Collectives& comm) { all_reduce(comm, within_ms(60'000)); })) {
      EXPECT_EQ(outcome.status, Status::kOk) << "round " << round << ": " << outcome.text;
      EXPECT_LT(outcome.seconds, 30);
    }
  over = true;
  for (std::thread& thread : flood) thread.join();
  EXPECT_GT(connected, 0);
  std::printf("[ FIGURE   ] %d strangers connected while ranks did\n", connected.load());
}

// Impostors connect to every rank's port before the ranks can, claim each possible rank number, and
// then echo everything.
class Impostors final : public comm::AddressBoard {
 public:
  ~Impostors() override {
    over_ = true;
    if (echo_.joinable()) echo_.join();
    for (const int fd : connections_) close(fd);
  }
  // Holds back a rank's address until the impostors have connected.
  void put(const std::string& key, const std::string& value) override {
    {
      std::lock_guard lock(mutex_);
      for (const uint16_t port : listening_ports())
        if (seen_.insert(port).second) come_to(port);
      if (!echo_.joinable()) echo_ = std::thread([this] { echo(); });
    }
    board_->put(key, value);
  }
  std::optional<std::string> get(const std::string& key,
                                 const std::function<bool()>& over) override {
    return board_->get(key, over);
  }
  bool has(const std::string& key) override { return board_->has(key); }
  int64_t echoed() const { return echoed_; }

 private:
  void come_to(uint16_t port) {
    for (int64_t rank = 0; rank < 4; ++rank) {
      const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = port;
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      connections_.push_back(fd);
      if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) continue;
      send(fd, &rank, sizeof rank, MSG_NOSIGNAL);
    }
  }
  void echo() {
    char buffer[4096];
    while (!over_) {
      std::vector<int> all;
      {
        std::lock_guard lock(mutex_);
        all = connections_;
      }
      for (const int fd : all) {
        const ssize_t n = recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
        if (n > 0) echoed_ += send(fd, buffer, static_cast<size_t>(n), MSG_NOSIGNAL);
      }
      sleep_ms(1);
    }
  }
  const std::shared_ptr<comm::AddressBoard> board_ = comm::make_local_board();
  std::mutex mutex_;  // guards the two members below
  std::set<uint16_t> seen_;
  std::vector<int> connections_;
  std::thread echo_;
  std::atomic<int64_t> echoed_{0};
  std::atomic<bool> over_{false};
};

// A rank's impostor is detected before it gets any data.
TEST_F(GlooFault, AnImpostorIsFoundOut) {
  const auto board = std::make_shared<Impostors>();
  const auto group = comm::gloo::make_thread_group(2, board);
  std::vector<Outcome> outcomes(2);
  std::vector<std::thread> threads;
  for (int r = 0; r < 2; ++r)
    threads.emplace_back([&, r] {
      outcomes[r] = attempt([&] {
        const auto end = group->connect(r, within_ms(5000));
        all_reduce(*end, within_ms(5000));
      });
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(board->echoed(), 0);
  int found_out = 0;
  for (const Outcome& outcome : outcomes) {
    EXPECT_NE(outcome.status, Status::kOk);
    EXPECT_THAT(outcome.text, HasSubstr("cannot prove to be rank"));
    found_out += outcome.status == Status::kAuth;
  }
  EXPECT_GE(found_out, 1);
}

// Limits further descriptors or threads of this process to `count`.
class Limit {
 public:
  Limit(__rlimit_resource what, int64_t most) : what_(what) {
    getrlimit(what_, &before_);
    rlimit limit = before_;
    limit.rlim_cur = static_cast<rlim_t>(most);
    setrlimit(what_, &limit);
  }
  ~Limit() { setrlimit(what_, &before_); }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;

 private:
  const __rlimit_resource what_;
  rlimit before_{};
};

// Returns the limit at which `free` descriptors are free.
int64_t limit_for(int64_t free) {
  for (int64_t most = free;; ++most) {
    const Limit limit(RLIMIT_NOFILE, most);
    if (comm::gloo::count_descriptors().free == free) return most;
  }
}

std::vector<Outcome> connect_all(comm::ThreadGroup& group) {
  std::vector<Outcome> outcomes(group.world_size());
  std::vector<std::thread> threads;
  for (int r = 0; r < group.world_size(); ++r)
    threads.emplace_back([&, r] {
      outcomes[r] =
          attempt([&] { all_reduce(*group.connect(r, within_ms(5000)), within_ms(5000)); });
    });
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

// Gloo ends the program without free descriptors: the library counts them first, and its estimate
// suffices.
TEST_F(GlooFault, TooFewDescriptorsAreRefusedBeforehand) {
  for (const int world : {2, 3, 8, 16}) {
    wait_for_reapers();
    const int64_t needed = comm::gloo::descriptors_needed(world, world) + 16;
    {
      const Limit limit(RLIMIT_NOFILE, limit_for(needed - 1));
      try {
        comm::ThreadGroup::create(world);
        ADD_FAILURE() << world;
      } catch (const base::Error& error) {
        EXPECT_EQ(error.status(), Status::kUnavailable);
        EXPECT_EQ(error.system_error(), EMFILE);
        EXPECT_THAT(error.what(),
                    HasSubstr(base::text(world, " ranks of one process in a world of ", world,
                                         " need ", needed, " descriptors")));
        EXPECT_THAT(error.what(), HasSubstr("ulimit -n 1024"));
      }
    }
    const Limit limit(RLIMIT_NOFILE, limit_for(needed));
    const auto group = comm::ThreadGroup::create(world);
    for (const Outcome& outcome : connect_all(*group))
      EXPECT_EQ(outcome.status, Status::kOk) << world << ": " << outcome.text;
  }
}

TEST_F(GlooFault, WhatOneGroupWillTakeIsNoOthers) {
  const int64_t needed = comm::gloo::descriptors_needed(6, 6) + 16;
  const Limit limit(RLIMIT_NOFILE, limit_for(needed + 20));
  {
    const auto first = comm::ThreadGroup::create(6);
    EXPECT_EQ(attempt([] { comm::ThreadGroup::create(6); }).status, Status::kUnavailable);
    for (const Outcome& outcome : connect_all(*first))
      EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
  }
  wait_for_reapers();
  EXPECT_EQ(attempt([] { comm::ThreadGroup::create(6); }).status, Status::kOk);
}

TEST_F(GlooFault, NoDescriptorWhileTheRanksConnectIsNoLoss) {
  const auto group = comm::ThreadGroup::create(2);
  std::vector<Outcome> outcomes;
  {
    const Limit limit(RLIMIT_NOFILE, Leftovers::open_files());
    outcomes = connect_all(*group);
  }
  int named = 0;
  for (const Outcome& outcome : outcomes) {
    EXPECT_NE(outcome.status, Status::kPeerLost) << outcome.text;
    EXPECT_THAT(outcome.text, HasSubstr("Too many open files"));
    named += outcome.status == Status::kUnavailable;
  }
  EXPECT_GE(named, 1);
}

TEST_F(GlooFault, AGivenUpOperationWritesNothingLater) {
  std::vector<float> values(100'000, 1.0f);
  std::atomic<bool> given_up{false};
  const auto outcomes = run_ranks(2, [&](Collectives& comm) {
    if (comm.rank() == 1) {
      while (!given_up) sleep_ms(1);
      all_reduce(comm, within_ms(60'000));
      return;
    }
    try {
      comm.all_reduce({values.data(), DType::kF32, {100'000}}, ReduceOp::kSum, within_ms(100));
    } catch (const base::Error&) {
      std::ranges::fill(values, 3.0f);
      given_up = true;
      throw;
    }
  });
  EXPECT_EQ(outcomes[0].status, Status::kTimeout);
  wait_for_reapers();
  EXPECT_THAT(values, testing::Each(3.0f));
}

TEST_F(GlooFault, ANewGroupWorksAfterAFailedOne) {
  for (int round = 0; round < 10; ++round) {
    run_ranks(3, [&](Collectives& comm) {
      if (comm.rank() == round % 3) comm.abort("over");
      all_reduce(comm, within_ms(60'000));
    });
    for (const Outcome& outcome :
         run_ranks(3, [](Collectives& comm) { all_reduce(comm, within_ms(60'000)); }))
      EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
  }
}

}  // namespace
}  // namespace gnnmg::test
