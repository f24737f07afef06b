// Strangers: connections that say nothing, junk, or the right things too slowly.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/philox.h"

namespace gnnmg::test {

inline constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
inline constexpr std::string_view kSettings("\0\0\0\4\0\0\0\0\0", 9);

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
  bool connected() const { return fd_ >= 0; }
  void say(std::string_view bytes) const {
    (void)send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  // True if the server closes it within the time; says `drip` meanwhile, byte by byte.
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

inline int64_t resident_kilobytes(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string word; status >> word;)
    if (word == "VmRSS:") {
      int64_t value = 0;
      status >> value;
      return value;
    }
  return -1;
}

inline size_t open_files(pid_t pid) {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd"))
    ++count;
  return count;
}

// Waits, 10 s at most, until a process has no more than `files` open.
inline void await_closed(pid_t pid, size_t files) {
  for (int i = 0; i < 10'000 && open_files(pid) > files; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// The number of strangers: `otherwise` in a test of few seconds, GNNMG_STRANGERS in the nightly
// one.
inline int num_strangers(int otherwise) {
  const char* given = std::getenv("GNNMG_STRANGERS");
  return given != nullptr ? std::atoi(given) : otherwise;
}

// The traces of a swarm in the process that it came to.
struct Remains {
  int strangers = 0;
  int64_t kilobytes = 0;  // growth of its memory after the first fifth of them
  int64_t files = 0;      // descriptors
  // A connection of gRPC's takes more than 10 KB. After few strangers the process still fills its
  // pools.
  int64_t allowed_kilobytes() const { return strangers >= 10'000 ? 1'024 : 3'072; }
};

// Strangers come to the port of a process, 50 at a time: one in four says nothing, one junk, one a
// greeting and junk, and one a greeting byte by byte. `meanwhile` is called after each 50.
inline Remains swarm(pid_t pid, int port, int count, const std::function<void()>& meanwhile) {
  constexpr int kAtOnce = 50;
  const int level = count / 5;
  const auto files = static_cast<int64_t>(open_files(pid));
  const std::string greeting = std::string(kPreface) + std::string(kSettings);
  base::Stream stream({1, 2}, 3);
  int64_t at_level = 0;
  std::deque<Stranger> held;
  for (int i = 0; i < count; ++i) {
    held.emplace_back(port);
    std::string bytes = i % 4 >= 2 ? greeting : "";
    for (uint64_t n = i % 2 ? stream.below(200) : 0; n > 0; --n)
      bytes += static_cast<char>(stream.next());
    if (i % 4 == 2) bytes.resize(1);
    held.back().say(bytes);
    for (size_t k = 2; k < held.size(); k += 4)
      held[k].say(std::string_view(greeting).substr((held.size() - k) % greeting.size(), 1));
    if (held.size() < kAtOnce) continue;
    held.clear();
    meanwhile();
    await_closed(pid, static_cast<size_t>(files));
    if (i < level) at_level = resident_kilobytes(pid);
  }
  held.clear();
  await_closed(pid, static_cast<size_t>(files));
  return {count, resident_kilobytes(pid) - at_level, static_cast<int64_t>(open_files(pid)) - files};
}

}  // namespace gnnmg::test
