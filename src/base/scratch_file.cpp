#include "base/scratch_file.h"

#include <fcntl.h>
#include <sys/random.h>

#include <cerrno>
#include <cstdlib>

namespace gnnmg::base {
namespace {

constexpr mode_t kMode = 0600;

std::string draw_path(const std::string& folder) {
  uint64_t random = 0;
  if (getrandom(&random, sizeof random, 0) != sizeof random) fail_io(errno, folder, "draw a name");
  return join_path(folder, text("gnnmg-scratch-", random));
}

}  // namespace

std::string scratch_folder() {
  const char* const chosen = std::getenv("TMPDIR");
  return chosen && *chosen ? chosen : "/var/tmp";
}

ScratchFile::ScratchFile(const std::string& folder) {
  const std::string path = draw_path(folder);
  do {
    fd_ = files().open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
  } while (fd_ < 0 && errno == EINTR);
  if (fd_ < 0) fail_io(errno, path, "create a temporary file");
  try {
    reader_.emplace(path);
  } catch (...) {
    files().unlink(path.c_str());
    files().close(fd_);
    throw;
  }
  files().unlink(path.c_str());
}

ScratchFile::~ScratchFile() { files().close(fd_); }

void ScratchFile::append(std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = files().write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0)
      fail_io(errno, reader_->path(), text("write a temporary file at byte ", size_));
    size_ += written;
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

}  // namespace gnnmg::base
