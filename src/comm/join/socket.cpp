#include "comm/join/socket.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <system_error>
#include <thread>

#include "comm/blocking_call.h"
#include "comm/join/socket_table.h"

namespace gnnmg::comm {
namespace {

using base::Status;

std::string errno_text(int error) { return std::generic_category().message(error); }

[[noreturn]] void fail_address(const Address& address, const char* what, int error) {
  throw base::Error(Status::kUnavailable,
                    base::text(address.text(), ": ", what, ": ", errno_text(error)), -1, error);
}

struct Found {
  int error = 0;
  std::vector<Address> addresses;
};

Found look_up(const std::string& host, int32_t port, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* list = nullptr;
  Found found;
  found.error = getaddrinfo(host.c_str(), nullptr, &hints, &list);
  if (found.error != 0) return found;
  for (const addrinfo* info = list; info; info = info->ai_next) {
    if (info->ai_family != AF_INET && info->ai_family != AF_INET6) continue;
    Address address;
    std::memcpy(&address.storage, info->ai_addr, info->ai_addrlen);
    address.size = info->ai_addrlen;
    address.set_port(port);
    found.addresses.push_back(address);
  }
  freeaddrinfo(list);
  return found;
}

Socket make_socket(const Address& address) {
  const int fd = sockets().socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) fail_address(address, "no socket", errno);
  return Socket(fd);
}

void send_at_once(int fd) {
  const int on = 1;
  sockets().set_option(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

bool Address::loopback() const {
  if (family() == AF_INET) {
    const auto* in = reinterpret_cast<const sockaddr_in*>(&storage);
    return (ntohl(in->sin_addr.s_addr) >> 24) == 127;
  }
  const auto* in = reinterpret_cast<const sockaddr_in6*>(&storage);
  return IN6_IS_ADDR_LOOPBACK(&in->sin6_addr);
}

bool Address::everywhere() const {
  if (family() == AF_INET)
    return reinterpret_cast<const sockaddr_in*>(&storage)->sin_addr.s_addr == htonl(INADDR_ANY);
  return IN6_IS_ADDR_UNSPECIFIED(&reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_addr);
}

void Address::set_everywhere() {
  if (family() == AF_INET)
    reinterpret_cast<sockaddr_in*>(&storage)->sin_addr.s_addr = htonl(INADDR_ANY);
  else
    reinterpret_cast<sockaddr_in6*>(&storage)->sin6_addr = in6addr_any;
}

std::string Address::host() const {
  char text[INET6_ADDRSTRLEN] = "";
  if (family() == AF_INET)
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(&storage)->sin_addr, text,
              sizeof text);
  else
    inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_addr, text,
              sizeof text);
  return text;
}

int32_t Address::port() const {
  return ntohs(family() == AF_INET ? reinterpret_cast<const sockaddr_in*>(&storage)->sin_port
                                   : reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_port);
}

void Address::set_port(int32_t port) {
  const uint16_t value = htons(static_cast<uint16_t>(port));
  if (family() == AF_INET)
    reinterpret_cast<sockaddr_in*>(&storage)->sin_port = value;
  else
    reinterpret_cast<sockaddr_in6*>(&storage)->sin6_port = value;
}

std::string Address::text() const {
  return family() == AF_INET6 ? base::text("[", host(), "]:", port())
                              : base::text(host(), ":", port());
}

std::vector<Address> resolve(const std::string& host, int32_t port, const Wait& wait) {
  Found found = look_up(host, port, AI_NUMERICHOST);
  if (found.error != 0)
    found = blocking_call<Found>(base::text("looking up host ", host), wait, [host, port] {
      return std::make_unique<Found>(look_up(host, port, 0));
    });
  if (found.addresses.empty())
    base::fail(Status::kUnavailable, "host \"", host, "\" has no address: ",
               found.error != 0 ? gai_strerror(found.error) : "none of IPv4 or IPv6");
  return found.addresses;
}

bool names_this_machine_alone(const std::string& host, const std::vector<Address>& addresses) {
  if (host.starts_with("localhost") || look_up(host, 0, AI_NUMERICHOST).error == 0) return false;
  return std::ranges::all_of(addresses, &Address::loopback);
}

Address interface_address(const std::string& name, int family) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0)
    throw base::Error(Status::kUnavailable, "the network interfaces cannot be listed", -1, errno);
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, freeifaddrs);
  std::vector<std::string> names;
  bool known = false;
  for (const int wanted : {AF_INET, AF_INET6}) {
    if (family != AF_UNSPEC && family != wanted) continue;
    for (const ifaddrs* entry = list; entry; entry = entry->ifa_next) {
      if (name != entry->ifa_name || !entry->ifa_addr || entry->ifa_addr->sa_family != wanted)
        continue;
      Address address;
      address.size = wanted == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
      std::memcpy(&address.storage, entry->ifa_addr, address.size);
      return address;
    }
  }
  for (const ifaddrs* entry = list; entry; entry = entry->ifa_next) {
    known = known || name == entry->ifa_name;
    if (std::ranges::find(names, entry->ifa_name) == names.end())
      names.emplace_back(entry->ifa_name);
  }
  if (known)
    base::fail(Status::kInvalidArgument, "interface \"", name, "\" has no address",
               family == AF_INET    ? " of IPv4"
               : family == AF_INET6 ? " of IPv6"
                                    : "");
  std::string all;
  for (const std::string& one : names) all += base::text(all.empty() ? "" : ", ", one);
  base::fail(Status::kInvalidArgument, "interface \"", name, "\" does not exist; there are ", all);
}

