// A server's description of itself and its files, as bytes, and the rows that each client may read.
#include "dist/host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "data/parts_manifest.h"
#include "dist/frame.h"
#include "dist/part_folder.h"
#include "dist/parts_of.h"
#include "dist/saved_parts.h"
#include "sample/reference.h"
#include "support/temp_dir.h"

namespace gnnmg {
namespace {

using base::Status;
using dist::Hello;
using dist::Message;
using testing::HasSubstr;
using testing::Pair;

std::pair<Status, std::string> told(const auto& call) {
  try {
    call();
  } catch (const base::Error& error) {
    return {error.status(), error.what()};
  }
  return {Status::kOk, ""};
}

Hello some_hello() { return {"0.1.0", 77, 5, {0, 3}, {{"nodes", "12"}, {"edges", "34"}}}; }

TEST(Hello, ReadsBack) {
  Message message;
  dist::write_hello(9, some_hello(), message);
  const Hello hello = dist::read_hello(9, message.span());
  EXPECT_EQ(dist::difference(hello, "a", some_hello(), "b"), "");
  EXPECT_EQ(hello.parts, (std::vector<int32_t>{0, 3}));
  EXPECT_THAT(told([&] { dist::read_hello(8, message.span()); }),
              Pair(Status::kProtocol, HasSubstr("request 9")));
}

TEST(Hello, WhatMakesNoSenseIsRefused) {
  const auto failure = [](const Hello& hello) {
    Message message;
    dist::write_hello(1, hello, message);
    return told([&] { dist::read_hello(1, message.span()); });
  };
  Hello hello = some_hello();
  hello.parts = {3, 0};
  EXPECT_THAT(failure(hello), Pair(Status::kProtocol, HasSubstr("part 0 of 5")));
  hello.parts = {5};
  EXPECT_THAT(failure(hello), Pair(Status::kProtocol, HasSubstr("part 5 of 5")));
  hello.num_parts = 0;
  EXPECT_THAT(failure(hello), Pair(Status::kProtocol, HasSubstr("have 0 parts")));
  Message message;
  dist::write_hello(1, some_hello(), message);
  for (int64_t size = dist::kHeadBytes; size < message.size(); ++size) {
    Message cut = message;
    cut.resize_keep(size);
    dist::seal(cut);
    EXPECT_EQ(told([&] { dist::read_hello(1, cut.span()); }).first, Status::kProtocol) << size;
  }
}

TEST(Hello, NamesTheFirstDifference) {
  const auto differ = [](const auto& change) {
    Hello other = some_hello();
    change(other);
    return dist::difference(some_hello(), "a:1", other, "b:2");
  };
  EXPECT_EQ(differ([](Hello& h) { h.facts[1].second = "35"; }),
            "the fact 'edges' is 34 at a:1 and 35 at b:2");
  EXPECT_EQ(differ([](Hello& h) { h.num_parts = 4; }),
            "the number of parts is 5 at a:1 and 4 at b:2");
  EXPECT_THAT(differ([](Hello& h) { h.version = "0.2.0"; }), HasSubstr("0.1.0 at a:1 and 0.2.0"));
  EXPECT_THAT(differ([](Hello& h) { h.facts.pop_back(); }), HasSubstr("the number of facts is 2"));
  EXPECT_THAT(differ([](Hello& h) { h.stamp = 78; }), HasSubstr("the stamp is 77"));
  EXPECT_EQ(differ([](Hello& h) { h.parts = {1}; }), "")
      << "servers of the same data differ in this";
}

class HostOfFolder : public testing::Test {
 protected:
  static constexpr int64_t kHostNodes = 300;
  HostOfFolder() { test::save_parts(*test::dataset_of(graph_), part_of_, 3, folder()); }
  std::string folder() const { return dir_.file("parts"); }
  dist::Question question(int32_t part, uint64_t stamp) const {
    dist::Question question;
    question.request = 5;
    question.part = part;
    question.stamp = stamp;
    question.draw.fanout = 4;
    return question;
  }
  test::TempDir dir_;
  graph::GraphRef graph_ = test::skewed_graph(kHostNodes, 500, 1);
  std::vector<uint16_t> part_of_ = test::hashed_parts(kHostNodes, 3, 1);
};

TEST_F(HostOfFolder, GivesRowsOfItsPartsAlone) {
  const dist::Host host(folder(), {2, 0}, {});
  EXPECT_EQ(host.hello().parts, (std::vector<int32_t>{0, 2}));
  const uint64_t stamp = dist::stamp_of(data::parts::Manifest(folder()).sum());
  EXPECT_EQ(host.hello().stamp, stamp);
  for (int32_t part = 0; part < 4; ++part) {
    const dist::Server server(test::cut_part(*graph_, part_of_, std::min(part, 2)), stamp);
    std::vector<int64_t> ids;
    for (int64_t id = 0; id < kHostNodes; ++id)
      if (part_of_[id] == part) ids.push_back(id);
    Message message, answer, expected;
    dist::write_question(question(part, stamp), ids, message);
    host.answer(message.span(), answer);
    if (part == 0 || part == 2) {
      server.answer(message.span(), expected);
      EXPECT_THAT(answer.span(), testing::ElementsAreArray(expected.span()));
    } else {
      dist::Picks picks;
      EXPECT_THAT(told([&] {
                    dist::read_picks(question(part, stamp), static_cast<int64_t>(ids.size()),
                                     kHostNodes, answer.span(), picks);
                  }),
                  Pair(Status::kNotFound, HasSubstr(base::text("part ", part, " is not served"))));
    }
  }
  EXPECT_EQ(told([&] { dist::Host(folder(), {1, 1}, {}); }).first, Status::kInvalidArgument);
  EXPECT_EQ(told([&] { dist::Host(folder(), {3}, {}); }).first, Status::kNotFound);
  EXPECT_EQ(dist::Host(folder(), {}, {}).hello().parts.size(), 3u);
}

TEST_F(HostOfFolder, GivesFilesOfTheFolderAloneAndInPieces) {
  const dist::Host host(folder(), {0}, {});
  const auto piece = [&](const std::string& name, int64_t offset, uint64_t stamp, auto&& take) {
    Message message, answer;
    const dist::FileQuestion asked{3, stamp, name, offset};
    dist::write_file_question(asked, message);
    host.answer(message.span(), answer);
    take(dist::read_file_piece(asked, answer.span()));
  };
  const uint64_t stamp = host.hello().stamp;
  for (const char* name : {"metadata.json", "whole.json", "book.npy", "manifest.json"}) {
    const auto expected = base::read_file(folder() + "/" + name, 1 << 20);
    piece(name, 7, stamp, [&](const dist::FilePiece& got) {
      EXPECT_EQ(got.file_bytes, static_cast<int64_t>(expected.size()));
      EXPECT_TRUE(
          std::equal(got.bytes.begin(), got.bytes.end(), expected.begin() + 7, expected.end()));
    });
    piece(name, static_cast<int64_t>(expected.size()), stamp,
          [&](const dist::FilePiece& got) { EXPECT_TRUE(got.bytes.empty()); });
  }
  const auto failure = [&](const std::string& name, int64_t offset, uint64_t stamped) {
    return told([&] { piece(name, offset, stamped, [](const dist::FilePiece&) {}); });
  };
  for (const char* name :
       {"part-0000/ids.npy", "../parts/metadata.json", "/etc/passwd", "", "journal.jsonl"})
    EXPECT_EQ(failure(name, 0, stamp).first, Status::kNotFound) << name;
  EXPECT_EQ(failure("book.npy", 1 << 20, stamp).first, Status::kRange);
  EXPECT_EQ(failure("book.npy", 0, stamp + 1).first, Status::kMismatch);
  EXPECT_EQ(failure("book.npy", -1, stamp).first, Status::kProtocol);
}

TEST_F(HostOfFolder, OtherPartsOfTheSameDataHaveAnotherStamp) {
  const std::string other = dir_.file("other");
  test::save_parts(*test::dataset_of(graph_), test::hashed_parts(kHostNodes, 3, 2), 3, other);
  const dist::Host a(folder(), {0}, {}), b(other, {0}, {});
  EXPECT_NE(a.hello().stamp, b.hello().stamp);
  EXPECT_THAT(dist::difference(a.hello(), "a", b.hello(), "b"), HasSubstr("manifest.json"));
}

}  // namespace
}  // namespace gnnmg
