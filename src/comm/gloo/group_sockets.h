// The sockets of a process group, found among this process's descriptors because Gloo hands none
// out. They are wanted twice. Gloo keeps every connection that comes to its port, and ends the
// program when descriptors run out, so nobody may connect once all ranks have. And an operation
// that no other rank will ever meet ends when its connections do, not with Gloo's time-out.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace gnnmg::comm::gloo {

class GroupSockets {
 public:
  GroupSockets() = default;
  // Of a group that is connected and has told its peers these words, in which its address occurs:
  // from now on what strangers send to its port is dropped.
  static GroupSockets close_to_strangers(std::span<const std::string> told);
  // Ends the connections that peers have made to the port. They learn of it at once.
  void hang_up() const noexcept;

 private:
  uint16_t port_ = 0;  // in network order; 0: none was found
};

}  // namespace gnnmg::comm::gloo
