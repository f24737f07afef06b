// Sockets of ranks over Gloo: signals, strangers, impostors, and too few descriptors.
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
#include <mutex>
#include <optional>
#include <set>

#include "comm/gloo/descriptors.h"
#include "comm/gloo/thread_group.h"
#include "comm/group_faults.h"
#include "comm/jobs.h"

namespace gnnmg::test {
namespace {

using base::Status;
using comm::Collectives;
using testing::HasSubstr;

using GlooFault = GroupFault;

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
  for (const Outcome& outcome : run_ranks(make_ranks(3), [&](Collectives& comm) {
         comm.barrier(within_ms(60'000));
         EXPECT_EQ(threads_open_to_sigpipe(), own + 3);  // the threads of run_ranks
         comm.barrier(within_ms(60'000));
       }))
    EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
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
  const auto outcomes = run_ranks(make_ranks(2), [&](Collectives& comm) {
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
         run_ranks(make_ranks(4), [](Collectives& comm) { all_reduce(comm, within_ms(60'000)); })) {
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

// Runs an all-reduce on each rank of this process.
std::vector<Outcome> connect_all(comm::ThreadGroup& group) {
  std::vector<Outcome> outcomes(group.num_local());
  std::vector<std::thread> threads;
  for (int r = 0; r < group.num_local(); ++r)
    threads.emplace_back([&, r] {
      outcomes[r] = attempt([&] {
        all_reduce(*group.connect(group.first_rank() + r, within_ms(5000)), within_ms(5000));
      });
    });
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

// Gloo ends the program without free descriptors: the library counts them first, and its estimate
// suffices. The two processes of the job are threads, so that they have one limit.
TEST_F(GlooFault, TooFewDescriptorsAreRefusedBeforehand) {
  for (const int ranks : {1, 3, 8}) {
    wait_for_reapers();
    const int world = 2 * ranks;
    const int64_t connections = comm::gloo::descriptors_needed(ranks, world), spare = 16;
    std::optional<Limit> limit;
    const auto set_limit = [&](comm::Processes& job, int64_t free) {
      job.gather("before", "", within_ms(60'000));
      if (job.process() == 0) limit.emplace(RLIMIT_NOFILE, limit_for(free));
      job.gather("after", "", within_ms(60'000));
    };
    for (const Outcome& outcome : run_job(2, [&](const std::shared_ptr<comm::Processes>& job) {
           const auto make = [&] {
             return comm::make_group(job, {.num_ranks = ranks}, within_ms(60'000));
           };
           set_limit(*job, connections + spare - 1);
           const Outcome refused = attempt([&] { make(); });
           EXPECT_EQ(refused.status, Status::kUnavailable);
           EXPECT_THAT(refused.text, HasSubstr(base::text(" in a world of ", world, " need ",
                                                          connections + spare, " descriptors")));
           EXPECT_THAT(refused.text, HasSubstr("ulimit -n 1024"));
           set_limit(*job, 2 * connections + spare);
           for (const Outcome& connected : connect_all(*make()))
             EXPECT_EQ(connected.status, Status::kOk) << world << ": " << connected.text;
           job->shutdown(within_ms(60'000));
         }))
      EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
  }
}

TEST_F(GlooFault, WhatOneGroupWillTakeIsNoOthers) {
  const int64_t before = comm::gloo::count_descriptors().free;
  {
    const auto group = make_ranks(6);
    EXPECT_EQ(comm::gloo::count_descriptors().free, before - comm::gloo::descriptors_needed(6, 6));
    for (const Outcome& outcome : connect_all(*group))
      EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
  }
  wait_for_reapers();
  EXPECT_EQ(comm::gloo::count_descriptors().free, before);
}

// Sockets of the ranks would count as open files.
TEST_F(GlooFault, AJobOfOneProcessHasNoSockets) {
  constexpr int kRanks = 4;
  expect_all_well(run_job(1, [&](const std::shared_ptr<comm::Processes>& job) {
    const int files = Leftovers::open_files();
    std::atomic<int> done{0};
    std::mutex one_count;  // counting opens a folder
    const auto group = comm::make_group(job, {.num_ranks = kRanks}, within_ms(60'000));
    for (const Outcome& outcome : run_ranks(group, [&](Collectives& comm) {
           all_reduce(comm, within_ms(60'000));
           {
             const std::lock_guard lock(one_count);
             EXPECT_EQ(Leftovers::open_files(), files);
           }
           ++done;
           while (comm.rank() == 0 && done < kRanks) sleep_ms(1);
           if (comm.rank() == 0) job->abort("the job is over");
           comm.barrier(within_ms(60'000));
         })) {
      EXPECT_EQ(outcome.status, Status::kAborted);
      EXPECT_EQ(outcome.text, "the job is over");
    }
  }));
}

TEST_F(GlooFault, NoDescriptorWhileTheRanksConnectIsNoLoss) {
  const auto group = make_ranks(2);
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

}  // namespace
}  // namespace gnnmg::test
