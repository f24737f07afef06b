// Strangers at a server: they cost a socket for a while, and clients notice nothing.
#include "server/strangers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "comm/children.h"
#include "dist/engine.h"
#include "server/server_process.h"

namespace gnnmg {
namespace {

using base::Status;
using test::kPreface;
using test::kSettings;
using test::Stranger;

// A listener in this process whose patience is short, so that the test waits milliseconds.
std::unique_ptr<dist::Listener> impatient(int64_t patience_ms = 200) {
  dist::ListenSettings settings;
  settings.address = "127.0.0.1:0";
  settings.token = std::string(40, 't');
  settings.patience_ms = patience_ms;
  return test::engine().listen(settings, [](std::span<const uint8_t> asked, dist::Message& answer) {
    answer.resize_discard(static_cast<int64_t>(asked.size()));
    std::copy(asked.begin(), asked.end(), answer.begin());
  });
}

TEST(Strangers, WhoSayNothingOrTooLittleAreClosed) {
  const auto listener = impatient();
  const Stranger silent(listener->port()), junk(listener->port()), half(listener->port()),
      greeted(listener->port()), slow(listener->port());
  junk.say("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  half.say(kPreface.substr(0, 10));
  greeted.say(std::string(kPreface) + std::string(kSettings));
  EXPECT_TRUE(junk.closed_within(5));
  EXPECT_TRUE(half.closed_within(5));
  EXPECT_TRUE(silent.closed_within(5));
  EXPECT_TRUE(greeted.closed_within(5));
  EXPECT_TRUE(slow.closed_within(5, "PRI * HTTP/2.0"));
}

TEST(Strangers, OversizeFramesAreClosed) {
  const auto listener = impatient();
  const Stranger stranger(listener->port());
  stranger.say(std::string(kPreface) + std::string(kSettings));
  std::string frame("\xff\xff\xff\1\4\0\0\0\1", 9);  // headers of 16 MiB
  stranger.say(frame + std::string(100'000, 'x'));
  EXPECT_TRUE(stranger.closed_within(5));
}

TEST(Strangers, QuestionsWithoutATicketAreRefusedAndCounted) {
  const auto listener = impatient();
  dist::ConnectSettings settings;
  settings.address = "127.0.0.1:" + std::to_string(listener->port());
  try {
    test::engine().connect(settings, base::Deadline::after_ms(20'000), {});
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.status(), Status::kAuth) << error.what();
  }
  EXPECT_EQ(listener->counts().clients, 0);
}

// Strangers arrive no faster than the server drops them, so that it has few at a time; then nothing
// grows with their number.
TEST(Strangers, ManyLeaveNothing) {
  const test::ServedGraph served(1, 500);
  const test::ServerProcess server(served.folder(), {"--patience-ms", "100"});
  const auto parts = served.over(test::meet(server.address()));
  // A client that is held off the CPU for the server's patience is a stranger, and asks again.
  uint64_t batch = 0;
  int64_t slowest = 0;
  const auto ask = [&] {
    const int64_t begin = test::monotonic_ms();
    for (int round = 0; round < 10; ++round) {
      try {
        test::expect_same_batch(served, parts, batch);
        break;
      } catch (const base::Error&) {
      }
    }
    test::expect_same_batch(served, parts, batch++);
    slowest = std::max(slowest, test::monotonic_ms() - begin);
  };
  ask();
  const auto left = test::swarm(server.pid(), server.port(), test::num_strangers(2'000), ask);
  EXPECT_LE(left.files, 0);
  EXPECT_LT(left.kilobytes, left.allowed_kilobytes());
  EXPECT_EQ(server.errors(), "");
  std::printf(
      "[ FIGURE   ] %d strangers: the server has %lld kB more than after a fifth of them, and %lld "
      "descriptors; a mini-batch meanwhile took %lld ms at most\n",
      left.strangers, static_cast<long long>(left.kilobytes), static_cast<long long>(left.files),
      static_cast<long long>(slowest));
}

}  // namespace
}  // namespace gnnmg
