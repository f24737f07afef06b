#include "dist/addresses.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "base/error.h"
#include "io/bytes.h"

namespace gnnmg::dist {
namespace {

using base::fail;
using base::Status;

bool is_loopback(const sockaddr* address) {
  if (address->sa_family == AF_INET)
    return ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr) >> 24 == 127;
  return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr) != 0;
}

// Appends the addresses of one "host:port".
void find(std::string_view asked, std::vector<Address>& found) {
  const size_t colon = asked.rfind(':');
  const std::string_view port = colon == asked.npos ? "" : asked.substr(colon + 1);
  std::string_view host = asked.substr(0, colon == asked.npos ? 0 : colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  else if (host.find(':') != host.npos)
    host = "";  // an IPv6 address needs its brackets
  int number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (host.empty() || error != std::errc() || end != port.data() + port.size() || number < 1 ||
      number > 65535)
    fail(Status::kInvalidArgument, "the address \"", io::printable(asked),
         "\": expected a host and a port, such as graph-1:7300 or [::1]:7300");

  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int result =
      getaddrinfo(std::string(host).c_str(), std::string(port).c_str(), &hints, &list);
  if (result != 0)
    fail(Status::kUnavailable, "the address \"", io::printable(asked),
         "\": ", gai_strerror(result));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, &freeaddrinfo);
  const size_t before = found.size();
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    char digits[NI_MAXHOST];
    if (getnameinfo(entry->ai_addr, entry->ai_addrlen, digits, sizeof digits, nullptr, 0,
                    NI_NUMERICHOST) != 0)
      continue;
    const bool wide = entry->ai_family == AF_INET6;
    Address address{std::string(asked), std::string(host),
                    base::text(wide ? "[" : "", digits, wide ? "]:" : ":", number),
                    is_loopback(entry->ai_addr), ""};
    const bool known = std::any_of(found.begin(), found.end(),
                                   [&](const Address& a) { return a.digits == address.digits; });
    if (!known) found.push_back(std::move(address));
  }
  if (found.size() == before + 1 && found.back().digits != asked) found.back().lookup = asked;
}

}  // namespace

std::vector<Address> find_addresses(std::string_view text) {
  std::vector<Address> found;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    find(text.substr(begin, end - begin), found);
    begin = end + 1;
  }
  return found;
}

std::string find_again(const Address& address) {
  if (address.lookup.empty()) return address.digits;
  try {
    const std::vector<Address> now = find_addresses(address.lookup);
    // An address of this machine needs no TLS, and another one does.
    if (now.size() == 1 && now[0].loopback == address.loopback) return now[0].digits;
  } catch (const base::Error&) {  // nobody has the name, for the moment
  }
  return address.digits;
}

}  // namespace gnnmg::dist
