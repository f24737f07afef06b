#include "grpc/credentials.h"

#include <string>

#include "base/error.h"
#include "base/file.h"

namespace gnnmg::grpc_engine {
namespace {

struct Pem {
  std::string certificate, key, authority;
};

std::string read(const std::string& path) {
  constexpr int64_t kMost = 1 << 20;
  const auto bytes = base::read_file(path, kMost);
  std::string text(bytes.begin(), bytes.end());
  if (text.find("-----BEGIN ") == text.npos)
    base::fail(base::Status::kFormat, path, ": no PEM file, expected one with -----BEGIN");
  return text;
}

Pem read(const dist::TlsFiles& files) {
  if (files.certificate.empty() || files.key.empty() || files.authority.empty())
    base::fail(base::Status::kInvalidArgument,
               "TLS needs three files: this end's certificate and key, and the certificate of the "
               "authority that has signed the other end's");
  return {read(files.certificate), read(files.key), read(files.authority)};
}

}  // namespace

std::shared_ptr<grpc::ChannelCredentials> client_credentials(const dist::TlsFiles& files) {
  if (!files.given()) return grpc::InsecureChannelCredentials();
  Pem pem = read(files);
  return grpc::SslCredentials({pem.authority, pem.key, pem.certificate});
}

std::shared_ptr<grpc::ServerCredentials> server_credentials(const dist::TlsFiles& files) {
  if (!files.given()) return grpc::InsecureServerCredentials();
  Pem pem = read(files);
  grpc::SslServerCredentialsOptions options(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = pem.authority;
  options.pem_key_cert_pairs.push_back({pem.key, pem.certificate});
  return grpc::SslServerCredentials(options);
}

}  // namespace gnnmg::grpc_engine
