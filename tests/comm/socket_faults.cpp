#include "comm/socket_faults.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <stdexcept>

namespace gnnmg::test {
namespace {

struct Faults {
  SocketPlan plan;
  const comm::SocketTable* below;  // the real calls
  std::array<std::atomic<int64_t>, kSocketCalls> counts{};
  std::array<std::atomic<int64_t>, kSocketCalls> turns{};
  std::atomic<bool> struck{false};
};

// Never destroyed: a thread of the library may still be in a call when the faults end.
Faults faults;
std::atomic<bool> alive{false};

// Counts the call; returns true, with errno set, if it must fail.
bool strikes(SocketCall call) {
  const int64_t n = ++faults.counts[static_cast<int>(call)];
  if (faults.plan.call != call || faults.plan.fail_at == 0 || n < faults.plan.fail_at ||
      (n > faults.plan.fail_at && !faults.plan.for_ever))
    return false;
  faults.struck = true;
  errno = faults.plan.error;
  return true;
}

// Returns true, with errno EINTR, for every second call of a kind.
bool interrupts(SocketCall call) {
  if (!faults.plan.interrupts || ++faults.turns[static_cast<int>(call)] % 2 == 0) return false;
  errno = EINTR;
  return true;
}

size_t cut(size_t size) {
  return faults.plan.chunk > 0 ? std::min(size, static_cast<size_t>(faults.plan.chunk)) : size;
}

const comm::SocketTable kFaulty{
    .socket =
        [](int family, int type, int protocol) {
          if (strikes(SocketCall::kSocket)) return -1;
          return faults.below->socket(family, type, protocol);
        },
    .bind =
        [](int fd, const sockaddr* address, socklen_t size) {
          return strikes(SocketCall::kBind) ? -1 : faults.below->bind(fd, address, size);
        },
    .listen =
        [](int fd, int backlog) {
          return strikes(SocketCall::kListen) ? -1 : faults.below->listen(fd, backlog);
        },
    .connect =
        [](int fd, const sockaddr* address, socklen_t size) {
          if (strikes(SocketCall::kConnect)) return -1;
          const int result = faults.below->connect(fd, address, size);
          // An interrupted connect goes on in the background.
          return result == 0 || errno == EINPROGRESS
                     ? (interrupts(SocketCall::kConnect) ? -1 : result)
                     : result;
        },
    .accept =
        [](int fd, sockaddr* address, socklen_t* size, int flags) {
          if (interrupts(SocketCall::kAccept) || strikes(SocketCall::kAccept)) return -1;
          return faults.below->accept(fd, address, size, flags);
        },
    .recv = [](int fd, void* buffer, size_t size, int flags) -> ssize_t {
      if (interrupts(SocketCall::kRecv) || strikes(SocketCall::kRecv)) return -1;
      return faults.below->recv(fd, buffer, cut(size), flags);
    },
    .send = [](int fd, const void* buffer, size_t size, int flags) -> ssize_t {
      if (interrupts(SocketCall::kSend) || strikes(SocketCall::kSend)) return -1;
      return faults.below->send(fd, buffer, cut(size), flags);
    },
    .poll =
        [](pollfd* entries, nfds_t count, int ms) {
          if (interrupts(SocketCall::kPoll) || strikes(SocketCall::kPoll)) return -1;
          return faults.below->poll(entries, count, ms);
        },
    .name =
        [](int fd, sockaddr* address, socklen_t* size) {
          return strikes(SocketCall::kName) ? -1 : faults.below->name(fd, address, size);
        },
    .get_option =
        [](int fd, int level, int name, void* value, socklen_t* size) {
          if (strikes(SocketCall::kGetOption)) return -1;
          return faults.below->get_option(fd, level, name, value, size);
        },
    .set_option =
        [](int fd, int level, int name, const void* value, socklen_t size) {
          if (strikes(SocketCall::kSetOption)) return -1;
          return faults.below->set_option(fd, level, name, value, size);
        },
};

}  // namespace

SocketFaults::SocketFaults(const SocketPlan& plan) {
  if (alive.exchange(true)) throw std::logic_error("one SocketFaults at a time");
  faults.plan = plan;
  faults.below = &comm::sockets();
  for (int i = 0; i < kSocketCalls; ++i) faults.counts[i] = faults.turns[i] = 0;
  faults.struck = false;
  previous_ = comm::set_socket_table(&kFaulty);
}

SocketFaults::~SocketFaults() {
  comm::set_socket_table(previous_);
  alive = false;
}

int64_t SocketFaults::count(SocketCall call) const { return faults.counts[static_cast<int>(call)]; }

bool SocketFaults::struck() const { return faults.struck; }

}  // namespace gnnmg::test
