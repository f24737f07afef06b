#include "io/checksum.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <new>
#include <vector>

#include "base/file.h"
#include "base/libcrypto.h"
#include "io/checked_file.h"

namespace gnnmg::io {

struct Sha256::State {
  struct Release {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  static EVP_MD_CTX* make() {
    base::init_libcrypto();
    return EVP_MD_CTX_new();
  }
  std::unique_ptr<EVP_MD_CTX, Release> context{make()};
};

namespace {

void require(int answer) {
  if (answer != 1) base::fail(base::Status::kDependency, "libcrypto has no SHA-256");
}

}  // namespace

Sha256::Sha256() : state_(std::make_unique<State>()) {
  if (!state_->context) throw std::bad_alloc();
  require(EVP_DigestInit_ex(state_->context.get(), EVP_sha256(), nullptr));
}
Sha256::~Sha256() = default;

void Sha256::add(std::span<const uint8_t> bytes) {
  require(EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size()));
}

std::string Sha256::finish() {
  std::array<uint8_t, 32> digest;
  require(EVP_DigestFinal_ex(state_->context.get(), digest.data(), nullptr));
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * digest.size());
  for (const uint8_t byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

FileSum sum_of(std::span<const uint8_t> bytes) {
  Sha256 sum;
  sum.add(bytes);
  return {static_cast<int64_t>(bytes.size()), sum.finish()};
}

FileSum sum_of_file(const std::string& path) {
  constexpr int64_t kPiece = 1 << 20;
  const base::File file(path);
  Sha256 sum;
  std::vector<uint8_t> piece(std::min(kPiece, std::max<int64_t>(file.size(), 1)));
  for (int64_t at = 0; at < file.size(); at += kPiece) {
    const std::span<uint8_t> part(piece.data(), std::min(kPiece, file.size() - at));
    file.read_at(at, part);
    sum.add(part);
  }
  return {file.size(), sum.finish()};
}

void check_bytes(const std::string& path, int64_t found, const FileSum& written) {
  if (found != written.bytes)
    base::fail(base::Status::kChecksum, path, ": has ", found, " bytes, ", written.bytes,
               " were written");
}

void check_sum(const std::string& path, const FileSum& found, const FileSum& written) {
  check_bytes(path, found.bytes, written);
  if (found.sha256 != written.sha256)
    base::fail(base::Status::kChecksum, path, ": SHA-256 ", found.sha256, ", written was ",
               written.sha256);
}

}  // namespace gnnmg::io
