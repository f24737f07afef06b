// The program gnnmg-server as a user meets it: options, output, end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdio>
#include <filesystem>

#include "base/error.h"
#include "comm/children.h"
#include "server/options.h"
#include "server/server_process.h"
#include "support/part_subset.h"

namespace gnnmg {
namespace {

using base::Status;
using testing::HasSubstr;
using testing::Pair;

server::Options read(std::vector<std::string> words) {
  words.insert(words.begin(), "gnnmg-server");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  return server::read_options(static_cast<int>(words.size()), arguments.data());
}

TEST(Options, AreRead) {
  const auto options = read({"--data",
                             "d",
                             "--parts",
                             "0,12",
                             "--listen",
                             "[::]:0",
                             "--token-file",
                             "t",
                             "--metrics-file",
                             "m",
                             "--tls-cert",
                             "c",
                             "--tls-key",
                             "k",
                             "--tls-ca",
                             "a",
                             "--insecure",
                             "--threads",
                             "3",
                             "--drain-seconds",
                             "7",
                             "--patience-ms",
                             "9"});
  EXPECT_EQ(options.server.folder, "d");
  EXPECT_EQ(options.server.parts, (std::vector<int32_t>{0, 12}));
  EXPECT_EQ(options.server.address, "[::]:0");
  EXPECT_EQ(options.server.token_file, "t");
  EXPECT_EQ(options.metrics_file, "m");
  EXPECT_EQ(options.server.tls.certificate + options.server.tls.key + options.server.tls.authority,
            "cka");
  EXPECT_TRUE(options.server.insecure);
  EXPECT_EQ(options.server.threads, 3);
  EXPECT_EQ(options.drain_ms, 7'000);
  EXPECT_EQ(options.server.patience_ms, 9);
  EXPECT_TRUE(read({"--help"}).help);
}

TEST(Options, WrongOnesAreNamed) {
  const auto failure = [](std::vector<std::string> words) {
    try {
      read(std::move(words));
    } catch (const base::Error& error) {
      return std::pair<Status, std::string>(error.status(), error.what());
    }
    return std::pair<Status, std::string>(Status::kOk, "");
  };
  EXPECT_THAT(failure({}), Pair(Status::kInvalidArgument, HasSubstr("--data is missing")));
  EXPECT_THAT(failure({"--data"}), Pair(Status::kInvalidArgument, HasSubstr("\"--data\"")));
  EXPECT_THAT(failure({"--data", "d", "--quick"}),
              Pair(Status::kInvalidArgument, HasSubstr("\"--quick\"")));
  EXPECT_THAT(failure({"--data", "d", "e"}), Pair(Status::kInvalidArgument, HasSubstr("\"e\"")));
  EXPECT_THAT(failure({"products-parts"}),
              Pair(Status::kInvalidArgument, HasSubstr("say --data products-parts")));
  for (const char* parts : {"", "x", "1,", "1,-1", "99999999999"})
    EXPECT_THAT(failure({"--data", "d", "--parts", parts}),
                Pair(Status::kInvalidArgument, HasSubstr("--parts")));
  EXPECT_THAT(failure({"--data", "d", "--threads", "0"}),
              Pair(Status::kInvalidArgument, HasSubstr("--threads")));
}

TEST(Program, SaysWhereItListensAndEndsInOrder) {
  const test::ServedGraph served(2);
  const std::string metrics = served.dir.file("metrics.prom");
  for (const int number : {SIGTERM, SIGINT}) {
    test::ServerProcess server(served.folder(), {"--metrics-file", metrics});
    EXPECT_THAT(server.output(), HasSubstr("serving parts 0,1 of 2 at 127.0.0.1:"));
    test::expect_same_batch(served, served.over(test::meet(server.address())), 1);
    server.signal(number);
    EXPECT_EQ(server.join(), 0);
    EXPECT_THAT(server.output(), HasSubstr("answered "));
    EXPECT_EQ(server.errors(), "");
    EXPECT_THAT(test::slurp(metrics), HasSubstr("gnnmg_server_clients 1\n"));
    EXPECT_THAT(test::slurp(metrics), testing::Not(HasSubstr("gnnmg_server_reads_total 0\n")));
  }
}

// A machine that has copied some of the parts serves those.
TEST(Program, ServesThePartsThatAreThere) {
  const test::ServedGraph served(3);
  const std::string some = served.dir.file("some"), none = served.dir.file("none");
  test::link_parts(served.folder(), some, {0, 2});
  test::link_parts(served.folder(), none, {});
  const test::ServerProcess server(some, {}), other(served.folder(), {"--parts", "1"});
  const auto peers = test::meet(server.address() + "," + other.address());
  test::expect_same_batch(served, served.over(peers), 1);
  test::ServerProcess without(none, {});
  EXPECT_EQ(without.join(), 1);
  EXPECT_THAT(without.errors(), HasSubstr(none + ": none of the 3 parts is there"));
}

TEST(Program, SaysWhatItCannotServe) {
  const test::ServedGraph served(2);
  struct Case {
    std::string folder;
    std::vector<std::string> options;
    int status;
    std::string text;
  };
  const Case cases[] = {
      {served.dir.file("nothing"), {}, 1, served.dir.file("nothing") + ": no such folder"},
      {served.folder() + "/manifest.json", {}, 1, "manifest.json: is a file"},
      {served.dir.path(), {}, 1, "they lie in " + served.folder()},
      {served.folder(), {"--parts", "2"}, 1, "expected 0 to 1"},
      {served.folder(), {"--listen", "0.0.0.0:0"}, 2, "a token file is needed"},
      {served.folder(), {"--token-file", served.dir.file("none")}, 1, "none"},
      {served.folder(), {"--colour"}, 2, "--help"},
  };
  for (const Case& c : cases) {
    test::ServerProcess server(c.folder, c.options);
    EXPECT_EQ(server.join(), c.status) << c.text;
    EXPECT_THAT(server.errors(), HasSubstr(c.text));
  }
  test::ServerProcess first(served.folder(), {});
  test::ServerProcess second(served.folder(), {}, first.port());
  EXPECT_EQ(second.join(), 1);
  EXPECT_THAT(second.errors(), HasSubstr("nothing can listen there"));
}

TEST(Program, FindsThePluginThroughALinkToItself) {
  const test::ServedGraph served(1);
  const std::string link = served.dir.file("gnnmg-server");
  std::filesystem::create_symlink(GNNMG_SERVER_PROGRAM, link);
  test::Child server(link, {"--data", served.folder(), "--listen", "127.0.0.1:0"});
  EXPECT_NE(server.wait_for("serving parts 0 of 1 at ", 10'000), "") << server.all();
}

TEST(Program, LoadsNoLibTorch) {
  std::FILE* pipe = popen("ldd " GNNMG_SERVER_PROGRAM " " GNNMG_GRPC_PLUGIN " 2>&1", "r");
  ASSERT_NE(pipe, nullptr);
  std::string text;
  for (char line[1000]; std::fgets(line, sizeof line, pipe);) text += line;
  EXPECT_EQ(pclose(pipe), 0) << text;
  EXPECT_THAT(text, HasSubstr("libgrpc++.so"));
  for (const char* other : {"libtorch", "libc10", "not found", "protobuf"})
    EXPECT_THAT(text, testing::Not(HasSubstr(other)));
}

TEST(Engine, WithoutThePluginSaysWhatWasLookedFor) {
  try {
    dist::open_engine_at("/nowhere/libgnnmg_grpc.so");
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.status(), Status::kDependency);
    EXPECT_THAT(error.what(),
                testing::AllOf(HasSubstr("/nowhere/libgnnmg_grpc.so"), HasSubstr("libgrpc++-dev")));
  }
}

}  // namespace
}  // namespace gnnmg
