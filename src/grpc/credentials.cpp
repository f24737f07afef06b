#include "grpc/credentials.h"

#include "grpc/certificate.h"

namespace gnnmg::grpc_engine {
std::shared_ptr<grpc::ChannelCredentials> client_credentials(const dist::TlsFiles& files) {
  if (!files.given()) return grpc::InsecureChannelCredentials();
  const Pem pem = read_certificate(files);
  return grpc::SslCredentials({pem.authority, pem.key, pem.certificate});
}

std::shared_ptr<grpc::ServerCredentials> server_credentials(const dist::TlsFiles& files) {
  if (!files.given()) return grpc::InsecureServerCredentials();
  const Pem pem = read_certificate(files);
  grpc::SslServerCredentialsOptions options(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = pem.authority;
  options.pem_key_cert_pairs.push_back({pem.key, pem.certificate});
  return grpc::SslServerCredentials(options);
}

}  // namespace gnnmg::grpc_engine
