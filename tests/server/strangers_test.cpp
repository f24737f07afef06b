// Those who are no clients: they cost a socket for a while, and nobody else notices.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "base/philox.h"
#include "dist/engine.h"
#include "dist/wire.h"
#include "server/server_process.h"

namespace gnnmg {
namespace {

using base::Status;

// A connection that speaks no gRPC unless the test does.
class Stranger {
 public:
  explicit Stranger(int port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) close_now();
  }
  Stranger(Stranger&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~Stranger() { close_now(); }
  void say(std::string_view bytes) const {
    (void)send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  // Whether the server has closed it within the time; says `drip` meanwhile, byte by byte.
  bool closed_within(double seconds, std::string_view drip = "") const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    for (size_t said = 0; std::chrono::steady_clock::now() < end; ++said) {
      if (!drip.empty()) say(drip.substr(said % drip.size(), 1));
      char bytes[4096];
      const ssize_t got = recv(fd_, bytes, sizeof bytes, MSG_DONTWAIT);
      if (got == 0 || (got < 0 && errno != EAGAIN)) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }

 private:
  void close_now() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }
  int fd_;
};

constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr std::string_view kSettings("\0\0\0\4\0\0\0\0\0", 9);

int64_t resident_kilobytes(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string word; status >> word;)
    if (word == "VmRSS:") {
      int64_t value = 0;
      status >> value;
      return value;
    }
  return -1;
}

size_t open_files(pid_t pid) {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd"))
    ++count;
  return count;
}

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

// They come no faster than the server lets go of them, so that it has few at a time; nothing grows
// with their number then. A connection of gRPC's takes more than 10 KB.
TEST(Strangers, ManyLeaveNothing) {
  const test::ServedGraph served(1, 500);
  const test::ServerProcess server(served.folder(), {"--patience-ms", "100"});
  const auto parts = served.over(test::meet(server.address()));
  // Who is held off the CPU for as long as the patience is no better than a stranger, and asks
  // again.
  const auto ask = [&](uint64_t batch) {
    for (int round = 0; round < 10; ++round) {
      try {
        return test::expect_same_batch(served, parts, batch);
      } catch (const base::Error&) {
      }
    }
    test::expect_same_batch(served, parts, batch);
  };
  ask(0);
  base::Stream stream({1, 2}, 3);
  const size_t files = open_files(server.pid());
  const auto let_go = [&] {
    for (int i = 0; i < 7'000 && open_files(server.pid()) > files; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  constexpr int kAll = 6'000, kLevel = 2'000, kAtOnce = 50;
  int64_t at_level = 0;
  for (int i = 0; i < kAll; ++i) {
    const Stranger stranger(server.port());
    std::string bytes = i % 2 ? std::string(kPreface) + std::string(kSettings) : "";
    for (uint64_t n = stream.below(200); n > 0; --n) bytes += static_cast<char>(stream.next());
    stranger.say(bytes);
    if (i % kAtOnce == 0) let_go();
    if (i % 1'000 == 0) ask(static_cast<uint64_t>(i));
    if (i == kLevel) at_level = resident_kilobytes(server.pid());
  }
  let_go();
  EXPECT_LE(open_files(server.pid()), files);
  EXPECT_LT(resident_kilobytes(server.pid()) - at_level, 16 * 1024) << "of 4 000 strangers";
  EXPECT_EQ(server.errors(), "");
}

}  // namespace
}  // namespace gnnmg
