// Mini-batches over servers that are processes of their own against those of the whole graph.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <numeric>
#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/thread_pool.h"
#include "data/dataset.h"
#include "dist/hello.h"
#include "dist/part_sampler.h"
#include "dist/part_store.h"
#include "dist/parts_of.h"
#include "dist/saved_parts.h"
#include "server/server_process.h"

namespace gnnmg {
namespace {

using base::Status;
using test::ServerProcess;
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

TEST(Served, MiniBatchesAreThoseOfTheWholeGraph) {
  for (const int32_t num_parts : {1, 4}) {
    const test::ServedGraph served(num_parts);
    std::vector<std::unique_ptr<ServerProcess>> servers;
    std::string addresses;
    const int32_t half = (num_parts + 1) / 2;
    for (int32_t first = 0; first < num_parts; first += half) {
      std::string parts;
      for (int32_t p = first; p < std::min(num_parts, first + half); ++p)
        parts += base::text(parts.empty() ? "" : ",", p);
      servers.push_back(std::make_unique<ServerProcess>(
          served.folder(), std::vector<std::string>{"--parts", parts}));
      addresses += (addresses.empty() ? "" : ",") + servers.back()->address();
    }
    const auto peers = test::meet(addresses);
    EXPECT_EQ(peers->data().num_parts, num_parts);
    const auto parts = served.over(peers);
    for (uint64_t batch = 0; batch < 3; ++batch) test::expect_same_batch(served, parts, batch);
    for (const auto& server : servers) EXPECT_EQ(server->errors(), "");
  }
}

TEST(Served, ADataSetThatIsNotDividedIsPartZeroOfOne) {
  test::ServedGraph served(1);
  const std::string own = served.dir.file("own");
  data::save_dataset(*test::dataset_of(served.graph), own);
  base::ThreadPool pool(2);
  base::Log log;
  // A set without edge tensors numbers its edges by target.
  served.graph = data::open_dataset(own, {}, {pool, log, {}})->graph;
  ServerProcess server(own, {});
  EXPECT_THAT(server.output(), HasSubstr("serving parts 0 of 1 at "));
  const auto peers = test::meet(server.address());
  EXPECT_EQ(peers->data().num_parts, 1);
  for (uint64_t batch = 0; batch < 3; ++batch)
    test::expect_same_batch(served, served.over(peers), batch);
  const auto files = peers->files();
  EXPECT_FALSE(files->read("manifest.json", 1 << 24, {}).empty());
  EXPECT_EQ(told([&] { files->read("node-node-x.npy", 1 << 24, {}); }).first, Status::kNotFound);
  EXPECT_EQ(server.errors(), "");
}

TEST(Served, ThreadsShareTheConnections) {
  const test::ServedGraph served(2);
  const ServerProcess server(served.folder(), {});
  dist::PeersConfig config;
  config.max_in_flight = 2;  // fewer than there are threads
  const auto parts = served.over(test::meet(server.address(), config));
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (uint64_t batch = 10 * t; batch < 10 * t + 4; ++batch)
        test::expect_same_batch(served, parts, batch);
    });
  for (std::thread& thread : threads) thread.join();
}

