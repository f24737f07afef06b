// The sockets of a process group, found among this process's descriptors because Gloo does not
// expose them. Gloo accepts every connection to its port and ends the program when descriptors run
// out, so strangers must be shut out once all ranks have connected. An operation that other ranks
// never join ends at once when its connections close, not only after Gloo's timeout.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace gnnmg::comm::gloo {

class GroupSockets {
 public:
  GroupSockets() = default;
  // Drops packets of strangers to the port of a connected group from now on. `told` are the values
  // that the group has sent to its peers; they contain its address.
  static GroupSockets close_to_strangers(std::span<const std::string> told);
  // Ends the connections that peers have made to the port. The peers notice at once.
  void hang_up() const noexcept;

 private:
  uint16_t port_ = 0;  // network byte order; 0: none found
};

}  // namespace gnnmg::comm::gloo
