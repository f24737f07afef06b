// Addresses of servers as a user writes them, and their numeric form.
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

// The addresses of "graph-1:7300,[::1]:7300": each host, a name or digits, with a port, in order; a
// name may have several addresses, and none is listed twice. Error(kInvalidArgument) for a text of
// another form, kUnavailable for a name that cannot be resolved.
std::vector<Address> find_addresses(std::string_view text);

}  // namespace gnnmg::dist
