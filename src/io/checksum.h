// SHA-256, by OpenSSL's libcrypto.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace gnnmg::io {

// SHA-256 of bytes that arrive piece by piece. One thread at a time.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void add(std::span<const uint8_t> bytes);
  // 64 lower-case digits; afterwards the object cannot be used again.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct FileSum {
  int64_t bytes = 0;
  std::string sha256;
};
// Reads the whole file, a piece at a time. Errors are those of base::File.
FileSum sum_of_file(const std::string& path);

}  // namespace gnnmg::io
