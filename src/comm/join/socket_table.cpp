#include "comm/join/socket_table.h"

#include <atomic>

namespace gnnmg::comm {
namespace {

// glibc declares some of these with unions in place of sockaddr*, so they need lambdas.
const SocketTable kSystem{
    .socket = ::socket,
    .bind = [](int fd, const sockaddr* address,
               socklen_t size) { return ::bind(fd, address, size); },
    .listen = ::listen,
    .connect = [](int fd, const sockaddr* address,
                  socklen_t size) { return ::connect(fd, address, size); },
    .accept = [](int fd, sockaddr* address, socklen_t* size,
                 int flags) { return ::accept4(fd, address, size, flags); },
    .recv = ::recv,
    .send = ::send,
    .poll = ::poll,
    .name = [](int fd, sockaddr* address,
               socklen_t* size) { return ::getsockname(fd, address, size); },
    .get_option = ::getsockopt,
    .set_option = ::setsockopt,
};

std::atomic<const SocketTable*> current{&kSystem};

}  // namespace

const SocketTable& system_sockets() noexcept { return kSystem; }

const SocketTable* set_socket_table(const SocketTable* table) noexcept {
  return current.exchange(table ? table : &kSystem);
}

const SocketTable& sockets() noexcept { return *current.load(std::memory_order_acquire); }

}  // namespace gnnmg::comm
