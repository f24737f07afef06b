// Addresses of servers as a user writes them, and what they stand for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gnnmg::dist {

struct Address {
  std::string asked;   // "graph-1:7300"
  std::string host;    // "graph-1"
  std::string digits;  // "10.0.0.7:7300", "[::1]:7300"
  bool loopback = false;
  std::string name() const { return asked == digits ? asked : asked + " (" + digits + ")"; }
};

// What "graph-1:7300,[::1]:7300" stands for: each host, a name or digits, with a port, in order; a
// name may have several addresses, and none is listed twice. Error(kInvalidArgument) for a text
// that is none, kUnavailable for a name that nobody knows.
std::vector<Address> find_addresses(std::string_view text);

}  // namespace gnnmg::dist
