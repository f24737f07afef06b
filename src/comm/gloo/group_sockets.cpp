#include "comm/gloo/group_sockets.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace gnnmg::comm::gloo {
namespace {

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

// Local address of a TCP socket.
struct Address {
  sockaddr_storage bytes{};
  // Returns false if the descriptor is no socket or has another family.
  bool of(int descriptor) {
    socklen_t size = sizeof bytes;
    return getsockname(descriptor, reinterpret_cast<sockaddr*>(&bytes), &size) == 0 &&
           (bytes.ss_family == AF_INET || bytes.ss_family == AF_INET6);
  }
  uint16_t port() const {
    return bytes.ss_family == AF_INET ? reinterpret_cast<const sockaddr_in&>(bytes).sin_port
                                      : reinterpret_cast<const sockaddr_in6&>(bytes).sin6_port;
  }
  // Bytes of family, port and address, as in memory.
  std::string_view image() const {
    const size_t size = bytes.ss_family == AF_INET
                            ? offsetof(sockaddr_in, sin_addr) + sizeof(in_addr)
                            : offsetof(sockaddr_in6, sin6_addr) + sizeof(in6_addr);
    return {reinterpret_cast<const char*>(&bytes), size};
  }
};

int option(int descriptor, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  return getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

// Calls visit(descriptor, address) for each TCP socket of this process that `wanted` accepts, with
// a duplicate descriptor that no other thread can close.
template <typename Wanted, typename Visit>
void for_each_socket(const Wanted& wanted, const Visit& visit) noexcept {
  const std::unique_ptr<DIR, CloseFolder> folder(opendir("/proc/self/fd"));
  if (!folder) return;
  while (const dirent* entry = readdir(folder.get())) {
    const int descriptor = std::atoi(entry->d_name);  // 0 for "." and "..", which are no sockets
    Address address;
    if (!address.of(descriptor) || !wanted(address)) continue;
    const int held = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (held < 0) continue;
    if (address.of(held) && wanted(address) && option(held, SO_TYPE) == SOCK_STREAM)
      visit(held, address);
    close(held);
  }
}

}  // namespace

GroupSockets GroupSockets::close_to_strangers(std::span<const std::string> told) {
  GroupSockets found;
  const auto is_told = [&](const Address& address) {
    return address.port() != 0 && std::ranges::any_of(told, [&](const std::string& words) {
             return words.find(address.image()) != std::string::npos;
           });
  };
  for_each_socket(is_told, [&](int descriptor, const Address& address) {
    if (option(descriptor, SO_ACCEPTCONN) != 1) return;
    found.port_ = address.port();
    sock_filter nothing{BPF_RET | BPF_K, 0, 0, 0};  // accepts no byte of any packet
    const sock_fprog program{1, &nothing};
    // Existing connections are unaffected. If the call fails, strangers can still connect.
    setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
  });
  return found;
}

void GroupSockets::hang_up() const noexcept {
  if (port_ == 0) return;
  for_each_socket([&](const Address& address) { return address.port() == port_; },
                  [](int descriptor, const Address&) {
                    if (option(descriptor, SO_ACCEPTCONN) == 0) shutdown(descriptor, SHUT_RDWR);
                  });
}

}  // namespace gnnmg::comm::gloo