// Four bytes an id asked, one a count and four a source; rows as they are stored.
TEST(Served, BytesOnTheWay) {
  const test::ServedGraph served(1, 60'000);
  const ServerProcess server(served.folder(), {});
  const auto parts = served.over(test::meet(server.address()));
  sample::NeighborConfig config;
  config.fanouts = {15, 10, 5};
  std::vector<int64_t> seeds(500);
  std::iota(seeds.begin(), seeds.end(), 0);
  sample::Workspace workspace;
  sample::Sample sample;
  dist::make_part_sampler(parts, config)->sample(seeds, {}, workspace, sample, {});
  const auto& traffic = parts->traffic();
  EXPECT_EQ(traffic.questions, 3) << "one a hop";
  const auto bytes = static_cast<double>(traffic.asked_bytes + traffic.answered_bytes);
  EXPECT_LE(bytes / static_cast<double>(sample.num_edges_drawn()), 5.2);
  RecordProperty("edges", std::to_string(sample.num_edges_drawn()));
  RecordProperty("bytes of samples", std::to_string(static_cast<int64_t>(bytes)));
  RecordProperty("bytes of rows", std::to_string(100 * sample.node_ids.size()));
  const int64_t before = traffic.answered_bytes;
  std::vector<uint8_t> rows(sample.node_ids.size() * 100);
  dist::make_part_store(parts, 0, {}, {})->gather(sample.node_ids.span(), rows.data(), nullptr);
  EXPECT_LE(static_cast<double>(traffic.answered_bytes - before),
            1.02 * static_cast<double>(rows.size()));
}

TEST(Served, FilesOfTheFolder) {
  const test::ServedGraph served(2, 1'500'000 / 25);
  const ServerProcess server(served.folder(), {"--parts", "1"});
  const ServerProcess other(served.folder(), {"--parts", "0"});
  const auto files = test::meet(server.address() + "," + other.address())->files();
  for (const char* name : {"metadata.json", "whole.json", "manifest.json", "book.npy"})
    EXPECT_EQ(files->read(name, 1 << 24, {}),
              base::read_file(served.folder() + "/" + name, 1 << 24))
        << name;
  EXPECT_EQ(told([&] { files->read("part-0000/ids.npy", 1 << 24, {}); }).first, Status::kNotFound);
  EXPECT_EQ(told([&] { files->read("book.npy", 10, {}); }).first, Status::kFormat);
}

TEST(Served, TokensAndTheirLack) {
  const test::ServedGraph served(1);
  const auto token_file = [&](const std::string& name, const std::string& token) {
    const std::string path = served.dir.write(name, token);
    EXPECT_EQ(chmod(path.c_str(), 0600), 0);
    return path;
  };
  const std::string token(40, 't');
  const ServerProcess server(served.folder(), {"--token-file", token_file("token", token)});
  dist::PeersConfig config;
  config.token = token;
  test::expect_same_batch(served, served.over(test::meet(server.address(), config)), 1);
  config.token = std::string(40, 'u');
  EXPECT_THAT(told([&] { test::meet(server.address(), config); }),
              Pair(Status::kAuth, HasSubstr("does not know the token")));
  EXPECT_THAT(told([&] { test::meet(server.address()); }),
              Pair(Status::kAuth, HasSubstr("asks for a token")));
  EXPECT_EQ(server.errors(), "");
}

TEST(Served, PartsThatNobodyHas) {
  const test::ServedGraph served(4);
  const ServerProcess one(served.folder(), {"--parts", "0,2"}),
      other(served.folder(), {"--parts", "2"});
  const std::string both = one.address() + "," + other.address();
  EXPECT_THAT(told([&] { test::meet(both); }),
              Pair(Status::kMismatch, AllOf(HasSubstr("parts 1, 3 are served by nobody"),
                                            HasSubstr("0, 2 by " + one.address()),
                                            HasSubstr("2 by " + other.address()))));
  base::Log log;
  const testing::Matcher<std::pair<Status, std::string>> expected =
      Pair(Status::kTimeout,
           AllOf(HasSubstr("parts 1, 3"), HasSubstr("127.0.0.1:1: "), HasSubstr("refused")));
  std::pair<Status, std::string> found;
  // On a loaded machine it takes longer until all have answered.
  for (int64_t ms = 100; ms <= 10'000 && !expected.Matches(found); ms *= 10)
    found = told([&] {
      dist::Peers::meet(test::engine(), both + ",127.0.0.1:1", {}, log,
                        base::Deadline::after_ms(ms), {});
    });
  EXPECT_THAT(found, expected);
}

TEST(Served, OtherData) {
  const test::ServedGraph served(2), other(2, 1'000);
  const ServerProcess one(served.folder(), {"--parts", "0"}), two(other.folder(), {"--parts", "1"});
  EXPECT_THAT(told([&] { test::meet(one.address() + "," + two.address()); }),
              Pair(Status::kMismatch, AllOf(HasSubstr("different data"), HasSubstr(one.address()),
                                            HasSubstr(two.address()))));
}

TEST(Served, WhatIsNoAddress) {
  for (const char* text : {"", "graph-1", "graph-1:", "graph-1:0", "graph-1:70000", ":7300",
                           "::1:7300", "127.0.0.1:1,", "[::1]"})
    EXPECT_EQ(told([&] { test::meet(text); }).first, Status::kInvalidArgument) << text;
  EXPECT_EQ(told([&] { test::meet("no-such-host.invalid:7300"); }).first, Status::kUnavailable);
  EXPECT_THAT(told([&] { test::meet("192.0.2.1:7300"); }),
              Pair(Status::kInvalidArgument, HasSubstr("give certificates")));
}

}  // namespace
}  // namespace gnnmg
