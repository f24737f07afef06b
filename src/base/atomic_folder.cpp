#include "base/atomic_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/file.h"

namespace gnnmg::base {
namespace {

[[noreturn]] void fail_io(int error, const std::string& path, std::string_view doing) {
  char buffer[128];
  const Status status = error == ENOENT   ? Status::kNotFound
                        : error == ENOMEM ? Status::kNoMemory
                                          : Status::kIo;
  throw Error(status, text(path, ": ", doing, ": ", strerror_r(error, buffer, sizeof buffer)), -1,
              error);
}

void sync_folder(const std::string& path) {
  int fd;
  do fd = files().open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  while (fd < 0 && errno == EINTR);
  if (fd < 0) fail_io(errno, path, "open");
  int synced;
  do synced = files().fsync(fd);
  while (synced < 0 && errno == EINTR);
  const int error = errno;
  files().close(fd);
  if (synced < 0) fail_io(error, path, "sync");
}

}  // namespace

AtomicFolder::AtomicFolder(const std::string& path) : path_(path) {
  while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
  if (path_.empty() || path_ == "/")
    fail(Status::kInvalidArgument, "path \"", path, "\": expected the name of a new folder");
  if (exists(path_))
    fail(Status::kInvalidArgument, path_, ": exists already, expected the name of a new folder");
  const size_t slash = path_.rfind('/');
  parent_ = slash == std::string::npos ? "." : slash == 0 ? "/" : path_.substr(0, slash);
  const std::string name = slash == std::string::npos ? path_ : path_.substr(slash + 1);
  static std::atomic<uint64_t> counter{0};
  const std::string temporary =
      join_path(parent_, text(".", name, ".tmp-", getpid(), "-", counter.fetch_add(1)));
  if (files().mkdir(temporary.c_str(), 0777) < 0) fail_io(errno, temporary, "make folder");
  temporary_ = temporary;
}

AtomicFolder::~AtomicFolder() {
  if (temporary_.empty()) return;
  try {
    for (const std::string& name : list_directory(temporary_))
      files().unlink(join_path(temporary_, name).c_str());
  } catch (const std::exception&) {
    // What cannot be listed cannot be removed; the name says that it is left over.
  }
  ::rmdir(temporary_.c_str());
}

void AtomicFolder::commit() {
  sync_folder(temporary_);
  if (files().rename(temporary_.c_str(), path_.c_str()) < 0)
    fail_io(errno, path_, "rename into place");
  temporary_.clear();
  sync_folder(parent_);
}

}  // namespace gnnmg::base
