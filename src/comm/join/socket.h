// Non-blocking TCP sockets and addresses. Sockets are closed on exec and raise no SIGPIPE.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "comm/collectives.h"

namespace gnnmg::comm {

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  int family() const { return storage.ss_family; }
  bool loopback() const;
  bool everywhere() const;   // true for the wildcard address
  void set_everywhere();     // keeps the port
  std::string host() const;  // numeric
  int32_t port() const;
  void set_port(int32_t port);
  std::string text() const;  // "10.0.0.1:29500", "[::1]:29500"
};

// Returns the addresses of a host. A background thread looks up names and is abandoned if `wait`
// ends first. Error(kUnavailable) naming the host if there are none.
std::vector<Address> resolve(const std::string& host, int32_t port, const Wait& wait);

// True if a machine's name resolves only to loopback addresses, as its own name does on some
// systems. False for "localhost" and for numeric addresses.
bool names_this_machine_alone(const std::string& host, const std::vector<Address>& addresses);

// Returns the first address of a network interface of this machine, of `family` or, with AF_UNSPEC,
// IPv4 before IPv6. Error(kInvalidArgument) lists the existing interfaces.
Address interface_address(const std::string& name, int family);

class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept;
  ~Socket() { close(); }
  // Error(kUnavailable) with errno if the address is not available.
  static Socket listen(const Address& address);
  // Starts to connect, from the local address `from` if that is set. The socket becomes writable
  // once it is connected or has failed. Error(kUnavailable) for an immediate failure.
  static Socket connect(const Address& to, const Address& from);
  // Returns a closed socket if no connection is pending; Error(kUnavailable) with errno. `from`
  // gets the peer's address.
  Socket accept(Address* from = nullptr) const;

  bool open() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  void close() noexcept;
  Address local() const;
  int pending_error() const;  // errno of the connection

  enum class Result { kDone, kAgain, kClosed };
  // Appends the available bytes, at most 256 KiB.
  Result read(std::string& to);
  // Writes from the front of `from` and removes the written bytes.
  Result write(std::string& from);
  // Returns the number of written bytes that the peer's system has not received.
  size_t undelivered() const noexcept;

 private:
  int fd_ = -1;
};

// Waits until one of `fds` is ready or `ms` have passed. EINTR ends the wait.
struct PollEntry {
  int fd;
  bool write;     // wait for writing too
  bool readable;  // result; also true if the connection is closed or broken
  bool writable;  // result
};
void poll_sockets(std::vector<PollEntry>& entries, int64_t ms);

}  // namespace gnnmg::comm
