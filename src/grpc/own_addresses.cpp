#include "grpc/own_addresses.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <cstring>
#include <memory>

namespace gnnmg::grpc_engine {
namespace {

bool same(const sockaddr* own, int family, const void* address) {
  if (own == nullptr || own->sa_family != family) return false;
  if (family == AF_INET)
    return std::memcmp(&reinterpret_cast<const sockaddr_in*>(own)->sin_addr, address,
                       sizeof(in_addr)) == 0;
  return std::memcmp(&reinterpret_cast<const sockaddr_in6*>(own)->sin6_addr, address,
                     sizeof(in6_addr)) == 0;
}

}  // namespace

bool is_own_address(const std::string& address, int32_t port) {
  const size_t colon = address.rfind(':');
  if (colon == address.npos || address.substr(colon + 1) != std::to_string(port)) return false;
  std::string host = address.substr(0, colon);
  const bool wide = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (wide) host = host.substr(1, host.size() - 2);
  const int family = wide ? AF_INET6 : AF_INET;
  unsigned char bytes[sizeof(in6_addr)];
  if (inet_pton(family, host.c_str(), bytes) != 1) return false;
  if (family == AF_INET && bytes[0] == 127) return true;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return false;
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, &freeifaddrs);
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next)
    if (same(entry->ifa_addr, family, bytes)) return true;
  return false;
}

}  // namespace gnnmg::grpc_engine