Socket& Socket::operator=(Socket&& other) noexcept {
  if (this != &other) {
    close();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void Socket::close() noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Socket Socket::listen(const Address& address) {
  Socket socket = make_socket(address);
  const int on = 1;
  sockets().set_option(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (sockets().bind(socket.fd(), reinterpret_cast<const sockaddr*>(&address.storage),
                     address.size) != 0 ||
      sockets().listen(socket.fd(), 256) != 0) {
    const int error = errno;
    fail_address(address,
                 error == EADDRINUSE
                     ? "the port is taken by another program, or by another process 0"
                 : error == EADDRNOTAVAIL ? "is no address of this machine, where process 0 runs"
                                          : "cannot listen",
                 error);
  }
  return socket;
}

Socket Socket::connect(const Address& to, const Address& from) {
  Socket socket = make_socket(to);
  send_at_once(socket.fd());
  if (from.size > 0) {
    Address bound = from;
    bound.set_port(0);
    if (sockets().bind(socket.fd(), reinterpret_cast<const sockaddr*>(&bound.storage),
                       bound.size) != 0)
      fail_address(from, "cannot connect from there", errno);
  }
  if (sockets().connect(socket.fd(), reinterpret_cast<const sockaddr*>(&to.storage), to.size) !=
          0 &&
      errno != EINPROGRESS && errno != EINTR)
    fail_address(to, "cannot connect", errno);
  return socket;
}

Socket Socket::accept(Address* from) const {
  while (true) {
    Address address;
    address.size = sizeof address.storage;
    const int fd = sockets().accept(fd_, reinterpret_cast<sockaddr*>(&address.storage),
                                    &address.size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      send_at_once(fd);
      if (from) *from = address;
      return Socket(fd);
    }
    if (errno == EINTR || errno == ECONNABORTED) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return {};
    throw base::Error(Status::kUnavailable,
                      base::text("no more connections can be taken: ", errno_text(errno)), -1,
                      errno);
  }
}

Address Socket::local() const {
  Address address;
  address.size = sizeof address.storage;
  if (sockets().name(fd_, reinterpret_cast<sockaddr*>(&address.storage), &address.size) != 0)
    throw base::Error(Status::kUnavailable, "a socket has no address", -1, errno);
  return address;
}

int Socket::pending_error() const {
  int error = 0;
  socklen_t size = sizeof error;
  return sockets().get_option(fd_, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

Socket::Result Socket::read(std::string& to) {
  constexpr size_t kAtOnce = size_t{16} << 10, kMost = size_t{256} << 10;
  char buffer[kAtOnce];
  for (size_t total = 0; total < kMost;) {
    const ssize_t n = sockets().recv(fd_, buffer, sizeof buffer, 0);
    if (n > 0) {
      to.append(buffer, static_cast<size_t>(n));
      total += static_cast<size_t>(n);
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
      return total > 0 ? Result::kDone : Result::kAgain;
    // Bytes before the end come first; the next read finds the end again.
    return total > 0 ? Result::kDone : Result::kClosed;
  }
  return Result::kDone;
}

Socket::Result Socket::write(std::string& from) {
  size_t written = 0;
  Result result = Result::kDone;
  while (written < from.size()) {
    const ssize_t n =
        sockets().send(fd_, from.data() + written, from.size() - written, MSG_NOSIGNAL);
    if (n >= 0) {
      written += static_cast<size_t>(n);
      continue;
    }
    if (errno == EINTR) continue;
    result = errno == EAGAIN || errno == EWOULDBLOCK ? Result::kAgain : Result::kClosed;
    break;
  }
  from.erase(0, written);
  return result;
}

size_t Socket::undelivered() const noexcept {
  int bytes = 0;
  return ::ioctl(fd_, SIOCOUTQ, &bytes) == 0 ? static_cast<size_t>(bytes) : 0;
}

void poll_sockets(std::vector<PollEntry>& entries, int64_t ms) {
  std::vector<pollfd> fds;
  fds.reserve(entries.size());
  for (const PollEntry& entry : entries)
    fds.push_back({entry.fd, static_cast<short>(POLLIN | (entry.write ? POLLOUT : 0)), 0});
  const int ready =
      sockets().poll(fds.data(), fds.size(), static_cast<int>(std::clamp<int64_t>(ms, 0, 60'000)));
  if (ready < 0 && errno != EINTR)  // out of memory: sleep instead of spinning
    std::this_thread::sleep_for(std::chrono::milliseconds(std::clamp<int64_t>(ms, 0, 10)));
  for (size_t i = 0; i < entries.size(); ++i) {
    const short events = ready > 0 ? fds[i].revents : short{0};
    entries[i].readable = (events & (POLLIN | POLLHUP | POLLERR | POLLNVAL)) != 0;
    entries[i].writable = (events & (POLLOUT | POLLERR)) != 0;
  }
}

}  // namespace gnnmg::comm
