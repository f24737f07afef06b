// An attacker without the token between the processes of a job: forwarding works, and every change
// is noticed. A writer to torchrun's store can get into that position.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>

#include "comm/jobs.h"
#include "comm/join/handshake.h"
#include "comm/join/join.h"
#include "comm/relay.h"
#include "comm/shared_board.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

using base::Status;
using comm::JoinConfig;
using comm::Processes;
using testing::AnyOf;
using testing::HasSubstr;
using JobPtr = std::shared_ptr<Processes>;

constexpr char kKey[] = "gnnmg/job/0";

void speak(const JobPtr& job) {
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(job->gather("numbers", std::to_string(job->process()), within_ms(20'000))[1], "1");
  job->shutdown(within_ms(20'000));
}

class RelayTest : public testing::Test {
 protected:
  RelayTest() {
    token_ = dir_.write("token", std::string(32, 'a'));
    chmod(token_.c_str(), 0600);
  }
  JoinConfig config_of(int port, int process) const {
    JoinConfig config = job_config(port, process, 2);
    config.token_file = token_;
    return config;
  }
  // A job of two processes whose member connects through the relay.
  std::vector<Outcome> run_through(const Relay::Change& change, int64_t join_ms = 20'000) const {
    const int port = free_port();
    const Relay relay(port, change);
    return run({config_of(port, 0), config_of(relay.port(), 1)}, {}, join_ms);
  }
  static std::vector<Outcome> run(const std::vector<JoinConfig>& configs,
                                  const comm::OpenBoard& board, int64_t join_ms) {
    std::vector<Outcome> outcomes(configs.size());
    std::vector<std::thread> threads;
    for (size_t p = 0; p < configs.size(); ++p)
      threads.emplace_back([&, p] {
        outcomes[p] =
            attempt([&] { speak(Processes::join(configs[p], within_ms(join_ms), board)); });
      });
    for (std::thread& thread : threads) thread.join();
    return outcomes;
  }
  TempDir dir_;
  std::string token_;
};

// The relay acts like address translation or a tunnel.
TEST_F(RelayTest, WhoChangesNothingDoesNoHarm) {
  for (const Outcome& outcome : run_through(unchanged))
    EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
}

// The error that each side must report when the n-th frame of a direction is replaced.
void expect_found_out(const std::vector<Outcome>& outcomes, const std::string& what) {
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.status, Status::kAuth) << what << ": " << outcome.text;
    EXPECT_THAT(outcome.text, HasSubstr("was changed on its way")) << what;
    EXPECT_LT(outcome.seconds, 10) << what;
  }
}

// Every frame, the roster and the welcome as well as exchanges of the job. The first frame to
// process 0 is the identity: if its number is lost too, process 0 waits for the missing processes
// to tell them.
TEST_F(RelayTest, ABitOfAnyFrameIsMissed) {
  for (const Way way : {Way::kToLeader, Way::kToMember})
    for (int number = 0; number < 4; ++number)
      for (const int place : {0, 1, 3, 4, 5, 20, 21, 22, -40, -17, -1}) {
        if (way == Way::kToLeader && number == 0 && place >= 0) continue;
        const auto flip = [&](Way w, int n, const std::string& frame) {
          std::string changed = frame;
          const size_t at = (changed.size() + static_cast<size_t>(place)) % changed.size();
          if (w == way && n == number) changed[at] ^= 1;
          return std::vector<std::string>{changed};
        };
        expect_found_out(run_through(flip), base::text(way == Way::kToLeader ? "up " : "down ",
                                                       number, ", byte ", place));
      }
}

TEST_F(RelayTest, FramesThatAreLeftOutRepeatedOrOfTheOtherSide) {
  const struct {
    const char* name;
    std::function<std::vector<std::string>(const std::string& frame, const std::string& before,
                                           const std::string& other)>
        instead;
  } cases[] = {{"left out", [](auto&, auto&, auto&) { return std::vector<std::string>{}; }},
               {"repeated", [](auto& frame, auto&, auto&) { return std::vector{frame, frame}; }},
               {"the one before", [](auto&, auto& before, auto&) { return std::vector{before}; }},
               {"the other side's", [](auto&, auto&, auto& other) { return std::vector{other}; }},
               {"made up", [](auto& frame, auto&, auto&) {
                  std::string own(
                      "\x03\0\0\0\x8b"
                      "0123456789abcdef"
                      "abc"
                      "0123456789abcdef",
                      40);
                  return std::vector{own, frame};
                }}};
  for (const Way way : {Way::kToLeader, Way::kToMember})
    for (const auto& one : cases) {
      std::mutex mutex;
      std::string last[2];
      std::atomic<bool> done{false};
      const auto change = [&](Way w, int number, const std::string& frame) {
        std::lock_guard lock(mutex);
        const std::string before = last[w == Way::kToLeader], other = last[w != Way::kToLeader];
        last[w == Way::kToLeader] = frame;
        if (w != way || number < 3 || before.empty() || other.empty() || done.exchange(true))
          return std::vector<std::string>{frame};
        return one.instead(frame, before, other);
      };
      expect_found_out(run_through(change),
                       base::text(one.name, way == Way::kToLeader ? " up" : " down"));
    }
}

// A frame of one connection is invalid on another, although the token is the same.
TEST_F(RelayTest, FramesOfAnotherJob) {
  std::vector<std::string> recorded;
  std::mutex mutex;
  run_through([&](Way way, int, const std::string& frame) {
    std::lock_guard lock(mutex);
    if (way == Way::kToMember) recorded.push_back(frame);
    return std::vector<std::string>{frame};
  });
  ASSERT_GT(recorded.size(), 3u);
  expect_found_out(run_through([&](Way way, int number, const std::string& frame) {
                     return std::vector{way == Way::kToMember && number == 2 ? recorded[2] : frame};
                   }),
                   "of another job");
}

// A first frame that cannot be read as an identity: nobody is admitted, and both sides end at the
// deadline.
TEST_F(RelayTest, AFirstFrameThatIsNone) {
  for (const size_t place : {1, 4}) {
    const auto outcomes = run_through(
        [&](Way way, int number, const std::string& frame) {
          std::string changed = frame;
          if (way == Way::kToLeader && number == 0) changed[place] ^= 0x40;
          return std::vector<std::string>{changed};
        },
        400);
    for (const Outcome& outcome : outcomes) {
      EXPECT_EQ(outcome.status, Status::kTimeout) << outcome.text;
      EXPECT_LT(outcome.seconds, 3);
    }
    EXPECT_THAT(outcomes[0].text, HasSubstr("missing: 1"));
    EXPECT_THAT(outcomes[1].text, HasSubstr("process 0 cannot be reached at 127.0.0.1:"));
  }
}

// A member that finds process 0 through a store, to which somebody else writes.
class RelayByTheStore : public RelayTest {
 protected:
  JoinConfig led(int process) const {
    JoinConfig config = config_of(29500, process);
    config.agent_store = true;
    config.job = "job";
    return config;
  }
  // Returns the store's answer after process 0 has published an address.
  struct Board final : SharedBoard {
    Board(std::shared_ptr<Words> shared, std::function<std::string(const std::string&)> lead_to)
        : SharedBoard(std::move(shared)), lead(std::move(lead_to)) {}
    void publish(const std::string& key, const std::string& value) override {
      SharedBoard::publish(key, lead(value));
    }
    std::function<std::string(const std::string&)> lead;
  };
  std::vector<Outcome> run_led(const std::function<std::string(const std::string&)>& lead,
                               int64_t join_ms) const {
    const auto words = std::make_shared<SharedBoard::Words>();
    return run(
        {led(0), led(1)},
        [&](const std::string&, int32_t, const comm::Wait&) {
          return std::make_unique<Board>(words, lead);
        },
        join_ms);
  }
};

int port_in(const std::string& address) {
  return std::stoi(address.substr(address.rfind(':') + 1));
}

TEST_F(RelayByTheStore, IsFoundOutWhateverHePassesOn) {
  for (const bool with_token : {true, false}) {
    if (!with_token) token_ = "";
    std::unique_ptr<Relay> relay;
    std::string told;
    const auto outcomes = run_led(
        [&](const std::string& address) {
          told = address;
          relay = std::make_unique<Relay>(port_in(address), unchanged);
          return base::text("127.0.0.1:", relay->port());
        },
        20'000);
    for (const Outcome& outcome : outcomes) {
      EXPECT_EQ(outcome.status, Status::kAuth) << outcome.text;
      EXPECT_THAT(outcome.text,
                  HasSubstr(base::text("was led to \"127.0.0.1:", relay->port(),
                                       "\" by the store at 127.0.0.1:29500 (", kKey)));
      EXPECT_THAT(outcome.text, HasSubstr(base::text("has written \"", told, "\"")));
      EXPECT_THAT(outcome.text, HasSubstr("somebody else writes to that store"));
      EXPECT_LT(outcome.seconds, 10);
    }
  }
}

TEST_F(RelayByTheStore, ChangesAFirstFrameThatTells) {
  std::unique_ptr<Relay> relay;
  std::string told;
  const auto outcomes = run_led(
      [&](const std::string& address) {
        told = address;
        relay = std::make_unique<Relay>(
            port_in(address), [&](Way way, int number, const std::string& frame) {
              std::string changed = frame;
              const std::string own = base::text("127.0.0.1:", relay->port());
              if (way == Way::kToLeader && number == 0)
                if (const size_t at = changed.find(own); at != std::string::npos)
                  changed.replace(at, own.size(), told);
              return std::vector<std::string>{changed};
            });
        return base::text("127.0.0.1:", relay->port());
      },
      20'000);
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.status, Status::kAuth) << outcome.text;
    EXPECT_THAT(outcome.text, HasSubstr("somebody stands between the processes"));
    EXPECT_LT(outcome.seconds, 10);
  }
}

// The relay drops process 0's messages about the change, or cuts the connection.
TEST_F(RelayByTheStore, LeavesOutWhatTells) {
  std::unique_ptr<Relay> relay;
  const auto outcomes = run_led(
      [&](const std::string& address) {
        relay =
            std::make_unique<Relay>(port_in(address), [](Way way, int, const std::string& frame) {
              return std::vector<std::string>{way == Way::kToMember ? frame.substr(0, 30) : frame};
            });
        return base::text("127.0.0.1:", relay->port());
      },
      20'000);
  EXPECT_EQ(outcomes[0].status, Status::kAuth) << outcomes[0].text;
  EXPECT_EQ(outcomes[1].status, Status::kPeerLost) << outcomes[1].text;
  EXPECT_THAT(outcomes[1].text,
              HasSubstr(base::text("process 0 has proven itself at 127.0.0.1:", relay->port())));
  for (const Outcome& outcome : outcomes) EXPECT_LT(outcome.seconds, 10);
}

TEST_F(RelayByTheStore, WhoWritesNothingIsNotInTheWay) {
  for (const Outcome& outcome : run_led([](const std::string& address) { return address; }, 20'000))
    EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
}

// A false address costs the job, but takes no longer than the time to join, and both sides name the
// false address.
TEST_F(RelayByTheStore, AFalseAddressEndsWithTheTimeToJoin) {
  const comm::Socket mute = comm::Socket::listen(comm::resolve("127.0.0.1", 0, within_ms(1000))[0]);
  const std::string addresses[] = {mute.local().text(), base::text("127.0.0.1:", free_port()),
                                   "192.0.2.1:4000"};
  for (const std::string& address : addresses) {
    const auto outcomes = run_led([&](const std::string&) { return address; }, 300);
    for (const Outcome& outcome : outcomes) {
      EXPECT_EQ(outcome.status, Status::kTimeout) << outcome.text;
      EXPECT_THAT(outcome.text, HasSubstr(address));
      EXPECT_LT(outcome.seconds, 3);
    }
    EXPECT_THAT(outcomes[0].text, HasSubstr("somebody else writes to that store"));
  }
  const auto outcomes =
      run_led([](const std::string&) { return std::string(1 << 20, '\x07'); }, 300);
  EXPECT_EQ(outcomes[1].status, Status::kProtocol);
  EXPECT_THAT(outcomes[1].text, HasSubstr("expected an address and a port"));
  for (const Outcome& outcome : outcomes) {
    EXPECT_LT(outcome.text.size(), 1000u);
  }
}

// A member of an older version says so before frames are sealed, and so does an older process 0.
TEST_F(RelayTest, VersionsBeforeTheSealAreToldSo) {
  const int port = free_port();
  Outcome leader;
  std::thread thread([&] {
    leader = attempt([&] { speak(Processes::join(config_of(port, 0), within_ms(20'000))); });
  });
  {
    RawClient old(port);
    comm::FrameBuffer in(1 << 12);
    std::string out;
    const std::string token(32, 'a');
    comm::ClientHandshake handshake(token);
    bool closed = false;
    EXPECT_TRUE(old.read_until(in, &closed, [&] {
      EXPECT_FALSE(handshake.advance(in, out));
      return !out.empty();
    }));
    comm::FrameWriter identity(comm::FrameKind::kIdentity);
    for (const char* text : {"5", "0.0.1", "far"}) identity.text(text);
    for (const int64_t number : {int64_t{7}, int64_t{1}}) identity.i64(number);
    identity.text("");
    identity.i64(2);
    old.send(out + identity.finish());
    in.append(old.read_all(20'000, &closed));
    EXPECT_TRUE(handshake.advance(in, out));
    const auto refused = in.next();
    ASSERT_TRUE(refused && refused->kind == comm::FrameKind::kRefused);
    comm::FrameReader reader(refused->body);
    EXPECT_EQ(reader.i64(), static_cast<int32_t>(Status::kMismatch));
    EXPECT_THAT(reader.text(), HasSubstr("has protocol 5, process 0 on host"));
  }
  thread.join();
  EXPECT_EQ(leader.status, Status::kMismatch) << leader.text;

  const Outcome member = run_through([](Way way, int, const std::string& frame) {
    if (way == Way::kToLeader) return std::vector<std::string>{frame};
    comm::FrameWriter refused(comm::FrameKind::kRefused);
    refused.i64(static_cast<int32_t>(Status::kMismatch));
    refused.text("process 1 has protocol 6, process 0 has protocol 5");
    return std::vector<std::string>{refused.finish()};
  })[1];
  EXPECT_EQ(member.status, Status::kMismatch);
  EXPECT_THAT(member.text, HasSubstr("process 0 speaks a protocol before 6"));
}

}  // namespace
}  // namespace gnnmg::test
