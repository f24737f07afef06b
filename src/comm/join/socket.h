// TCP sockets that never block, and addresses. All are closed on exec, and none raises SIGPIPE.
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
  bool everywhere() const;   // of no one interface
  void set_everywhere();     // the port stays
  std::string host() const;  // numeric
  int32_t port() const;
  void set_port(int32_t port);
  std::string text() const;  // "10.0.0.1:29500", "[::1]:29500"
};

// The addresses of a host. Names are looked up on a thread of its own, which is left to itself when
// `wait` is over first. Error(kUnavailable) naming the host when there are none.
std::vector<Address> resolve(const std::string& host, int32_t port, const Wait& wait);

// True when a machine's name comes to addresses of the machine itself alone, as its own name does
// on some systems; "localhost" and addresses in digits mean what they say.
bool names_this_machine_alone(const std::string& host, const std::vector<Address>& addresses);

// The first address of a network interface of this machine, of `family` or, with AF_UNSPEC, IPv4
// before IPv6. Error(kInvalidArgument) naming the interfaces that there are.
Address interface_address(const std::string& name, int family);

class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept;
  ~Socket() { close(); }
  // Error(kUnavailable) with errno when the address cannot be had.
  static Socket listen(const Address& address);
  // Begins to connect, from an address of this machine if `from` has one; writable means connected,
  // or failed. Error(kUnavailable) when it fails at once.
  static Socket connect(const Address& to, const Address& from);
  // Not open when nobody waits; Error(kUnavailable) with errno. `from`: who it is.
  Socket accept(Address* from = nullptr) const;

  bool open() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  void close() noexcept;
  Address local() const;
  int pending_error() const;  // errno of the connection

  enum class Result { kDone, kAgain, kClosed };
  // Appends what there is, at most 256 KiB.
  Result read(std::string& to);
  // Writes from the front of `from` and removes that.
  Result write(std::string& from);

 private:
  int fd_ = -1;
};

// Waits until one of `fds` is ready or `ms` have passed; EINTR is a wait that is over.
struct PollEntry {
  int fd;
  bool write;     // also for writing
  bool readable;  // out; also set when the connection is closed or broken
  bool writable;  // out
};
void poll_sockets(std::vector<PollEntry>& entries, int64_t ms);

}  // namespace gnnmg::comm
