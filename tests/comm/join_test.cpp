// Joining: admission, refusals, and the errors of each process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <optional>

#include "comm/jobs.h"
#include "comm/join/handshake.h"
#include "comm/join/join.h"
#include "comm/join/token.h"
#include "comm/shared_board.h"
#include "support/leftovers.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

using base::Status;
using comm::JoinConfig;
using comm::Processes;
using testing::HasSubstr;

const JobBody kShutDown = [](const std::shared_ptr<Processes>& job) {
  job->shutdown(within_ms(60'000));
};

std::string token_file(const TempDir& dir, const char* name, char byte, mode_t mode = 0600) {
  const std::string path = dir.write(name, std::string(32, byte));
  chmod(path.c_str(), mode);
  return path;
}

int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int64_t kGrowth = int64_t{256} << 20;  // freed memory stays reserved for a while
#else
constexpr int64_t kGrowth = int64_t{1} << 20;
#endif

// Returns the outcomes of `run(ms)`, with `ms` growing from `first_ms` until `told` accepts them: a
// process without a CPU for a while comes too late for a short time.
std::vector<Outcome> run_until_told(int64_t first_ms,
                                    const std::function<std::vector<Outcome>(int64_t ms)>& run,
                                    const std::function<bool(const std::vector<Outcome>&)>& told) {
  std::vector<Outcome> outcomes;
  int64_t ms = first_ms;
  for (int round = 0; round < 3 && !(round > 0 && told(outcomes)); ++round, ms *= 5) {
    outcomes = run(ms);
    for (const Outcome& outcome : outcomes)
      EXPECT_LT(outcome.seconds, static_cast<double>(ms) / 1000 + 2) << outcome.text;
  }
  return outcomes;
}

// Matches outcomes that all contain `words`.
auto all_say(const std::string& words) {
  return [words](const std::vector<Outcome>& outcomes) {
    return std::ranges::all_of(outcomes, [&](const Outcome& outcome) {
      return outcome.text.find(words) != std::string::npos;
    });
  };
}

// Returns the outcome of one process joining alone; its text contains `words`.
Outcome join_alone(const JoinConfig& config, const std::string& words) {
  const auto run = [&](int64_t ms) {
    return std::vector{attempt([&] { Processes::join(config, within_ms(ms)); })};
  };
  const Outcome outcome = run_until_told(200, run, all_say(words))[0];
  EXPECT_EQ(outcome.status, Status::kTimeout) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr(words));
  return outcome;
}

// Each test must restore the number of descriptors and threads.
class Join : public testing::Test {
 protected:
  void SetUp() override {
    std::thread([] {}).join();  // starts a sanitizer's own thread
    left_.emplace();
  }
  void TearDown() override { EXPECT_EQ(left_->count(), Leftovers::kNone); }
  std::optional<Leftovers> left_;
};

TEST_F(Join, AllComeInAnyOrder) {
  for (int count : {1, 2, 5}) {
    std::atomic<int> met{0};
    const auto outcomes = run_job(count, [&](const std::shared_ptr<Processes>& job) {
      EXPECT_EQ(job->num_processes(), count);
      EXPECT_EQ(job->address(), "127.0.0.1");
      EXPECT_FALSE(job->host(count - 1).empty());
      const auto all = job->gather("numbers", std::to_string(job->process()), within_ms(60'000));
      for (int p = 0; p < count; ++p) EXPECT_EQ(all[p], std::to_string(p));
      ++met;
      job->shutdown(within_ms(60'000));
      EXPECT_EQ(attempt([&] { job->gather("more", "", within_ms(1000)); }).status,
                Status::kAborted);
    });
    for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
    EXPECT_EQ(met, count);
  }
}

TEST_F(Join, TheMissingAreNamed) {
  const std::string words = "joining: 3 of 4 processes came within";
  const auto run = [](int64_t ms) {
    const int port = free_port();
    std::vector<Outcome> outcomes(4);
    std::vector<std::thread> threads;
    for (const int p : {0, 1, 3})
      threads.emplace_back([&, p] {
        outcomes[p] = attempt([&] { Processes::join(job_config(port, p, 4), within_ms(ms)); });
      });
    for (std::thread& thread : threads) thread.join();
    outcomes.erase(outcomes.begin() + 2);
    return outcomes;
  };
  for (const Outcome& outcome : run_until_told(500, run, all_say(words))) {
    EXPECT_EQ(outcome.status, Status::kTimeout);
    EXPECT_THAT(outcome.text, HasSubstr(words));
    EXPECT_THAT(outcome.text, HasSubstr("missing: 2"));
  }
}

TEST_F(Join, NobodyListens) {
  const int port = free_port();
  const Outcome outcome = join_alone(job_config(port, 1, 2), "refused");
  EXPECT_THAT(outcome.text, HasSubstr(base::text("127.0.0.1:", port)));
}

// An address without an answer: no route to it, or no host there.
TEST_F(Join, AMasterThatCannotBeReached) {
  const TempDir dir;
  JoinConfig config = job_config(4000, 1, 2);
  config.host = "192.0.2.1";
  config.token_file = token_file(dir, "token", 'a');
  const Outcome outcome =
      join_alone(config, "process 0 cannot be reached at 192.0.2.1:4000 within");
  EXPECT_THAT(outcome.text, testing::ContainsRegex(" within [0-9.]+ s: "));
}

TEST_F(Join, OneThatListensAndSaysNothing) {
  const comm::Address any = comm::resolve("127.0.0.1", 0, within_ms(1000))[0];
  const comm::Socket mute = comm::Socket::listen(any);
  join_alone(job_config(mute.local().port(), 1, 2), "it takes the connection, but says nothing");
}

// Another program may listen there, and process 0 comes later.
TEST_F(Join, OneThatSaysNothingIsNotWaitedForForEver) {
  comm::Socket mute = comm::Socket::listen(comm::resolve("127.0.0.1", 0, within_ms(1000))[0]);
  const int port = mute.local().port();
  std::vector<Outcome> outcomes(2);
  const auto join = [&](int p) {
    outcomes[p] =
        attempt([&] { kShutDown(Processes::join(job_config(port, p, 2), within_ms(60'000))); });
  };
  std::thread member([&] { join(1); });
  comm::Socket held;
  while (!held.open()) held = mute.accept();
  mute.close();
  join(0);
  member.join();
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
}

TEST_F(Join, ATakenPortIsNamed) {
  const comm::Socket other =
      comm::Socket::listen(comm::resolve("127.0.0.1", 0, within_ms(1000))[0]);
  const Outcome outcome =
      attempt([&] { Processes::join(job_config(other.local().port(), 0, 2), within_ms(60'000)); });
  EXPECT_EQ(outcome.status, Status::kUnavailable);
  EXPECT_THAT(outcome.text, HasSubstr("the port is taken by another program"));
  EXPECT_LT(outcome.seconds, 5.0);
}

TEST_F(Join, HostsAndInterfacesThatAreNone) {
  const auto joining = [](const std::function<void(JoinConfig&)>& change) {
    JoinConfig config = job_config(4000, 0, 2);
    change(config);
    return attempt([&] { Processes::join(config, within_ms(20'000)); });
  };
  const Outcome interface = joining([](JoinConfig& c) { c.interface = "nosuch0"; });
  EXPECT_EQ(interface.status, Status::kInvalidArgument);
  EXPECT_THAT(interface.text, HasSubstr("interface \"nosuch0\" does not exist; there are "));
  const Outcome wildcard = joining([](JoinConfig& c) { c.host = "0.0.0.0"; });
  EXPECT_EQ(wildcard.status, Status::kInvalidArgument);
  const Outcome name = joining([](JoinConfig& c) { c.host = "no such host"; });
  EXPECT_EQ(name.status, Status::kUnavailable);
  EXPECT_THAT(name.text, HasSubstr("\"no such host\""));
}

// A host other than loopback needs a token, on both sides.
TEST_F(Join, OtherMachinesNeedAToken) {
  for (const int process : {0, 1}) {
    JoinConfig config = job_config(4000, process, 2);
    config.host = "192.0.2.1";
    const Outcome outcome = attempt([&] { Processes::join(config, within_ms(20'000)); });
    EXPECT_EQ(outcome.status, Status::kAuth);
    EXPECT_THAT(outcome.text, HasSubstr("can be reached from other machines"));
    EXPECT_LT(outcome.seconds, 10.0);
  }
}

TEST_F(Join, CancelReturnsAtOnce) {
  for (const int process : {0, 1}) {
    comm::Wait wait = within_ms(60'000);
    std::chrono::steady_clock::time_point at;
    std::thread canceller([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      at = std::chrono::steady_clock::now();
      wait.cancel.cancel();
    });
    const int port = free_port();
    const Outcome outcome = attempt([&] { Processes::join(job_config(port, process, 2), wait); });
    const double after =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - at).count();
    canceller.join();
    EXPECT_EQ(outcome.status, Status::kCancelled);
    EXPECT_LT(after, 10.0);
    std::printf("[ FIGURE   ] joining canceled: %.0f ms\n", 1e3 * after);
  }
}

// Every process gets the difference, with both values.
TEST_F(Join, DifferencesAreRefusedEverywhere) {
  const struct {
    std::function<void(JoinConfig&)> change;  // changes process 2
    const char* expected;
  } cases[] = {
      {[](JoinConfig& c) { c.version = "9.9.9"; }, "has library version 9.9.9, process 0 on host"},
      {[](JoinConfig& c) { c.num_processes = 4; },
       "has world size (number of processes) 4, process 0"},
      {[](JoinConfig& c) { c.process = 1; }, "two processes are number 1: on host"},
  };
  for (const auto& one : cases) {
    const auto outcomes = run_job(3, kShutDown, [&](JoinConfig& config) {
      if (config.process == 2) one.change(config);
    });
    for (const Outcome& outcome : outcomes) {
      EXPECT_EQ(outcome.status, Status::kMismatch) << one.expected << ": " << outcome.text;
      EXPECT_THAT(outcome.text, HasSubstr(one.expected));
      EXPECT_LT(outcome.seconds, 5.0);
    }
  }
}

// A process of another job at this port is refused, and the job goes on.
TEST_F(Join, AnotherJobsProcessIsTurnedAway) {
  const int port = free_port();
  const auto config_of = [&](int process, const char* job) {
    JoinConfig config = job_config(port, process, 2);
    config.job = job;
    return config;
  };
  Outcome leader;
  std::thread thread([&] {
    leader = attempt([&] { kShutDown(Processes::join(config_of(0, "a"), within_ms(60'000))); });
  });
  const Outcome stranger = attempt([&] { Processes::join(config_of(1, "b"), within_ms(60'000)); });
  EXPECT_EQ(stranger.status, Status::kMismatch);
  EXPECT_THAT(stranger.text, HasSubstr("is of job \"b\", process 0"));
  const Outcome member =
      attempt([&] { kShutDown(Processes::join(config_of(1, "a"), within_ms(60'000))); });
  thread.join();
  EXPECT_EQ(leader.status, Status::kOk) << leader.text;
  EXPECT_EQ(member.status, Status::kOk) << member.text;

  const auto run = [](int64_t ms) {
    return run_job(
        2, kShutDown, [](JoinConfig& config) { config.job = config.process == 0 ? "a" : "b"; }, ms);
  };
  const auto alone = run_until_told(400, run, [](const std::vector<Outcome>& outcomes) {
    return all_say("; turned away: ")({outcomes[0]});
  });
  EXPECT_EQ(alone[0].status, Status::kTimeout);
  EXPECT_THAT(alone[0].text, HasSubstr("; turned away: process 1 on host "));
  EXPECT_THAT(alone[0].text, HasSubstr(" for its job \"b\""));
}

// The port is free for another job of the same processes as soon as the first one has met.
TEST_F(Join, TwoJobsAtOnePort) {
  const int port = free_port();
  std::vector<Outcome> outcomes(2);
  std::vector<std::thread> threads;
  for (const int p : {0, 1})
    threads.emplace_back([&, p] {
      outcomes[p] = attempt([&] {
        const auto first = Processes::join(job_config(port, p, 2), within_ms(60'000));
        const auto second = Processes::join(job_config(port, p, 2), within_ms(60'000));
        kShutDown(second);
        kShutDown(first);
      });
    });
  for (std::thread& thread : threads) thread.join();
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
}

TEST_F(Join, TheTokenIsAskedForBothWays) {
  const TempDir dir;
  const std::string right = token_file(dir, "right", 'a'), wrong = token_file(dir, "wrong", 'b');
  for (const Outcome& outcome :
       run_job(3, kShutDown, [&](JoinConfig& config) { config.token_file = right; }))
    EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;

  const struct {
    std::string leader, member;
    const char* expected;
  } cases[] = {{right, wrong, "the tokens differ"},
               {right, "", "process 0 asks for the job's token"},
               {"", right, "this process has a token, and process 0 has none"}};
  for (const auto& one : cases) {
    const auto run = [&](int64_t ms) {
      return run_job(
          2, kShutDown,
          [&](JoinConfig& config) {
            config.token_file = config.process == 0 ? one.leader : one.member;
          },
          ms);
    };
    const auto told = [](const std::vector<Outcome>& outcomes) {
      return outcomes[1].status != Status::kTimeout && all_say("; turned away: ")({outcomes[0]});
    };
    const auto outcomes = run_until_told(400, run, told);
    EXPECT_EQ(outcomes[1].status, Status::kAuth) << outcomes[1].text;
    EXPECT_THAT(outcomes[1].text, HasSubstr(one.expected));
    EXPECT_EQ(outcomes[0].status, Status::kTimeout);
    EXPECT_THAT(outcomes[0].text, HasSubstr("missing: 1"));
    EXPECT_THAT(outcomes[0].text, HasSubstr("; turned away: 127.0.0.1 for a"));
  }
}

TEST_F(Join, TokenFilesThatOthersCouldRead) {
  const TempDir dir;
  const auto refused = [](const std::string& path) {
    return attempt([&] { comm::read_token(path); });
  };
  EXPECT_EQ(comm::read_token(token_file(dir, "good", 'a')), std::string(32, 'a'));
  EXPECT_EQ(comm::read_token(token_file(dir, "read-only", 'a', 0400)), std::string(32, 'a'));
  for (const mode_t mode : {0604, 0660, 0602, 0610}) {
    const Outcome outcome = refused(token_file(dir, "open", 'a', mode));
    EXPECT_EQ(outcome.status, Status::kAuth);
    EXPECT_THAT(outcome.text, HasSubstr("expected mode 0600"));
  }
  // Files of root may be for a group, as those of Kubernetes' secrets with an fsGroup are.
  for (const mode_t mode : {0640, 0440}) {
    const std::string path = token_file(dir, mode == 0640 ? "group" : "group-read-only", 'a', mode);
    const bool of_root = geteuid() == 0;
    EXPECT_EQ(refused(path).status, of_root ? Status::kOk : Status::kAuth);
    if (of_root && chown(path.c_str(), 65532, 65532) == 0) {
      EXPECT_THAT(refused(path).text, HasSubstr("0640 is accepted only if root owns the file"));
    }
  }
  const std::string small = dir.write("small", std::string(31, 'a'));
  chmod(small.c_str(), 0600);
  EXPECT_THAT(refused(small).text, HasSubstr("expected 32 to 1024 bytes, found 31"));
  const std::string large = dir.write("large", std::string(1025, 'a'));
  chmod(large.c_str(), 0600);
  EXPECT_THAT(refused(large).text, HasSubstr("found 1025"));
  EXPECT_EQ(refused(dir.file("none")).status, Status::kNotFound);
}

// Bytes of strangers leave nothing allocated, and the job starts.
TEST_F(Join, StrangersAtThePort) {
  const TempDir dir;
  const std::string token = token_file(dir, "token", 'a');
  const int port = free_port();
  const auto config_of = [&](int process) {
    JoinConfig config = job_config(port, process, 2);
    config.token_file = token;
    return config;
  };
  Outcome leader;
  std::thread thread([&] {
    leader = attempt([&] { kShutDown(Processes::join(config_of(0), within_ms(60'000))); });
  });
  {
    RawClient mute(port), junk(port), web(port), large(port);
    ASSERT_TRUE(mute.connected() && junk.connected() && web.connected() && large.connected());
    junk.send(std::string(72, '\xff'));
    web.send("GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: a rather long one indeed\r\n\r\n");
    large.send(std::string(1 << 20, 'x'));
    bool closed = false;
    for (const RawClient* client : {&junk, &web, &large}) {
      client->read_all(20'000, &closed);
      EXPECT_TRUE(closed);
    }
    // A stranger that knows the greeting, but not the token.
    RawClient liar(port);
    comm::FrameBuffer in(1 << 10);
    std::string out;
    const std::string guess(32, 'b');
    comm::ClientHandshake handshake(guess);
    bool more = false;
    EXPECT_TRUE(liar.read_until(in, &more, [&] {
      EXPECT_FALSE(handshake.advance(in, out));
      return !out.empty();
    }));
    liar.send(out);
    in.append(liar.read_all(20'000, &closed));
    EXPECT_TRUE(closed);
    EXPECT_EQ(attempt([&] { handshake.advance(in, out); }).status, Status::kAuth);
    // A silent connection is closed after five seconds.
    std::thread silence([&] {
      const auto start = std::chrono::steady_clock::now();
      bool put_out = false;
      mute.read_all(20'000, &put_out);
      EXPECT_TRUE(put_out);
      EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(8));
    });
    // Ten thousand connections: memory of the first thousand serves the later ones.
    int64_t resident = 0;
    for (int i = 0; i < 10'000; ++i) {
      RawClient client(port);
      if (i % 2 == 0) client.send("junk");
      if (i == 1'000) resident = resident_bytes();
    }
    silence.join();
    EXPECT_LT(resident_bytes() - resident, kGrowth);
  }
  const Outcome member =
      attempt([&] { kShutDown(Processes::join(config_of(1), within_ms(60'000))); });
  thread.join();
  EXPECT_EQ(leader.status, Status::kOk) << leader.text;
  EXPECT_EQ(member.status, Status::kOk) << member.text;
}

// Without a token any program of the machine can claim to be process 1. Its later frames are
// dropped, and the true process finds its place free.
TEST_F(Join, AFalseMemberThatSpeaksIsPutOut) {
  const int port = free_port();
  const std::string version = "of this test";
  const auto come = [&](int process) {
    return attempt([&] {
      JoinConfig config = job_config(port, process, 3);
      config.version = version;
      kShutDown(Processes::join(config, within_ms(60'000)));
    });
  };
  Outcome leader;
  std::thread thread([&] { leader = come(0); });
  {
    RawClient liar(port);
    ASSERT_TRUE(liar.connected());
    comm::FrameBuffer in(1 << 10);
    std::string out;
    const std::string no_token;
    comm::ClientHandshake handshake(no_token);
    bool closed = false;
    EXPECT_TRUE(liar.read_until(in, &closed, [&] {
      EXPECT_FALSE(handshake.advance(in, out));
      return !out.empty();
    }));
    comm::FrameWriter identity(comm::FrameKind::kIdentity);
    identity.text(comm::join::kProtocolVersion);
    identity.text(version);
    identity.text("this machine");
    identity.i64(getpid());
    identity.i64(1);
    identity.text("");
    identity.i64(3);
    identity.text("");
    const comm::SessionKeys keys = handshake.keys();
    identity.text(comm::bytes_of(comm::make_mac(comm::bytes_of(keys.identity), identity.fields())));
    liar.send(out + identity.finish());
    EXPECT_TRUE(liar.read_until(in, &closed, [&] { return handshake.advance(in, out); }));
    in.expect_seal(keys.to_member);
    auto roster = in.next();
    if (!roster) liar.read_until(in, &closed, [&] { return (roster = in.next()).has_value(); });
    EXPECT_FALSE(closed);
    ASSERT_TRUE(roster && roster->kind == comm::FrameKind::kRoster);
    const int64_t before = resident_bytes();
    liar.send(std::string(64 << 20, 'x'));
    liar.read_all(20'000, &closed);
    EXPECT_TRUE(closed);
    EXPECT_LT(resident_bytes() - before, kGrowth);
  }
  Outcome members[2];
  std::thread second([&] { members[1] = come(2); });
  members[0] = come(1);
  second.join();
  thread.join();
  EXPECT_EQ(leader.status, Status::kOk) << leader.text;
  for (const Outcome& member : members) EXPECT_EQ(member.status, Status::kOk) << member.text;
}

// A message of process 0 to a joining process counts only with the token's proof.
TEST_F(Join, AFalseProcessZeroIsFoundOut) {
  const TempDir dir;
  const comm::Socket listener =
      comm::Socket::listen(comm::resolve("127.0.0.1", 0, within_ms(1000))[0]);
  std::thread impostor([&] {
    comm::Socket client;
    while (!client.open()) {
      client = listener.accept();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    std::string out;
    const std::string guess(32, 'b');
    comm::ServerHandshake handshake(guess, out);
    client.write(out);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    std::string yes(1, '\x01');
    yes += std::string(32, 'z');
    client.write(yes);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  });
  JoinConfig config = job_config(listener.local().port(), 1, 2);
  config.token_file = token_file(dir, "token", 'a');
  const Outcome outcome = attempt([&] { Processes::join(config, within_ms(60'000)); });
  impostor.join();
  EXPECT_EQ(outcome.status, Status::kAuth);
  EXPECT_THAT(outcome.text, HasSubstr("does not know the token"));
}

TEST_F(Join, TheAddressIsTakenFromABoard) {
  const auto words = std::make_shared<SharedBoard::Words>();
  // An old address of a dead process 0: it is tried, and looked up again.
  words->map["gnnmg/job/3"] = base::text("127.0.0.1:", free_port());
  const comm::OpenBoard open = [&](const std::string& host, int32_t, const comm::Wait&) {
    EXPECT_EQ(host, "localhost");
    return std::make_unique<SharedBoard>(words);
  };
  std::vector<Outcome> outcomes(2);
  std::vector<std::thread> threads;
  for (const int p : {1, 0}) {
    threads.emplace_back([&, p] {
      outcomes[p] = attempt([&] {
        JoinConfig config = job_config(29500, p, 2);
        config.host = "localhost";
        config.agent_store = true;
        config.job = "job";
        config.restart = "3";
        kShutDown(Processes::join(config, within_ms(60'000), open));
      });
    });
    if (p == 1) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  for (std::thread& thread : threads) thread.join();
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
  EXPECT_EQ(words->map.size(), 1u);

  words->map["gnnmg/job/3"] = "somewhere";
  JoinConfig config = job_config(29500, 1, 2);
  config.host = "localhost";
  config.agent_store = true;
  config.job = "job";
  config.restart = "3";
  const Outcome bad = attempt([&] { Processes::join(config, within_ms(60'000), open); });
  EXPECT_EQ(bad.status, Status::kProtocol);
  EXPECT_THAT(bad.text, HasSubstr("expected an address and a port"));
}

}  // namespace
}  // namespace gnnmg::test
