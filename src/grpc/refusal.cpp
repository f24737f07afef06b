#include "grpc/refusal.h"

#include "base/error.h"

namespace gnnmg::grpc_engine {
namespace {

using base::fail;
using base::Status;

bool has(const std::string& text, const char* words) { return text.find(words) != text.npos; }

// A server with TLS closes so if it does not accept this end. The status stays that of a server
// that is away, since a proxy closes so as well while its server starts.
std::string reason_to_close(const dist::TlsFiles& tls) {
  if (tls.given()) return base::text("; it may not accept the certificate ", tls.certificate);
  return "; it may use TLS and expect a certificate";
}

}  // namespace

void fail_to_connect(const std::string& text, const dist::ConnectSettings& settings) {
  if (has(text, "certificate verify failed"))
    fail(Status::kAuth, "its certificate is not accepted: expected a valid one, signed by that of ",
         settings.tls.authority);
  if (has(text, "is not in peer certificate"))
    fail(Status::kAuth, "its certificate is not accepted: expected one for the name ",
         settings.host);
  if (has(text, "wrong version number"))
    fail(Status::kProtocol, "it does not use TLS; leave out the certificates, or give it some");
  const bool closed = has(text, "Socket closed") || has(text, "Connection reset");
  fail(Status::kUnavailable, text, closed ? reason_to_close(settings.tls) : "");
}

}  // namespace gnnmg::grpc_engine
