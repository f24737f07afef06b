#include "train/log/append_file.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>

#include "base/file.h"

namespace gnnmg::train {
namespace {

[[noreturn]] void fail_with_errno(const std::string& path, const char* what) {
  const int error = errno;
  throw base::Error(base::Status::kIo,
                    base::text(path, ": cannot ", what, ": ", std::strerror(error)), -1, error);
}

}  // namespace

AppendFile::AppendFile(const std::string& path, bool exclusive) : path_(path) {
  const int flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | (exclusive ? O_EXCL : 0);
  do fd_ = base::files().open(path.c_str(), flags, 0666);
  while (fd_ < 0 && errno == EINTR);
  if (fd_ < 0) fail_with_errno(path_, "open for writing");
}

AppendFile::~AppendFile() { base::files().close(fd_); }

int AppendFile::last_byte() const {
  struct stat info {};
  if (base::files().fstat(fd_, &info) != 0) fail_with_errno(path_, "look at");
  if (info.st_size == 0) return -1;
  uint8_t byte = 0;
  ssize_t n;
  do n = base::files().pread(fd_, &byte, 1, info.st_size - 1);
  while (n < 0 && errno == EINTR);
  if (n != 1) fail_with_errno(path_, "read");
  return byte;
}

void AppendFile::append(std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = base::files().write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_with_errno(path_, "write");
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
}

}  // namespace gnnmg::train
