// Servers that answer wrongly, late or not at all: the mini-batch is an error that names the part,
// and the next one, answered rightly, is whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "dist/part_sampler.h"
#include "dist/part_store.h"
#include "dist/parts_of.h"
#include "sample/reference.h"

namespace gnnmg {
namespace {

using base::Status;
using dist::Message;

// Changes the answers of another channel, or throws in their place.
class LyingChannel : public dist::Channel {
 public:
  using Lie = std::function<void(Message& answer)>;
  LyingChannel(std::unique_ptr<dist::Channel> honest, std::shared_ptr<Lie> lie)
      : honest_(std::move(honest)), lie_(std::move(lie)) {}
  std::unique_ptr<dist::Call> ask(int32_t part, std::span<const uint8_t> message) override {
    return std::make_unique<LyingCall>(honest_->ask(part, message), lie_);
  }

 private:
  class LyingCall : public dist::Call {
   public:
    LyingCall(std::unique_ptr<dist::Call> honest, std::shared_ptr<Lie> lie)
        : honest_(std::move(honest)), lie_(std::move(lie)) {}
    std::span<const uint8_t> wait(const base::Deadline& deadline,
                                  const base::CancelToken& cancel) override {
      const auto answer = honest_->wait(deadline, cancel);
      answer_.resize_discard(static_cast<int64_t>(answer.size()));
      std::memcpy(answer_.data(), answer.data(), answer.size());
      if (*lie_) (*lie_)(answer_);
      return answer_.span();
    }

   private:
    std::unique_ptr<dist::Call> honest_;
    std::shared_ptr<Lie> lie_;
    Message answer_;
  };
  std::unique_ptr<dist::Channel> honest_;
  std::shared_ptr<Lie> lie_;
};

// Two parts, the second of which is asked for.
struct World {
  World() {
    parts = test::parts_of(*graph, part_of, 2, {0}, {}, [&](auto honest) {
      return std::make_unique<LyingChannel>(std::move(honest), lie);
    });
    config.fanouts = {5, 5};
    sampler = dist::make_part_sampler(parts, config);
  }

  std::pair<Status, std::string> failure() {
    try {
      sampler->sample(seeds, key, workspace, sample, {});
    } catch (const base::Error& error) {
      return {error.status(), error.what()};
    }
    return {Status::kOk, ""};
  }
  std::pair<Status, std::string> failure_of(LyingChannel::Lie told) {
    *lie = std::move(told);
    auto found = failure();
    *lie = nullptr;
    sampler->sample(seeds, key, workspace, sample, {});
    test::expect_equal(sample, test::reference_sample(graph->csc(), config, seeds, key), config);
    return found;
  }

