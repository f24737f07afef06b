// Checks of this end's own certificate: gRPC does not name an error in it, and the other end closes
// the connection without a word.
#pragma once

#include <string>

#include "dist/engine.h"

namespace gnnmg::grpc_engine {

// The contents of the three files.
struct Pem {
  std::string certificate, key, authority;
};

// Error(kInvalidArgument) where some of the three files are given and others are not; kNotFound and
// kIo; naming the file, kFormat for one without a certificate or key, and kAuth for a certificate
// that is not valid now, or whose key is another.
Pem read_certificate(const dist::TlsFiles& files);

// Throws as read_certificate(), and kAuth where an end with the same authority would not accept the
// certificate for the machine `host`.
void check_certificate(const dist::TlsFiles& files, const std::string& host);

}  // namespace gnnmg::grpc_engine
