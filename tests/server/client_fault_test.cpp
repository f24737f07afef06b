// Clients that are killed or cut off, and servers whose disk or version is another than it should
// be: neither end keeps anything of the other, and errors have the cause in time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>
#include <thread>

#include "base/error.h"
#include "comm/children.h"
#include "comm/jobs.h"
#include "dist/frame.h"
#include "dist/hello.h"
#include "dist/host.h"
#include "server/server_process.h"
#include "server/strangers.h"
#include "support/data.h"

namespace gnnmg {
namespace {

using base::Status;
using test::Child;
using test::ServerProcess;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Pair;
using testing::StartsWith;

std::pair<Status, std::string> told(const auto& call) {
  try {
    call();
  } catch (const base::Error& error) {
    return {error.status(), error.what()};
  }
  return {Status::kOk, ""};
}

TEST(ClientFault, AKilledClientLeavesNothingAtTheServer) {
  const test::ServedGraph served(2);
  const ServerProcess server(served.folder(), {});
  const auto parts = served.over(test::meet(server.address()));
  test::expect_same_batch(served, parts, 0);
  const size_t files = test::open_files(server.pid());
  constexpr int kClients = 12, kLevel = 4;
  int64_t at_level = 0;
  for (int round = 0; round < kClients; ++round) {
    Child client(GNNMG_TEST_WORKER, {"servers=" + server.address()});
    ASSERT_NE(client.wait_for("batch 1 ", 20'000), "") << client.all();
    std::this_thread::sleep_for(std::chrono::microseconds(700 * round));
    client.signal(SIGKILL);
    EXPECT_EQ(client.wait_end(10'000), -SIGKILL);
    test::await_closed(server.pid(), files);
    if (round == kLevel) at_level = test::resident_kilobytes(server.pid());
  }
  EXPECT_LE(test::open_files(server.pid()), files);
  const int64_t grown = test::resident_kilobytes(server.pid()) - at_level;
  EXPECT_LT(grown, 4'096);
  test::expect_same_batch(served, parts, 1);
  EXPECT_EQ(server.errors(), "");
  std::printf("[ FIGURE   ] %d clients killed: the server grew by %lld kB after the first %d\n",
              kClients, static_cast<long long>(grown), kLevel);
}

// A row of the file that is gone before it was read is an error at once, which names the file.
TEST(ClientFault, AFileOfAServerThatShrinksIsAnError) {
  const test::ServedGraph served(1);
  const ServerProcess server(served.folder(), {});
  const auto parts = served.over(test::meet(server.address()));
  const std::string file = served.folder() + "/part-0000/node-node-x.npy";
  std::filesystem::resize_file(file, 2'000);
  const int64_t begin = test::monotonic_ms();
  EXPECT_THAT(told([&] { test::expect_same_batch(served, parts, 1); }),
              Pair(Status::kIo, AllOf(StartsWith("part 0: "), HasSubstr("node-node-x.npy"))));
  EXPECT_LE(test::monotonic_ms() - begin, 1'000);
  EXPECT_EQ(server.errors(), "");
}

// The server is this library, under the number of another version.
TEST(ClientFault, AServerOfAnotherVersionIsNamedWithBoth) {
  const test::ServedGraph served(1);
  const dist::Host host(served.folder(), {}, {});
  dist::Hello older = host.hello();
  older.version = "0.0.9";
  bool old_messages = false;
  dist::ListenSettings settings;
  settings.address = "127.0.0.1:0";
  const auto listener =
      test::engine().listen(settings, [&](std::span<const uint8_t> asked, dist::Message& answer) {
        dist::write_hello(dist::read_head(asked).request, older, answer);
        if (!old_messages) return;
        answer[offsetof(dist::Head, version)] = 0;
        dist::seal(answer);
      });
  const std::string address = base::text("127.0.0.1:", listener->port());
  EXPECT_THAT(told([&] { test::meet(address); }),
              Pair(Status::kMismatch, AllOf(StartsWith(address), HasSubstr("version 0.0.9"),
                                            HasSubstr(dist::library_version()))));
  old_messages = true;
  EXPECT_THAT(told([&] { test::meet(address); }),
              Pair(Status::kMismatch, AllOf(StartsWith(address), HasSubstr("version 0"),
                                            HasSubstr(base::text(dist::kWireVersion)))));
}

TEST(ClientFault, AServerThatStartsElsewhereIsFoundByItsName) {
  GNNMG_NEEDS(Child("unshare", {"-rm", "true"}).wait_end(10'000) == 0,
              "mounts of its own (unshare -rm)");
  const test::ServedGraph served(2);
  Child moved("unshare", {"-rm", "bash", test::source_path("server/moved_server.sh"),
                          GNNMG_SERVER_PROGRAM, GNNMG_TEST_WORKER, served.folder()});
  EXPECT_EQ(moved.wait_end(60'000), 0) << moved.all();
  EXPECT_THAT(moved.lines(), AllOf(Contains("done"), Contains(StartsWith("read on after "))))
      << moved.all();
}

class CutCable : public testing::Test {
 protected:
  void SetUp() override {
    Child probe("unshare", {"-rn", "sh", "-c", "ip link add a0 type veth peer name a1"});
    GNNMG_NEEDS(probe.wait_end(10'000) == 0, "network namespaces (unshare -rn, ip)");
    const std::string token = served_.dir.write("token", std::string(32, 'k'));
    ASSERT_EQ(chmod(token.c_str(), 0600), 0);
  }
  // A client of a server on another machine; the cable is cut after some mini-batches.
  std::unique_ptr<Child> client(const std::string& seconds, const std::vector<std::string>& words) {
    std::vector<std::string> all = {"-rn",
                                    "bash",
                                    test::source_path("comm/two_machines.sh"),
                                    test::source_path("server/server_beyond.sh"),
                                    "5",
                                    seconds,
                                    "server=" GNNMG_SERVER_PROGRAM,
                                    "client=" GNNMG_TEST_WORKER,
                                    "folder=" + served_.folder(),
                                    "token=" + served_.dir.file("token"),
                                    "pid=" + served_.dir.file("pid")};
    all.insert(all.end(), words.begin(), words.end());
    return std::make_unique<Child>("unshare", all);
  }
  const test::ServedGraph served_{2};
};

TEST_F(CutCable, AShortCutIsSurvived) {
  const auto cut = client("0.3", {"enough=" + served_.dir.file("enough")});
  EXPECT_EQ(cut->wait_end(30'000), 0) << cut->all();
  EXPECT_THAT(cut->lines(), AllOf(Contains(StartsWith("mended at ")), Contains("done")));
  const auto batches = [](const Child& child) {
    std::vector<std::string> lines;
    for (const std::string& line : child.lines())
      if (line.starts_with("batch ")) lines.push_back(line);
    return lines;
  };
  const auto over_the_cable = batches(*cut);
  ASSERT_GT(over_the_cable.size(), 5u);
  const ServerProcess server(served_.folder(), {});
  Child near(GNNMG_TEST_WORKER,
             {"servers=" + server.address(), base::text("batches=", over_the_cable.size())});
  EXPECT_EQ(near.wait_end(30'000), 0) << near.all();
  EXPECT_EQ(over_the_cable, batches(near));
}

TEST_F(CutCable, ALongCutIsNamedByTheClientAndForgottenByTheServer) {
  constexpr int64_t kDeadline = 500;
  const auto cut = client("3", {base::text("deadline=", kDeadline)});
  EXPECT_EQ(cut->wait_end(30'000), 3) << cut->all();
  const auto ends = test::ends_of(*cut);
  ASSERT_EQ(ends.size(), 1u) << cut->all();
  EXPECT_EQ(ends[0].status, "ERR_TIMEOUT") << ends[0].text;
  EXPECT_THAT(ends[0].text, AllOf(StartsWith("part "), HasSubstr("10.77.0.2:7300, request "),
                                  HasSubstr("no answer within 0.")));
  int64_t cut_at = 0;
  for (const std::string& line : cut->lines())
    if (line.starts_with("cut at ")) cut_at = std::atoll(line.c_str() + 7);
  EXPECT_LE(ends[0].at_ms - cut_at, kDeadline + 1'000);
  EXPECT_THAT(cut->lines(), Contains(StartsWith("the server has 0 descriptors more, ")))
      << cut->all();
  std::printf("[ FIGURE   ] a cut cable, deadline %lld ms: named after %lld ms\n",
              static_cast<long long>(kDeadline), static_cast<long long>(ends[0].at_ms - cut_at));
}

}  // namespace
}  // namespace gnnmg