  graph::GraphRef graph = test::skewed_graph(400, 1000, 1);
  std::vector<uint16_t> part_of = test::hashed_parts(400, 2, 3);
  std::shared_ptr<LyingChannel::Lie> lie = std::make_shared<LyingChannel::Lie>();
  std::shared_ptr<const dist::Parts> parts;
  sample::NeighborConfig config;
  std::unique_ptr<sample::Sampler> sampler;
  std::vector<int64_t> seeds = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  sample::BatchKey key{7, base::Purpose::kSample, 1, 5};
  sample::Workspace workspace;
  sample::Sample sample;
};

auto says(Status status, const char* text) {
  return testing::Pair(status,
                       testing::AllOf(testing::StartsWith("part 1: "), testing::HasSubstr(text)));
}

LyingChannel::Lie byte(int64_t at, uint8_t value) {
  return [at, value](Message& answer) {
    answer[at] = value;
    dist::seal(answer);
  };
}

TEST(Hostile, AnswersThatCannotBe) {
  World world;
  const int64_t body = dist::kHeadBytes;
  EXPECT_THAT(world.failure_of([](Message& answer) { answer[60] ^= 1; }),
              says(Status::kProtocol, "its checksum differs"));
  EXPECT_THAT(world.failure_of([](Message& answer) { answer.resize_keep(20); }),
              says(Status::kProtocol, "a message of 20 bytes"));
  EXPECT_THAT(world.failure_of([](Message& answer) { answer.clear(); }),
              says(Status::kProtocol, "no message of this library"));
  EXPECT_THAT(world.failure_of([](Message& answer) {
    answer.resize_keep(answer.size() - 4);
    dist::seal(answer);
  }),
              says(Status::kProtocol, "a message ends"));
  EXPECT_THAT(world.failure_of([](Message& answer) {
    answer.resize_keep(answer.size() + 4);
    std::memset(answer.end() - 4, 0, 4);
    dist::seal(answer);
  }),
              says(Status::kProtocol, "4 bytes too many"));
  EXPECT_THAT(world.failure_of(byte(body, 6)), says(Status::kProtocol, "expected at most 5"));
  EXPECT_THAT(world.failure_of(byte(3, 2)), says(Status::kProtocol, "counts of 2 bytes"));
  EXPECT_THAT(world.failure_of(byte(16, 0xEE)), says(Status::kProtocol, "an answer to request"));
  EXPECT_THAT(world.failure_of(byte(24, 0xEE)), says(Status::kMismatch, "other data"));
  EXPECT_THAT(world.failure_of(byte(48, 0xEE)), says(Status::kProtocol, "an answer about"));
  EXPECT_THAT(world.failure_of(byte(11, 0)), says(Status::kProtocol, "expected an answer"));
  EXPECT_THAT(world.failure_of(byte(8, 2)), says(Status::kUnsupported, "version 2"));
  EXPECT_THAT(world.failure_of([](Message& answer) {
    std::memset(answer.end() - 4, 0xFF, 4);
    dist::seal(answer);
  }),
              says(Status::kProtocol, "the source 4294967295"));
}

TEST(Hostile, AnswersThatDoNotCome) {
  World world;
  EXPECT_THAT(
      world.failure_of([](Message&) { base::fail(Status::kTimeout, "no answer within 10 s"); }),
      says(Status::kTimeout, "no answer"));
  EXPECT_THAT(world.failure_of([](Message&) { base::fail(Status::kUnavailable, "refused"); }),
              says(Status::kUnavailable, "refused"));
}

// Questions that an honest server cannot answer.
TEST(Hostile, ServersRefuse) {
  const graph::GraphRef graph = test::skewed_graph(400, 1000, 1);
  const dist::Server server(test::cut_part(*graph, test::hashed_parts(400, 2, 3), 1), test::kStamp);
  dist::Question question;
  question.request = 1;
  question.stamp = test::kStamp;
  question.draw.fanout = 5;
  const auto refusal = [&](const dist::Question& asked, std::vector<int64_t> ids) {
    Message message, answer;
    dist::write_question(asked, ids, message);
    server.answer(message.span(), answer);
    dist::Picks picks;
    try {
      dist::read_picks(asked, static_cast<int64_t>(ids.size()), 400, answer.span(), picks);
    } catch (const base::Error& error) {
      return std::pair<Status, std::string>(error.status(), error.what());
    }
    return std::pair<Status, std::string>(Status::kOk, "");
  };
  std::vector<int64_t> own, other;
  const auto part_of = test::hashed_parts(400, 2, 3);
  for (int64_t node = 0; node < 400; ++node) (part_of[node] == 1 ? own : other).push_back(node);
  EXPECT_EQ(refusal(question, own).first, Status::kOk);
  using testing::HasSubstr, testing::Pair;
  EXPECT_THAT(refusal(question, other), Pair(Status::kRange, HasSubstr("none of this part's")));
  EXPECT_THAT(refusal(question, {400}), Pair(Status::kRange, HasSubstr("node 400")));
  EXPECT_THAT(refusal(question, {-1}), Pair(Status::kRange, HasSubstr("none of this part's")));
  dist::Question changed = question;
  changed.stamp = 1;
  EXPECT_THAT(refusal(changed, own), Pair(Status::kMismatch, HasSubstr("other data")));
  changed = question;
  changed.wide = true;
  EXPECT_THAT(refusal(changed, own), Pair(Status::kMismatch, HasSubstr("ids of another size")));
  changed = question;
  changed.edge_type = 1;
  EXPECT_THAT(refusal(changed, own), Pair(Status::kRange, HasSubstr("edge type 1")));
  for (const dist::Op op : {dist::Op::kRows, dist::Op::kSparseRows}) {
    changed = question;
    changed.op = op;
    EXPECT_THAT(refusal(changed, own), Pair(Status::kRange, HasSubstr("column 0")));
  }
  changed = question;
  changed.edge_columns = 2;
  EXPECT_THAT(refusal(changed, own), Pair(Status::kRange, HasSubstr("column 1 of the edges")));
  Message answer;
  const std::vector<uint8_t> junk(100, 7);
  EXPECT_THROW(server.answer(junk, answer), base::Error);
}

}  // namespace
}  // namespace gnnmg
