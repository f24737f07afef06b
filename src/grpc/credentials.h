// Certificates from files, for both ends.
#pragma once

#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>

#include <memory>

#include "dist/engine.h"

namespace gnnmg::grpc_engine {

// Without files: no TLS. Throws as read_certificate().
std::shared_ptr<grpc::ChannelCredentials> client_credentials(const dist::TlsFiles& files);
// The client must have a certificate of the same authority.
std::shared_ptr<grpc::ServerCredentials> server_credentials(const dist::TlsFiles& files);

}  // namespace gnnmg::grpc_engine
