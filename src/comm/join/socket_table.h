// The library's own system calls on sockets, in a table, so that tests can make the n-th call fail,
// be short or be interrupted.
#pragma once

#include <poll.h>
#include <sys/socket.h>

namespace gnnmg::comm {

// Signatures and errno are those of POSIX and Linux.
struct SocketTable {
  int (*socket)(int family, int type, int protocol);
  int (*bind)(int fd, const sockaddr* address, socklen_t size);
  int (*listen)(int fd, int backlog);
  int (*connect)(int fd, const sockaddr* address, socklen_t size);
  int (*accept)(int fd, sockaddr* address, socklen_t* size, int flags);
  ssize_t (*recv)(int fd, void* buffer, size_t size, int flags);
  ssize_t (*send)(int fd, const void* buffer, size_t size, int flags);
  int (*poll)(pollfd* entries, nfds_t count, int ms);
  int (*name)(int fd, sockaddr* address, socklen_t* size);  // calls getsockname
  int (*get_option)(int fd, int level, int name, void* value, socklen_t* size);
  int (*set_option)(int fd, int level, int name, const void* value, socklen_t size);
};
const SocketTable& system_sockets() noexcept;
// Replaces the table for the whole process and returns the old one; null: the system's. For tests.
const SocketTable* set_socket_table(const SocketTable* table) noexcept;
const SocketTable& sockets() noexcept;

}  // namespace gnnmg::comm
