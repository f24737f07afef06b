#include "grpc/certificate.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <memory>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/libcrypto.h"

namespace gnnmg::grpc_engine {
namespace {

using base::fail;
using base::Status;

template <auto kFree>
struct Free {
  void operator()(auto* object) const { kFree(object); }
};
struct FreeChain {
  void operator()(STACK_OF(X509) * chain) const { sk_X509_free(chain); }
};
using Bio = std::unique_ptr<BIO, Free<BIO_free>>;
using Certificate = std::unique_ptr<X509, Free<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;

// OpenSSL's errors of this thread are those of the calls in one scope.
struct ErrorQueue {
  ErrorQueue() { base::init_libcrypto(); }
  ~ErrorQueue() { ERR_clear_error(); }
};

int no_password(char*, int, int, void*) { return -1; }  // the terminal is not asked for one

Bio reader_of(const std::string& text) {
  Bio bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  if (!bio) fail(Status::kNoMemory, "out of memory");
  return bio;
}

// A certificate and those after it, which have signed it.
std::vector<Certificate> certificates_of(const std::string& path, const std::string& text) {
  std::vector<Certificate> found;
  const Bio reader = reader_of(text);
  while (X509* next = PEM_read_bio_X509(reader.get(), nullptr, no_password, nullptr))
    found.emplace_back(next);
  if (found.empty()) fail(Status::kFormat, path, ": no certificate in it, expected one in PEM");
  return found;
}

Key key_of(const std::string& path, const std::string& text) {
  Key key(PEM_read_bio_PrivateKey(reader_of(text).get(), nullptr, no_password, nullptr));
  if (!key) fail(Status::kFormat, path, ": no private key in it, expected one without a password");
  return key;
}

std::string day_of(const ASN1_TIME* time) {
  const Bio bio(BIO_new(BIO_s_mem()));
  char* text = nullptr;
  if (!bio || ASN1_TIME_print(bio.get(), time) != 1) return "an unknown day";
  const auto size = BIO_get_mem_data(bio.get(), &text);
  return {text, static_cast<size_t>(size)};
}

void check_days(const std::string& path, const X509* certificate) {
  const ASN1_TIME* const first = X509_get0_notBefore(certificate);
  const ASN1_TIME* const last = X509_get0_notAfter(certificate);
  if (X509_cmp_current_time(last) < 0)
    fail(Status::kAuth, path, ": the certificate has expired, on ", day_of(last));
  if (X509_cmp_current_time(first) > 0)
    fail(Status::kAuth, path, ": the certificate is not valid before ", day_of(first));
}

std::string read(const std::string& path) {
  constexpr int64_t kMost = 1 << 20;
  const auto bytes = base::read_file(path, kMost);
  std::string text(bytes.begin(), bytes.end());
  if (text.find("-----BEGIN ") == text.npos)
    fail(Status::kFormat, path, ": no PEM file, expected one with -----BEGIN");
  return text;
}

// The reason why an end that trusts `authorities` does not accept the first of `own`; empty: it
// does.
std::string obstacle(const std::vector<Certificate>& own,
                     const std::vector<Certificate>& authorities) {
  const std::unique_ptr<X509_STORE, Free<X509_STORE_free>> store(X509_STORE_new());
  const std::unique_ptr<X509_STORE_CTX, Free<X509_STORE_CTX_free>> check(X509_STORE_CTX_new());
  const std::unique_ptr<STACK_OF(X509), FreeChain> chain(sk_X509_new_null());
  if (!store || !check || !chain) fail(Status::kNoMemory, "out of memory");
  for (const Certificate& each : authorities) X509_STORE_add_cert(store.get(), each.get());
  for (const Certificate& each : own) sk_X509_push(chain.get(), each.get());
  if (X509_STORE_CTX_init(check.get(), store.get(), own[0].get(), chain.get()) != 1)
    fail(Status::kNoMemory, "out of memory");
  if (X509_verify_cert(check.get()) == 1) return "";
  return X509_verify_cert_error_string(X509_STORE_CTX_get_error(check.get()));
}

}  // namespace

Pem read_certificate(const dist::TlsFiles& files) {
  if (files.certificate.empty() || files.key.empty() || files.authority.empty())
    fail(Status::kInvalidArgument,
         "TLS needs three files: this end's certificate and key, and the certificate of the "
         "authority that has signed the other end's");
  Pem pem{read(files.certificate), read(files.key), read(files.authority)};
  const ErrorQueue errors;
  const auto own = certificates_of(files.certificate, pem.certificate);
  const Key key = key_of(files.key, pem.key);
  certificates_of(files.authority, pem.authority);
  check_days(files.certificate, own[0].get());
  if (X509_check_private_key(own[0].get(), key.get()) != 1)
    fail(Status::kAuth, files.key, ": not the key of the certificate ", files.certificate);
  return pem;
}

void check_certificate(const dist::TlsFiles& files, const std::string& host) {
  const Pem pem = read_certificate(files);
  const ErrorQueue errors;
  const auto own = certificates_of(files.certificate, pem.certificate);
  const std::string found = obstacle(own, certificates_of(files.authority, pem.authority));
  if (!found.empty())
    fail(Status::kAuth, files.certificate, ": the certificate does not pass with ", files.authority,
         ": ", found);
  if (X509_check_host(own[0].get(), host.data(), host.size(), 0, nullptr) != 1)
    fail(Status::kAuth, files.certificate, ": the certificate is not for this machine, expected ",
         "the name ", host);
}

}  // namespace gnnmg::grpc_engine
