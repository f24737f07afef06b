// Handshakes that one end has turned down, told from gRPC's text: its status for them is that of a
// server that is away.
#pragma once

#include <string>

#include "dist/engine.h"

namespace gnnmg::grpc_engine {

// Throws the meaning of gRPC's `text` about a connection that was not made: kAuth if this end does
// not accept the server's certificate, kProtocol if the server does not use TLS, else kUnavailable.
[[noreturn]] void fail_to_connect(const std::string& text, const dist::ConnectSettings& settings);

}  // namespace gnnmg::grpc_engine
