// A file to which records are appended during a training.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace gnnmg::train {

// Errors are Error(kIo) with errno and path. One thread at a time.
class AppendFile {
 public:
  // Makes the file if it is not there; `exclusive`: it must not be.
  explicit AppendFile(const std::string& path, bool exclusive = false);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  const std::string& path() const { return path_; }
  // The last byte of the file, or -1 when it is empty.
  int last_byte() const;
  void append(std::span<const uint8_t> bytes);

 private:
  std::string path_;
  int fd_ = -1;
};

}  // namespace gnnmg::train
