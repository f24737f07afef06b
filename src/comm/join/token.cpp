#include "comm/join/token.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <new>

#include "base/file.h"
#include "base/libcrypto.h"

namespace gnnmg::comm {

using base::Status;

namespace {

// Checks that libcrypto has a function. After one success only a lack of memory can fail it, and
// libcrypto's error codes for that vary.
class Function {
 public:
  explicit constexpr Function(const char* name) : name_(name) {}
  void check(bool done) {
    if (done) return has_.store(true, std::memory_order_relaxed);
    ERR_clear_error();
    if (has_) throw std::bad_alloc();
    base::fail(Status::kDependency, "libcrypto has no ", name_, ", or no memory for it");
  }

 private:
  const char* const name_;
  std::atomic<bool> has_{false};
};
constinit Function hmac{"HMAC-SHA-256"}, sha256{"SHA-256"};

}  // namespace

std::string read_token(const std::string& path) {
  constexpr int64_t kLeast = 32, kMost = 1024;
  const base::File file(path);
  struct stat info {};
  if (base::files().fstat(file.fd(), &info) != 0)
    throw base::Error(Status::kIo, base::text("token file ", path, ": cannot be examined"), -1,
                      errno);
  // Root alone chooses the group of its files, such as those of Kubernetes' secrets with an
  // fsGroup.
  const mode_t others = S_IWGRP | S_IXGRP | S_IRWXO | (info.st_uid == 0 ? 0 : S_IRGRP);
  if ((info.st_mode & others) != 0)
    base::fail(
        Status::kAuth, "token file ", path, ": expected mode 0600, found ", (info.st_mode >> 6) & 7,
        (info.st_mode >> 3) & 7, info.st_mode & 7,
        " (octal): others could read the token; 0640 is accepted only if root owns the file");
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
  Nonce nonce;
  if (getentropy(nonce.data(), nonce.size()) != 0)
    throw base::Error(Status::kUnavailable, "the system has no random bytes", -1, errno);
  return nonce;
}

Proof make_mac(std::string_view key, std::string_view message) {
  base::init_libcrypto();
  Proof mac;
  unsigned int size = 0;
  hmac.check(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                  reinterpret_cast<const uint8_t*>(message.data()), message.size(), mac.data(),
                  &size) &&
             size == mac.size());
  return mac;
}

Proof make_digest(std::string_view bytes) {
  base::init_libcrypto();
  Proof digest;
  unsigned int size = 0;
  sha256.check(
      EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) == 1 &&
      size == digest.size());
  return digest;
}

Proof make_proof(std::string_view token, std::string_view role, const Nonce& server,
                 const Nonce& client) {
  std::string message(role);
  message.push_back('\0');
  message += bytes_of(server);
  message += bytes_of(client);
  return make_mac(token, message);
}

bool equal(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace gnnmg::comm
