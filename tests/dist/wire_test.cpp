// The layout of messages, byte by byte, and the errors of bytes that are no message.
#include "dist/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"
#include "base/philox.h"

namespace gnnmg::dist {
namespace {

using base::Status;

Question sample_question() {
  Question question;
  question.request = 0x1122334455667788;
  question.stamp = 0x99AABBCCDDEEFF00;
  question.draw = {{0x01020304, 0x05060708}, 15, false};
  question.edge_type = 2;
  return question;
}

std::string hex(const Message& message) {
  std::string text;
  char digits[3];
  for (int64_t i = 0; i < message.size(); ++i) {
    std::snprintf(digits, sizeof digits, "%02x", message[i]);
    text += digits;
    if (i % 4 == 3) text += ' ';
  }
  return text;
}

Picks picks_of(std::vector<int64_t> counts, std::vector<int64_t> sources,
               std::vector<int64_t> edge_ids = {}) {
  Picks picks;
  const auto fill = [](base::PageVector<int64_t>& to, const std::vector<int64_t>& from) {
    to.resize_discard(static_cast<int64_t>(from.size()));
    std::copy(from.begin(), from.end(), to.begin());
  };
  fill(picks.counts, counts);
  fill(picks.sources, sources);
  fill(picks.edge_ids, edge_ids);
  return picks;
}

std::pair<Status, std::string> failure_of(const auto& call) {
  try {
    call();
  } catch (const base::Error& error) {
    return {error.status(), error.what()};
  }
  return {Status::kOk, ""};
}

// Others may write clients after the comment of wire.h; these bytes are its promise.
TEST(Wire, LayoutOfAQuestionAndItsAnswer) {
  Message message;
  write_question(sample_question(), std::vector<int64_t>{7, 258}, message);
  EXPECT_EQ(hex(message),
            "38000100 474e4d47 01000100 " + hex(message).substr(27, 8) +
                " 88776655 44332211 00ffeedd ccbbaa99 04030201 08070605 0f000000 02000000 02000000 "
                "00000000 07000000 02010000 ");
  write_picks(sample_question(), picks_of({1, 2}, {9, 10, 11}), message);
  EXPECT_EQ(hex(message),
            "38000101 474e4d47 01000101 " + hex(message).substr(27, 8) +
                " 88776655 44332211 00ffeedd ccbbaa99 04030201 08070605 0f000000 02000000 02000000 "
                "00000000 01020900 00000a00 00000b00 0000");
}

TEST(Wire, QuestionsReadBack) {
  for (int bits = 0; bits < 8; ++bits) {
    for (const Op op : {Op::kSample, Op::kRows, Op::kSparseRows}) {
      Question question = sample_question();
      question.op = op;
      question.wide = bits & 1;
      question.draw.replace = (bits & 6) == 2;
      question.draw.labor = (bits & 6) == 6;
      question.draw.fanout = bits & 2 ? -1 : 7;
      question.edge_ids = bits & 4;
      question.column = 3;
      const std::vector<int64_t> ids = {0, 5, question.wide ? int64_t{1} << 40 : INT32_MAX};
      Message message;
      write_question(question, ids, message);
      const Asked asked = read_question(message.span());
      EXPECT_EQ(asked.question.op, op);
      EXPECT_EQ(asked.question.request, question.request);
      EXPECT_EQ(asked.question.stamp, question.stamp);
      EXPECT_EQ(asked.question.wide, question.wide);
      if (op == Op::kSample) {
        EXPECT_EQ(asked.question.draw.key, question.draw.key);
        EXPECT_EQ(asked.question.draw.fanout, question.draw.fanout);
        EXPECT_EQ(asked.question.draw.replace, question.draw.replace);
        EXPECT_EQ(asked.question.draw.labor, question.draw.labor);
        EXPECT_EQ(asked.question.edge_ids, question.edge_ids);
        EXPECT_EQ(asked.question.edge_type, 2);
      } else {
        EXPECT_EQ(asked.question.column, 3);
      }
      ASSERT_EQ(asked.ids.size(), 3);
      std::vector<int64_t> read(3);
      asked.ids.copy_to(read.data());
      EXPECT_EQ(read, ids);
    }
  }
}

TEST(Wire, PicksReadBackInTheNarrowestForm) {
  const int64_t beyond = int64_t{1} << 33;
  struct Case {
    Picks picks;
    bool wide, edge_ids;
    int64_t body;
  };
  Case cases[] = {
      {picks_of({2, 0, 1}, {4, 5, 6}), false, false, 3 + 12},
      {picks_of({2, 0, 1}, {4, 5, beyond}), true, false, 3 + 24},
      {picks_of({1}, {4}, {8}), false, true, 1 + 4 + 4},
      {picks_of({1}, {4}, {beyond}), false, true, 1 + 4 + 8},
      {picks_of({}, {}), false, true, 0},
      {picks_of({256}, std::vector<int64_t>(256, 3)), false, false, 4 + 4 * 256},
      {picks_of({255}, std::vector<int64_t>(255, 3)), false, false, 1 + 4 * 255},
  };
  for (Case& c : cases) {
    Question question = sample_question();
    question.draw.fanout = -1;
    question.wide = c.wide;
    question.edge_ids = c.edge_ids;
    Message message;
    write_picks(question, c.picks, message);
    EXPECT_EQ(message.size(), kHeadBytes + c.body);
    Picks read = picks_of({9, 9}, {9}, {9});
    read_picks(question, c.picks.num_rows(), beyond + 1, message.span(), read);
    EXPECT_THAT(read.counts.span(), testing::ElementsAreArray(c.picks.counts.span()));
    EXPECT_THAT(read.sources.span(), testing::ElementsAreArray(c.picks.sources.span()));
    EXPECT_THAT(read.edge_ids.span(), testing::ElementsAreArray(c.picks.edge_ids.span()));
  }
}

TEST(Wire, RowsOfEdgesTravelWithThePicks) {
  Question question = sample_question();
  question.edge_columns = 0b101;
  Message message;
  write_question(question, std::vector<int64_t>{7, 258}, message);
  EXPECT_EQ(hex(message).substr(0, 26), "38000100 474e4d47 01000120");
  EXPECT_EQ(hex(message).substr(9 * 14), "05000000 07000000 02010000 ");
  const Asked asked = read_question(message.span());
  EXPECT_EQ(asked.question.edge_columns, 0b101u);
  EXPECT_EQ(asked.ids.size(), 2);

  Picks picks = picks_of({1, 2}, {9, 10, 11});
  picks.edge_rows.resize(2);
  for (const int64_t bytes : {2, 4}) {
    auto& rows = picks.edge_rows[bytes / 4];
    rows.resize_discard(3 * bytes);
    for (int64_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<uint8_t>(10 * bytes + i);
  }
  write_picks(question, picks, message);
  EXPECT_EQ(message.size(), kHeadBytes + 2 + 12 + 6 + 12);
  const std::vector<int64_t> row_bytes = {2, 4};
  Picks read;
  read_picks(question, 2, 100, message.span(), read, row_bytes);
  ASSERT_EQ(read.edge_rows.size(), 2u);
  for (size_t i = 0; i < 2; ++i)
    EXPECT_THAT(read.edge_rows[i].span(), testing::ElementsAreArray(picks.edge_rows[i].span()));
  for (const auto& wrong : {std::vector<int64_t>{2, 5}, {2}, {1, 4}})
    EXPECT_EQ(failure_of([&] { read_picks(question, 2, 100, message.span(), read, wrong); }).first,
              Status::kProtocol);

  const auto changed = [&](const Question& asking, int64_t at, uint8_t value) {
    write_question(asking, std::vector<int64_t>{7}, message);
    message[at] = value;
    seal(message);
    return failure_of([&] { read_question(message.span()); }).first;
  };
  EXPECT_EQ(changed(question, kHeadBytes, 0), Status::kProtocol) << "no column";
  question = sample_question();
  question.op = Op::kRows;
  EXPECT_EQ(changed(question, 11, 32), Status::kProtocol) << "of rows of nodes";
}

TEST(Wire, RefusalsAreThrownOnOneLine) {
  Message message;
  write_refusal(sample_question(), Status::kRange, "node 7\nis none", message);
  Picks picks;
  const auto [status, text] =
      failure_of([&] { read_picks(sample_question(), 2, 100, message.span(), picks); });
  EXPECT_EQ(status, Status::kRange);
  EXPECT_EQ(text, "node 7\\x0ais none");
  write_refusal(sample_question(), Status::kRange, std::string(100'000, 'x'), message);
  EXPECT_EQ(message.size(), kHeadBytes + 4 + 1000);
  for (const Status none : {Status::kOk, Status::kPending, static_cast<Status>(-1000)}) {
    write_refusal(sample_question(), none, "", message);
    EXPECT_EQ(
        failure_of([&] { read_picks(sample_question(), 2, 100, message.span(), picks); }).first,
        Status::kProtocol);
  }
}

TEST(Wire, OtherVersionsAndKindsAreNamed) {
  Message message;
  const auto changed = [&](size_t at, uint8_t value) {
    write_question(sample_question(), std::vector<int64_t>{7}, message);
    message[static_cast<int64_t>(at)] = value;
    seal(message);
    return failure_of([&] { read_question(message.span()); });
  };
  EXPECT_THAT(changed(8, 2), testing::Pair(Status::kUnsupported,
                                           testing::HasSubstr("version 2 with a head of 56")));
  EXPECT_THAT(changed(0, 64), testing::Pair(Status::kUnsupported,
                                            testing::HasSubstr("version 1 with a head of 64")));
  EXPECT_THAT(changed(2, 4),
              testing::Pair(Status::kUnsupported, testing::HasSubstr("a draw of kind 4")));
  EXPECT_THAT(changed(10, 9),
              testing::Pair(Status::kUnsupported, testing::HasSubstr("a question of kind 9")));
  for (const size_t at : {3, 11})
    EXPECT_EQ(changed(at, 0xFF).first, Status::kProtocol) << "at " << at;
  EXPECT_EQ(changed(43, 0x80).first, Status::kProtocol);  // a fan-out below -1
  EXPECT_EQ(changed(47, 0x80).first, Status::kProtocol);  // an edge type below 0
  EXPECT_EQ(changed(55, 0x80).first, Status::kProtocol);  // a part below 0
}

// Any single byte is changed, and a message ends anywhere.
TEST(Wire, DamageIsSeen) {
  Message message;
  write_question(sample_question(), std::vector<int64_t>{7, 8, 9}, message);
  const std::vector<uint8_t> good(message.begin(), message.end());
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_NE(failure_of([&] { read_question(std::span(good).first(size)); }).first, Status::kOk)
        << size;
  for (size_t at = 0; at < good.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::vector<uint8_t> bad = good;
      bad[at] ^= static_cast<uint8_t>(1 << bit);
      EXPECT_NE(failure_of([&] { read_question(bad); }).first, Status::kOk) << at;
    }
  }
}

// Damage that is sealed is a liar's: each answer reads as an error, or as picks that obey the
// rules.
TEST(Wire, LiarsGetNothingIn) {
  const Question question = sample_question();
  base::Stream stream({6, 6}, 1);
  Message message;
  Picks picks;
  int read = 0, refused = 0;
  for (int turn = 0; turn < 20'000; ++turn) {
    write_picks(question, picks_of({1, 2}, {9, 10, 11}), message);
    const int64_t cut = stream.below(4) == 0 ? static_cast<int64_t>(stream.below(8)) : 0;
    message.resize_keep(message.size() - cut);
    for (int i = 0; i < 2; ++i)
      message[static_cast<int64_t>(stream.below(message.size()))] =
          static_cast<uint8_t>(stream.next());
    seal(message);
    try {
      read_picks(question, 2, 12, message.span(), picks);
      ++read;
      ASSERT_EQ(picks.num_rows(), 2);
      ASSERT_EQ(picks.counts[0] + picks.counts[1], picks.sources.size());
      for (const int64_t count : picks.counts) ASSERT_LE(count, 15);
      for (const int64_t source : picks.sources) ASSERT_LT(static_cast<uint64_t>(source), 12u);
    } catch (const base::Error&) {
      ++refused;
    }
  }
  EXPECT_GT(read, 100);
  EXPECT_GT(refused, 10'000);
}

}  // namespace
}  // namespace gnnmg::dist
