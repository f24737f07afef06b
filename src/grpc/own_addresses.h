// Tells if an address belongs to this machine.
#pragma once

#include <cstdint>
#include <string>

namespace gnnmg::grpc_engine {

// `address` in digits, with a port: "10.0.0.7:7300", "[::1]:7300". All of 127.0.0.0/8 is this
// machine.
bool is_own_address(const std::string& address, int32_t port);

}  // namespace gnnmg::grpc_engine
