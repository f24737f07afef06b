// A member that knows the token and the protocol, and writes frames that a correct process would
// not: the others name it for any bytes. Also a member that reads the end slowly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "comm/jobs.h"
#include "comm/join/control.h"

namespace gnnmg::test {
namespace {

using base::Status;
using comm::Frame;
using comm::FrameKind;
using comm::FrameWriter;
using testing::HasSubstr;
using JobPtr = std::shared_ptr<comm::Processes>;

constexpr int kSelf = 1;   // process number of the hostile member
constexpr int kWorld = 3;  // one rank per process
constexpr uint64_t kGroup = 1;

// A member under the control of the test: it has joined and does nothing by itself.
class Member {
 public:
  explicit Member(int port, int process = kSelf)
      : joined_(comm::join_processes(job_config(port, process, kWorld), within_ms(60'000), {})) {}
  void send(std::string_view frame) {
    connection().send(frame);
    std::string& bytes = connection().out;
    while (!bytes.empty() && connection().socket.write(bytes) != comm::Socket::Result::kClosed)
      std::this_thread::yield();
  }
  // Contributes to an exchange.
  void bring(const std::string& name, uint64_t exchange = kGroup) {
    FrameWriter gather(FrameKind::kGather);
    gather.u64(exchange);
    gather.text(name);
    gather.text("");
    send(gather.finish());
  }
  // Reads until a frame of this kind comes, or the connection ends.
  bool wait_for(FrameKind kind) {
    while (true) {
      while (const auto frame = connection().in.next())
        if (frame->kind == kind) return true;
      std::vector<comm::PollEntry> entries{{connection().socket.fd(), false, false, false}};
      poll_sockets(entries, 1000);
      if (!entries[0].readable) continue;
      std::string bytes;
      if (connection().socket.read(bytes) == comm::Socket::Result::kClosed) return false;
      connection().in.append(bytes);
    }
  }

 private:
  comm::Connection& connection() { return joined_.connections[0]; }
  comm::Joined joined_;
};

// Runs `body` in processes 0 and 2 and `hostile` in the member between them; returns the outcomes.
std::vector<Outcome> run_with(const std::function<void(Member&)>& hostile, const JobBody& body) {
  const int port = free_port();
  std::vector<Outcome> outcomes(kWorld);
  std::vector<std::thread> threads;
  for (int p = 0; p < kWorld; ++p)
    threads.emplace_back([&, p] {
      outcomes[p] = attempt([&] {
        if (p != kSelf)
          return body(comm::Processes::join(job_config(port, p, kWorld), within_ms(60'000)));
        Member member(port);
        hostile(member);
      });
    });
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

// Plays the member's part in meet(); the other ranks wait for its rank afterwards.
void come_to_meet(Member& member) {
  member.bring("state");
  EXPECT_TRUE(member.wait_for(FrameKind::kGathered));
  EXPECT_TRUE(member.wait_for(FrameKind::kCame));
  EXPECT_TRUE(member.wait_for(FrameKind::kCame));
}

// Makes a communicator without an engine, and waits for all ranks.
void meet(const JobPtr& job) {
  uint64_t number = 0;
  job->control()->gather("state", "", within_ms(60'000), comm::Ending::kForArrived, &number);
  ASSERT_EQ(number, kGroup);
  const std::vector<int> first_ranks{0, 1, 2, 3};
  auto state =
      std::make_shared<comm::GroupState>(kWorld, job->control()->link(number, first_ranks));
  job->control()->add_group(number, first_ranks, state,
                            [state](const comm::Cause& cause) { state->end_elsewhere(cause); });
  state->meet(job->process(), 0, "rendezvous", within_ms(60'000));
}

FrameWriter word(FrameKind kind, uint32_t rank) {
  FrameWriter frame(kind);
  frame.u64(kGroup);
  frame.u32(rank);
  frame.u64(1);
  return frame;
}

std::string call(uint32_t rank, const std::vector<int64_t>& sent,
                 const std::vector<int64_t>& received) {
  FrameWriter frame = word(FrameKind::kCame, rank);
  frame.text("all_to_all");
  frame.text("f32");
  frame.list(sent);
  frame.list(received);
  frame.text("");
  return frame.finish();
}

std::string beat(uint32_t processes, uint32_t rank) {
  FrameWriter frame(FrameKind::kBeat);
  frame.u32(processes);
  for (uint32_t p = 0; p < processes; ++p) {
    frame.i64(0);
    frame.u8(0);
  }
  frame.u32(1);
  frame.u64(kGroup);
  frame.u32(1);
  frame.u32(rank);
  for (int i = 0; i < 3; ++i) frame.i64(-1);
  frame.u8(255);
  frame.i64(-1);
  return frame.finish();
}

std::string ending(FrameKind kind, Status status, int rank) {
  FrameWriter frame(kind);
  frame.u64(kGroup);
  write_cause(frame, {status, "so it is said", rank, comm::kEveryOperation, {rank}});
  return frame.finish();
}

std::string verdict(FrameKind kind) {
  FrameWriter frame(kind);
  frame.u64(2);
  frame.text("");
  frame.u32(0);
  return frame.finish();
}

std::string call_of(const std::string& detail) {
  FrameWriter frame = word(FrameKind::kCame, 1);
  frame.text("all_reduce");
  frame.text(detail);
  frame.list({});
  frame.list({});
  frame.text("");
  return frame.finish();
}

std::string gather(uint64_t exchange) {
  FrameWriter frame(FrameKind::kGather);
  frame.u64(exchange);
  frame.text("state");
  frame.text("");
  return frame.finish();
}

std::string cut_short() {
  FrameWriter frame(FrameKind::kGather);
  frame.u64(2);
  return frame.finish();
}

std::string with_rest() {
  FrameWriter frame(FrameKind::kPut);
  frame.u64(kGroup);
  frame.text("key");
  frame.text("value");
  frame.text("and more");
  return frame.finish();
}

struct Words {
  const char* name;
  std::string bytes;
  const char* found;  // expected part of the text
};

std::vector<Words> hostile_words() {
  return {
      {"RankOfNobody", word(FrameKind::kLeft, 7).finish(), "rank 7 is not one of its own"},
      {"RankBelowZero", word(FrameKind::kLeft, ~0u).finish(),
       "rank 4294967295 is not one of its own"},
      {"RankOfProcess0", word(FrameKind::kLeft, 0).finish(), "rank 0 is not one of its own"},
      {"RankOfAnother", word(FrameKind::kLeft, 2).finish(), "rank 2 is not one of its own"},
      {"PositionOfNobody", beat(1, ~0u), "rank 4294967295 is not one of its own"},
      {"PositionOfAnother", beat(1, 2), "rank 2 is not one of its own"},
      {"BeatOfAll", beat(3, 1), "a beat of 3 processes"},
      {"SizesOfOneSide", call(1, {1, 2, 3}, {}), "a call with 3 and 0 sizes in a world of 3"},
      {"TooManySizes", call(1, {1, 2, 3, 4}, {1, 2, 3, 4}), "a call with 4 and 4 sizes"},
      {"EndThatIsNone", ending(FrameKind::kEnded, Status::kOk, 1), "a cause with status 0"},
      {"LossToldByAMember", ending(FrameKind::kJobEnded, Status::kPeerLost, 1 << 30),
       "a loss, which only process 0 may report"},
      {"VerdictOfAMember", verdict(FrameKind::kGathered), "a frame of kind 12 for process 0"},
      {"LostByAMember", verdict(FrameKind::kLost), "a frame of kind 13 for process 0"},
      {"CalledOffByAMember", verdict(FrameKind::kCalledOff), "a frame of kind 16 for process 0"},
      {"JoiningAgain", verdict(FrameKind::kWelcome), "a frame of kind 3 for process 0"},
      {"TooShort", cut_short(), "a frame ends where"},
      {"TooLong", with_rest(), "bytes too many"},
      {"CallWithoutEnd", call_of(std::string(100'000, 'x')),
       "a text of 100000 bytes, expected at most 65536"},
      {"FrameWithoutEnd", call_of(std::string(5'000'000, 'x')), "expected at most 4194304"},
      {"ExchangeFarAhead", gather(18), "exchange 18 is told of when 1 has begun here"},
      {"NoKind", std::string(64, '\xff'), "a frame of kind 127"},
      {"NoSize", std::string("\xff\xff\xff\x7f\x05", 5), "a frame of 2147483647 bytes"},
  };
}

class Hostile : public testing::TestWithParam<Words> {};

TEST_P(Hostile, IsNamedByTheOthers) {
  const auto outcomes = run_with(
      [](Member& member) {
        come_to_meet(member);
        member.send(GetParam().bytes);
        while (member.wait_for(FrameKind::kBeat)) {
        }  // process 0 closes the connection
      },
      meet);
  EXPECT_EQ(outcomes[kSelf].status, Status::kOk) << outcomes[kSelf].text;
  for (const int p : {0, 2}) {
    EXPECT_EQ(outcomes[p].status, Status::kPeerLost) << p;
    EXPECT_THAT(outcomes[p].text, HasSubstr("lost process 1 on host "));
    EXPECT_THAT(outcomes[p].text, HasSubstr("it sent a malformed message: "));
    EXPECT_THAT(outcomes[p].text, HasSubstr(GetParam().found));
    EXPECT_LT(outcomes[p].seconds, 20);
  }
}
INSTANTIATE_TEST_SUITE_P(Words, Hostile, testing::ValuesIn(hostile_words()),
                         [](const auto& each) { return each.param.name; });

// Memory that a member can occupy in others is limited, for existing and future communicators.
TEST(HostileMember, WordsWithoutEndAreNotKept) {
  for (const uint64_t group : {kGroup, kGroup + 1}) {
    const auto outcomes = run_with(
        [&](Member& member) {
          come_to_meet(member);
          for (int i = 0; i < 64; ++i) {
            FrameWriter put(FrameKind::kPut);
            put.u64(group + (group == kGroup ? 0 : i));
            put.text(base::text("key ", i));
            put.text(std::string(1 << 20, 'x'));
            member.send(put.finish());
          }
        },
        meet);
    for (const int p : {0, 2}) {
      EXPECT_EQ(outcomes[p].status, Status::kPeerLost) << p;
      EXPECT_THAT(outcomes[p].text, HasSubstr("values of ranks for each other of 33"));
      EXPECT_THAT(outcomes[p].text, HasSubstr("bytes, expected at most 33554432"));
    }
  }
}

TEST(HostileMember, WhatItSaysInAnErrorIsCut) {
  FrameWriter end(FrameKind::kJobEnded);
  end.u64(0);
  write_cause(end, {Status::kAborted, std::string(3'000'000, 'x'), 1, comm::kEveryOperation, {}});
  const auto outcomes = run_with(
      [&](Member& member) {
        come_to_meet(member);
        member.send(end.finish());
        while (member.wait_for(FrameKind::kBeat)) {
        }
      },
      meet);
  for (const int p : {0, 2}) {
    EXPECT_EQ(outcomes[p].status, Status::kAborted) << p;
    EXPECT_EQ(outcomes[p].text, std::string(comm::kTextLimit, 'x'));
  }
}

// Any change of one bit in a well-formed frame either has a meaning or not, and the job ends.
TEST(HostileMember, OneBitIsAnother) {
  FrameWriter left = word(FrameKind::kLeft, kSelf);
  for (const std::string& good :
       {left.finish(), call(kSelf, {1, 2, 3}, {1, 2, 3}), beat(1, kSelf)}) {
    uint32_t random = 5;
    for (int round = 0; round < 5; ++round) {
      random = random * 1664525 + 1013904223;
      std::string bad = good;
      bad[random / 65536 % bad.size()] ^= static_cast<char>(1 << (random / 256 % 8));
      const auto outcomes = run_with(
          [&](Member& member) {
            come_to_meet(member);
            member.send(bad);
          },
          meet);
      for (const int p : {0, 2}) EXPECT_LT(outcomes[p].seconds, 20) << outcomes[p].text;
    }
  }
}

// Only process 0 announces the end, so it leaves last.
TEST(SlowMember, ProcessZeroReturnsWhenTheOthersKnowOfTheEnd) {
  for (const bool says_so : {true, false}) {
    std::atomic<bool> knows{false};
    const auto outcomes = run_with(
        [&](Member& member) {
          member.bring(std::string(comm::kFinish));
          EXPECT_TRUE(member.wait_for(FrameKind::kGathered));
          std::this_thread::sleep_for(std::chrono::milliseconds(300));
          knows = true;
          if (!says_so) return;  // the connection closes, with the same effect
          member.send(FrameWriter(FrameKind::kEndKnown).finish());
          while (member.wait_for(FrameKind::kBeat)) {
          }
        },
        [&](const JobPtr& job) {
          job->shutdown(within_ms(60'000));
          if (job->process() == 0) {
            EXPECT_TRUE(knows);
          }
        });
    for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
  }
}

// Heartbeats that process 0 leaves unread do not delete its messages to the member.
TEST(SlowMember, LearnsTheCauseOfAnEndThatItReadsLate) {
  constexpr int kSlow = 2;
  const int port = free_port();
  std::atomic<bool> ended{false};
  std::thread hostile([&] {
    Member member(port);
    member.bring("state");
    EXPECT_TRUE(member.wait_for(FrameKind::kGathered));
    for (int i = 0; i < 3; ++i) {
      FrameWriter put(FrameKind::kPut);
      put.u64(kGroup);
      put.text(base::text("key ", i));
      put.text(std::string(1 << 20, 'x'));
      member.send(put.finish());
    }
    member.send(verdict(FrameKind::kLost));
    while (member.wait_for(FrameKind::kBeat)) {
    }
  });
  std::thread slow([&] {
    Member member(port, kSlow);
    member.bring("state");
    EXPECT_TRUE(member.wait_for(FrameKind::kGathered));
    while (!ended) member.send(beat(1, kSlow));
    for (int i = 0; i < 20; ++i) {
      member.send(beat(1, kSlow));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_TRUE(member.wait_for(FrameKind::kLost));
  });
  JobPtr job;
  const Outcome zero = attempt([&] {
    job = comm::Processes::join(job_config(port, 0, kWorld), within_ms(60'000));
    meet(job);
  });
  ended = true;
  job.reset();
  hostile.join();
  slow.join();
  EXPECT_EQ(zero.status, Status::kPeerLost) << zero.text;
}

TEST(SlowMember, ProcessZeroWaitsNoLongerThanTheDeadline) {
  std::atomic<int> returned{0};
  const auto outcomes = run_with(
      [&](Member& member) {
        member.bring(std::string(comm::kFinish));
        EXPECT_TRUE(member.wait_for(FrameKind::kGathered));
        while (returned < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      },
      [&](const JobPtr& job) {
        job->shutdown(within_ms(3000));
        ++returned;
      });
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.status, Status::kOk) << outcome.text;
}

}  // namespace
}  // namespace gnnmg::test
