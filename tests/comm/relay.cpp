#include "comm/relay.h"

#include <sys/socket.h>

#include <algorithm>

#include "comm/join/seal.h"
#include "comm/ranks.h"

namespace gnnmg::test {
namespace {

comm::Address address_of(int port) { return comm::resolve("127.0.0.1", port, within_ms(5000))[0]; }

// Returns the size of the first frame if it is complete; otherwise 0.
size_t frame_size(const std::string& bytes) {
  if (bytes.size() < comm::kFrameHeader) return 0;
  size_t size = comm::kFrameHeader;
  for (int i = 0; i < 4; ++i)
    size += static_cast<size_t>(static_cast<uint8_t>(bytes[i])) << (8 * i);
  if ((static_cast<uint8_t>(bytes[4]) & comm::Seal::kSealed) != 0) size += 2 * comm::Seal::kTag;
  return bytes.size() < size ? 0 : size;
}

void send_all(const comm::Socket& to, std::string bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(to.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n > 0)
      bytes.erase(0, static_cast<size_t>(n));
    else if (n < 0 && errno == EAGAIN)
      std::this_thread::yield();
    else
      return;
  }
}

}  // namespace

Relay::Relay(int port_of_leader, Change change)
    : leader_(port_of_leader),
      change_(std::move(change)),
      listener_(comm::Socket::listen(address_of(0))) {
  port_ = listener_.local().port();
  thread_ = std::thread([this] { serve(); });
}

Relay::~Relay() {
  over_ = true;
  thread_.join();
}

void Relay::serve() {
  std::vector<std::thread> all;
  while (!over_) {
    std::vector<comm::PollEntry> entries{{listener_.fd(), false, false, false}};
    comm::poll_sockets(entries, 5);
    comm::Socket member = listener_.accept();
    if (!member.open()) continue;
    ++connections_;
    all.emplace_back([this, held = std::make_shared<comm::Socket>(std::move(member))] {
      pass(std::move(*held));
    });
  }
  for (std::thread& thread : all) thread.join();
}

void Relay::pass(comm::Socket member) {
  const comm::Socket leader = comm::Socket::connect(address_of(leader_), {});
  Pump up{Way::kToLeader, 72, {}}, down{Way::kToMember, 74, {}};
  while (!over_) {
    std::vector<comm::PollEntry> entries{{member.fd(), false, false, false},
                                         {leader.fd(), false, false, false}};
    comm::poll_sockets(entries, 5);
    if (entries[0].readable && !move(up, member, leader)) return;
    if (entries[1].readable && !move(down, leader, member)) return;
  }
}

bool Relay::move(Pump& pump, const comm::Socket& from, const comm::Socket& to) const {
  char buffer[1 << 16];
  const ssize_t n = ::recv(from.fd(), buffer, sizeof buffer, 0);
  if (n < 0 && errno == EAGAIN) return true;
  if (n <= 0) return false;
  pump.in.append(buffer, static_cast<size_t>(n));
  const size_t greeting = std::min(pump.greetings, pump.in.size());
  send_all(to, pump.in.substr(0, greeting));
  pump.in.erase(0, greeting);
  pump.greetings -= greeting;
  while (pump.greetings == 0) {
    const size_t size = frame_size(pump.in);
    if (size == 0) break;
    for (const std::string& frame : change_(pump.way, pump.number++, pump.in.substr(0, size)))
      send_all(to, frame);
    pump.in.erase(0, size);
  }
  return true;
}

}  // namespace gnnmg::test
