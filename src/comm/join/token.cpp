#include "comm/join/token.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/libcrypto.h"

namespace gnnmg::comm {

using base::Status;

std::string read_token(const std::string& path) {
  constexpr int64_t kLeast = 32, kMost = 1024;
  const base::File file(path);
  struct stat info {};
  if (base::files().fstat(file.fd(), &info) != 0)
    throw base::Error(Status::kIo, base::text("token file ", path, ": cannot be examined"), -1,
                      errno);
  if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    base::fail(Status::kAuth, "token file ", path, ": expected mode 0600, found ",
               (info.st_mode >> 6) & 7, (info.st_mode >> 3) & 7, info.st_mode & 7,
               " (octal): others could read the token");
  if (info.st_uid != 0 && info.st_uid != geteuid())
    base::fail(Status::kAuth, "token file ", path, ": belongs to user ", info.st_uid,
               ", expected user ", geteuid());
  if (file.size() < kLeast || file.size() > kMost)
    base::fail(Status::kAuth, "token file ", path, ": expected ", kLeast, " to ", kMost,
               " bytes, found ", file.size());
  std::string token(static_cast<size_t>(file.size()), '\0');
  file.read_at(0, {reinterpret_cast<uint8_t*>(token.data()), token.size()});
  return token;
}

Nonce make_nonce() {
  base::init_libcrypto();
  Nonce nonce;
  if (RAND_bytes(nonce.data(), static_cast<int>(nonce.size())) != 1)
    base::fail(Status::kDependency, "libcrypto has no random bytes");
  return nonce;
}

Proof make_proof(std::string_view token, std::string_view role, const Nonce& server,
                 const Nonce& client) {
  base::init_libcrypto();
  std::string message(role);
  message.push_back('\0');
  message.append(reinterpret_cast<const char*>(server.data()), server.size());
  message.append(reinterpret_cast<const char*>(client.data()), client.size());
  Proof proof;
  unsigned int size = 0;
  if (!HMAC(EVP_sha256(), token.data(), static_cast<int>(token.size()),
            reinterpret_cast<const uint8_t*>(message.data()), message.size(), proof.data(),
            &size) ||
      size != proof.size())
    base::fail(Status::kDependency, "libcrypto has no HMAC-SHA-256");
  return proof;
}

bool equal(const Proof& a, const Proof& b) noexcept {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace gnnmg::comm
